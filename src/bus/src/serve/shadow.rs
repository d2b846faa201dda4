//! Copies of calls, decided and never answered, and compared with what comes of
//! the calls themselves.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use stowplan_ledger::{Image, WriteError};
use stowplan_model::Uuid;
use stowplan_scheduler::select::SelectRequest;
use stowplan_scheduler::{Call, SchedulerError};
use tokio::sync::OwnedSemaphorePermit;

use super::Hub;
use super::status::Counter;
use crate::rpc::request;
use crate::shadow::{Comparison, Spot, reason};
use crate::wire::message::Message;

/// How long the other scheduler may take to place servers.
const PATIENCE: Duration = Duration::from_secs(60);
/// Copies that may wait for that; more are not compared.
pub(super) const COMPARED: usize = 4096;
/// Between two looks whether it has.
const LOOK: Duration = Duration::from_millis(500);

/// What we would have done.
struct Wish {
    decision: Option<Uuid>,
    /// Where each server would go.
    spots: BTreeMap<Uuid, Spot>,
}

impl Hub {
    /// Decides a copy of a call, and compares.
    pub(super) async fn shadow(self: Arc<Self>, message: Message, permit: OwnedSemaphorePermit) {
        let asked = match request::read(&message.args, 1) {
            Ok(call) => call.asked,
            Err(failure) => {
                tracing::debug!(reason = failure.message, "a copy of a call cannot be decided");
                return;
            }
        };
        let Some(instances) = asked.instance_uuids.clone() else { return };
        let wish = self.wish(&message, asked, &instances).await;
        drop(permit);
        let Some(wish) = wish else { return };
        let Ok(_place) = self.compared.try_acquire() else {
            self.status.add(Counter::Dropped, 1);
            return;
        };
        let theirs = self.await_theirs(&instances).await;
        // Only a difference is explained.
        let differs = instances.iter().any(|it| wish.spots.get(it) != theirs.get(it));
        let decision = match wish.decision.filter(|_| differs) {
            Some(id) => self.scheduler.decision(&id.to_string()).await.ok(),
            None => None,
        };
        let body = decision.and_then(|decision| decision.body);
        for instance in instances {
            let (ours, theirs) = (wish.spots.get(&instance), theirs.get(&instance));
            let differ = ours != theirs;
            self.comparisons.add(Comparison {
                request_id: message.context.request_id.clone(),
                decision_id: wish.decision,
                instance_uuid: instance,
                ours: ours.cloned(),
                theirs: theirs.cloned(),
                reason: differ.then(|| reason(body.as_ref(), instance, ours, theirs)),
                at: (self.clock)(),
            });
        }
    }

    /// Decides as if the servers held nothing yet: the other scheduler may have
    /// been faster.
    async fn wish(
        &self,
        message: &Message,
        asked: SelectRequest,
        instances: &[Uuid],
    ) -> Option<Wish> {
        let asked = SelectRequest {
            dry_run: true,
            as_if_released: instances.to_vec(),
            alternates: 0,
            ..asked
        };
        let context = &message.context;
        let call = Call { request_id: &context.request_id, now: (self.clock)() };
        let owner = (context.project_id.as_str(), context.user_id.as_str());
        match self.scheduler.select_destinations(call, asked, owner).await {
            Ok(found) => {
                let spots = found.selections.iter().map(|selection| {
                    let to = &selection.destination;
                    let spot = Spot { host: to.host.clone(), node: to.node.clone() };
                    (selection.instance_uuid, spot)
                });
                Some(Wish { decision: found.decision_id, spots: spots.collect() })
            }
            Err(WriteError::Refused(SchedulerError::NoValidHost(refusal))) => {
                Some(Wish { decision: refusal.decision_id, spots: BTreeMap::new() })
            }
            Err(error) => {
                tracing::warn!(%error, "a copy of a call was not decided");
                None
            }
        }
    }

    /// Where the servers are, once all are somewhere or patience ends.
    async fn await_theirs(&self, instances: &[Uuid]) -> BTreeMap<Uuid, Spot> {
        let until = Instant::now() + PATIENCE;
        loop {
            let image = self.scheduler.ledger().image();
            let spots = instances.iter().filter_map(|it| Some((*it, spot_of(&image, *it)?)));
            let spots: BTreeMap<Uuid, Spot> = spots.collect();
            if spots.len() == instances.len() || Instant::now() >= until {
                return spots;
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// The host on whose tree a consumer holds something.
fn spot_of(image: &Image, consumer: Uuid) -> Option<Spot> {
    let held = &image.consumers.get(consumer)?.allocations;
    held.iter().find_map(|allocation| {
        let provider = image.providers.get(allocation.provider)?;
        let host = image.hosts.get(image.providers.uuid(provider.root))?;
        Some(Spot { host: host.row.host.clone(), node: host.row.node.clone() })
    })
}
