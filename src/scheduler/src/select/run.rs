//! A request from start to end: decided, committed, recorded, answered.

use std::sync::Arc;

use serde::Serialize;
use stowplan_ledger::rows::{CallRow, DecisionRow};
use stowplan_ledger::{Change, Image, Ledger, Record, Unavailable, WriteError};
use stowplan_model::{Micros, Uuid};

use super::answer::Destinations;
use super::call::{BusCall, call_uuid};
use super::check::Order;
use super::claim::{Lost, commit};
use super::decide::{Decided, Failure, Means, Refused, Trace, decide};
use super::hint;
use super::once::{PLACED, REFUSED, RequestKey, Standing};
use super::reasons::{Reasons, why};
use super::record::{self, Outcome};
use super::refusal::Refusal;
use crate::beside::Beside;
use crate::decisions::{DecisionLog, encode};
use crate::error::SchedulerError;
use crate::facade::Prepared;

/// Hosts times servers up to which a decision holds up its thread for less
/// than handing it to another would.
const INLINE: usize = 2000;

/// One request on its way.
pub(crate) struct Run<'a> {
    pub ledger: &'a Ledger,
    pub log: &'a DecisionLog,
    pub beside: &'a Beside,
    pub prepared: Arc<Prepared>,
    pub order: Arc<Order>,
    pub request_id: &'a str,
    pub now: Micros,
    /// Id of the decision to record; none when none is kept.
    pub decision: Option<Uuid>,
    /// The call that it answers.
    pub call: Option<Arc<BusCall>>,
    /// The key that its sender gave it.
    pub key: Option<Arc<RequestKey>>,
}

/// What a mutation that decides or commits comes back with.
enum Ended {
    /// Nobody was faster.
    Done(Arc<Decided>),
    /// No valid host, decided inside the mutation.
    NoHost(Box<Refused>),
    /// The call was answered already.
    Answered(Arc<CallRow>),
    /// The request of this key was.
    Kept(i64),
}

/// What a request comes to.
pub(crate) enum Found {
    /// Destinations.
    Now(Destinations),
    /// A call that was answered already.
    Before(Arc<CallRow>),
    /// The request of this key was.
    Kept(i64),
}

fn means<'a>(prepared: &'a Prepared, order: &'a Order, now: Micros) -> Means<'a> {
    Means { engine: &prepared.engine, settings: &prepared.settings, order, now }
}

/// Where the answer of a key is kept, if it was used.
fn kept(key: Option<&RequestKey>, image: &Image) -> Result<Option<i64>, SchedulerError> {
    match key.map(|key| key.standing(image)).transpose()? {
        Some(Standing::Answered(kept)) => Ok(Some(kept)),
        Some(Standing::Unused) | None => Ok(None),
    }
}

/// An answer as it is kept.
fn written(answer: &impl Serialize) -> String {
    serde_json::to_string(answer).unwrap_or_default()
}

/// The answer of a request with a host for each server.
fn destinations(
    order: &Order,
    decision: Option<Uuid>,
    decided: &Decided,
    conflicts: usize,
) -> Destinations {
    let mut warnings: Vec<String> =
        decided.trace.queries.iter().flat_map(|queries| queries.warnings.clone()).collect();
    warnings.extend(order.hint.warning.clone());
    if let Some(first) = decided.trace.servers.first() {
        let explanation = &first.explanation;
        warnings.extend(hint::dropped(explanation));
        warnings.extend(explanation.weights.warnings.iter().cloned());
        warnings.extend(explanation.findings.iter().map(|noted| noted.text.clone()));
    }
    Destinations {
        decision_id: decision,
        dry_run: order.dry_run,
        seed: order.seed,
        attempts: u32::try_from(conflicts + 1).unwrap_or(u32::MAX),
        warnings,
        selections: decided.selections(),
    }
}

impl Run<'_> {
    /// Finds destinations and claims them.
    ///
    /// # Errors
    /// No valid host, a request that cannot be judged, or a ledger that cannot
    /// write.
    pub async fn go(self) -> Result<Found, WriteError<SchedulerError>> {
        let most = self.prepared.settings.scheduler.max_attempts.max(1);
        let mut conflicts: Vec<String> = Vec::new();
        let image = self.ledger.image();
        if let Some(kept) = kept(self.key.as_deref(), &image).map_err(WriteError::Refused)? {
            return Ok(Found::Kept(kept));
        }
        loop {
            let last = u32::try_from(conflicts.len() + 1).is_ok_and(|attempt| attempt >= most);
            let decided = if last && !self.order.dry_run {
                None
            } else {
                match self.decide().await? {
                    Ok(decided) => Some(Arc::new(decided)),
                    Err(Failure::Request(error)) => return Err(WriteError::Refused(error)),
                    Err(Failure::NoHost(refused)) => return self.refuse(*refused, conflicts).await,
                }
            };
            if let Some(decided) = decided.as_ref().filter(|_| self.order.dry_run) {
                let outcome = Outcome::Found(decided);
                let answer = written(&self.destinations(decided, conflicts.len()));
                if let Some(kept) = self.record_alone(&outcome, PLACED, answer).await? {
                    return Ok(Found::Kept(kept));
                }
                return Ok(Found::Now(self.answer(decided.clone(), conflicts)));
            }
            match self.commit(decided, conflicts.len()).await {
                Ok(Ended::Done(decided)) => {
                    return Ok(Found::Now(self.answer(decided, conflicts)));
                }
                Ok(Ended::Answered(row)) => return Ok(Found::Before(row)),
                Ok(Ended::Kept(kept)) => return Ok(Found::Kept(kept)),
                Ok(Ended::NoHost(refused)) => return self.refuse(*refused, conflicts).await,
                Err(WriteError::Refused(Lost::Race(reason))) => {
                    tracing::debug!(request_id = self.request_id, %reason, "decided again");
                    conflicts.push(reason);
                }
                Err(WriteError::Refused(Lost::Failed(error))) => {
                    return Err(WriteError::Refused(error));
                }
                Err(WriteError::Unavailable(trouble)) => return Err(trouble.into()),
            }
        }
    }

    /// Decides on the newest image.
    async fn decide(&self) -> Result<Result<Decided, Failure>, Unavailable> {
        let (prepared, order, now) = (self.prepared.clone(), self.order.clone(), self.now);
        let image = self.ledger.image();
        let servers = order.instances.len();
        let large = image.hosts.len().saturating_mul(servers) > INLINE || order.wants_places();
        let work = move || decide(&image, means(&prepared, &order, now));
        if large { self.beside.run(work).await } else { Ok(work()) }
    }

    /// Commits a decision; without one, decides inside the mutation, on the
    /// image that it is committed to.
    async fn commit(
        &self,
        decided: Option<Arc<Decided>>,
        conflicts: usize,
    ) -> Result<Ended, WriteError<Lost>> {
        let (prepared, order) = (self.prepared.clone(), self.order.clone());
        let (now, id, request_id) = (self.now, self.decision, self.request_id.to_owned());
        let (call, key) = (self.call.clone(), self.key.clone());
        let propose = move |image: &Image| {
            if let Some(kept) = kept(key.as_deref(), image)? {
                return Ok((Change::nothing(), Ended::Kept(kept)));
            }
            if let Some(call) = &call
                && let Some(row) = image.calls.get(call_uuid(&call.msg_id))
            {
                return Ok((Change::nothing(), Ended::Answered(row.clone())));
            }
            let means = means(&prepared, &order, now);
            let decided = match &decided {
                Some(decided) => decided.clone(),
                None => match decide(image, means) {
                    Ok(decided) => Arc::new(decided),
                    Err(Failure::Request(error)) => return Err(Lost::Failed(error)),
                    Err(Failure::NoHost(refused)) => {
                        return Ok((Change::nothing(), Ended::NoHost(refused)));
                    }
                },
            };
            let outcome = Outcome::Found(&decided);
            let header = id.map(|id| record::header(id, &request_id, &order, &outcome, now));
            let mut change = commit(image, means, &decided, header.as_ref(), call.as_deref())?;
            if let Some(key) = &key {
                let answer = written(&destinations(&order, id, &decided, conflicts));
                change.records.extend(key.records(image, PLACED, answer, now));
            }
            Ok((change, Ended::Done(decided)))
        };
        self.ledger.write(self.request_id, propose).await
    }

    fn destinations(&self, decided: &Decided, conflicts: usize) -> Destinations {
        destinations(&self.order, self.decision, decided, conflicts)
    }

    fn answer(&self, decided: Arc<Decided>, conflicts: Vec<String>) -> Destinations {
        let answer = self.destinations(&decided, conflicts.len());
        self.keep(move || decided.trace.clone(), Reasons::default(), conflicts);
        answer
    }

    /// Records a decision that found no host, and says so.
    async fn refuse(
        &self,
        refused: Refused,
        conflicts: Vec<String>,
    ) -> Result<Found, WriteError<SchedulerError>> {
        let (prepared, order, now) = (self.prepared.clone(), self.order.clone(), self.now);
        let stage = refused.stage;
        let found = move || (why(&refused, means(&prepared, &order, now)), refused);
        let (reasons, refused) = self.beside.run(found).await?;
        let outcome = Outcome::Refused(&refused, &reasons);
        let refusal = Refusal { decision_id: self.decision, stage, reasons: reasons.shown() };
        if let Some(kept) = self.record_alone(&outcome, REFUSED, written(&refusal)).await? {
            return Ok(Found::Kept(kept));
        }
        self.keep(move || refused.trace, reasons, conflicts);
        Err(WriteError::Refused(SchedulerError::NoValidHost(Box::new(refusal))))
    }

    /// Commits what is kept of a request that claims nothing: the header of its
    /// decision, and its answer if it has a key. Gives where another answer is
    /// kept already.
    async fn record_alone(
        &self,
        outcome: &Outcome<'_>,
        status: u16,
        answer: String,
    ) -> Result<Option<i64>, WriteError<SchedulerError>> {
        let (order, now) = (&self.order, self.now);
        let header: Option<DecisionRow> =
            self.decision.map(|id| record::header(id, self.request_id, order, outcome, now));
        let key = self.key.clone();
        if header.is_none() && key.is_none() {
            return Ok(None);
        }
        let propose = move |image: &Image| {
            if let Some(kept) = kept(key.as_deref(), image)? {
                return Ok((Change::nothing(), Some(kept)));
            }
            let mut change = Change::new("decision");
            change.records.extend(header.clone().map(|row| Record::Decision(Box::new(row))));
            if let Some(key) = &key {
                change.records.extend(key.records(image, status, answer.clone(), now));
            }
            Ok((change, None))
        };
        self.ledger.write(self.request_id, propose).await
    }

    /// Hands the body in, to be written beside the answer.
    fn keep(
        &self,
        trace: impl FnOnce() -> Trace + Send + 'static,
        reasons: Reasons,
        conflicts: Vec<String>,
    ) {
        let Some(id) = self.decision else { return };
        let order = self.order.clone();
        let make = move || {
            let mut body = record::body(&order, trace(), reasons, conflicts);
            encode(&mut body)
                .inspect_err(|error| tracing::warn!(decision = %id, %error, "its body is lost"))
                .ok()
        };
        self.log.record(id, self.now, Box::new(make));
    }
}
