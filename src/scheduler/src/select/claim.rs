//! What a server claims, and whether a claim still holds at its commit.

use smallvec::SmallVec;
use stowplan_config::Settings;
use stowplan_engine::chain::{self, Round};
use stowplan_engine::preselect::preselect;
use stowplan_engine::{Claimed, HostSet, HostView, Offers, RequestCx, Undo, consume};
use stowplan_ledger::image::consumers::Consumer;
use stowplan_ledger::rows::{DecisionRow, Origin, OriginKind};
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::Uuid;
use stowplan_model::request::ScheduleRequest;
use stowplan_placement::PlacementError;
use stowplan_placement::candidates::Search;
use stowplan_placement::claims::{
    ConsumerClaim, ConsumerGeneration, ProviderClaim, allocation_records,
};

use super::answer::AllocationRequest;
use super::candidates::Cells;
use super::decide::{Decided, Means, checked};
use super::group::joined;
use super::lease;
use super::query::{Asked, translate};
use crate::error::SchedulerError;
use crate::groups::join;

/// Consumer type of a server.
pub const CONSUMER_TYPE: &str = "INSTANCE";

/// Candidates of a host among which the one that a decision took is looked
/// for; it is one of the first unless much has changed.
const LOOKED_THROUGH: usize = 1000;

/// Why a decision is not committed.
#[derive(Clone, Debug)]
pub(super) enum Lost {
    /// Somebody else was faster: it is to be decided again.
    Race(String),
    /// The request fails.
    Failed(SchedulerError),
}

impl From<SchedulerError> for Lost {
    fn from(error: SchedulerError) -> Self {
        Self::Failed(error)
    }
}

/// The claim of one server. One that holds something already (it is moved)
/// keeps that and takes the new beside it, under the generation that it had
/// when the decision began.
pub(super) fn claim(
    now: &Image,
    begun: &Image,
    request: &ScheduleRequest,
    instance: Uuid,
    given: &AllocationRequest,
    settings: &Settings,
) -> ConsumerClaim {
    let holds = begun.consumers.get(instance);
    let mut allocations: Vec<ProviderClaim> =
        holds.map(|consumer| held(now, consumer)).unwrap_or_default();
    for (provider, amounts) in &given.allocations {
        if allocations.iter().all(|claim| claim.provider != *provider) {
            let resources: SmallVec<[(String, i64); 3]> = amounts.iter().cloned().collect();
            allocations.push(ProviderClaim { provider: *provider, resources });
        }
    }
    let or_unknown = |id: &Option<String>, unknown: &String| {
        id.clone().filter(|id| !id.is_empty()).unwrap_or_else(|| unknown.clone())
    };
    let placement = &settings.placement;
    ConsumerClaim {
        consumer: instance,
        generation: holds.map_or(ConsumerGeneration::New, |consumer| {
            ConsumerGeneration::Is(consumer.generation)
        }),
        project: or_unknown(&request.project_id, &placement.incomplete_consumer_project_id),
        user: or_unknown(&request.user_id, &placement.incomplete_consumer_user_id),
        consumer_type: Some(CONSUMER_TYPE.to_owned()),
        allocations,
        origin: None,
    }
}

/// What a consumer holds, as a claim.
pub(super) fn held(image: &Image, consumer: &Consumer) -> Vec<ProviderClaim> {
    let mut claims: Vec<ProviderClaim> = Vec::new();
    for allocation in &consumer.allocations {
        let provider = image.providers.uuid(allocation.provider);
        let amount = (image.classes.name(allocation.class).to_owned(), allocation.used);
        match claims.iter_mut().find(|claim| claim.provider == provider) {
            Some(claim) => claim.resources.push(amount),
            None => {
                let resources = SmallVec::from_iter([amount]);
                claims.push(ProviderClaim { provider, resources });
            }
        }
    }
    claims
}

/// What is kept of a decision beside what it claims.
pub(super) struct Kept<'a, K> {
    /// Its header.
    pub header: Option<&'a DecisionRow>,
    /// The records that keep its answer, given those that claim.
    pub keep: K,
}

/// The change that makes a decision true: allocations of all servers, their
/// membership of the group, the decision's header and answer. What may have changed
/// since the decision's image is looked at again, for the chosen hosts only.
pub(super) fn commit(
    image: &Image,
    means: Means<'_>,
    decided: &Decided,
    kept: Kept<'_, impl FnOnce(&[Record]) -> Vec<Record>>,
) -> Result<Change, Lost> {
    let Kept { header, keep } = kept;
    let order = means.order;
    if image.seq() != decided.seq {
        no_others(image, means)?;
        still_valid(image, means, decided)?;
    }
    let group = joined(order.group.as_ref());
    let mut claims: Vec<ConsumerClaim> = Vec::with_capacity(decided.placed.len());
    for placed in &decided.placed {
        let mut claim = placed.claim.clone();
        claim.origin = Some(Origin {
            kind: OriginKind::Server,
            host: placed.destination.compute_node_uuid,
            seq: image.next_seq(),
            decision: header.map(|header| header.id),
            group,
            lease: None,
        });
        claims.push(claim);
    }
    // What does not fit on the very image of the decision never will.
    let is_race = image.seq() != decided.seq;
    let mut records = allocation_records(image, &claims, means.now)
        .map_err(|error| if is_race { lost(error) } else { Lost::Failed(error.into()) })?;
    lease::lend(image, &mut records, means.settings.scheduler.claim_lease, means.now);
    let answer = keep(&records);
    let mut change = Change { kind: "servers.place".to_owned(), records };
    change.records.extend(answer);
    if let Some(row) = group.and_then(|uuid| image.server_groups.get(uuid)) {
        let row = join(image, row, &order.instances, means.now);
        change.push(Record::ServerGroup(row));
    }
    if let Some(header) = header {
        let header = DecisionRow { seq: image.next_seq(), ..header.clone() };
        change.push(Record::Decision(Box::new(header)));
    }
    Ok(change)
}

fn lost(error: PlacementError) -> Lost {
    match error {
        PlacementError::ConsumerGeneration { consumer, .. } => {
            Lost::Failed(SchedulerError::InstanceChanged { instance: consumer })
        }
        error => Lost::Race(error.to_string()),
    }
}

/// Refuses servers under whose uuids something else is known: what holds
/// something already is moved, and so must be a server of the same project.
pub(super) fn no_others(image: &Image, means: Means<'_>) -> Result<(), SchedulerError> {
    for instance in &means.order.instances {
        if let Some(what) = other(image, means, *instance) {
            return Err(SchedulerError::InstanceIsOther { instance: *instance, what });
        }
    }
    Ok(())
}

fn other(image: &Image, means: Means<'_>, instance: Uuid) -> Option<String> {
    if image.batch.tasks.get(instance).is_some() {
        return Some("a task of a batch job".to_owned());
    }
    let consumer = image.consumers.get(instance)?;
    let unlike = consumer.consumer_type.as_deref().filter(|kind| *kind != CONSUMER_TYPE);
    if let Some(kind) = unlike {
        return Some(format!("a consumer of type {kind}"));
    }
    // Projects that nobody named say nothing.
    let unknown = means.settings.placement.incomplete_consumer_project_id.as_str();
    let named = |project: &str| !project.is_empty() && project != unknown;
    let project = means.order.request.project_id.as_deref().filter(|project| named(project))?;
    let owner = &*consumer.project;
    (named(owner) && owner != project).then(|| format!("a server of project {owner}"))
}

/// Whether a server holds something of a host already. Then nothing of that
/// host can be claimed for it anew: what it holds is kept as it is.
pub(super) fn holds_some_of(image: &Image, instance: Uuid, root: Uuid) -> bool {
    let Some(consumer) = image.consumers.get(instance) else { return false };
    let Some(root) = image.providers.find(root) else { return false };
    let mut held = consumer.allocations.iter();
    held.any(|held| image.providers.get(held.provider).is_some_and(|of| of.root == root))
}

/// Asks filters and requirements of the chosen hosts again, on a newer image.
fn still_valid(image: &Image, means: Means<'_>, decided: &Decided) -> Result<(), Lost> {
    let order = means.order;
    let mut checked = checked(image, order)?;
    let queries = translate(image, Asked::of(order, &checked), means.settings)?;
    queries.check()?;
    let mut searches = Vec::with_capacity(queries.queries.len());
    for query in &queries.queries {
        searches.push(Search::new(image, query).map_err(SchedulerError::from)?);
    }
    let mut cells = Cells::new(image, &order.request);
    let mut table = image.hosts.table().clone();
    let mut undo = Undo::new();
    for (index, placed) in decided.placed.iter().enumerate() {
        let uuid = placed.destination.compute_node_uuid;
        let gone = || Lost::Race(format!("host {} has left", placed.destination.host));
        let host = table.host_of_node(uuid).ok_or_else(gone)?;
        let root = image.providers.find(uuid).ok_or_else(gone)?;
        let given = &placed.destination.allocation_request;
        let mut searches = queries.queries.iter().zip(&mut searches);
        let stands = cells.takes(|| table.facts(host).cell_uuid)
            && searches.any(|(query, search)| {
                let mut offered = search.of_root(root).take(LOOKED_THROUGH);
                offered.any(|other| AllocationRequest::of(image, query, &other) == *given)
            });
        if !stands {
            let host = &placed.destination.host;
            return Err(Lost::Race(format!("host {host} no longer meets the request")));
        }
        checked.turn_to(placed.claim.consumer);
        let left = preselect(&checked, &table, &[host]);
        let cx = RequestCx {
            request: &checked,
            config: means.engine.config(),
            now: means.now,
            view: &table,
        };
        // Filters that judge once per request were asked of every host once:
        // here each host is asked as the first.
        let round = Round { forced: left.filters_skipped, ..Round::default() };
        let hosts: HostSet = left.hosts.iter().copied().collect();
        let mappings = placed.destination.allocation_request.groups();
        let mut offers = Offers::default();
        if order.wants_places() {
            offers.list(host, vec![mappings.clone()]);
        }
        let run = chain::run(means.engine.filters(), &cx, round, &offers, hosts)
            .map_err(SchedulerError::from)?;
        if !run.left.hosts.contains(host) {
            let by = run.eliminations().find(|(_, hosts)| hosts.contains(host));
            let by = by.map_or("its request", |(filter, _)| filter);
            let host = &placed.destination.host;
            return Err(Lost::Race(format!("{by} no longer passes host {host} (server {index})")));
        }
        let claimed = Claimed::of(&mappings, run.left.kept(host));
        // The decision has told what could not be taken.
        let _ = consume(&mut table, &mut undo, &mut checked, host, means.engine.config(), claimed);
    }
    Ok(())
}
