//! Whether a topology domain can be beside the others: domains form a tree, and
//! a host is in one of each tier at most.

use super::super::objects::{ObjectKind, put};
use super::{DomainRequest, Member, MemberKind, TopologyDomain, domains};
use crate::error::BatchError;
use crate::session::TOP;
use crate::spec::check_name;
use std::collections::{BTreeMap, BTreeSet};
use stowplan_ledger::{Change, Image};
use stowplan_model::Micros;
use stowplan_scheduler::fields::FieldErrors;

/// The highest tier.
const MAX_TIER: i64 = 100;
/// The most members.
const MAX_MEMBERS: usize = 10_000;

/// Puts a topology domain, and tells whether it is new.
///
/// # Errors
/// Fields that cannot be, beside the other domains or by themselves.
pub fn put_domain(
    image: &Image,
    name: &str,
    request: &DomainRequest,
    now: Micros,
) -> Result<(Change, bool), BatchError> {
    let mut errors = FieldErrors::default();
    check_name(&mut errors, "domain", name);
    let expected = "another name: this one is that of the domain of all hosts";
    errors.require(name != TOP, "domain", name, expected);
    let tier = request.tier.filter(|tier| (1..=MAX_TIER).contains(tier));
    let expected = format!("a whole number from 1 to {MAX_TIER}");
    errors.require(tier.is_some(), "tier", &request.tier, expected);
    if let Some(name) = &request.tier_name {
        check_name(&mut errors, "tier_name", name);
    }
    let count = request.members.len();
    let expected = format!("at most {MAX_MEMBERS} members");
    errors.require(count <= MAX_MEMBERS, "members", &count, expected);
    for (place, member) in request.members.iter().enumerate() {
        check_member(&mut errors, &format!("members[{place}]"), member);
    }
    let domain = TopologyDomain {
        domain: name.to_owned(),
        tier: tier.unwrap_or(1),
        tier_name: request.tier_name.clone(),
        members: request.members.clone(),
    };
    if errors.all().is_empty() {
        let others = domains(image).filter(|other| other.domain != name).collect();
        check_beside(&mut errors, &domain, others);
    }
    errors.into_result(())?;
    put(image, ObjectKind::Domain, name, serde_json::to_value(domain), now)
}

fn check_member(errors: &mut FieldErrors, place: &str, member: &Member) {
    if let Some(name) = &member.name {
        check_name(errors, &format!("{place}.name"), name);
    }
    let by_labels = !member.labels.is_empty();
    if member.kind == MemberKind::Domain {
        errors.require(member.name.is_some(), format!("{place}.name"), &member.name, "a domain");
        let expected = "none, as a domain is named by its name";
        errors.require(!by_labels, format!("{place}.labels"), &member.labels, expected);
    } else {
        let expected = "the name of a host, or else labels of hosts";
        let one = member.name.is_some() != by_labels;
        errors.require(one, format!("{place}.name"), &member.name, expected);
    }
}

/// Checks a domain beside all others.
fn check_beside(errors: &mut FieldErrors, domain: &TopologyDomain, others: Vec<TopologyDomain>) {
    let named: BTreeMap<&str, &TopologyDomain> =
        others.iter().map(|other| (other.domain.as_str(), other)).collect();
    let (mut parents, mut homes) = (BTreeMap::new(), BTreeMap::new());
    for other in &others {
        parents.extend(other.names(MemberKind::Domain).map(|name| (name, other)));
        if other.tier == domain.tier {
            homes.extend(other.names(MemberKind::Host).map(|name| (name, other)));
        }
        if domain.tier_name.is_some()
            && other.tier_name == domain.tier_name
            && other.tier != domain.tier
        {
            let expected = format!("a name that tier {} has not ({:?})", other.tier, other.domain);
            errors.add("tier_name", &domain.tier_name, expected);
        }
    }
    if let Some(parent) = parents.get(domain.domain.as_str())
        && parent.tier <= domain.tier
    {
        let expected = format!(
            "below {}, the tier of domain {:?}, of which it is a member",
            parent.tier, parent.domain
        );
        errors.add("tier", &domain.tier, expected);
    }
    let mut seen = BTreeSet::new();
    for (place, member) in domain.members.iter().enumerate() {
        let Some(name) = member.name.as_deref() else { continue };
        let field = format!("members[{place}].name");
        let is_new = seen.insert((member.kind == MemberKind::Domain, name));
        errors.require(is_new, &field, name, "a member that is not in it already");
        if member.kind == MemberKind::Host {
            if let Some(home) = homes.get(name) {
                let expected = format!(
                    "a host in no other domain of tier {}; it is in {:?}",
                    home.tier, home.domain
                );
                errors.add(field, name, expected);
            }
            continue;
        }
        let too_high =
            |tier: i64| format!("a domain of a tier below {}; it has {tier}", domain.tier);
        if name == domain.domain {
            errors.add(&field, name, too_high(domain.tier));
        } else if let Some(below) = named.get(name)
            && below.tier >= domain.tier
        {
            errors.add(&field, name, too_high(below.tier));
        }
        if let Some(parent) = parents.get(name) {
            let expected =
                format!("a domain that is a member of no other; it is one of {:?}", parent.domain);
            errors.add(field, name, expected);
        }
    }
}
