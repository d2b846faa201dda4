//! A request from start to end: decided, committed, recorded, answered.

use std::sync::Arc;
use std::time::Instant;

use stowplan_ledger::rows::DecisionRow;
use stowplan_ledger::{Change, Image, Ledger, Record, Unavailable, WriteError};
use stowplan_model::{Micros, Uuid};

use super::answer::Destinations;
use super::check::Order;
use super::claim::{Kept, Lost, commit};
use super::decide::{Decided, Failure, Means, Refused, Trace, decide};
use super::hint;
use super::reasons::{Reasons, why};
use super::record::{self, Outcome};
use super::refusal::Refusal;
use super::repeat::{Repeat, Told};
use super::tally::{Became, Tally};
use crate::beside::Beside;
use crate::decisions::{DecisionLog, encode};
use crate::error::SchedulerError;
use crate::facade::Prepared;

/// Hosts times servers up to which a decision holds up its thread for less
/// than handing it to another would.
const INLINE: usize = 2000;

/// One request on its way.
pub(crate) struct Run<'a, R: Repeat> {
    pub ledger: &'a Ledger,
    pub log: &'a DecisionLog,
    pub beside: &'a Beside,
    pub tally: &'a Tally,
    pub prepared: Arc<Prepared>,
    pub order: Arc<Order>,
    pub request_id: &'a str,
    pub now: Micros,
    /// Id of the decision to record; none when none is kept.
    pub decision: Option<Uuid>,
    /// How it is known when it comes again.
    pub repeat: Arc<R>,
}

/// A decision with its answer.
#[derive(Clone)]
struct Draft<W> {
    decided: Decided,
    answer: Destinations,
    written: W,
}

/// What a mutation that decides or commits comes back with.
enum Ended<R: Repeat> {
    /// Nobody was faster.
    Done(Arc<Draft<R::Written>>),
    /// No valid host, decided inside the mutation.
    NoHost(Box<Refused>),
    /// The request was answered before.
    Before(R::Before),
}

/// What a request comes to.
pub(crate) enum Found<R: Repeat> {
    /// Destinations, and the answer as it is kept.
    Now(Destinations, R::Written),
    /// It was answered before.
    Before(R::Before),
}

/// Answers a request with the decision that was made for it.
struct Answering<R> {
    order: Arc<Order>,
    decision: Option<Uuid>,
    repeat: Arc<R>,
}

impl<R: Repeat> Answering<R> {
    fn draft(&self, decided: Decided, conflicts: usize) -> Draft<R::Written> {
        let answer = destinations(&self.order, self.decision, &decided, conflicts);
        let written = self.repeat.write(Told::Placed(&answer));
        Draft { decided, answer, written }
    }
}

fn means<'a>(prepared: &'a Prepared, order: &'a Order, now: Micros) -> Means<'a> {
    Means { engine: &prepared.engine, settings: &prepared.settings, order, now }
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

impl<R: Repeat> Run<'_, R> {
    /// Finds destinations and claims them.
    ///
    /// # Errors
    /// No valid host, a request that cannot be judged, or a ledger that cannot
    /// write.
    pub async fn go(self) -> Result<Found<R>, WriteError<SchedulerError>> {
        let (tally, dry_run, began) = (self.tally, self.order.dry_run, Instant::now());
        let found = self.find().await;
        let became = match &found {
            Ok(Found::Now(..)) if dry_run => Became::DryRun,
            Ok(Found::Now(..)) => Became::Placed,
            Ok(Found::Before(_)) => Became::Repeated,
            Err(WriteError::Refused(SchedulerError::NoValidHost(_))) => Became::NoValidHost,
            Err(_) => Became::Failed,
        };
        tally.add(became, began.elapsed());
        found
    }

    async fn find(self) -> Result<Found<R>, WriteError<SchedulerError>> {
        let most = self.prepared.settings.scheduler.max_attempts.max(1);
        let mut conflicts: Vec<String> = Vec::new();
        if let Some(before) = self.before().map_err(WriteError::Refused)? {
            return Ok(Found::Before(before));
        }
        loop {
            let last = u32::try_from(conflicts.len() + 1).is_ok_and(|attempt| attempt >= most);
            let draft = if last && !self.order.dry_run {
                None
            } else {
                match self.decide().await? {
                    Ok(decided) => Some(self.answering().draft(decided, conflicts.len())),
                    Err(Failure::Request(error)) => return Err(WriteError::Refused(error)),
                    Err(Failure::NoHost(refused)) => return self.refuse(*refused, conflicts).await,
                }
            };
            let draft = match draft {
                Some(draft) if self.order.dry_run => return self.show(draft, conflicts).await,
                draft => draft.map(Arc::new),
            };
            match self.commit(draft, conflicts.len()).await {
                Ok(Ended::Done(draft)) => {
                    // The proposal has let go of it.
                    return Ok(self.answer(Arc::unwrap_or_clone(draft), conflicts));
                }
                Ok(Ended::Before(before)) => return Ok(Found::Before(before)),
                Ok(Ended::NoHost(refused)) => return self.refuse(*refused, conflicts).await,
                Err(WriteError::Refused(Lost::Race(reason))) => {
                    tracing::debug!(request_id = self.request_id, %reason, "decided again");
                    self.tally.add_conflict();
                    conflicts.push(reason);
                }
                Err(WriteError::Refused(Lost::Failed(error))) => {
                    return Err(WriteError::Refused(error));
                }
                Err(WriteError::Unavailable(trouble)) => return Err(trouble.into()),
            }
        }
    }

    fn before(&self) -> Result<Option<R::Before>, SchedulerError> {
        self.repeat.before(&self.ledger.image())
    }

    fn answering(&self) -> Answering<R> {
        let (order, decision) = (self.order.clone(), self.decision);
        Answering { order, decision, repeat: self.repeat.clone() }
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
        draft: Option<Arc<Draft<R::Written>>>,
        conflicts: usize,
    ) -> Result<Ended<R>, WriteError<Lost>> {
        let (prepared, answering) = (self.prepared.clone(), self.answering());
        let (now, id, request_id) = (self.now, self.decision, self.request_id.to_owned());
        let propose = move |image: &Image| {
            let Answering { order, repeat, .. } = &answering;
            if let Some(before) = repeat.before(image)? {
                return Ok((Change::nothing(), Ended::Before(before)));
            }
            let means = means(&prepared, order, now);
            let draft = match &draft {
                Some(draft) => draft.clone(),
                None => match decide(image, means) {
                    Ok(decided) => Arc::new(answering.draft(decided, conflicts)),
                    Err(Failure::Request(error)) => return Err(Lost::Failed(error)),
                    Err(Failure::NoHost(refused)) => {
                        return Ok((Change::nothing(), Ended::NoHost(refused)));
                    }
                },
            };
            let outcome = Outcome::Found(&draft.decided);
            let header = id.map(|id| record::header(id, &request_id, order, &outcome, now));
            let keep = |claimed: &[Record]| repeat.keep(image, &draft.written, Some(claimed), now);
            let change =
                commit(image, means, &draft.decided, Kept { header: header.as_ref(), keep })?;
            Ok((change, Ended::Done(draft)))
        };
        self.ledger.write(self.request_id, propose).await
    }

    /// Answers a request that claims nothing.
    async fn show(
        &self,
        draft: Draft<R::Written>,
        conflicts: Vec<String>,
    ) -> Result<Found<R>, WriteError<SchedulerError>> {
        let outcome = Outcome::Found(&draft.decided);
        match self.record_alone(&outcome, draft.written.clone()).await? {
            Some(before) => Ok(Found::Before(before)),
            None => Ok(self.answer(draft, conflicts)),
        }
    }

    fn answer(&self, draft: Draft<R::Written>, conflicts: Vec<String>) -> Found<R> {
        let Draft { decided, answer, written } = draft;
        self.keep(decided.trace, Reasons::default(), conflicts);
        Found::Now(answer, written)
    }

    /// Records a decision that found no host, and says so.
    async fn refuse(
        &self,
        refused: Refused,
        conflicts: Vec<String>,
    ) -> Result<Found<R>, WriteError<SchedulerError>> {
        let (prepared, order, now) = (self.prepared.clone(), self.order.clone(), self.now);
        let stage = refused.stage;
        let found = move || (why(&refused, means(&prepared, &order, now)), refused);
        let (reasons, refused) = self.beside.run(found).await?;
        let outcome = Outcome::Refused(&refused, &reasons);
        let refusal = Refusal { decision_id: self.decision, stage, reasons: reasons.shown() };
        let written = self.repeat.write(Told::Refused(&refusal));
        if let Some(before) = self.record_alone(&outcome, written).await? {
            return Ok(Found::Before(before));
        }
        self.keep(refused.trace, reasons, conflicts);
        Err(WriteError::Refused(SchedulerError::NoValidHost(Box::new(refusal))))
    }

    /// Commits what is kept of a request that claims nothing: the header of its
    /// decision, and its answer if it may come again. Gives what was kept of an
    /// answer before.
    async fn record_alone(
        &self,
        outcome: &Outcome<'_>,
        written: R::Written,
    ) -> Result<Option<R::Before>, WriteError<SchedulerError>> {
        let (order, now) = (&self.order, self.now);
        let header: Option<DecisionRow> =
            self.decision.map(|id| record::header(id, self.request_id, order, outcome, now));
        if header.is_none() && !self.keeps(&written) {
            return self.before().map_err(WriteError::Refused);
        }
        let repeat = self.repeat.clone();
        let propose = move |image: &Image| {
            if let Some(before) = repeat.before(image)? {
                return Ok((Change::nothing(), Some(before)));
            }
            let mut change = Change::new("decision");
            change.records.extend(header.clone().map(|row| Record::Decision(Box::new(row))));
            change.records.extend(repeat.keep(image, &written, None, now));
            Ok((change, None))
        };
        self.ledger.write(self.request_id, propose).await
    }

    /// Whether anything is kept of an answer that claims nothing.
    fn keeps(&self, written: &R::Written) -> bool {
        !self.repeat.keep(&self.ledger.image(), written, None, self.now).is_empty()
    }

    /// Hands the body in, to be written beside the answer.
    fn keep(&self, trace: Trace, reasons: Reasons, conflicts: Vec<String>) {
        let Some(id) = self.decision else { return };
        let order = self.order.clone();
        let make = move || {
            let mut body = record::body(&order, trace, reasons, conflicts);
            encode(&mut body)
                .inspect_err(|error| tracing::warn!(decision = %id, %error, "its body is lost"))
                .ok()
        };
        self.log.record(id, self.now, Box::new(make));
    }
}
