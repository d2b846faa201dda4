//! The table of the Placement API's operations: rule of the policy, the
//! microversion that brought it, the media type that it reads or gives.

use crate::{failure::Code, version::Feature};

/// What an operation does with media types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    /// Answers with JSON, so the caller must accept it.
    Gives,
    /// Reads JSON, so the body must be it.
    Reads,
    /// Reads JSON before that feature, and nothing from then on.
    ReadsBefore(Feature),
    /// Neither.
    Neither,
}

/// What a call is about, for its rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// The caller's own project.
    Own,
    /// The project that the query names.
    QueryProject,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The rule that guards it.
    pub rule: &'static str,
    /// What brought it.
    pub since: Feature,
    /// How a call in an older microversion is refused.
    pub before: Code,
    /// What it does with media types.
    pub media: Media,
    /// What its rule is asked about.
    pub about: About,
}

impl Row {
    const fn new(rule: &'static str, since: Feature, media: Media) -> Self {
        Self { rule, since, before: Code::NotFound, media, about: About::Own }
    }

    const fn refused_with(self, before: Code) -> Self {
        Self { before, ..self }
    }

    const fn about(self, about: About) -> Self {
        Self { about, ..self }
    }
}

/// An operation, as the type of a handler's call.
pub trait Operation: 'static {
    /// Its row.
    const ROW: Row;
}

macro_rules! operations {
    ($($name:ident: $rule:literal, $since:ident, $media:expr $(, $more:ident($($argument:expr),*))*;)+) => {
        $(
            #[doc = concat!("`placement:", $rule, "`.")]
            #[derive(Debug)]
            pub struct $name;

            impl Operation for $name {
                const ROW: Row = Row::new(concat!("placement:", $rule), Feature::$since, $media)
                    $(.$more($($argument),*))*;
            }
        )+

        /// Every row.
        #[cfg(test)]
        pub const ROWS: &[Row] = &[$($name::ROW),+];
    };
}

use Media::{Gives, Neither, Reads, ReadsBefore};

operations! {
    ListProviders: "resource_providers:list", Always, Gives;
    CreateProvider: "resource_providers:create", Always, Reads;
    ShowProvider: "resource_providers:show", Always, Gives;
    UpdateProvider: "resource_providers:update", Always, Reads;
    DeleteProvider: "resource_providers:delete", Always, Neither;

    ListInventories: "resource_providers:inventories:list", Always, Gives;
    CreateInventory: "resource_providers:inventories:create", Always, Reads;
    SetInventories: "resource_providers:inventories:update", Always, Reads;
    DeleteInventories: "resource_providers:inventories:delete", DeleteInventories, Neither,
        refused_with(Code::MethodNotAllowed);
    ShowInventory: "resource_providers:inventories:show", Always, Gives;
    UpdateInventory: "resource_providers:inventories:update", Always, Reads;
    DeleteInventory: "resource_providers:inventories:delete", Always, Neither;

    ListAggregates: "resource_providers:aggregates:list", Aggregates, Gives;
    SetAggregates: "resource_providers:aggregates:update", Aggregates, Reads;

    ListProviderTraits: "resource_providers:traits:list", Traits, Gives;
    SetProviderTraits: "resource_providers:traits:update", Traits, Reads;
    DeleteProviderTraits: "resource_providers:traits:delete", Traits, Neither;

    ProviderUsages: "resource_providers:usages", Always, Gives;
    ProviderAllocations: "resource_providers:allocations:list", Always, Gives;

    ListClasses: "resource_classes:list", ResourceClasses, Gives;
    CreateClass: "resource_classes:create", ResourceClasses, Reads;
    ShowClass: "resource_classes:show", ResourceClasses, Gives;
    UpdateClass: "resource_classes:update", ResourceClasses, ReadsBefore(Feature::BodilessClass);
    DeleteClass: "resource_classes:delete", ResourceClasses, Neither;

    ListTraits: "traits:list", Traits, Gives;
    ShowTrait: "traits:show", Traits, Neither;
    PutTrait: "traits:update", Traits, Neither;
    DeleteTrait: "traits:delete", Traits, Neither;

    ShowAllocations: "allocations:list", Always, Gives;
    PutAllocations: "allocations:update", Always, Reads;
    DeleteAllocations: "allocations:delete", Always, Neither;
    PostAllocations: "allocations:manage", PostAllocations, Reads;

    ListCandidates: "allocation_candidates:list", Candidates, Gives;
    TotalUsages: "usages", Usages, Gives, about(About::QueryProject);
    Reshape: "reshaper:reshape", Reshaper, Reads;
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
