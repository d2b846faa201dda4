//! Filters and weighers by name.

use stowplan_config::FilterScheduler;

use crate::config::EngineConfig;
use crate::filter::Filter;
use crate::filters::{
    AGGREGATE_IO_OPS, AGGREGATE_NUM_INSTANCES, AggregateImagePropertiesIsolation,
    AggregateInstanceExtraSpecsFilter, AggregateMultiTenancyIsolation, AggregateTypeAffinityFilter,
    AllHostsFilter, ComputeCapabilitiesFilter, ComputeFilter, DIFFERENT_HOST, IO_OPS_LIMIT,
    ImagePropertiesFilter, IsolatedHostsFilter, JsonFilter, MetricsFilter, NUM_INSTANCES_LIMIT,
    NumaTopologyFilter, PciPassthroughFilter, SAME_HOST, ServerGroupAffinityFilter,
    ServerGroupAntiAffinityFilter, SimpleCidrAffinityFilter,
};
use crate::weigher::{MultiplierRule, Weigher};
use crate::weighers::{
    BUILD_FAILURE, CpuWeigher, CrossCellWeigher, DISK, HYPERVISOR_VERSION, IO_OPS,
    ImagePropertiesWeigher, MetricsWeigher, NUM_INSTANCES, PciWeigher, RAM, SOFT_AFFINITY,
    SOFT_ANTI_AFFINITY,
};

type MakeFilter = fn() -> Box<dyn Filter>;
type MakeWeigher = fn() -> Box<dyn Weigher>;

/// Filters there are.
const FILTERS: &[(&str, MakeFilter)] = &[
    ("AllHostsFilter", || Box::new(AllHostsFilter)),
    ("ComputeFilter", || Box::new(ComputeFilter)),
    ("ComputeCapabilitiesFilter", || Box::new(ComputeCapabilitiesFilter)),
    ("ImagePropertiesFilter", || Box::new(ImagePropertiesFilter)),
    ("ServerGroupAntiAffinityFilter", || Box::new(ServerGroupAntiAffinityFilter)),
    ("ServerGroupAffinityFilter", || Box::new(ServerGroupAffinityFilter)),
    ("AggregateImagePropertiesIsolation", || Box::new(AggregateImagePropertiesIsolation)),
    ("AggregateInstanceExtraSpecsFilter", || Box::new(AggregateInstanceExtraSpecsFilter)),
    ("AggregateIoOpsFilter", || Box::new(AGGREGATE_IO_OPS)),
    ("AggregateMultiTenancyIsolation", || Box::new(AggregateMultiTenancyIsolation)),
    ("AggregateNumInstancesFilter", || Box::new(AGGREGATE_NUM_INSTANCES)),
    ("AggregateTypeAffinityFilter", || Box::new(AggregateTypeAffinityFilter)),
    ("DifferentHostFilter", || Box::new(DIFFERENT_HOST)),
    ("IoOpsFilter", || Box::new(IO_OPS_LIMIT)),
    ("IsolatedHostsFilter", || Box::new(IsolatedHostsFilter)),
    ("JsonFilter", || Box::new(JsonFilter)),
    ("MetricsFilter", || Box::new(MetricsFilter)),
    ("NUMATopologyFilter", || Box::new(NumaTopologyFilter)),
    ("NumInstancesFilter", || Box::new(NUM_INSTANCES_LIMIT)),
    ("PciPassthroughFilter", || Box::new(PciPassthroughFilter)),
    ("SameHostFilter", || Box::new(SAME_HOST)),
    ("SimpleCIDRAffinityFilter", || Box::new(SimpleCidrAffinityFilter)),
];

/// Weighers there are, in the order of their sum when all are in use: that of
/// the peer's modules, so that weights agree to the last bit.
const WEIGHERS: &[(&str, MakeWeigher)] = &[
    ("ServerGroupSoftAffinityWeigher", || Box::new(SOFT_AFFINITY)),
    ("ServerGroupSoftAntiAffinityWeigher", || Box::new(SOFT_ANTI_AFFINITY)),
    ("BuildFailureWeigher", || Box::new(BUILD_FAILURE)),
    ("CPUWeigher", || Box::new(CpuWeigher)),
    ("CrossCellWeigher", || Box::new(CrossCellWeigher)),
    ("DiskWeigher", || Box::new(DISK)),
    ("HypervisorVersionWeigher", || Box::new(HYPERVISOR_VERSION)),
    ("ImagePropertiesWeigher", || Box::new(ImagePropertiesWeigher)),
    ("IoOpsWeigher", || Box::new(IO_OPS)),
    ("MetricsWeigher", || Box::new(MetricsWeigher)),
    ("NumInstancesWeigher", || Box::new(NUM_INSTANCES)),
    ("PCIWeigher", || Box::new(PciWeigher)),
    ("RAMWeigher", || Box::new(RAM)),
];

/// The word in `weight_classes` for every weigher there is.
const ALL_WEIGHERS: &str = "all_weighers";

/// The word in `available_filters` for every filter there is.
const ALL_FILTERS: &str = "all_filters";

/// A name in `enabled_filters` or `weight_classes` that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// No filter or weigher has that name.
    #[error("{option} names \"{name}\": expected the name of a {what}{}", hint(nearest))]
    Unknown {
        /// The option, as `section.name`.
        option: &'static str,
        /// `filter` or `weigher`.
        what: &'static str,
        /// The name.
        name: String,
        /// The name it comes nearest to.
        nearest: Option<&'static str>,
    },
    /// A filter that `available_filters` does not admit.
    #[error(
        "filter_scheduler.enabled_filters names \"{name}\": expected one that \
         filter_scheduler.available_filters lists ({})",
        available.join(", ")
    )]
    NotAvailable {
        /// The name.
        name: String,
        /// What it lists.
        available: Vec<String>,
    },
}

fn hint(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean {name}?)"))
}

/// One kind of thing that the configuration names.
struct Registry<M: 'static> {
    what: &'static str,
    rows: &'static [(&'static str, M)],
}

const FILTER_REGISTRY: Registry<MakeFilter> = Registry { what: "filter", rows: FILTERS };
const WEIGHER_REGISTRY: Registry<MakeWeigher> = Registry { what: "weigher", rows: WEIGHERS };

impl<M: Copy> Registry<M> {
    fn find(&self, option: &'static str, name: &str) -> Result<M, RegistryError> {
        let row = self.rows.iter().find(|(known, _)| *known == name);
        row.map(|(_, make)| *make).ok_or_else(|| RegistryError::Unknown {
            option,
            what: self.what,
            name: name.to_owned(),
            nearest: self.nearest(name),
        })
    }

    /// The known name that takes the fewest changes, if it takes few.
    fn nearest(&self, name: &str) -> Option<&'static str> {
        self.rows
            .iter()
            .map(|(known, _)| (strsim::damerau_levenshtein(known, name), *known))
            .min()
            .filter(|(changes, known)| *changes <= known.len() / 3)
            .map(|(_, known)| known)
    }
}

/// The filters of these names, in their order.
///
/// # Errors
/// A name that no filter has.
pub fn filters(names: &[String]) -> Result<Vec<Box<dyn Filter>>, RegistryError> {
    let find = |name: &String| FILTER_REGISTRY.find("filter_scheduler.enabled_filters", name);
    names.iter().map(|name| Ok(find(name)?())).collect()
}

/// The filters that a configuration enables, in their order.
///
/// # Errors
/// A name that no filter has, or an enabled filter that is not available.
pub fn enabled_filters(scheduler: &FilterScheduler) -> Result<Vec<Box<dyn Filter>>, RegistryError> {
    let available = &scheduler.available_filters;
    let found = filters(&scheduler.enabled_filters)?;
    if available.iter().any(|name| name == ALL_FILTERS) {
        return Ok(found);
    }
    match scheduler.enabled_filters.iter().find(|name| !available.contains(name)) {
        None => Ok(found),
        Some(name) => {
            Err(RegistryError::NotAvailable { name: name.clone(), available: available.clone() })
        }
    }
}

/// The weighers of these names, in their order; `all_weighers` stands for
/// every one there is.
///
/// # Errors
/// A name that no weigher has.
pub fn weighers(names: &[String]) -> Result<Vec<Box<dyn Weigher>>, RegistryError> {
    let mut found = Vec::new();
    for name in names {
        if name == ALL_WEIGHERS {
            found.extend(WEIGHERS.iter().map(|(_, make)| make()));
        } else {
            found.push(WEIGHER_REGISTRY.find("filter_scheduler.weight_classes", name)?());
        }
    }
    Ok(found)
}

/// Whether a list of `weight_classes` has that weigher in it.
pub(crate) fn names_weigher(names: &[String], weigher: &str) -> bool {
    names.iter().any(|name| name == weigher || name == ALL_WEIGHERS)
}

/// The weigher, in use or not, whose multiplier host aggregates override by
/// that key.
pub(crate) fn reader_of(
    key: &str,
    config: &EngineConfig,
) -> Option<(&'static str, MultiplierRule)> {
    WEIGHERS.iter().find_map(|(name, make)| {
        let rule = make().multiplier(config);
        (rule.key == key).then_some((*name, rule))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn everything_is_found_under_its_own_name() {
        for (name, make) in FILTERS {
            assert_eq!(make().name(), *name);
        }
        for (name, make) in WEIGHERS {
            assert_eq!(make().name(), *name);
        }
        assert_eq!((FILTERS.len(), WEIGHERS.len()), (22, 13));
    }

    #[test]
    fn a_wrong_name_gets_the_nearest_one() {
        let error = filters(&names(&["ComputFilter"])).err().unwrap();
        assert_eq!(
            error.to_string(),
            "filter_scheduler.enabled_filters names \"ComputFilter\": expected the name of a \
             filter (did you mean ComputeFilter?)"
        );
        let error = weighers(&names(&["Gravity"])).err().unwrap();
        assert!(matches!(error, RegistryError::Unknown { nearest: None, .. }));
    }

    #[test]
    fn only_available_filters_can_be_enabled() {
        let mut scheduler = FilterScheduler::default();
        assert_eq!(enabled_filters(&scheduler).map(|filters| filters.len()).ok(), Some(5));
        scheduler.available_filters = names(&["ComputeFilter"]);
        let error = enabled_filters(&scheduler).err().unwrap();
        assert_eq!(
            error.to_string(),
            "filter_scheduler.enabled_filters names \"ComputeCapabilitiesFilter\": expected one \
             that filter_scheduler.available_filters lists (ComputeFilter)"
        );
        // A site's own filter does no harm unless it is enabled.
        scheduler.available_filters = names(&["all_filters", "MyFilter"]);
        assert!(enabled_filters(&scheduler).is_ok());
        scheduler.enabled_filters = names(&["MyFilter"]);
        assert!(enabled_filters(&scheduler).is_err());
    }

    #[test]
    fn all_weighers_are_all_there_are() {
        assert_eq!(weighers(&names(&["all_weighers"])).unwrap().len(), WEIGHERS.len());
    }
}
