//! One decision: every server of a request, one after the other, on one image.

use serde::{Deserialize, Serialize};
use stowplan_config::Settings;
use stowplan_engine::offers::Mappings;
use stowplan_engine::sequence::{Sequence, Start, Supply};
use stowplan_engine::table::HostIx;
use stowplan_engine::{
    CheckedRequest, Detail, Engine, Explanation, HostTable, HostView, Kept, Offers,
};
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::request::ScheduleRequest;
use stowplan_model::{Micros, Uuid};
use stowplan_placement::PlacementError;
use stowplan_placement::claims::{ClaimFault, ConsumerClaim, allocation_records};

use super::answer::{AllocationRequest, Destination, Selection};
use super::candidates::{Pool, targets};
use super::check::Order;
use super::claim::{claim, holds_some_of, no_others};
use super::group::in_force;
use super::hint::HintAnswer;
use super::query::{Asked, Queries, translate};
use crate::error::SchedulerError;
use crate::hosts::zone_of;

/// What a decision is made with, whatever the image.
#[derive(Clone, Copy)]
pub(crate) struct Means<'a> {
    pub engine: &'a Engine,
    pub settings: &'a Settings,
    pub order: &'a Order,
    pub now: Micros,
}

/// What one server takes where.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub destination: Destination,
    pub claim: ConsumerClaim,
    pub alternates: Vec<Destination>,
}

/// A decision that found a host for every server.
#[derive(Clone, Debug)]
pub(crate) struct Decided {
    /// The image that it was made on.
    pub seq: i64,
    /// One for each server, in their order.
    pub placed: Vec<Placed>,
    pub trace: Trace,
}

impl Decided {
    /// One selection for each server.
    pub fn selections(&self) -> Vec<Selection> {
        let servers = self.placed.iter().zip(&self.trace.servers);
        let selections = servers.map(|(placed, trace)| Selection {
            instance_uuid: placed.claim.consumer,
            destination: placed.destination.clone(),
            hint: trace.explanation.hint.as_ref().map(HintAnswer::from),
            alternates: placed.alternates.clone(),
        });
        selections.collect()
    }
}

/// What a decision went through, for whoever asks why.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    pub queries: Option<Queries>,
    /// Hosts with a candidate.
    pub hosts: usize,
    /// What became of each server so far.
    pub servers: Vec<ServerTrace>,
}

/// Hosts without anything left that are named of each server.
const NAMED: usize = 20;

/// What became of one server.
#[derive(Clone, Debug)]
pub(crate) struct ServerTrace {
    pub instance: Uuid,
    /// Host and node, if it has one.
    pub chosen: Option<(String, String)>,
    pub explanation: Explanation,
    /// Hosts that were passed over because nothing was left of their
    /// candidates after the servers before this one.
    pub exhausted: Vec<String>,
    /// Further ones that are only counted.
    pub more_exhausted: usize,
}

/// A decision that did not, with all that it takes to ask why.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    /// The image that it was made on.
    pub seq: i64,
    pub stage: Stage,
    pub trace: Trace,
    /// What the first server without a host met.
    pub scene: Scene,
}

/// What one server meets: everything as the servers before it left it.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub image: Image,
    /// The hosts, by the flavor's amounts.
    pub table: HostTable,
    /// The request, turned to the server, its group as it is by now.
    pub request: CheckedRequest,
}

/// Where a decision ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The hosts that the request is bound to do not exist.
    NoSuchHost,
    /// No host has a candidate.
    Candidates,
    /// Filters or claims left no host for a server.
    Hosts,
}

/// Why there is no decision for all servers.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
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
    let group = order.group.as_ref().map(|group| in_force(image, group, &order.instances));
    let group = group.transpose()?;
    let request = ScheduleRequest { instance_group: group, ..order.request.clone() };
    Ok(CheckedRequest::check(request)?)
}

/// Finds a host for each server of an order, some consumers being counted as
/// gone if it says so.
pub(crate) fn decide(image: &Image, means: Means<'_>) -> Result<Decided, Failure> {
    if means.order.as_if_released.is_empty() {
        return decide_on(image, means);
    }
    let seq = image.seq();
    match decide_on(&without(image, means.order), means) {
        Ok(decided) => Ok(Decided { seq, ..decided }),
        Err(Failure::NoHost(refused)) => {
            Err(Failure::NoHost(Box::new(Refused { seq, ..*refused })))
        }
        Err(failure) => Err(failure),
    }
}

/// An image in which some consumers hold nothing.
fn without(image: &Image, order: &Order) -> Image {
    let mut image = image.clone();
    let held = order.as_if_released.iter().filter(|it| image.consumers.get(**it).is_some());
    let records = held.map(|consumer| Record::ConsumerGone(*consumer)).collect();
    image.apply(&Change { kind: String::new(), records });
    image
}

fn decide_on(image: &Image, means: Means<'_>) -> Result<Decided, Failure> {
    let order = means.order;
    no_others(image, means)?;
    let checked = checked(image, order)?;
    let mut queries = translate(image, Asked::of(order, &checked), means.settings)?;
    queries.check()?;
    if order.hint.hint.is_some() {
        // A host that a hint names may be one that a limit cuts off.
        queries.queries.iter_mut().for_each(|query| query.limit = None);
    }
    let refused = |stage, trace, scene| {
        Failure::NoHost(Box::new(Refused { seq: image.seq(), stage, trace, scene }))
    };
    let first = || Scene {
        image: image.clone(),
        table: image.hosts.table().clone(),
        request: checked.clone(),
    };
    if targets(image.hosts.table(), &order.request).is_some_and(|targets| targets.is_empty()) {
        let trace = Trace { queries: Some(queries), ..Trace::default() };
        return Err(refused(Stage::NoSuchHost, trace, first()));
    }
    let mut pool = Pool::search(image, &queries, &order.request)?;
    let trace = Trace {
        queries: Some(queries.clone()),
        hosts: pool.hosts.len(),
        servers: Vec::with_capacity(order.instances.len()),
    };
    if pool.hosts.is_empty() {
        return Err(refused(Stage::Candidates, trace, first()));
    }
    let hosts = pool.hosts.clone();
    let offers = if order.wants_places() { pool.offers(image) } else { Offers::default() };
    let start = Start {
        table: image.hosts.table(),
        now: means.now,
        hosts: &hosts,
        offers: &offers,
        seed: order.seed,
        servers: order.instances.len(),
        alternates: order.alternates,
        hint: order.hint.hint.as_ref(),
    };
    let mut sequence = Sequence::new(means.engine, checked, start);
    let mut supply = LedgerSupply { image, means, pool, later: None };
    let (mut trace, detail) = (trace, detail(order));
    let mut placed: Vec<(HostIx, Placed)> = Vec::with_capacity(order.instances.len());
    for (index, instance) in order.instances.iter().enumerate() {
        let turn = sequence.place(index, *instance, detail, &mut supply)?;
        let facts = |host: HostIx| sequence.table().facts(host);
        let chosen = turn.placed.as_ref().map(|(host, _)| facts(*host));
        trace.servers.push(ServerTrace {
            instance: *instance,
            chosen: chosen.map(|facts| (facts.host.clone(), facts.node.clone())),
            explanation: turn.explanation,
            exhausted: {
                let named = turn.exhausted.iter().take(NAMED);
                named.map(|host| facts(*host).host.clone()).collect()
            },
            more_exhausted: turn.exhausted.len().saturating_sub(NAMED),
        });
        match turn.placed {
            Some(found) => placed.push(found),
            None => {
                if let Some(queries) = &mut trace.queries {
                    queries.warnings.extend(supply.pool.cut());
                }
                let scene = Scene {
                    image: supply.later.unwrap_or_else(|| image.clone()),
                    table: sequence.table().clone(),
                    request: sequence.request().clone(),
                };
                return Err(refused(Stage::Hosts, trace, scene));
            }
        }
    }
    let hosts: Vec<HostIx> = placed.iter().map(|(host, _)| *host).collect();
    let alternates = sequence.alternates(&hosts, order.alternates, &mut supply)?;
    let placed = placed.into_iter().zip(alternates);
    let placed = placed.map(|((_, placed), alternates)| Placed { alternates, ..placed }).collect();
    Ok(Decided { seq: image.seq(), placed, trace })
}

/// How much is kept of each server: all of one, less of each of many.
fn detail(order: &Order) -> Detail {
    let servers = order.instances.len();
    let Detail { losers, weights } = Detail::default();
    Detail { losers: (losers / servers).max(3), weights: (weights / servers).max(3) }
}

/// Claims on the ledger: what servers take of the providers of their hosts.
struct LedgerSupply<'a> {
    image: &'a Image,
    means: Means<'a>,
    pool: Pool<'a>,
    /// The ledger as the servers so far leave it; none before the first.
    later: Option<Image>,
}

impl Supply for LedgerSupply<'_> {
    type Claim = Placed;
    type Offer = Destination;
    type Error = Failure;

    fn claim(
        &mut self,
        table: &HostTable,
        host: HostIx,
        instance: Uuid,
        kept: Option<&Kept>,
    ) -> Result<Option<Placed>, Failure> {
        if holds_some_of(self.image, instance, table.facts(host).uuid) {
            return Ok(None);
        }
        let Some(given) = self.given(host, kept)? else { return Ok(None) };
        let order = self.means.order;
        let now = self.later.as_ref().unwrap_or(self.image);
        let claim = claim(now, self.image, &order.request, instance, &given, self.means.settings);
        if order.instances.len() > 1 || order.alternates > 0 {
            let records = allocation_records(now, std::slice::from_ref(&claim), self.means.now);
            let records = match records {
                Ok(records) => records,
                Err(error) if self.is_of_its_own(instance, &error) => return Err(error.into()),
                Err(_) => return Ok(None),
            };
            let later = self.later.get_or_insert_with(|| self.image.clone());
            later.apply(&Change { kind: String::new(), records });
            self.pool.later_changed();
        }
        let destination = self.destination(table, host, given);
        Ok(Some(Placed { destination, claim, alternates: Vec::new() }))
    }

    fn has_room(&self, host: HostIx) -> bool {
        let Some(later) = &self.later else { return true };
        !matches!(self.pool.first_in(later, host), Ok(None))
    }

    fn mappings(placed: &Placed) -> Mappings {
        placed.destination.allocation_request.groups()
    }

    fn offer(
        &mut self,
        table: &HostTable,
        host: HostIx,
        kept: Option<&Kept>,
    ) -> Result<Option<Destination>, Failure> {
        // The servers' own hosts are no others.
        let root = table.facts(host).uuid;
        let mut servers = self.means.order.instances.iter();
        if servers.any(|server| holds_some_of(self.image, *server, root)) {
            return Ok(None);
        }
        Ok(self.given(host, kept)?.map(|given| self.destination(table, host, given)))
    }
}

impl LedgerSupply<'_> {
    /// Whether a claim fails for what the server holds already and is to keep,
    /// wherever it goes.
    fn is_of_its_own(&self, instance: Uuid, error: &PlacementError) -> bool {
        let PlacementError::Claim(ClaimFault::Units { provider, .. }) = error else { return false };
        let held = self.image.consumers.get(instance);
        let at = self.image.providers.find(*provider);
        held.is_some_and(|held| held.allocations.iter().any(|of| Some(of.provider) == at))
    }

    fn given(
        &mut self,
        host: HostIx,
        kept: Option<&Kept>,
    ) -> Result<Option<AllocationRequest>, Failure> {
        if let Some(mut offered) = self.pool.offered(host, kept) {
            let now = self.later.as_ref().unwrap_or(self.image);
            return Ok(offered.find(|given| given.fits(now)).cloned());
        }
        Ok(match &self.later {
            None => self.pool.first(self.image, host),
            Some(later) => self.pool.first_in(later, host)?,
        })
    }

    fn destination(
        &self,
        table: &HostTable,
        host: HostIx,
        allocation_request: AllocationRequest,
    ) -> Destination {
        let facts = table.facts(host);
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
}
