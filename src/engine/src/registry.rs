//! Filters and weighers by name.

use crate::filter::Filter;
use crate::filters::{
    AllHostsFilter, ComputeCapabilitiesFilter, ComputeFilter, ImagePropertiesFilter,
    ServerGroupAffinityFilter, ServerGroupAntiAffinityFilter,
};
use crate::weigher::Weigher;
use crate::weighers::{BUILD_FAILURE, CpuWeigher, DISK, IO_OPS, RAM};

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
];

/// Filters of Nova's that are not here.
const FILTERS_NOT_BUILT: &[&str] = &[
    "AggregateImagePropertiesIsolation",
    "AggregateInstanceExtraSpecsFilter",
    "AggregateIoOpsFilter",
    "AggregateMultiTenancyIsolation",
    "AggregateNumInstancesFilter",
    "AggregateTypeAffinityFilter",
    "DifferentHostFilter",
    "IoOpsFilter",
    "IsolatedHostsFilter",
    "JsonFilter",
    "MetricsFilter",
    "NUMATopologyFilter",
    "NumInstancesFilter",
    "PciPassthroughFilter",
    "SameHostFilter",
    "SimpleCIDRAffinityFilter",
];

/// Weighers there are, in the order of their sum when all are in use.
const WEIGHERS: &[(&str, MakeWeigher)] = &[
    ("BuildFailureWeigher", || Box::new(BUILD_FAILURE)),
    ("CPUWeigher", || Box::new(CpuWeigher)),
    ("DiskWeigher", || Box::new(DISK)),
    ("IoOpsWeigher", || Box::new(IO_OPS)),
    ("RAMWeigher", || Box::new(RAM)),
];

/// Weighers of Nova's that are not here.
const WEIGHERS_NOT_BUILT: &[&str] = &[
    "CrossCellWeigher",
    "HypervisorVersionWeigher",
    "ImagePropertiesWeigher",
    "MetricsWeigher",
    "NumInstancesWeigher",
    "PCIWeigher",
    "ServerGroupSoftAffinityWeigher",
    "ServerGroupSoftAntiAffinityWeigher",
];

/// The word in `weight_classes` for every weigher there is.
const ALL_WEIGHERS: &str = "all_weighers";

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
    /// A filter or weigher of Nova's that this version does not have.
    #[error(
        "{option} names \"{name}\": this {what} of Nova's is not part of this version; \
         there are {}",
        available.join(", ")
    )]
    NotBuilt {
        /// The option, as `section.name`.
        option: &'static str,
        /// `filter` or `weigher`.
        what: &'static str,
        /// The name.
        name: String,
        /// Those there are.
        available: Vec<&'static str>,
    },
}

fn hint(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean {name}?)"))
}

/// One kind of thing that the configuration names.
struct Registry<M: 'static> {
    option: &'static str,
    what: &'static str,
    built: &'static [(&'static str, M)],
    not_built: &'static [&'static str],
}

impl<M: Copy> Registry<M> {
    fn find(&self, name: &str) -> Result<M, RegistryError> {
        if let Some((_, make)) = self.built.iter().find(|(known, _)| *known == name) {
            return Ok(*make);
        }
        let (option, what) = (self.option, self.what);
        Err(if self.not_built.contains(&name) {
            RegistryError::NotBuilt {
                option,
                what,
                name: name.to_owned(),
                available: self.built.iter().map(|(known, _)| *known).collect(),
            }
        } else {
            RegistryError::Unknown {
                option,
                what,
                name: name.to_owned(),
                nearest: self.nearest(name),
            }
        })
    }

    /// The known name that takes the fewest changes, if it takes few.
    fn nearest(&self, name: &str) -> Option<&'static str> {
        let known = self.built.iter().map(|(known, _)| *known);
        known
            .chain(self.not_built.iter().copied())
            .map(|known| (strsim::damerau_levenshtein(known, name), known))
            .min()
            .filter(|(changes, known)| *changes <= known.len() / 3)
            .map(|(_, known)| known)
    }
}

const FILTER_REGISTRY: Registry<MakeFilter> = Registry {
    option: "filter_scheduler.enabled_filters",
    what: "filter",
    built: FILTERS,
    not_built: FILTERS_NOT_BUILT,
};

const WEIGHER_REGISTRY: Registry<MakeWeigher> = Registry {
    option: "filter_scheduler.weight_classes",
    what: "weigher",
    built: WEIGHERS,
    not_built: WEIGHERS_NOT_BUILT,
};

/// The filters of these names, in their order.
///
/// # Errors
/// A name that no filter has, or one that is not built.
pub fn filters(names: &[String]) -> Result<Vec<Box<dyn Filter>>, RegistryError> {
    names.iter().map(|name| Ok(FILTER_REGISTRY.find(name)?())).collect()
}

/// The weighers of these names, in their order; `all_weighers` stands for
/// every one there is.
///
/// # Errors
/// A name that no weigher has, or one that is not built.
pub fn weighers(names: &[String]) -> Result<Vec<Box<dyn Weigher>>, RegistryError> {
    let mut found = Vec::new();
    for name in names {
        if name == ALL_WEIGHERS {
            found.extend(WEIGHERS.iter().map(|(_, make)| make()));
        } else {
            found.push(WEIGHER_REGISTRY.find(name)?());
        }
    }
    Ok(found)
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
        assert_eq!(FILTERS.len() + FILTERS_NOT_BUILT.len(), 22);
        assert_eq!(WEIGHERS.len() + WEIGHERS_NOT_BUILT.len(), 13);
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
    fn a_name_of_novas_that_is_not_built_says_so() {
        let error = filters(&names(&["JsonFilter"])).err().unwrap();
        assert!(error.to_string().contains("not part of this version"));
    }

    #[test]
    fn all_weighers_are_all_there_are() {
        assert_eq!(weighers(&names(&["all_weighers"])).unwrap().len(), WEIGHERS.len());
    }
}
