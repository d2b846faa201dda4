//! Destinations of servers, whoever asks for them.

use std::sync::Arc;
use std::time::Instant;

use stowplan_ledger::{Unavailable, WriteError};
use stowplan_model::{Micros, Uuid};

use super::{Call, Scheduler, Written};
use crate::decisions;
use crate::error::SchedulerError;
use crate::select::{
    self, Anew, Became, Confirmed, Destinations, Found, Order, REFUSED, Repeat, RequestKey, Run,
    SelectRequest,
};

/// What a request with a key is answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It was decided now.
    Now(Destinations),
    /// It was answered before: that answer, as it was written.
    Before(String),
}

impl Scheduler {
    /// Finds destinations for the servers of a request and claims them.
    /// `caller` are the project and user of a request that names none.
    ///
    /// # Errors
    /// Fields that cannot be, no valid host, a request that cannot be judged,
    /// or a ledger that cannot write.
    pub async fn select_destinations(
        &self,
        call: Call<'_>,
        asked: SelectRequest,
        caller: (&str, &str),
    ) -> Written<Destinations> {
        let order = self.order(asked, caller).await.map_err(WriteError::Refused)?;
        let Found::Now(destinations, ()) = self.run(call, order, Anew).go().await?;
        Ok(destinations)
    }

    /// The same for a request with a key of its sender's, who is `caller`: it is
    /// answered once, and whoever sends the same under the same key again gets the
    /// same answer for `[api] idempotency_key_lifetime`.
    ///
    /// # Errors
    /// As [`Scheduler::select_destinations`], or a key that was used for another
    /// request.
    pub async fn select_destinations_once(
        &self,
        call: Call<'_>,
        asked: SelectRequest,
        caller: (&str, &str),
        key: &str,
    ) -> Written<Answer> {
        let key = RequestKey::new(key, caller, &asked, self.oldest_key(call.now));
        let key = key.map_err(WriteError::Refused)?;
        let kept = match self.kept(&key).map_err(WriteError::Refused)? {
            Some(kept) => kept,
            None => {
                let order = self.order(asked, caller).await.map_err(WriteError::Refused)?;
                match self.run(call, order, key).go().await? {
                    Found::Now(destinations, _) => return Ok(Answer::Now(destinations)),
                    Found::Before(kept) => kept,
                }
            }
        };
        // What is forgotten in this very moment is to be asked for again.
        let answer = self.ledger.request_answer(kept).await?.ok_or(Unavailable::Closing)?;
        if answer.status == REFUSED {
            let refusal = serde_json::from_str(&answer.body).map_err(|e| Unavailable::fault(&e))?;
            return Err(WriteError::Refused(SchedulerError::NoValidHost(refusal)));
        }
        Ok(Answer::Before(answer.body))
    }

    /// Under which the answer to a request is kept that was answered before: nobody
    /// else needs to be asked for it.
    fn kept(&self, key: &RequestKey) -> Result<Option<i64>, SchedulerError> {
        let began = Instant::now();
        let kept = key.before(&self.ledger.image());
        let became = match kept {
            Ok(None) => return kept,
            Ok(Some(_)) => Became::Repeated,
            Err(_) => Became::Failed,
        };
        self.tally.add(became, began.elapsed());
        kept
    }

    /// Forgets keys of requests that were used longer ago than `[api]
    /// idempotency_key_lifetime`. Gives how many there were.
    ///
    /// # Errors
    /// A ledger that cannot write.
    pub async fn forget_request_keys(&self, call: Call<'_>) -> Written<usize> {
        let oldest = self.oldest_key(call.now);
        if self.ledger.image().request_keys.iter().next().is_none_or(|row| row.created >= oldest) {
            return Ok(0);
        }
        self.write(call, move |image| Ok(select::forget_keys(image, oldest))).await
    }

    /// When the oldest keys were used that are not forgotten.
    fn oldest_key(&self, now: Micros) -> Micros {
        let lifetime = self.settings.load().api.idempotency_key_lifetime.as_micros();
        Micros(now.0.saturating_sub(i64::try_from(lifetime).unwrap_or(i64::MAX)))
    }

    /// A request, checked, with what others know of its networks.
    pub(super) async fn order(
        &self,
        mut asked: SelectRequest,
        caller: (&str, &str),
    ) -> Result<Order, SchedulerError> {
        let requested = &mut asked.requested_networks;
        // Of a list that is too long nothing is asked; it is refused next.
        if let Some(known) = &self.networks
            && requested.len() <= select::MAX_NETWORKS
        {
            let options = &self.settings.load_full().scheduler;
            let routed = options.query_placement_for_routed_network_aggregates;
            select::learn(requested, routed, known.as_ref()).await?;
        }
        Order::check(asked, caller, (self.seeds)())
    }

    pub(super) fn run<'a, R: Repeat>(
        &'a self,
        call: Call<'a>,
        order: Order,
        repeat: R,
    ) -> Run<'a, R> {
        let prepared = self.prepared();
        let kept = prepared.settings.decisions.max_rows > 0;
        Run {
            ledger: &self.ledger,
            log: &self.log,
            beside: &self.beside,
            tally: &self.tally,
            prepared,
            order: Arc::new(order),
            request_id: call.request_id,
            now: call.now,
            decision: kept.then(Uuid::now_v7),
            repeat: Arc::new(repeat),
        }
    }

    /// Confirms the claims of a decision, so that they do not run out (`[scheduler]
    /// claim_lease`).
    ///
    /// # Errors
    /// When there is no decision of that id or it claimed nothing, or a ledger that
    /// cannot write.
    pub async fn confirm(&self, call: Call<'_>, id: &str) -> Written<Confirmed> {
        let not_found = || WriteError::Refused(SchedulerError::DecisionNotFound(id.to_owned()));
        let decision = Uuid::parse_str(id).map_err(|_| not_found())?;
        let header = self.ledger.decision(decision).await?.ok_or_else(not_found)?.header;
        if header.outcome != "placed" {
            let outcome = header.outcome;
            return Err(WriteError::Refused(SchedulerError::NothingClaimed { decision, outcome }));
        }
        let servers = decisions::servers_of(&header.header);
        self.write(call, move |image| Ok(select::confirm(image, decision, &servers))).await
    }

    /// Releases claims that were not confirmed in time. Gives the servers.
    ///
    /// # Errors
    /// A ledger that cannot write.
    pub async fn expire_claims(&self, call: Call<'_>) -> Written<Vec<Uuid>> {
        let now = call.now;
        if self.ledger.image().consumers.leased().next().is_none_or(|(until, _)| until > now) {
            return Ok(Vec::new());
        }
        self.write(call, move |image| select::expire(image, now)).await
    }
}
