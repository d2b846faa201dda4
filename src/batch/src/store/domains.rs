//! Topology domains: which hosts are near to each other, as operators declare
//! it.

mod check;
mod session;

pub use check::put_domain;
pub(super) use session::inputs;

use super::objects::{ObjectKind, find, of_kind};
use crate::error::BatchError;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use stowplan_ledger::Image;
use utoipa::ToSchema;

/// What kind of member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemberKind {
    /// A host.
    #[default]
    Host,
    /// A domain of a lower tier.
    Domain,
}

/// A member of a topology domain: a host by name, hosts by labels, or a domain
/// by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Member {
    /// What it is; without a word, a host.
    #[serde(rename = "type")]
    pub kind: MemberKind,
    /// Its name. It may be one that is not there yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// In place of a name: all hosts with these labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// What an operator says of a topology domain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct DomainRequest {
    /// How wide it is, from 1 to 100: hosts of a domain of a low tier are near
    /// to each other.
    #[schema(minimum = 1, maximum = 100)]
    pub tier: Option<i64>,
    /// A name for the tier, such as `rack`, which jobs may use in place of the
    /// number.
    pub tier_name: Option<String>,
    /// What is in it.
    pub members: Vec<Member>,
}

/// A topology domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TopologyDomain {
    /// Its name.
    pub domain: String,
    /// How wide it is.
    pub tier: i64,
    /// The tier's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier_name: Option<String>,
    /// What is in it.
    pub members: Vec<Member>,
}

impl TopologyDomain {
    /// Names of its members of a kind.
    pub fn names(&self, kind: MemberKind) -> impl Iterator<Item = &str> {
        let members = self.members.iter().filter(move |member| member.kind == kind);
        members.filter_map(|member| member.name.as_deref())
    }
}

/// Reads the body that puts a topology domain.
///
/// # Errors
/// Every field that is unknown, or whose value is not of its kind.
pub fn read_domain(body: &[u8]) -> Result<DomainRequest, BatchError> {
    Ok(stowplan_scheduler::body::read(body)?)
}

/// All topology domains, in order of creation.
pub fn domains(image: &Image) -> impl Iterator<Item = TopologyDomain> + '_ {
    of_kind(image, ObjectKind::Domain)
}

/// The topology domain of a name.
///
/// # Errors
/// When there is none.
pub fn domain(image: &Image, name: &str) -> Result<TopologyDomain, BatchError> {
    let row = find(image, ObjectKind::Domain, name)?;
    TopologyDomain::deserialize(&row.spec)
        .map_err(|_| BatchError::NoObject { kind: "topology domain", name: name.to_owned() })
}

/// Names of all hosts in a domain, those of its members included.
#[must_use]
pub fn hosts_of(image: &Image, domain: &TopologyDomain) -> BTreeSet<String> {
    let mut hosts = BTreeSet::new();
    let mut open = vec![domain.clone()];
    while let Some(at) = open.pop() {
        for member in at.members.iter().filter(|member| member.kind == MemberKind::Host) {
            let own = session::hosts(image, member);
            hosts.extend(own.map(|host| host.row.host.clone()));
        }
        // Members that are not of a lower tier are none: there is no circle.
        let below = at.names(MemberKind::Domain).filter_map(|name| self::domain(image, name).ok());
        open.extend(below.filter(|below| below.tier < at.tier));
    }
    hosts
}
