//! The table of the compute API's operations: rule of the policy, the
//! microversions that have it, whether it reads a body, its query.

use super::query::{self, Accepted};
use super::version::Feature;

/// What a call is about, for its rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// The cloud, and no project.
    Cloud,
    /// The caller's own project.
    Own,
    /// What the handler finds: it asks the policy itself.
    Found,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The rule that guards it.
    pub rule: &'static str,
    /// What its rule is asked about.
    pub about: About,
    /// What brought it.
    pub since: Feature,
    /// What took it away.
    pub until: Option<Feature>,
    /// Whether it reads a JSON body.
    pub reads: bool,
    /// The parameters of its query.
    pub query: &'static Accepted,
}

impl Row {
    const fn new(rule: &'static str) -> Self {
        let (since, query) = (Feature::Always, &query::ANY);
        Self { rule, about: About::Cloud, since, until: None, reads: false, query }
    }

    const fn about(self, about: About) -> Self {
        Self { about, ..self }
    }

    const fn since(self, since: Feature) -> Self {
        Self { since, ..self }
    }

    const fn until(self, until: Feature) -> Self {
        Self { until: Some(until), ..self }
    }

    const fn reads(self) -> Self {
        Self { reads: true, ..self }
    }

    const fn query(self, query: &'static Accepted) -> Self {
        Self { query, ..self }
    }
}

/// An operation, as the type of a handler's call.
pub trait Operation: 'static {
    /// Its row.
    const ROW: Row;
}

macro_rules! operations {
    ($($name:ident: $rule:literal $(, $more:ident($($argument:expr),*))*;)+) => {
        $(
            #[doc = concat!("`", $rule, "`.")]
            #[derive(Debug)]
            pub struct $name;

            impl Operation for $name {
                const ROW: Row = Row::new($rule)$(.$more($($argument),*))*;
            }
        )+

        /// Every row.
        #[cfg(test)]
        pub const ROWS: &[Row] = &[$($name::ROW),+];
    };
}

operations! {
    ListAggregates: "os_compute_api:os-aggregates:index", query(&query::NONE);
    CreateAggregate: "os_compute_api:os-aggregates:create", reads();
    ShowAggregate: "os_compute_api:os-aggregates:show", query(&query::NONE);
    UpdateAggregate: "os_compute_api:os-aggregates:update", reads();
    DeleteAggregate: "os_compute_api:os-aggregates:delete";
    // The body says which action it is, and each has a rule of its own.
    ActOnAggregate: "os_compute_api:os-aggregates:add_host", reads(), about(About::Found);
    CacheImages: "compute:aggregates:images", reads(), since(Feature::CachedImages);

    ListGroups: "os_compute_api:os-server-groups:index", about(About::Own), query(&query::GROUPS);
    CreateGroup: "os_compute_api:os-server-groups:create", about(About::Own), reads();
    ShowGroup: "os_compute_api:os-server-groups:show", about(About::Found), query(&query::NONE);
    DeleteGroup: "os_compute_api:os-server-groups:delete", about(About::Found);

    ListZones: "os_compute_api:os-availability-zone:list", query(&query::NONE);
    DetailZones: "os_compute_api:os-availability-zone:detail", query(&query::NONE);

    ListHypervisors: "os_compute_api:os-hypervisors:list", query(&query::HYPERVISORS);
    DetailHypervisors: "os_compute_api:os-hypervisors:list-detail", query(&query::HYPERVISORS);
    ShowHypervisor: "os_compute_api:os-hypervisors:show", query(&query::HYPERVISOR);
    Statistics: "os_compute_api:os-hypervisors:statistics", until(Feature::Uptime);
    ShowUptime: "os_compute_api:os-hypervisors:uptime", until(Feature::Uptime);
    SearchHypervisors: "os_compute_api:os-hypervisors:search", until(Feature::Uuids);
    ListServers: "os_compute_api:os-hypervisors:servers", until(Feature::Uuids);

    ListServices: "os_compute_api:os-services:list", query(&query::SERVICES);
    UpdateService: "os_compute_api:os-services:update", reads();
    DeleteService: "os_compute_api:os-services:delete";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::defaults;

    #[test]
    fn every_rule_of_the_table_has_a_default() {
        for row in ROWS {
            assert!(defaults().any(|rule| rule.name == row.rule), "{}", row.rule);
        }
    }
}
