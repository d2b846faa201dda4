//! What other services tell of the cloud, in casts and notifications: taken up
//! so that repeated and reordered word leads to the same state.
//!
//! Each fact bears the time at which its sender said so. The ledger keeps, as
//! stamps, how new its knowledge of a thing is, and passes over what is older.

mod aggregates;
mod builds;
mod cells;
mod check;
mod groups;
mod hosts;
mod instances;
mod services;
mod stamps;
mod work;

use std::collections::BTreeMap;

use stowplan_ledger::{Change, Image};
use stowplan_model::host::MetricReport;
use stowplan_model::{Micros, Uuid};

use crate::error::SchedulerError;
pub(crate) use groups::{followed_group, followed_groups};
pub(crate) use stamps::forget;

/// A fact, and when its sender said so.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// The fact.
    pub fact: Fact,
    /// By the sender's clock.
    pub at: Micros,
}

/// A host with its node, where that is named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The host.
    pub host: String,
    /// The node; none means the only one.
    pub node: Option<String>,
}

/// What is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// Monitor metrics of a node: all of them.
    Metrics {
        /// The node.
        place: Place,
        /// Its address.
        host_ip: Option<String>,
        /// The metrics.
        metrics: Vec<MetricReport>,
    },
    /// A service as it is.
    Service(ServiceFact),
    /// A service that is gone.
    ServiceGone {
        /// Its host.
        host: String,
        /// Its program.
        binary: String,
    },
    /// A host aggregate as it is.
    Aggregate(AggregateFact),
    /// A host aggregate that is gone.
    AggregateGone {
        /// Its uuid.
        uuid: Option<Uuid>,
        /// Its id with its service.
        external_id: Option<i64>,
    },
    /// A cell as it is.
    Cell(CellFact),
    /// A server group as it is.
    Group(GroupFact),
    /// A server group that is gone.
    GroupGone(Uuid),
    /// All instances of a host.
    Instances {
        /// The host.
        host: String,
        /// Their uuids.
        instances: Vec<Uuid>,
    },
    /// An instance as it is.
    Instance {
        /// The instance.
        instance: Uuid,
        /// Where it is.
        place: Place,
        /// Whether it makes its host read and write much.
        busy: bool,
    },
    /// An instance that is on a host; nothing is said of what it does.
    Came {
        /// The instance.
        instance: Uuid,
        /// Where it is.
        place: Place,
    },
    /// An instance that is not on a host.
    Left {
        /// The instance.
        instance: Uuid,
        /// Where it is not.
        host: String,
    },
    /// An instance that does nothing anywhere.
    Idle(Uuid),
    /// A build that came to its end.
    Built {
        /// The node.
        place: Place,
        /// The instance.
        instance: Uuid,
        /// Whether it failed.
        failed: bool,
    },
}

/// A service as its notification tells of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceFact {
    /// Its host.
    pub host: String,
    /// Its program.
    pub binary: String,
    /// Its version, 0 when not known.
    pub version: i64,
    /// Takes no new servers.
    pub disabled: bool,
    /// Why.
    pub disabled_reason: Option<String>,
    /// Declared down.
    pub forced_down: bool,
}

/// A host aggregate as its service tells of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AggregateFact {
    /// Its id with its service.
    pub external_id: Option<i64>,
    /// Its uuid.
    pub uuid: Option<Uuid>,
    /// Its name.
    pub name: String,
    /// Its hosts.
    pub hosts: Vec<String>,
    /// Its metadata.
    pub metadata: BTreeMap<String, String>,
}

/// A cell as Nova's cell mappings have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellFact {
    /// Its uuid.
    pub uuid: Uuid,
    /// Its name.
    pub name: String,
    /// Whether its hosts are left out of scheduling.
    pub disabled: bool,
}

/// A server group as its service tells of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupFact {
    /// Its uuid.
    pub uuid: Uuid,
    /// Its name.
    pub name: String,
    /// Its policy.
    pub policy: String,
    /// Members on one host at most.
    pub max_server_per_host: Option<i64>,
    /// Its project.
    pub project: String,
    /// Its user.
    pub user: String,
    /// Members; those that are known already stay.
    pub members: Vec<Uuid>,
    /// Whether these are all: then only servers stay beside them, and the group goes
    /// once it is not told of any more.
    pub complete: bool,
}

impl Fact {
    /// The host that a fact is about, if it has to be known for it.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        let of = |host: &String| Some(Place { host: host.clone(), node: None });
        match self {
            Self::Metrics { place, .. }
            | Self::Instance { place, .. }
            | Self::Came { place, .. }
            | Self::Built { place, .. } => Some(place.clone()),
            Self::Service(service) => of(&service.host),
            Self::Instances { host, .. } | Self::Left { host, .. } => of(host),
            _ => None,
        }
    }
}

/// Takes a fact up. One that is older than what is known, or says nothing new,
/// changes nothing. Gives whether anything changed but the stamps.
///
/// # Errors
/// Fields that cannot be, a host that is not known, or what the ledger's rules
/// forbid.
pub fn learn(image: &Image, said: &Said, now: Micros) -> Result<(Change, bool), SchedulerError> {
    check::check(&said.fact)?;
    let mut lesson = stamps::Lesson::new(image, said.at, now);
    match &said.fact {
        Fact::Metrics { place, host_ip, metrics } => {
            hosts::metrics(&mut lesson, place, host_ip.as_deref(), metrics)?;
        }
        Fact::Service(service) => services::is(&mut lesson, service)?,
        Fact::ServiceGone { host, binary } => services::gone(&mut lesson, host, binary)?,
        Fact::Aggregate(aggregate) => aggregates::is(&mut lesson, aggregate)?,
        Fact::AggregateGone { uuid, external_id } => {
            aggregates::gone(&mut lesson, *uuid, *external_id);
        }
        Fact::Cell(cell) => cells::is(&mut lesson, cell),
        Fact::Group(group) => groups::is(&mut lesson, group),
        Fact::GroupGone(uuid) => groups::gone(&mut lesson, *uuid),
        Fact::Instances { host, instances } => instances::all(&mut lesson, host, instances)?,
        Fact::Instance { instance, place, busy } => {
            instances::is_on(&mut lesson, *instance, place)?;
            work::does(&mut lesson, *instance, Some(place).filter(|_| *busy))?;
        }
        Fact::Came { instance, place } => instances::is_on(&mut lesson, *instance, place)?,
        Fact::Left { instance, host } => {
            instances::left(&mut lesson, *instance, host)?;
            work::left(&mut lesson, *instance, host);
        }
        Fact::Idle(instance) => work::does(&mut lesson, *instance, None)?,
        Fact::Built { place, instance, failed } => {
            builds::ended(&mut lesson, place, *instance, *failed)?;
        }
    }
    Ok(lesson.finish())
}
