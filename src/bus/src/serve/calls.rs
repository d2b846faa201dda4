//! One call of select_destinations, from the message to its answer.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use stowplan_ledger::Image;
use stowplan_model::Uuid;
use stowplan_model::request::NetworkMetadata;
use stowplan_scheduler::Call;
use stowplan_scheduler::select::{BusCall, Destination, SelectRequest, call_uuid};
use tokio::sync::OwnedSemaphorePermit;

use super::Hub;
use super::acknowledged::Acknowledged;
use super::delivery::Answer;
use super::freshness::too_late;
use super::status::Counter;
use crate::link::properties;
use crate::notify::told::Phase;
use crate::rpc::refusals;
use crate::rpc::request::{self, SelectCall};
use crate::rpc::selections::{self, Form, NumaLimits};
use crate::wire::failure::Failure;
use crate::wire::message::{Caller, Message};
use crate::wire::{envelope, reply};

/// The hint by which a caller says that a server stays where it is.
const CHECK_TYPE: &str = "_nova_check_type";

/// A call that was taken from its queue.
pub(super) struct Taken {
    /// The call.
    pub message: Message,
    /// It was sent after this; none where that is not known.
    pub sent_after: Option<Instant>,
    /// Milliseconds that its caller waits in all.
    pub expires_in: Option<u64>,
}

impl Hub {
    /// Decides a call and answers it.
    pub(super) async fn select(
        self: Arc<Self>,
        taken: Taken,
        acknowledged: Acknowledged,
        permit: OwnedSemaphorePermit,
    ) {
        // While the acknowledgement is on its way the request is read.
        let attempts = self.settings.load().scheduler.max_attempts;
        let asked = request::read(&taken.message.args, attempts);
        if !self.is_ours(&taken.message, acknowledged).await {
            return;
        }
        let Some(caller) = taken.message.caller.clone() else {
            tracing::warn!(
                request_id = taken.message.context.request_id,
                "nobody waits for these destinations: none are claimed"
            );
            return;
        };
        let answer = tokio::select! {
            decided = self.decide(&taken, &caller, asked) => decided,
            never = self.show_life(&caller) => match never {},
        };
        drop(permit);
        self.deliver(answer).await;
    }

    /// The answer to a call. One that was there already may be known to its caller.
    async fn decide(
        &self,
        taken: &Taken,
        caller: &Caller,
        asked: Result<SelectCall, Failure>,
    ) -> Answer {
        let image = self.scheduler.ledger().image();
        if let Some(row) = image.calls.get(call_uuid(&caller.msg_id)) {
            self.status.add(Counter::Repeated, 1);
            let (kept, maybe_known) = (Some(row.uuid), true);
            return Answer { kept, maybe_known, ..Answer::new(caller, row.answer.clone()) };
        }
        if let Some(waited) = self.is_too_late(taken, caller) {
            self.status.add(Counter::TooLate, 1);
            let request_id = &taken.message.context.request_id;
            tracing::warn!(request_id, waited, "a call's caller may have given up: not decided");
            return Answer::new(caller, reply::answer(&Err(Failure::too_late(waited))));
        }
        match asked {
            Ok(call) => {
                self.notify(&taken.message, Phase::Start);
                self.claim(&taken.message, caller, call).await
            }
            Err(failure) => Answer::new(caller, reply::answer(&Err(failure))),
        }
    }

    /// Tells whoever listens where a call stands.
    fn notify(&self, message: &Message, phase: Phase) {
        if let (Some(tell), Some(spec)) = (&self.tell, message.args.get("spec_obj")) {
            tell.request(spec, phase, &message.context.request_id);
        }
    }

    /// Seconds that a call may have waited, if that is longer than its caller
    /// does.
    fn is_too_late(&self, taken: &Taken, caller: &Caller) -> Option<u64> {
        let monitored = caller.patience.filter(|seconds| *seconds > 0).map(Duration::from_secs);
        let whole = taken.expires_in.map(Duration::from_millis);
        let patience = [monitored, whole].into_iter().flatten().min()?;
        let context = taken.message.context.time;
        too_late(taken.sent_after, Instant::now(), context, (self.clock)(), patience)
    }

    async fn claim(&self, message: &Message, caller: &Caller, call: SelectCall) -> Answer {
        let SelectCall { asked, objects } = call;
        let form = Form { objects, rebuild: is_rebuild(&asked) };
        let limited = asked.numa_topology.as_ref().is_some_and(|it| !it.cells.is_empty());
        let networks = asked.network_metadata.clone();
        let ledger = self.scheduler.ledger().clone();
        let write = move |selections: &[_]| {
            let image = ledger.image();
            let numa = |to: &Destination| {
                limited.then(|| numa_limits(&image, to, networks.clone())).flatten()
            };
            reply::answer(&Ok(selections::result(selections, form, numa)))
        };
        let context = &message.context;
        let bus = BusCall {
            msg_id: caller.msg_id.clone(),
            unique_id: message.unique_id.clone().unwrap_or_default(),
            reply_queue: caller.reply_queue.clone(),
            write: Box::new(write),
        };
        let call = Call { request_id: &context.request_id, now: (self.clock)() };
        let owner = (context.project_id.as_str(), context.user_id.as_str());
        match self.scheduler.answer_call(call, asked, owner, bus).await {
            Ok(answer) => {
                self.status.add(Counter::Repeated, u64::from(answer.repeated));
                self.notify(message, Phase::End);
                let (kept, maybe_known) = (answer.kept, answer.repeated);
                Answer { kept, maybe_known, ..Answer::new(caller, answer.answer) }
            }
            Err(error) => {
                let failure = refusals::failure(&error);
                let request_id = &context.request_id;
                tracing::info!(request_id, reason = failure.message, "no destinations");
                Answer::new(caller, reply::answer(&Err(failure)))
            }
        }
    }

    /// Tells a caller that wants to know, twice in the time that it waits, that
    /// its call is worked on. Never ends.
    async fn show_life(&self, caller: &Caller) -> Infallible {
        let interval = caller.patience.map(|patience| patience.saturating_mul(500));
        let interval = interval.map(Duration::from_millis).filter(|it| it.as_secs() >= 1);
        let Some(interval) = interval else { return std::future::pending().await };
        loop {
            tokio::time::sleep(interval).await;
            let text = reply::sign_of_life(&caller.msg_id, Uuid::new_v4());
            let body = envelope::seal(&text);
            let queue = &caller.reply_queue;
            let sent = self.replies.send("", queue, true, &body, properties()).await;
            if let Err(error) = sent {
                tracing::debug!(%error, "a sign of life was not sent");
            }
        }
    }
}

fn is_rebuild(asked: &SelectRequest) -> bool {
    asked.scheduler_hints.0.get(CHECK_TYPE).is_some_and(|values| values == &["rebuild"])
}

/// In which ratios the NUMA cells of a host may be promised; none for a host that
/// tells of no cells.
fn numa_limits(
    image: &Image,
    to: &Destination,
    networks: Option<NetworkMetadata>,
) -> Option<NumaLimits> {
    let report = &image.hosts.get(to.compute_node_uuid)?.row.report;
    report.numa_cells.as_ref()?;
    Some(NumaLimits {
        cpu: report.cpu_allocation_ratio.unwrap_or(1.0),
        ram: report.ram_allocation_ratio.unwrap_or(1.0),
        networks,
    })
}
