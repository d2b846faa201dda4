//! Calls over the message bus.

use stowplan_ledger::{Image, Unavailable, WriteError};
use stowplan_model::{Micros, Uuid};

use super::{Call, Scheduler, Written};
use crate::select::{self, BusCall, CallAnswer, Found, SelectRequest, Undone, call_uuid};

impl Scheduler {
    /// Finds destinations for a call over the message bus, and claims them. The
    /// answer is kept with the claim; a call that was answered before gets the
    /// same answer. As the peer, this passes over a zone that no host aggregate
    /// has.
    ///
    /// # Errors
    /// As [`Scheduler::select_destinations`].
    pub async fn answer_call(
        &self,
        call: Call<'_>,
        asked: SelectRequest,
        caller: (&str, &str),
        bus: BusCall,
    ) -> Written<CallAnswer> {
        let mut order = self.order(asked, caller).await.map_err(WriteError::Refused)?;
        order.zone_must_exist = false;
        let (uuid, claims) = (call_uuid(&bus.msg_id), !order.dry_run);
        Ok(match self.run(call, order, bus).go().await? {
            Found::Now(_, answer) => {
                CallAnswer { answer, kept: claims.then_some(uuid), repeated: false }
            }
            Found::Before(row) => {
                CallAnswer { answer: row.answer.clone(), kept: Some(row.uuid), repeated: true }
            }
        })
    }

    /// Notes that the broker took the answers of these calls.
    ///
    /// # Errors
    /// A ledger that cannot write.
    pub async fn calls_delivered(&self, calls: &[Uuid]) -> Result<(), Unavailable> {
        self.ledger.note_delivered(calls).await
    }

    /// Notes that no queue was there for the answer to a call.
    ///
    /// # Errors
    /// A ledger that cannot write.
    pub async fn call_missing(&self, uuid: Uuid, now: Micros) -> Written<()> {
        let propose = move |image: &Image| Ok((select::missing(image, uuid, now), ()));
        self.ledger.write("bus", propose).await
    }

    /// Takes back what a call claimed whose answer reaches nobody; see
    /// [`Undone`] for what stays. `maybe_known` is whether the caller may have had the
    /// answer all the same: then nothing is taken back.
    ///
    /// # Errors
    /// A ledger that cannot write.
    pub async fn undo_call(
        &self,
        call: Call<'_>,
        uuid: Uuid,
        maybe_known: bool,
    ) -> Written<Undone> {
        let now = call.now;
        self.write(call, move |image| Ok(select::undo_call(image, uuid, maybe_known, now))).await
    }

    /// Forgets calls that are done with: those older than `oldest`, and the oldest of
    /// more than `most`, a piece at a time. Gives how many; call again until none.
    ///
    /// # Errors
    /// A ledger that cannot write.
    pub async fn forget_calls(&self, oldest: Micros, most: usize) -> Written<usize> {
        let propose = move |image: &Image| Ok(select::forget(image, oldest, most));
        self.ledger.write("bus", propose).await
    }
}
