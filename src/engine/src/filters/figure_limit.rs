//! Filters that keep one figure of a host below a limit: `IoOpsFilter`,
//! `NumInstancesFilter` and their kin by host aggregate.

use stowplan_model::pytext;

use crate::config::EngineConfig;
use crate::fault::Fault;
use crate::filter::{Filter, Predicate, Runs, Verdict};
use crate::finding::Finding;
use crate::offers::{Offers, Survivors};
use crate::overrides::{Overridable, Override, Source};
use crate::reason::Reason;
use crate::request::RequestCx;
use crate::set::WORD;
use crate::table::{Class, Figure, HostIx};
use crate::view::HostView;

/// A filter that passes hosts whose figure is below a limit.
#[derive(Clone, Copy)]
pub struct FigureLimit {
    name: &'static str,
    figure: Figure,
    /// The option, as `section.name`.
    option: &'static str,
    configured: fn(&EngineConfig) -> i64,
    /// The metadata key by which host aggregates set a limit of their own.
    key: Option<&'static str>,
}

/// `IoOpsFilter`: builds, resizes and the like going on.
pub const IO_OPS_LIMIT: FigureLimit = FigureLimit {
    name: "IoOpsFilter",
    figure: Figure::NumIoOps,
    option: "filter_scheduler.max_io_ops_per_host",
    configured: |config| config.scheduler.max_io_ops_per_host,
    key: None,
};

/// `AggregateIoOpsFilter`: the same with limits by host aggregate.
pub const AGGREGATE_IO_OPS: FigureLimit =
    FigureLimit { name: "AggregateIoOpsFilter", key: Some("max_io_ops_per_host"), ..IO_OPS_LIMIT };

/// `NumInstancesFilter`: servers on the host.
pub const NUM_INSTANCES_LIMIT: FigureLimit = FigureLimit {
    name: "NumInstancesFilter",
    figure: Figure::NumInstances,
    option: "filter_scheduler.max_instances_per_host",
    configured: |config| config.scheduler.max_instances_per_host,
    key: None,
};

/// `AggregateNumInstancesFilter`: the same with limits by host aggregate.
pub const AGGREGATE_NUM_INSTANCES: FigureLimit = FigureLimit {
    name: "AggregateNumInstancesFilter",
    key: Some("max_instances_per_host"),
    ..NUM_INSTANCES_LIMIT
};

impl Filter for FigureLimit {
    fn name(&self) -> &'static str {
        self.name
    }

    fn runs(&self) -> Runs {
        Runs { once_per_request: false, on_rebuild: false }
    }

    fn prepare(&self, cx: &RequestCx<'_>) -> Result<Option<Box<dyn Predicate>>, Fault> {
        let configured = (self.configured)(cx.config);
        let pool = cx.view.aggregate_sets();
        let mut sets: Vec<Option<Override<i64>>> = Vec::new();
        if let Some(key) = self.key {
            let limit = Overridable { option: self.option, key, configured };
            for (id, set) in pool.iter() {
                if let Some(found) = limit.on(set, pytext::int, |a, b| a < b) {
                    sets.resize(pool.len(), None);
                    sets[id as usize] = Some(found);
                }
            }
        }
        Ok(Some(Box::new(Below { figure: self.figure, option: self.option, configured, sets })))
    }
}

struct Below {
    figure: Figure,
    option: &'static str,
    configured: i64,
    /// By the number of the aggregate set; empty when nothing overrides.
    sets: Vec<Option<Override<i64>>>,
}

impl Below {
    fn of_set(&self, set: u32) -> Option<&Override<i64>> {
        self.sets.get(set as usize)?.as_ref()
    }

    fn limit(&self, set: u32) -> i64 {
        self.of_set(set).map_or(self.configured, |found| found.value)
    }
}

impl Predicate for Below {
    fn judge(
        &self,
        view: &dyn HostView,
        host: HostIx,
        _offers: &Offers,
        _left: &Survivors,
    ) -> Result<Verdict, Fault> {
        let set = view.classes(Class::Aggregates).value(host);
        let (has, limit) = (view.figure(self.figure, host), self.limit(set));
        if has < limit {
            return Ok(Verdict::Pass);
        }
        let source = match self.of_set(set) {
            Some(found) => found.source.clone(),
            None => Source::Option { option: self.option },
        };
        Ok(Verdict::Fail(Reason::LimitReached { figure: self.figure, has, limit, source }))
    }

    fn narrow(
        &self,
        view: &dyn HostView,
        _offers: &Offers,
        left: &mut Survivors,
    ) -> Result<(), Fault> {
        let column = view.column(self.figure);
        if !self.sets.is_empty() {
            let (mut has, mut sets) = (column.cursor(), view.classes(Class::Aggregates).cursor());
            left.hosts.retain(|host| has.value(host) < self.limit(sets.value(host)));
            return Ok(());
        }
        for (n, word) in left.hosts.words_mut().iter_mut().enumerate() {
            if *word == 0 {
                continue;
            }
            let values = column.word(n);
            let mut below = 0_u64;
            for (bit, value) in values.iter().enumerate().take(WORD) {
                below |= u64::from(*value < self.configured) << bit;
            }
            *word &= below;
        }
        Ok(())
    }

    fn findings(&self) -> Vec<Finding> {
        let sources = self.sets.iter().flatten().map(|found| &found.source);
        let unreadable = sources.filter_map(|source| match source {
            Source::Cancelled { option, id, name, key, value } => {
                Some(Finding::UnreadableOverride {
                    id: *id,
                    name: name.clone(),
                    key,
                    value: value.clone(),
                    option,
                })
            }
            _ => None,
        });
        unreadable.collect()
    }
}
