//! Trials of a refused request with one thing changed.

use std::collections::BTreeSet;

use stowplan_engine::chain::{self, Round};
use stowplan_engine::preselect::preselect;
use stowplan_engine::table::HostIx;
use stowplan_engine::{CheckedRequest, HostSet, HostView, Offers, RequestCx};
use stowplan_model::request::ScheduleRequest;
use stowplan_placement::candidates::{CandidateQuery, Requirement, explain};

use super::candidates::{Pool, targets};
use super::decide::{Means, Scene, Trace};
use super::query::Queries;
use super::unlock::{Change, Unlock};

/// A field of a request that names hosts: whether it does, and how it is emptied.
struct Field {
    name: &'static str,
    given: fn(&ScheduleRequest) -> bool,
    empty: fn(&mut ScheduleRequest),
}

const FIELDS: [Field; 4] = [
    Field {
        name: "requested_destination",
        given: |request| request.requested_destination.is_some(),
        empty: |request| request.requested_destination = None,
    },
    Field {
        name: "ignore_hosts",
        given: |request| request.ignore_hosts.is_some(),
        empty: |request| request.ignore_hosts = None,
    },
    Field {
        name: "force_hosts",
        given: |request| request.force_hosts.is_some(),
        empty: |request| request.force_hosts = None,
    },
    Field {
        name: "force_nodes",
        given: |request| request.force_nodes.is_some(),
        empty: |request| request.force_nodes = None,
    },
];

/// Trials on what one server met.
pub(super) struct Trials<'a> {
    pub scene: &'a Scene,
    pub means: Means<'a>,
    pub queries: &'a Queries,
    /// Trials that are left.
    pub left: usize,
    /// Changes that were enough.
    pub found: Vec<Unlock>,
}

/// What is put in place of the request.
struct Trial<'t> {
    queries: &'t [CandidateQuery],
    request: &'t CheckedRequest,
    /// Whether the hint narrows the hosts.
    hint: bool,
    without: Option<&'static str>,
}

impl<'a> Trials<'a> {
    pub fn note(&mut self, change: Change, host: Option<HostIx>) {
        let facts = host.map(|host| self.scene.table.facts(host));
        self.found.push(Unlock {
            text: change.to_string(),
            change,
            host: facts.map(|facts| facts.host.clone()),
            node: facts.map(|facts| facts.node.clone()),
        });
    }

    /// The request as it was made.
    fn as_made(&self) -> Trial<'a> {
        let scene = self.scene;
        Trial { queries: &self.queries.queries, request: &scene.request, hint: true, without: None }
    }

    /// The first host that a trial leaves.
    fn first_host(&mut self, trial: &Trial<'_>) -> Option<HostIx> {
        self.left = self.left.checked_sub(1)?;
        let Scene { image, table, .. } = self.scene;
        let request = trial.request.request();
        if targets(table, request).is_some_and(|targets| targets.is_empty()) {
            return None;
        }
        let queries = Queries { queries: trial.queries.to_vec(), ..self.queries.clone() };
        let mut pool = Pool::search(image, &queries, request).ok()?;
        let order = self.means.order;
        let required = order.hint.hint.as_ref().filter(|_| trial.hint).and_then(|it| it.required());
        let hosts: Vec<HostIx> = match required {
            None => pool.hosts.clone(),
            Some(names) => {
                let named = names.iter().flat_map(|it| table.hosts_named(&it.to_lowercase()));
                let named: HostSet = named.copied().collect();
                pool.hosts.iter().copied().filter(|host| named.contains(*host)).collect()
            }
        };
        let left = preselect(trial.request, table, &hosts);
        let offers = if order.wants_places() { pool.offers(image) } else { Offers::default() };
        let cx = RequestCx {
            request: trial.request,
            config: self.means.engine.config(),
            now: self.means.now,
            view: table,
        };
        let round = Round { index: 0, forced: left.filters_skipped, without: trial.without };
        let set: HostSet = left.hosts.iter().copied().collect();
        let run = chain::run(self.means.engine.filters(), &cx, round, &offers, set).ok()?;
        left.hosts.into_iter().find(|host| run.left.hosts.contains(*host))
    }

    /// Requirements of the queries, one at a time: less of an amount, if there is
    /// any that would do, else without.
    pub fn requirements(&mut self) {
        let mut seen: Vec<Requirement> = Vec::new();
        let (queries, image) = (&self.queries.queries, &self.scene.image);
        for query in queries {
            for loss in explain(image, query).unwrap_or_default() {
                if !seen.contains(&loss.requirement) {
                    seen.push(loss.requirement);
                }
            }
        }
        for requirement in seen {
            let without = |query: &CandidateQuery| {
                query.without(&requirement).unwrap_or_else(|| query.clone())
            };
            let changed: Vec<CandidateQuery> = queries.iter().map(without).collect();
            if changed == *queries {
                continue;
            }
            let trial = Trial { queries: &changed, ..self.as_made() };
            let Some(host) = self.first_host(&trial) else { continue };
            let less = match &requirement {
                Requirement::Resource { group, class, wanted } => self.less(group, class, *wanted),
                _ => None,
            };
            match less {
                Some((change, host)) => self.note(change, Some(host)),
                None => {
                    let requirement = requirement.to_string();
                    self.note(Change::Requirement { requirement }, Some(host));
                }
            }
        }
    }

    /// The largest amount below `wanted` that leaves a host: among what providers
    /// could give, found by halving.
    fn less(&mut self, group: &str, class: &str, wanted: i64) -> Option<(Change, HostIx)> {
        let providers = &self.scene.image.providers;
        let ix = self.scene.image.classes.ix(class)?;
        let room = providers.iter().filter_map(|at| {
            let inventory = providers.inventory(at, ix)?;
            let free = (inventory.capacity() - providers.used(at, ix)).min(inventory.max_unit);
            let free = free.min(wanted - 1);
            Some(free - free.rem_euclid(inventory.step_size.max(1)))
        });
        let amounts: BTreeSet<i64> = room.filter(|amount| *amount > 0).collect();
        let amounts: Vec<i64> = amounts.into_iter().collect();
        let (mut low, mut high) = (0, amounts.len());
        let mut best = None;
        while low < high {
            let middle = low.midpoint(high);
            let fits = amounts[middle];
            let changed: Vec<CandidateQuery> =
                self.queries.queries.iter().map(|it| with_amount(it, group, class, fits)).collect();
            let trial = Trial { queries: &changed, ..self.as_made() };
            match self.first_host(&trial) {
                Some(host) => {
                    let (group, class) = (group.to_owned(), class.to_owned());
                    best = Some((Change::Amount { group, class, wanted, fits }, host));
                    low = middle + 1;
                }
                None => high = middle,
            }
        }
        best
    }

    /// Fields that name hosts.
    pub fn fields(&mut self) {
        let made = self.scene.request.request();
        for field in FIELDS.iter().filter(|field| (field.given)(made)) {
            let mut request = made.clone();
            (field.empty)(&mut request);
            let Ok(request) = CheckedRequest::check(request) else { continue };
            let trial = Trial { request: &request, ..self.as_made() };
            if let Some(host) = self.first_host(&trial) {
                self.note(Change::Field { field: field.name }, Some(host));
            }
        }
        let hint = self.means.order.hint.hint.as_ref();
        if hint.is_some_and(|hint| hint.required().is_some()) {
            let trial = Trial { hint: false, ..self.as_made() };
            if let Some(host) = self.first_host(&trial) {
                self.note(Change::Field { field: "nodeNames of the hint" }, Some(host));
            }
        }
    }

    /// Filters that have left out hosts.
    pub fn filters(&mut self, trace: &Trace) {
        let steps = trace.servers.iter().flat_map(|server| &server.explanation.filters);
        let strict: BTreeSet<&'static str> =
            steps.filter(|step| step.after < step.before).map(|step| step.filter).collect();
        let engine = self.means.engine;
        for filter in engine.filters().iter().filter(|it| strict.contains(it.name())) {
            let trial = Trial { without: Some(filter.name()), ..self.as_made() };
            if let Some(host) = self.first_host(&trial) {
                self.note(Change::Filter { filter: filter.name() }, Some(host));
            }
        }
    }
}

/// The query with another amount of a group's class.
fn with_amount(query: &CandidateQuery, group: &str, class: &str, amount: i64) -> CandidateQuery {
    let mut changed = query.clone();
    let groups = changed.groups.iter_mut().filter(|one| one.suffix == group);
    for (name, units) in groups.flat_map(|group| &mut group.resources) {
        if name == class {
            *units = amount;
        }
    }
    changed
}
