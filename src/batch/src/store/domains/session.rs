//! Topology domains as a session knows them.

use super::{Member, MemberKind, domains};
use crate::session::DomainInput;
use std::collections::BTreeMap;
use std::sync::Arc;
use stowplan_engine::HostIx;
use stowplan_ledger::Image;
use stowplan_ledger::image::hosts::Host;

/// The hosts that a member names.
pub(super) fn hosts<'a>(
    image: &'a Image,
    member: &'a Member,
) -> impl Iterator<Item = &'a Arc<Host>> {
    let named = member.name.as_deref().map(|name| image.hosts.nodes_of(name));
    let labelled = (member.name.is_none() && !member.labels.is_empty()).then(|| {
        let fits = |host: &&Arc<Host>| has(host, &member.labels);
        image.hosts.by_name().filter(fits)
    });
    named.into_iter().flatten().chain(labelled.into_iter().flatten())
}

fn has(host: &Host, labels: &BTreeMap<String, String>) -> bool {
    labels.iter().all(|(key, value)| host.row.report.labels.get(key) == Some(value))
}

/// All domains of an image. Hosts are looked up by one of the labels that a
/// member asks for, so that it does not matter how many domains there are.
pub(in crate::store) fn inputs(image: &Image) -> Vec<DomainInput> {
    let mut by_label = ByLabel::default();
    let domain = |domain: super::TopologyDomain| {
        let mut hosts = Vec::new();
        for member in domain.members.iter().filter(|member| member.kind == MemberKind::Host) {
            match &member.name {
                Some(name) => hosts.extend(image.hosts.nodes_of(name).map(|host| host.ix)),
                None => by_label.add(image, &member.labels, &mut hosts),
            }
        }
        let members = domain.names(MemberKind::Domain).map(str::to_owned).collect();
        DomainInput {
            name: domain.domain,
            tier: domain.tier,
            tier_name: domain.tier_name,
            hosts,
            members,
        }
    };
    domains(image).map(domain).collect()
}

/// Hosts by the value of a label, for each label that was asked for.
#[derive(Default)]
struct ByLabel<'a>(BTreeMap<String, BTreeMap<&'a str, Vec<&'a Arc<Host>>>>);

impl<'a> ByLabel<'a> {
    fn add(&mut self, image: &'a Image, labels: &BTreeMap<String, String>, to: &mut Vec<HostIx>) {
        let Some((key, value)) = labels.first_key_value() else { return };
        let hosts = self.0.entry(key.clone()).or_insert_with(|| {
            let mut hosts: BTreeMap<&str, Vec<&Arc<Host>>> = BTreeMap::new();
            for host in image.hosts.by_name() {
                if let Some(value) = host.row.report.labels.get(key) {
                    hosts.entry(value).or_default().push(host);
                }
            }
            hosts
        });
        let found = hosts.get(value.as_str()).into_iter().flatten();
        to.extend(found.filter(|host| has(host, labels)).map(|host| host.ix));
    }
}
