//! `[scheduler]`: how a request becomes candidates and claims.

use crate::macros::{choice, section};

choice! {
    /// What is done with calls that come over the message bus.
    Mode {
        /// They are answered.
        Active = "active",
        /// Copies of them are decided and compared with what the scheduler beside us
        /// does; nothing is claimed or answered.
        Shadow = "shadow",
    }
}

section! {
    /// How a request becomes candidates and claims.
    scheduler: Scheduler = "scheduler" {
        /// What is done with calls that come over the message bus: active answers
        /// them; shadow decides copies of them, claims and answers nothing, and
        /// compares with what another scheduler has done.
        mode: Mode = Mode::Active;
        /// How often a request is decided, at most, when its claims lose races. For
        /// calls over the message bus also the hosts given for each instance: the
        /// choice and its alternates; over REST the body's alternates say how many.
        max_attempts: u32 = 3, min(1.0), mutable;
        /// Most hosts that are looked at for one request; unset: all that have a
        /// candidate. A query to another Placement service bears 1000 when unset.
        max_placement_results: Option<u32> = None, min(1.0), mutable;
        /// Preferred hosts of a scheduling hint that are tried; those further behind
        /// in its list are passed over.
        max_hint_nodes: u32 = 100, min(1.0), mutable;
        /// Seconds within which the claim of a new server must be confirmed: by a report
        /// of its host that lists it, or by POST /v1/decisions/{id}/confirm; after
        /// that it is released. 0: claims stay until somebody releases them.
        claim_lease: u32 = 0, mutable;
        /// Seconds between two searches for new hosts. Hosts are known as soon as
        /// they report; the option is accepted and changes nothing.
        discover_hosts_in_cells_interval: i64 = -1, min(-1.0);
        /// Processes of the scheduler. Requests are served by the threads of [api]
        /// workers; the option is accepted and changes nothing.
        workers: Option<u32> = None;
        /// Keep servers within the segments of the routed networks that they attach to.
        /// Which these are Neutron is asked ([neutron]).
        query_placement_for_routed_network_aggregates: bool = false;
        /// Restrict projects to the host aggregates whose metadata names them under a
        /// key that begins with filter_tenant_id.
        limit_tenants_to_placement_aggregate: bool = false, mutable;
        /// Refuse a project that no host aggregate names, if projects are restricted.
        placement_aggregate_required_for_tenants: bool = false, mutable;
        /// Ask for hosts that support the disk format of the image.
        query_placement_for_image_type_support: bool = false, mutable;
        /// Keep flavors and images without the required traits of a host aggregate
        /// (metadata trait:NAME=required) off its hosts.
        enable_isolated_aggregate_filtering: bool = false, mutable;
        /// Ask for hosts that support the buses and models named by the image.
        image_metadata_prefilter: bool = false, mutable;
    }
}
