//! A session's statements on their way to the ledger's writer.

use super::Clock;
use crate::session::{Commits, Outcome, Plan, Refused};
use crate::store::{BindRefusal, BindTerms, Epoch, bind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use stowplan_ledger::image::Image;
use stowplan_ledger::{Ledger, WriteError};
use tokio::runtime::Handle;

/// Statements under way at most: beyond, the session waits for one to end.
const MOST_UNDER_WAY: usize = 256;

/// What all writes of a cycle have in common.
#[derive(Clone)]
pub(super) struct Writes {
    /// Who leads.
    pub(super) epoch: Epoch,
    /// What evictions follow.
    pub(super) terms: BindTerms,
    /// The name by which the journal knows the cycle.
    pub(super) request_id: Arc<str>,
}

/// Hands statements to the writer and collects what became of them.
pub(super) struct LedgerCommits {
    ledger: Ledger,
    clock: Clock,
    runtime: Handle,
    writes: Writes,
    send: Sender<Outcome>,
    receive: Receiver<Outcome>,
    under_way: usize,
    held_back: Vec<Outcome>,
    refusals: usize,
}

impl LedgerCommits {
    /// For one cycle.
    pub(super) fn new(ledger: Ledger, clock: Clock, runtime: Handle, writes: Writes) -> Self {
        let (send, receive) = channel();
        Self {
            ledger,
            clock,
            runtime,
            writes,
            send,
            receive,
            under_way: 0,
            held_back: Vec::new(),
            refusals: 0,
        }
    }

    /// How many statements were refused.
    pub(super) fn refusals(&self) -> usize {
        self.refusals
    }

    fn wait(&mut self) -> Option<Outcome> {
        let outcome = self.receive.recv().ok()?;
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
        let writes = self.writes.clone();
        self.under_way += 1;
        let answer = Answer { statement: plan.statement, send, result: None };
        self.runtime.spawn(async move {
            let id = writes.request_id.clone();
            let check = move |image: &Image| {
                writes.epoch.check(image)?;
                bind(image, &plan, writes.terms, &writes.request_id, clock())
            };
            let written = ledger.write::<_, (), BindRefusal>(&id, check).await;
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
