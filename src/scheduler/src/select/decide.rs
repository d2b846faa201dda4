//! One decision: every server of a request, one after the other, on one image.

use std::collections::BTreeSet;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stowplan_config::Settings;
use stowplan_engine::choose::Chosen;
use stowplan_engine::table::HostIx;
use stowplan_engine::{
    Ask, CheckedRequest, Claimed, Detail, Engine, Evaluation, Explanation, HostTable, HostView,
    Offers, Survivors, Undo, consume,
};
use stowplan_ledger::{Change, Image};
use stowplan_model::request::ScheduleRequest;
use stowplan_model::{Micros, Uuid};
use stowplan_placement::claims::{ConsumerClaim, allocation_records};

use super::answer::{AllocationRequest, Destination};
use super::candidates::{Pool, targets};
use super::check::Order;
use super::claim::claim;
use super::group::in_force;
use super::query::{Asked, Queries, translate};
use crate::error::SchedulerError;
use crate::hosts::zone_of;

/// What a decision is made with, whatever the image.
#[derive(Clone, Copy)]
pub(super) struct Means<'a> {
    pub engine: &'a Engine,
    pub settings: &'a Settings,
    pub order: &'a Order,
    pub now: Micros,
}

/// What one server takes where.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub destination: Destination,
    pub claim: ConsumerClaim,
    pub alternates: Vec<Destination>,
}

/// A decision that found a host for every server.
#[derive(Clone, Debug)]
pub(super) struct Decided {
    /// The image that it was made on.
    pub seq: i64,
    /// One for each server, in their order.
    pub placed: Vec<Placed>,
    pub trace: Trace,
}

/// What a decision went through, for whoever asks why.
#[derive(Clone, Debug, Default)]
pub(super) struct Trace {
    pub queries: Option<Queries>,
    /// Hosts with a candidate.
    pub hosts: usize,
    /// What became of each server so far.
    pub servers: Vec<ServerTrace>,
}

/// What became of one server.
#[derive(Clone, Debug)]
pub(super) struct ServerTrace {
    pub instance: Uuid,
    /// Host and node, if it has one.
    pub chosen: Option<(String, String)>,
    pub explanation: Explanation,
    /// Hosts that were passed over because nothing was left of their
    /// candidates after the servers before this one.
    pub exhausted: Vec<String>,
}

/// A decision that did not.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    pub stage: Stage,
    pub trace: Trace,
    /// The image that it was made on, to be asked why.
    pub image: Image,
}

/// Where a decision ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The hosts that the request is bound to do not exist.
    NoSuchHost,
    /// No host has a candidate.
    Candidates,
    /// Filters or claims left no host for a server.
    Hosts,
}

/// Why there is no decision for all servers.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    /// The request cannot be judged.
    Request(SchedulerError),
    /// There is no host for one of them.
    NoHost(Box<Refused>),
}

impl<E: Into<SchedulerError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Request(error.into())
    }
}

/// The request of an order, with its group as it is in force on an image.
pub(super) fn checked(image: &Image, order: &Order) -> Result<CheckedRequest, SchedulerError> {
    let group = order.group.as_ref().map(|group| in_force(image, group)).transpose()?;
    let request = ScheduleRequest { instance_group: group, ..order.request.clone() };
    Ok(CheckedRequest::check(request)?)
}

/// Finds a host for each server of an order.
pub(super) fn decide(image: &Image, means: Means<'_>) -> Result<Decided, Failure> {
    let order = means.order;
    let checked = checked(image, order)?;
    let queries = translate(image, Asked::of(order, &checked), means.settings)?;
    queries.check()?;
    if targets(image.hosts.table(), &order.request).is_some_and(|targets| targets.is_empty()) {
        let trace = Trace { queries: Some(queries), ..Trace::default() };
        return Err(refused(image, Stage::NoSuchHost, trace));
    }
    let pool = Pool::search(image, &queries, &order.request)?;
    let trace = Trace {
        queries: Some(queries.clone()),
        hosts: pool.hosts.len(),
        servers: Vec::with_capacity(order.instances.len()),
    };
    if pool.hosts.is_empty() {
        return Err(refused(image, Stage::Candidates, trace));
    }
    let hosts = pool.hosts.clone();
    let mut session = Session {
        image,
        means,
        pool,
        hosts,
        checked,
        table: image.hosts.table().clone(),
        undo: Undo::new(),
        later: None,
        rng: ChaCha8Rng::seed_from_u64(order.seed),
        trace,
    };
    let mut placed = Vec::with_capacity(order.instances.len());
    for (index, instance) in order.instances.iter().enumerate() {
        match session.place(index, *instance)? {
            Some(found) => placed.push(found),
            None => return Err(refused(image, Stage::Hosts, session.trace)),
        }
    }
    session.alternates(&mut placed)?;
    Ok(Decided { seq: image.seq(), placed, trace: session.trace })
}

fn refused(image: &Image, stage: Stage, trace: Trace) -> Failure {
    Failure::NoHost(Box::new(Refused { stage, trace, image: image.clone() }))
}

/// The state between the servers of one request.
struct Session<'a> {
    image: &'a Image,
    means: Means<'a>,
    pool: Pool<'a>,
    /// The hosts left by the servers before, in the order they were ranked.
    hosts: Vec<HostIx>,
    checked: CheckedRequest,
    /// The hosts as the servers before left them, by their flavor's amounts.
    table: HostTable,
    undo: Undo,
    /// The ledger as the servers before leave it; none before the first.
    later: Option<Image>,
    rng: ChaCha8Rng,
    trace: Trace,
}

impl Session<'_> {
    fn place(&mut self, index: usize, instance: Uuid) -> Result<Option<Placed>, Failure> {
        self.checked.turn_to(instance);
        let (mut chosen, left, mut explanation) = self.rank(index)?;
        let mut exhausted = Vec::new();
        let mut placed = None;
        while let Some(host) = chosen.after(exhausted.len()) {
            match self.take(host, instance)? {
                Some(found) => {
                    placed = Some((host, found));
                    break;
                }
                None => exhausted.push(self.table.facts(host).host.clone()),
            }
        }
        if let Some((host, found)) = &placed {
            let config = self.means.engine.config();
            let mappings = found.destination.allocation_request.groups();
            let claimed = Claimed::of(&mappings, left.kept(*host));
            let findings =
                consume(&mut self.table, &mut self.undo, &mut self.checked, *host, config, claimed);
            explanation.findings.extend(findings.into_iter().map(Into::into));
        }
        let place = placed.as_ref().map(|(_, found)| &found.destination);
        self.trace.servers.push(ServerTrace {
            instance,
            chosen: place.map(|place| (place.host.clone(), place.node.clone())),
            explanation,
            exhausted,
        });
        if self.ranks_again() {
            self.hosts = chosen.into_hosts();
        }
        Ok(placed.map(|(_, found)| found))
    }

    /// Whether the order of all hosts matters beyond the one that is taken: for
    /// further servers, or for alternates.
    fn ranks_again(&self) -> bool {
        self.means.order.instances.len() > 1 || self.means.order.alternates > 0
    }

    /// Filters, weighs and orders the hosts for the server in turn.
    fn rank(&mut self, index: usize) -> Result<(Chosen, Survivors, Explanation), Failure> {
        let offers = Offers::default();
        let ask = Ask {
            view: &self.table,
            request: &self.checked,
            now: self.means.now,
            index,
            hosts: &self.hosts,
            offers: &offers,
        };
        let evaluation: Evaluation = self.means.engine.evaluate(&ask)?;
        let chosen = self.means.engine.choose(&evaluation, &mut self.rng);
        let mut explanation = self.means.engine.explain(&ask, &evaluation, self.detail());
        explanation.draw = (!chosen.is_empty()).then_some(chosen.draw);
        Ok((chosen, evaluation.filters.left, explanation))
    }

    /// How much is kept of each server: all of one, less of each of many.
    fn detail(&self) -> Detail {
        let servers = self.means.order.instances.len();
        let Detail { losers, weights } = Detail::default();
        Detail { losers: (losers / servers).max(3), weights: (weights / servers).max(3) }
    }

    /// What a host gives a server, if there is still enough of it.
    fn take(&mut self, host: HostIx, instance: Uuid) -> Result<Option<Placed>, Failure> {
        let Some(given) = self.given(host)? else { return Ok(None) };
        let order = self.means.order;
        let now = self.later.as_ref().unwrap_or(self.image);
        let claim = claim(now, self.image, &order.request, instance, &given, self.means.settings);
        if self.ranks_again() {
            let Ok(records) = allocation_records(now, std::slice::from_ref(&claim), self.means.now)
            else {
                return Ok(None);
            };
            let later = self.later.get_or_insert_with(|| self.image.clone());
            later.apply(&Change { kind: String::new(), records });
        }
        let destination = self.destination(host, given);
        Ok(Some(Placed { destination, claim, alternates: Vec::new() }))
    }

    fn given(&mut self, host: HostIx) -> Result<Option<AllocationRequest>, Failure> {
        Ok(match &self.later {
            None => self.pool.first(self.image, host),
            Some(later) => self.pool.first_in(later, host)?,
        })
    }

    fn destination(&self, host: HostIx, allocation_request: AllocationRequest) -> Destination {
        let facts = self.table.facts(host);
        let zone = zone_of(self.image, &facts.host);
        let default = &self.means.settings.default.default_availability_zone;
        Destination {
            host: facts.host.clone(),
            node: facts.node.clone(),
            compute_node_uuid: facts.uuid,
            cell_uuid: facts.cell_uuid,
            availability_zone: zone.unwrap_or(default).to_owned(),
            allocation_request,
        }
    }

    /// Names other hosts for each server: in the same cell, none that was
    /// chosen, and with room after all servers. With several servers the hosts
    /// are ranked once more, as the last of them left them.
    fn alternates(&mut self, placed: &mut [Placed]) -> Result<(), Failure> {
        let wanted = self.means.order.alternates;
        if wanted == 0 {
            return Ok(());
        }
        if placed.len() > 1 {
            let (chosen, ..) = self.rank(placed.len())?;
            self.hosts = chosen.into_hosts();
        }
        let taken: BTreeSet<Uuid> =
            placed.iter().map(|placed| placed.destination.compute_node_uuid).collect();
        let hosts = std::mem::take(&mut self.hosts);
        let mut offered: Vec<(HostIx, Option<Destination>)> =
            hosts.iter().map(|host| (*host, None)).collect();
        for server in placed {
            let cell = server.destination.cell_uuid;
            for (host, offer) in &mut offered {
                if server.alternates.len() == wanted {
                    break;
                }
                let facts = self.table.facts(*host);
                if facts.cell_uuid != cell || taken.contains(&facts.uuid) {
                    continue;
                }
                if offer.is_none() {
                    let Some(given) = self.given(*host)? else { continue };
                    *offer = Some(self.destination(*host, given));
                }
                server.alternates.extend(offer.clone());
            }
        }
        Ok(())
    }
}
