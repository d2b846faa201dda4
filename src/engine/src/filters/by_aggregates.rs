//! Filters whose verdict hangs on a host's set of host aggregates alone.
//!
//! The rule is asked once for each set in use, whatever the number of hosts.

use crate::fault::Fault;
use crate::filter::{Predicate, Verdict};
use crate::offers::{Offers, Survivors};
use crate::reason::Reason;
use crate::table::{AggregateSet, Class, HostIx};
use crate::view::HostView;

/// A rule about sets of host aggregates.
pub(super) trait SetRule: Send + Sync {
    /// Why hosts in this set fail; `None` when they pass.
    ///
    /// # Errors
    /// The metadata or the request cannot be judged.
    fn objection(&self, set: &AggregateSet) -> Result<Option<Reason>, Fault>;
}

/// What a rule says of a set.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Said {
    Passes,
    Fails,
    /// It cannot say: the request fails if a host is in this set.
    Fault,
}

/// A rule with its verdicts by the number of the set.
pub(super) struct ByAggregates<R> {
    rule: R,
    said: Vec<Said>,
}

impl<R: SetRule + 'static> ByAggregates<R> {
    /// Asks the rule of every set in use.
    pub(super) fn prepare(view: &dyn HostView, rule: R) -> Box<dyn Predicate> {
        let sets = view.aggregate_sets();
        let mut said = vec![Said::Passes; sets.len()];
        for (id, set) in sets.iter() {
            said[id as usize] = match rule.objection(set) {
                Ok(None) => Said::Passes,
                Ok(Some(_)) => Said::Fails,
                Err(_) => Said::Fault,
            };
        }
        Box::new(Self { rule, said })
    }
}

impl<R: SetRule> ByAggregates<R> {
    fn objection(&self, view: &dyn HostView, host: HostIx) -> Result<Option<Reason>, Fault> {
        match view.aggregates_of(host) {
            Some(set) => self.rule.objection(set),
            None => self.rule.objection(&AggregateSet::default()),
        }
    }
}

impl<R: SetRule> Predicate for ByAggregates<R> {
    fn judge(
        &self,
        view: &dyn HostView,
        host: HostIx,
        _offers: &Offers,
        _left: &Survivors,
    ) -> Result<Verdict, Fault> {
        Ok(self.objection(view, host)?.map_or(Verdict::Pass, Verdict::Fail))
    }

    fn narrow(
        &self,
        view: &dyn HostView,
        _offers: &Offers,
        left: &mut Survivors,
    ) -> Result<(), Fault> {
        let mut sets = view.classes(Class::Aggregates).cursor();
        let mut fault = None;
        left.hosts.retain(|host| match self.said.get(sets.value(host) as usize) {
            Some(Said::Passes) => true,
            Some(Said::Fails) => false,
            Some(Said::Fault) | None => match self.objection(view, host) {
                Ok(objection) => objection.is_none(),
                Err(found) => {
                    fault.get_or_insert(found);
                    false
                }
            },
        });
        fault.map_or(Ok(()), Err)
    }
}
