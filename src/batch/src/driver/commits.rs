//! A session's statements on their way to the ledger's writer.

use super::Clock;
use crate::session::{Commits, Outcome, Plan, Refused};
use crate::store::{BindRefusal, Epoch, Terms, bind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use stowplan_ledger::image::Image;
use stowplan_ledger::{Ledger, WriteError};
use tokio::runtime::Handle;
use tokio::time::Instant;

/// Statements under way at most: beyond, the session waits for one to end.
const MOST_UNDER_WAY: usize = 256;

/// Hands statements to the writer and collects what became of them.
pub(super) struct LedgerCommits {
    ledger: Ledger,
    clock: Clock,
    runtime: Handle,
    epoch: Epoch,
    terms: Arc<Terms>,
    send: Sender<Outcome>,
    receive: Receiver<Outcome>,
    under_way: usize,
    held_back: Vec<Outcome>,
    refusals: usize,
    waited: Duration,
}

impl LedgerCommits {
    /// For one cycle.
    pub(super) fn new(
        ledger: Ledger,
        clock: Clock,
        runtime: Handle,
        epoch: Epoch,
        terms: Terms,
    ) -> Self {
        let (send, receive) = channel();
        Self {
            ledger,
            clock,
            runtime,
            epoch,
            terms: Arc::new(terms),
            send,
            receive,
            under_way: 0,
            held_back: Vec::new(),
            refusals: 0,
            waited: Duration::ZERO,
        }
    }

    /// How many statements were refused.
    pub(super) fn refusals(&self) -> usize {
        self.refusals
    }

    /// How long the session has waited for commits.
    pub(super) fn waited(&self) -> Duration {
        self.waited
    }

    /// The newest image.
    pub(super) fn image(&self) -> Arc<Image> {
        self.ledger.image()
    }

    fn wait(&mut self) -> Option<Outcome> {
        let began = Instant::now();
        let outcome = self.receive.recv();
        self.waited += began.elapsed();
        let outcome = outcome.ok()?;
        self.under_way -= 1;
        Some(outcome)
    }
}

impl Commits for LedgerCommits {
    fn submit(&mut self, plan: Plan) {
        if self.under_way >= MOST_UNDER_WAY
            && let Some(outcome) = self.wait()
        {
            self.held_back.push(outcome);
        }
        let (ledger, clock, send) = (self.ledger.clone(), self.clock.clone(), self.send.clone());
        let (epoch, terms) = (self.epoch, self.terms.clone());
        self.under_way += 1;
        let answer = Answer { statement: plan.statement, send, result: None };
        self.runtime.spawn(async move {
            let own = terms.clone();
            let check = move |image: &Image| {
                epoch.check(image)?;
                bind(image, &plan, &own, clock())
            };
            let written = ledger.write::<_, (), BindRefusal>(&terms.request_id, check).await;
            answer.give(written.map_err(|error| refused(&ledger, error)));
        });
    }

    fn outcome(&mut self, wait: bool) -> Option<Outcome> {
        let outcome = match self.held_back.pop() {
            Some(outcome) => Some(outcome),
            None if wait && self.under_way > 0 => self.wait(),
            None => {
                let known = self.receive.try_recv().ok();
                self.under_way -= usize::from(known.is_some());
                known
            }
        };
        self.refusals += usize::from(outcome.as_ref().is_some_and(|o| o.result.is_err()));
        outcome
    }
}

/// What is to be said of one statement. It is said whatever becomes of the task
/// that works it out: a session waits for every answer.
struct Answer {
    statement: u32,
    send: Sender<Outcome>,
    result: Option<Result<(), Refused>>,
}

impl Answer {
    fn give(mut self, result: Result<(), Refused>) {
        self.result = Some(result);
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        let broken = || Err(Refused { reason: "the commit broke off".to_owned(), news: None });
        let result = self.result.take().unwrap_or_else(broken);
        // Nobody waits any more when the cycle broke off; the commit stands.
        let _ = self.send.send(Outcome { statement: self.statement, result });
    }
}

fn refused(ledger: &Ledger, error: WriteError<BindRefusal>) -> Refused {
    match error {
        WriteError::Refused(refusal) => Refused {
            reason: refusal.to_string(),
            news: refusal.may_retry().then(|| Box::new(Image::clone(&ledger.image())) as _),
        },
        // The next cycle will see; hammering on a database that is away helps
        // nobody.
        WriteError::Unavailable(trouble) => Refused { reason: trouble.to_string(), news: None },
    }
}
