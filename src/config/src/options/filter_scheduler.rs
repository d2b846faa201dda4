//! `[filter_scheduler]` and `[metrics]`: which filters and weighers there are
//! and what they are told.

use super::list;
use crate::macros::{choice, section};

const GOING_AWAY: &str = "image properties are better matched by traits";

choice! {
    /// How raw weights become numbers from 0 to 1.
    WeightNormalization {
        /// The lowest host 0, the highest 1, all equal 0.
        MinMax = "min_max",
        /// RAM, CPU, disk and IO weights are counted from 0, as Nova does.
        Nova = "nova",
    }
}

section! {
    /// Filters and weighers.
    filter_scheduler: FilterScheduler = "filter_scheduler" {
        /// One of this many best hosts is drawn at random for each instance.
        host_subset_size: u32 = 1, at_least(1), mutable;
        /// A host with this many IO operations under way takes no instance
        /// (IoOpsFilter).
        max_io_ops_per_host: i64 = 8, min(0.0), mutable;
        /// A host with this many instances takes no more (NumInstancesFilter).
        max_instances_per_host: i64 = 50, min(1.0), mutable;
        /// Follow what hosts tell of their instances, which filters that compare
        /// instances need. Always done; the option is accepted and changes nothing.
        track_instance_changes: bool = true;
        /// Filters that enabled_filters may name, one per line; all_filters: every
        /// one there is. Python class paths are read by their last part.
        available_filters: Vec<String> = list(&["all_filters"]), multi, class_path, mutable,
            older(&[("DEFAULT", "scheduler_available_filters")]);
        /// Filters in the order in which hosts pass through them.
        enabled_filters: Vec<String> = list(&[
            "ComputeFilter",
            "ComputeCapabilitiesFilter",
            "ImagePropertiesFilter",
            "ServerGroupAntiAffinityFilter",
            "ServerGroupAffinityFilter",
        ]), class_path, mutable, older(&[("DEFAULT", "scheduler_default_filters")]);
        /// Weighers in use; all_weighers: every one there is. Python class paths are
        /// read by their last part.
        weight_classes: Vec<String> = list(&["all_weighers"]), class_path, mutable,
            older(&[("DEFAULT", "scheduler_weight_classes")]);
        /// How raw weights become numbers from 0 to 1: min_max gives the lowest host
        /// 0, the highest 1 and equal hosts 0; nova counts RAM, CPU, disk and IO
        /// weights from 0, so that equal positive hosts get 1.
        weight_normalization: WeightNormalization = WeightNormalization::MinMax, mutable;
        /// Multiplier of free memory; negative packs.
        ram_weight_multiplier: f64 = 1.0, mutable;
        /// Multiplier of free virtual CPUs; negative packs.
        cpu_weight_multiplier: f64 = 1.0, mutable;
        /// Multiplier of free disk; negative packs.
        disk_weight_multiplier: f64 = 1.0, mutable;
        /// Multiplier of the hypervisor's version; negative prefers older ones.
        hypervisor_version_weight_multiplier: f64 = 1.0, mutable;
        /// Multiplier of the number of instances; negative spreads.
        num_instances_weight_multiplier: f64 = 0.0, mutable;
        /// Multiplier of IO operations under way; negative prefers idle hosts.
        io_ops_weight_multiplier: f64 = -1.0, mutable;
        /// Multiplier of instances whose images share properties with the request's.
        image_props_weight_multiplier: f64 = 0.0, mutable;
        /// Image properties that count and by how much, as property=number; empty:
        /// every one counts 1.
        image_props_weight_setting: Vec<String> = Vec::new(), mutable, weights;
        /// Multiplier that keeps hosts with PCI devices for requests that need them.
        pci_weight_multiplier: f64 = 1.0, min(0.0), mutable;
        /// Multiplier of group members on the host, for soft-affinity.
        soft_affinity_weight_multiplier: f64 = 1.0, min(0.0), mutable;
        /// Multiplier of group members off the host, for soft-anti-affinity.
        soft_anti_affinity_weight_multiplier: f64 = 1.0, min(0.0), mutable;
        /// Multiplier that puts hosts with failed builds behind the others.
        build_failure_weight_multiplier: f64 = 1_000_000.0, mutable;
        /// Multiplier that keeps a move in its cell; negative sends it to another.
        cross_cell_move_weight_multiplier: f64 = 1_000_000.0, mutable;
        /// Put hosts that share the highest weight in random order.
        shuffle_best_same_weighed_hosts: bool = false, mutable;
        /// Architecture of images that name none (ImagePropertiesFilter).
        image_properties_default_architecture: Option<String> = None, mutable, one_of(&[
            "alpha", "armv6", "armv7l", "armv7b", "aarch64", "cris", "i686", "ia64", "lm32",
            "m68k", "microblaze", "microblazeel", "mips", "mipsel", "mips64", "mips64el",
            "openrisc", "parisc", "parisc64", "ppc", "ppcle", "ppc64", "ppc64le", "ppcemb",
            "s390", "s390x", "sh4", "sh4eb", "sparc", "sparc64", "unicore32", "x86_64",
            "xtensa", "xtensaeb",
        ]);
        /// Images that may run on isolated_hosts only, by uuid (IsolatedHostsFilter).
        isolated_images: Vec<String> = Vec::new(), mutable;
        /// Hosts that take isolated_images.
        isolated_hosts: Vec<String> = Vec::new(), mutable;
        /// Keep other images off isolated_hosts.
        restrict_isolated_hosts_to_isolated_images: bool = true, mutable;
        /// Only metadata keys that begin with this and the separator are compared
        /// (AggregateImagePropertiesIsolation).
        aggregate_image_properties_isolation_namespace: Option<String> = None, mutable,
            going_away(GOING_AWAY);
        /// What stands between the namespace and the rest of a key.
        aggregate_image_properties_isolation_separator: String = ".".to_owned(), mutable,
            going_away(GOING_AWAY);
        /// Ask the ledger for the PCI devices that a flavor names.
        pci_in_placement: bool = false, mutable;
    }
}

section! {
    /// MetricsFilter and MetricsWeigher.
    metrics: Metrics = "metrics" {
        /// Multiplier of the weighed metrics.
        weight_multiplier: f64 = 1.0, mutable;
        /// Metrics that count and by how much, as name=ratio.
        weight_setting: Vec<String> = Vec::new(), mutable, weights;
        /// Fail when a host lacks one of the metrics; false: it weighs
        /// weight_of_unavailable.
        required: bool = true, mutable;
        /// Weight of a host that lacks a metric.
        weight_of_unavailable: f64 = -10_000.0, mutable;
    }
}
