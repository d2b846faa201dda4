//! The table of options: one file per area, and the snapshot of them all.

mod api;
mod batch;
mod clients;
mod compute;
mod cors;
mod database;
mod default;
mod filter_scheduler;
mod ledger;
mod messaging;
mod nova;
mod placement;
mod scheduler;

use std::collections::BTreeMap;

pub use api::{Api, AuthStrategy, OsloMiddleware, OsloPolicy};
pub use batch::{Batch, BatchTotal};
pub use clients::{AuthType, KeystoneAuthtoken, Login, Neutron};
pub use compute::{Compute, NotificationFormat, Notifications, Quota, UpgradeLevels, Workarounds};
pub use cors::Cors;
pub use database::PlacementDatabase;
pub use default::DefaultSection;
pub use filter_scheduler::{FilterScheduler, Metrics, WeightNormalization};
pub use ledger::{Decisions, Ledger, ReadConsistency};
pub use messaging::{
    Events, FailoverStrategy, LoginMethod, NotificationsIn, OsloNotifications, Rabbit, Rpc,
};
pub use nova::Nova;
pub use placement::{CandidatesStrategy, Placement};
pub use scheduler::{Mode, Scheduler};

use crate::spec::{OptionSpec, SectionSpec};

/// Declares the snapshot: one field per section, in the order of the sample.
macro_rules! settings {
    ($( $(#[doc = $about:literal])+ $field:ident: $section:ident, )+) => {
        /// Every option with its value in force: `settings.<section>.<option>`.
        ///
        /// Immutable once loaded; a reload makes another one.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Settings {
            $( $(#[doc = $about])+ pub $field: $section, )+
            /// The free keys of each `[batch:<plugin>]` section, by plugin.
            pub batch_plugins: BTreeMap<String, BTreeMap<String, String>>,
        }

        /// All sections, in the order of the sample.
        pub const SECTIONS: &[SectionSpec] = &[$( $section::SPEC, )+];
    };
}

settings! {
    /// `[DEFAULT]`
    default: DefaultSection,
    /// `[api]`
    api: Api,
    /// `[placement]`
    placement: Placement,
    /// `[placement_database]`
    placement_database: PlacementDatabase,
    /// `[ledger]`
    ledger: Ledger,
    /// `[decisions]`
    decisions: Decisions,
    /// `[scheduler]`
    scheduler: Scheduler,
    /// `[filter_scheduler]`
    filter_scheduler: FilterScheduler,
    /// `[metrics]`
    metrics: Metrics,
    /// `[batch]`
    batch: Batch,
    /// `[compute]`
    compute: Compute,
    /// `[quota]`
    quota: Quota,
    /// `[workarounds]`
    workarounds: Workarounds,
    /// `[upgrade_levels]`
    upgrade_levels: UpgradeLevels,
    /// `[notifications]`
    notifications: Notifications,
    /// `[oslo_messaging_rabbit]`
    oslo_messaging_rabbit: Rabbit,
    /// `[oslo_messaging_notifications]`
    oslo_messaging_notifications: OsloNotifications,
    /// `[stowplan_rpc]`
    stowplan_rpc: Rpc,
    /// `[stowplan_notifications]`
    stowplan_notifications: NotificationsIn,
    /// `[stowplan_events]`
    stowplan_events: Events,
    /// `[keystone_authtoken]`
    keystone_authtoken: KeystoneAuthtoken,
    /// `[neutron]`
    neutron: Neutron,
    /// `[nova]`
    nova: Nova,
    /// `[oslo_middleware]`
    oslo_middleware: OsloMiddleware,
    /// `[oslo_policy]`
    oslo_policy: OsloPolicy,
    /// `[cors]`
    cors: Cors,
}

/// Every option of the table, section by section.
pub fn options() -> impl Iterator<Item = &'static OptionSpec> {
    SECTIONS.iter().flat_map(|section| section.options)
}

/// A list of texts.
fn list(items: &[&str]) -> Vec<String> {
    items.iter().map(|item| (*item).to_owned()).collect()
}
