//! `ServerGroupSoftAffinityWeigher` and `ServerGroupSoftAntiAffinityWeigher`:
//! members of the server's group on the host.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use stowplan_config::WeightNormalization;
use stowplan_model::Uuid;

use crate::config::EngineConfig;
use crate::fault::Fault;
use crate::multiplier::Multipliers;
use crate::request::RequestCx;
use crate::table::HostIx;
use crate::view::HostView;
use crate::weigher::{Bounds, Constant, MultiplierRule, RawScore, Weigher};

/// A weigher of groups with one policy.
#[derive(Clone, Copy)]
pub struct SoftGroupWeigher {
    name: &'static str,
    policy: &'static str,
    option: &'static str,
    key: &'static str,
    configured: fn(&EngineConfig) -> f64,
    /// What one member counts.
    sign: f64,
}

/// `ServerGroupSoftAffinityWeigher`: the more members are here the better.
pub const SOFT_AFFINITY: SoftGroupWeigher = SoftGroupWeigher {
    name: "ServerGroupSoftAffinityWeigher",
    policy: "soft-affinity",
    option: "filter_scheduler.soft_affinity_weight_multiplier",
    key: "soft_affinity_weight_multiplier",
    configured: |config| config.scheduler.soft_affinity_weight_multiplier,
    sign: 1.0,
};

/// `ServerGroupSoftAntiAffinityWeigher`: the fewer members are here the better.
pub const SOFT_ANTI_AFFINITY: SoftGroupWeigher = SoftGroupWeigher {
    name: "ServerGroupSoftAntiAffinityWeigher",
    policy: "soft-anti-affinity",
    option: "filter_scheduler.soft_anti_affinity_weight_multiplier",
    key: "soft_anti_affinity_weight_multiplier",
    configured: |config| config.scheduler.soft_anti_affinity_weight_multiplier,
    sign: -1.0,
};

impl Weigher for SoftGroupWeigher {
    fn name(&self) -> &'static str {
        self.name
    }

    fn multiplier(&self, config: &EngineConfig) -> MultiplierRule {
        MultiplierRule {
            option: self.option,
            key: self.key,
            configured: (self.configured)(config),
            negated: false,
        }
    }

    fn bounds(&self, _normalisation: WeightNormalization) -> Bounds {
        Bounds::NONE
    }

    fn prepare(
        &self,
        cx: &RequestCx<'_>,
        _multipliers: &Multipliers,
    ) -> Result<Box<dyn RawScore>, Fault> {
        let group = cx.request.request().instance_group.as_ref();
        let Some(group) = group.filter(|group| group.policy.as_deref() == Some(self.policy)) else {
            return Ok(Box::new(Constant(0.0)));
        };
        let mut members = group.members.clone();
        members.sort_unstable();
        members.dedup();
        Ok(Box::new(MembersHere { members, sign: self.sign }))
    }
}

struct MembersHere {
    /// Sorted, each once.
    members: Vec<Uuid>,
    sign: f64,
}

impl MembersHere {
    fn score(&self, members: usize) -> f64 {
        // Plus 0, so that nobody is told of a negative one.
        self.sign * members as f64 + 0.0
    }
}

impl RawScore for MembersHere {
    fn one(&self, view: &dyn HostView, host: HostIx) -> Result<f64, Fault> {
        let here = view.instances(host);
        Ok(self.score(self.members.iter().filter(|member| here.contains(**member)).count()))
    }

    /// From the members to their hosts, which are few.
    fn fill(&self, view: &dyn HostView, hosts: &[HostIx], out: &mut [f64]) -> Result<(), Fault> {
        let mut counts: HashMap<HostIx, usize, RandomState> = HashMap::default();
        for host in self.members.iter().flat_map(|member| view.hosts_with(*member)) {
            *counts.entry(*host).or_default() += 1;
        }
        out.fill(self.score(0));
        if counts.is_empty() {
            return Ok(());
        }
        for (host, slot) in hosts.iter().zip(out) {
            if let Some(members) = counts.get(host) {
                *slot = self.score(*members);
            }
        }
        Ok(())
    }
}
