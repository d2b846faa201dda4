//! What the scheduler refuses, with status and code in one table.

use stowplan_engine::StageFault;
use stowplan_model::Uuid;
use stowplan_placement::PlacementError;
use thiserror::Error;

use crate::fields::FieldErrors;
use crate::select::Refusal;

/// Why a request is not done. The text is the `detail` that clients see.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SchedulerError {
    /// Fields of the request are not as they must be.
    #[error("{0}")]
    Fields(FieldErrors),

    // Hosts.
    /// No such host.
    #[error("there is no host {host}")]
    HostNotFound {
        /// The name that was asked for.
        host: String,
    },
    /// The host has no such node.
    #[error("host {host} has no node {node}; its nodes: {nodes}")]
    NodeNotFound {
        /// The host.
        host: String,
        /// The node that was asked for.
        node: String,
        /// The nodes that it has, separated by commas.
        nodes: String,
    },
    /// The host has several nodes and none was named.
    #[error("host {host} has several nodes, name one of them with ?node=: {nodes}")]
    SeveralNodes {
        /// The host.
        host: String,
        /// Its nodes, separated by commas.
        nodes: String,
    },
    /// The host is known under another uuid.
    #[error(
        "host {host}, node {node} is known as {known}, the report says {given}; \
         delete the host first if it is another machine now"
    )]
    HostUuid {
        /// The host.
        host: String,
        /// Its node.
        node: String,
        /// The uuid it is known by.
        known: Uuid,
        /// The uuid reported.
        given: Uuid,
    },
    /// Another host has the uuid.
    #[error("uuid {uuid} belongs to host {host}, node {node}")]
    UuidTaken {
        /// The uuid.
        uuid: Uuid,
        /// The host that has it.
        host: String,
        /// Its node.
        node: String,
    },
    /// Another host's service has the uuid.
    #[error("service.uuid {uuid} belongs to the service {binary} of host {host}")]
    ServiceUuidTaken {
        /// The uuid.
        uuid: Uuid,
        /// The host whose service has it.
        host: String,
        /// That service's program.
        binary: String,
    },
    /// Another provider bears the name.
    #[error("resource provider name {name} is taken by {holder}")]
    ProviderName {
        /// The name.
        name: String,
        /// The provider that has it.
        holder: Uuid,
    },
    /// The provider of that uuid is no root.
    #[error("resource provider {uuid} stands below {parent}: a host is the root of its tree")]
    NotARoot {
        /// The provider.
        uuid: Uuid,
        /// Its parent.
        parent: Uuid,
    },
    /// Somebody else writes the inventory of the host's root provider.
    #[error(
        "the inventory of {host} is written by clients of the Placement API; \
         leave `inventory` out of the report, or take it over with ?take_over=true"
    )]
    InventoryOwned {
        /// The node's name.
        host: String,
    },
    /// Inventory that is to go is in use.
    #[error("{classes} of resource provider {provider} cannot go from its inventory: in use")]
    InventoryInUse {
        /// The provider's name.
        provider: String,
        /// The classes, separated by commas.
        classes: String,
    },
    /// The host has allocations.
    #[error("host {host} has allocations of {count} consumers: {}{}", first.join(", "),
        if *count > first.len() { ", ..." } else { "" })]
    HostInUse {
        /// The node's name.
        host: String,
        /// How many consumers hold something there.
        count: usize,
        /// The first of them, by uuid.
        first: Vec<String>,
    },

    // Services.
    /// No such service.
    #[error("there is no service {0}")]
    ServiceNotFound(String),
    /// The service runs no servers.
    #[error("service {binary} of host {host} cannot be changed: only nova-compute can")]
    ServiceKind {
        /// Its host.
        host: String,
        /// Its program.
        binary: String,
    },
    /// The service's host has servers, or somebody holds something there.
    #[error("host {host} has {count} servers or other consumers: {}{}", first.join(", "),
        if *count > first.len() { ", ..." } else { "" })]
    ServiceInUse {
        /// The host.
        host: String,
        /// How many they are.
        count: usize,
        /// The first of them, by uuid.
        first: Vec<String>,
    },

    // Host aggregates and server groups.
    /// No such host aggregate.
    #[error("there is no host aggregate {0}")]
    AggregateNotFound(String),
    /// The name of the aggregate is taken.
    #[error("a host aggregate named {0} exists already")]
    AggregateName(String),
    /// The aggregate still has hosts.
    #[error("host aggregate {name} has hosts: {hosts}")]
    AggregateNotEmpty {
        /// Its name.
        name: String,
        /// Its hosts, separated by commas.
        hosts: String,
    },
    /// The host is in the aggregate already.
    #[error("host {host} is in host aggregate {name} already")]
    InAggregate {
        /// The host.
        host: String,
        /// The aggregate's name.
        name: String,
    },
    /// The host is not in the aggregate.
    #[error("host {host} is not in host aggregate {name}")]
    NotInAggregate {
        /// The host.
        host: String,
        /// The aggregate's name.
        name: String,
    },
    /// A host would be in two zones.
    #[error(
        "host {host} is in availability zone {there} by host aggregate {other}: \
         it cannot be in {wanted} too"
    )]
    ZoneConflict {
        /// The host.
        host: String,
        /// The zone that it is in.
        there: String,
        /// The aggregate that puts it there.
        other: String,
        /// The zone that it would be in.
        wanted: String,
    },
    /// A host with servers would change its zone.
    #[error("host {host} has servers: its availability zone cannot change from {from} to {to}")]
    ZoneInUse {
        /// The host.
        host: String,
        /// The zone it is in.
        from: String,
        /// The zone it would be in.
        to: String,
    },
    /// No such server group.
    #[error("there is no server group {0}")]
    GroupNotFound(String),
    /// The project has as many server groups as it may.
    #[error("project {project} has {count} server groups, and may have {limit}")]
    GroupQuota {
        /// The project.
        project: String,
        /// How many it has.
        count: usize,
        /// How many it may have.
        limit: i64,
    },
    /// A compute service is too old for the rules of a group.
    #[error(
        "rules.max_server_per_host is {limit}: expected 1 at most, for the service of host {host} \
         has version {version} and does not know this rule before {needed}"
    )]
    GroupRulesTooNew {
        /// How many members a host may hold.
        limit: i64,
        /// The host with the oldest service.
        host: String,
        /// The version of that service.
        version: i64,
        /// The version that knows the rule.
        needed: i64,
    },

    // Destinations.
    /// No such availability zone.
    #[error("there is no availability zone {0}")]
    ZoneNotFound(String),
    /// The server holds something already, and another claim was meant.
    #[error("instance {instance} changed while its destination was chosen")]
    InstanceChanged {
        /// The instance.
        instance: Uuid,
    },
    /// What holds something under the server's uuid is another thing.
    #[error("instance {instance} cannot be placed: {what} holds allocations under its uuid")]
    InstanceIsOther {
        /// The instance.
        instance: Uuid,
        /// What it is.
        what: String,
    },
    /// The request cannot be judged: the peer would fail it too.
    #[error("{0}")]
    Request(String),
    /// A segment of a routed network that no host can be known to reach.
    #[error("Neutron routed networks configuration is invalid: {0}.")]
    RoutedNetworks(String),
    /// Neutron does not answer what a request needs to know.
    #[error("{0}")]
    NeutronAway(String),
    /// No valid host.
    #[error("{0}")]
    NoValidHost(Box<Refusal>),
    /// The key of a request was used for another one.
    #[error("Idempotency-Key is {0:?}: expected one that no other request was sent with")]
    KeyReused(String),
    /// No such decision.
    #[error("there is no decision {0}")]
    DecisionNotFound(String),
    /// A decision that claimed nothing cannot be confirmed.
    #[error("decision {decision} claimed nothing: its outcome is {outcome}, expected placed")]
    NothingClaimed {
        /// The decision.
        decision: Uuid,
        /// How it ended.
        outcome: String,
    },
    /// A rule of the Placement API.
    #[error("{0}")]
    Placement(#[from] PlacementError),
}

impl SchedulerError {
    /// HTTP status of the refusal.
    #[must_use]
    pub fn status(&self) -> u16 {
        use SchedulerError as E;
        match self {
            E::Fields(_) | E::ZoneNotFound(_) | E::Request(_) | E::ServiceKind { .. } => 400,
            E::GroupQuota { .. } => 403,
            E::HostNotFound { .. }
            | E::NodeNotFound { .. }
            | E::ServiceNotFound(_)
            | E::AggregateNotFound(_)
            | E::NotInAggregate { .. }
            | E::GroupNotFound(_)
            | E::DecisionNotFound(_) => 404,
            E::SeveralNodes { .. }
            | E::HostUuid { .. }
            | E::UuidTaken { .. }
            | E::ServiceUuidTaken { .. }
            | E::ProviderName { .. }
            | E::NotARoot { .. }
            | E::InventoryOwned { .. }
            | E::InventoryInUse { .. }
            | E::HostInUse { .. }
            | E::ServiceInUse { .. }
            | E::AggregateName(_)
            | E::InAggregate { .. }
            | E::AggregateNotEmpty { .. }
            | E::ZoneConflict { .. }
            | E::ZoneInUse { .. }
            | E::GroupRulesTooNew { .. }
            | E::InstanceChanged { .. }
            | E::InstanceIsOther { .. }
            | E::NothingClaimed { .. }
            | E::RoutedNetworks(_)
            | E::NoValidHost(_) => 409,
            E::KeyReused(_) => 422,
            E::NeutronAway(_) => 503,
            E::Placement(error) => error.status(),
        }
    }
}

impl From<FieldErrors> for SchedulerError {
    fn from(errors: FieldErrors) -> Self {
        Self::Fields(errors)
    }
}

impl From<StageFault> for SchedulerError {
    fn from(fault: StageFault) -> Self {
        Self::Request(fault.to_string())
    }
}
