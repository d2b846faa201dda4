//! The rules between queues: who may lie below whom, and that what parents
//! promise is enough for their children (rule 20).

use super::ROOT_QUEUE;
use crate::amounts::Quantity;
use crate::spec::{QueueSpec, Resources};
use std::collections::{BTreeMap, BTreeSet};
use stowplan_ledger::Image;
use stowplan_scheduler::fields::FieldErrors;

/// The deepest place of a queue below the root.
const MAX_DEPTH: usize = 16;

/// All queues as a write would leave them.
pub(crate) struct Tree {
    specs: BTreeMap<String, QueueSpec>,
}

impl Tree {
    /// The queues of an image.
    pub(crate) fn of(image: &Image) -> Self {
        let specs = image.batch.queues().map(|row| (row.name.clone(), QueueSpec::read(&row.spec)));
        Self { specs: specs.collect() }
    }

    /// Puts one queue in its place.
    pub(crate) fn put(&mut self, name: &str, spec: QueueSpec) {
        self.specs.insert(name.to_owned(), spec);
    }

    /// The specification of a queue.
    pub(crate) fn spec(&self, name: &str) -> Option<&QueueSpec> {
        self.specs.get(name)
    }

    /// The queues right below one, in order of their names.
    pub(crate) fn children<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let below = move |spec: &QueueSpec| spec.parent.as_deref() == Some(name);
        self.specs.iter().filter(move |(_, spec)| below(spec)).map(|(name, _)| name.as_str())
    }

    /// A queue and those above it, the root last. A circle ends.
    pub(crate) fn path<'a>(&'a self, name: &'a str) -> Vec<&'a str> {
        let up = |at: &&'a str| self.specs.get(*at).and_then(|spec| spec.parent.as_deref());
        std::iter::successors(Some(name), up).take(self.specs.len() + 1).collect()
    }

    /// What is wrong with a queue among the others.
    pub(crate) fn check(&self, name: &str, errors: &mut FieldErrors) {
        let Some(spec) = self.specs.get(name) else { return };
        let Some(parent) = &spec.parent else {
            return self.check_children(name, spec, errors);
        };
        if !self.specs.contains_key(parent) {
            return errors.add("parent", parent, "the name of a queue that exists");
        }
        let path = self.path(name);
        let circle = path.iter().collect::<BTreeSet<_>>().len() < path.len();
        if circle || path.last() != Some(&ROOT_QUEUE) {
            return errors.add("parent", parent, format!("a queue that is not below {name:?}"));
        }
        let below = self.height(name);
        if path.len() - 1 + below > MAX_DEPTH {
            let expected = format!("a queue with at most {MAX_DEPTH} levels below root");
            return errors.add("parent", parent, expected);
        }
        for above in path.iter().skip(1) {
            let Some(most) = self.specs.get(*above) else { continue };
            for (dimension, quantity) in &spec.capability {
                let bound = most.capability.get(dimension).filter(|bound| *bound < quantity);
                if let Some(bound) = bound {
                    let expected = format!("at most {bound}, the capability of {above:?} above it");
                    errors.add(format!("capability.{dimension}"), quantity, expected);
                }
            }
        }
        if let Some(above) = self.specs.get(parent) {
            self.check_sums(parent, above, Some((name, spec)), errors);
        }
        self.check_children(name, spec, errors);
    }

    /// That what a queue has is enough for those below it.
    fn check_children(&self, name: &str, spec: &QueueSpec, errors: &mut FieldErrors) {
        self.check_sums(name, spec, None, errors);
        for below in
            self.specs.keys().filter(|key| self.path(key).iter().skip(1).any(|a| *a == name))
        {
            let Some(least) = self.specs.get(below) else { continue };
            for (dimension, quantity) in &spec.capability {
                let need = least.capability.get(dimension).filter(|need| *need > quantity);
                if let Some(need) = need {
                    let expected = format!("at least {need}, the capability of {below:?} below it");
                    errors.add(format!("capability.{dimension}"), quantity, expected);
                }
            }
        }
    }

    /// That the children of a queue are promised no more than it has itself,
    /// in dimensions in which it has anything; the error names the field of
    /// `child`, if that is the one that is written.
    fn check_sums(
        &self,
        name: &str,
        spec: &QueueSpec,
        child: Option<(&str, &QueueSpec)>,
        errors: &mut FieldErrors,
    ) {
        type Get = fn(&QueueSpec) -> &Resources;
        let fields: [(&str, Get); 2] = [
            ("deserved", |spec| &spec.deserved),
            ("guarantee.resource", |spec| &spec.guarantee.resource),
        ];
        for (field, get) in fields {
            for (dimension, has) in get(spec) {
                let of = |spec: &QueueSpec| get(spec).get(dimension).copied().unwrap_or_default();
                let sum: Quantity =
                    self.children(name).filter_map(|key| self.specs.get(key)).map(of).sum();
                let at = format!("{field}.{dimension}");
                match child {
                    _ if sum <= *has => {}
                    Some((_, child)) if of(child).is_zero() => {}
                    Some((_, child)) => {
                        let expected = format!(
                            "so much that the queues below {name:?} have at most its {has} \
                             together, not {sum}"
                        );
                        errors.add(at, &of(child), expected);
                    }
                    None => {
                        errors.add(at, has, format!("at least {sum}, as those below it have"));
                    }
                }
            }
        }
    }

    /// How many levels lie below a queue.
    fn height(&self, name: &str) -> usize {
        let mut level = BTreeSet::from([name]);
        for height in 0..=self.specs.len() {
            level = level.iter().flat_map(|above| self.children(above)).collect();
            if level.is_empty() {
                return height;
            }
        }
        self.specs.len()
    }
}
