//! Requests that may come again: what is kept of an answer, and how it is found.

use std::convert::Infallible;

use stowplan_ledger::{Image, Record};
use stowplan_model::Micros;

use super::answer::Destinations;
use super::refusal::Refusal;
use crate::error::SchedulerError;

/// What a request is answered.
pub(crate) enum Told<'a> {
    /// Hosts for all servers.
    Placed(&'a Destinations),
    /// No valid host.
    Refused(&'a Refusal),
}

/// How a request is known when it comes again, and what is kept so that it gets
/// the same answer.
pub(crate) trait Repeat: Send + Sync + 'static {
    /// What was kept of an answer before.
    type Before: Send + 'static;
    /// An answer as it is kept.
    type Written: Clone + Send + Sync + 'static;

    /// What is kept of an answer before, if the request was answered.
    ///
    /// # Errors
    /// When it may not be repeated in this way.
    fn before(&self, image: &Image) -> Result<Option<Self::Before>, SchedulerError>;

    /// Writes an answer. Called once for each decision, mostly outside of the
    /// ledger's writer.
    fn write(&self, told: Told<'_>) -> Self::Written;

    /// The records that keep an answer, beside those that claim what it tells of;
    /// `claimed` is none where nothing is claimed.
    fn keep(
        &self,
        image: &Image,
        written: &Self::Written,
        claimed: Option<&[Record]>,
        now: Micros,
    ) -> Vec<Record>;
}

/// A request that is another one each time it comes.
pub(crate) struct Anew;

impl Repeat for Anew {
    type Before = Infallible;
    type Written = ();

    fn before(&self, _: &Image) -> Result<Option<Infallible>, SchedulerError> {
        Ok(None)
    }

    fn write(&self, _: Told<'_>) {}

    fn keep(&self, _: &Image, (): &(), _: Option<&[Record]>, _: Micros) -> Vec<Record> {
        Vec::new()
    }
}
