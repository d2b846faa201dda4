//! Sections of nova.conf of which a scheduler reads a few options.

use super::list;
use crate::macros::{choice, section};

section! {
    /// Options of compute services that the scheduler reads too.
    compute: Compute = "compute" {
        /// Fill the NUMA cells of a host one after the other; false: spread.
        packing_host_numa_cells_allocation_strategy: bool = false, mutable;
        /// Failed builds in a row after which a compute service counts as failing;
        /// 0: hosts' failed builds are not looked at.
        consecutive_build_service_disable_threshold: i64 = 10, min(0.0), mutable;
    }
}

section! {
    /// How much one project may have.
    quota: Quota = "quota" {
        /// Server groups that a project may make over the compute API; -1: any
        /// number.
        server_groups: i64 = 10, min(-1.0), mutable, older(&[("DEFAULT", "quota_server_groups")]);
    }
}

section! {
    /// Switches for particular sites.
    workarounds: Workarounds = "workarounds" {
        /// Do not offer shared CPUs of older hosts to requests for dedicated ones.
        disable_fallback_pcpu_query: bool = false, mutable;
        /// Do not check groups again on compute hosts. The scheduler checks them at
        /// the claim; the option is accepted and changes nothing.
        disable_group_policy_check_upcall: bool = false;
        /// Give up a choice of providers as soon as a part of it is more than they
        /// have, rather than when it is complete. Always done; the option is accepted
        /// and changes nothing.
        optimize_for_wide_provider_trees: bool = false;
    }
}

section! {
    /// Versions spoken while services of several releases run.
    upgrade_levels: UpgradeLevels = "upgrade_levels" {
        /// Highest version that clients of the scheduler speak; unset: the newest. All
        /// that were ever spoken are answered; the option is accepted and changes
        /// nothing.
        scheduler: Option<String> = None;
    }
}

choice! {
    /// Which form of notifications is sent.
    NotificationFormat {
        /// The old form.
        Unversioned = "unversioned",
        /// The form with versions.
        Versioned = "versioned",
        /// Both.
        Both = "both",
    }
}

section! {
    /// Notifications sent to the message bus.
    notifications: Notifications = "notifications" {
        /// Which form of notifications is sent.
        notification_format: NotificationFormat = NotificationFormat::Unversioned;
        /// Topics of versioned notifications.
        versioned_notifications_topics: Vec<String> = list(&["versioned_notifications"]);
    }
}
