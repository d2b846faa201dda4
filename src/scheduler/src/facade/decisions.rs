//! Decisions, and the whole cloud to make them again.

use stowplan_ledger::{Unavailable, WriteError};
use stowplan_model::{Micros, Uuid};

use super::{Scheduler, Written};
use crate::decisions::{DecisionPage, DecisionView};
use crate::error::SchedulerError;
use crate::snapshot::Snapshot;

impl Scheduler {
    /// The cloud as it is now, to be written to a file.
    #[must_use]
    pub fn snapshot(&self, now: Micros) -> Snapshot {
        Snapshot::of(&self.ledger.image(), &self.prepared().settings, now)
    }

    /// A decision with its explanation.
    ///
    /// # Errors
    /// When there is none of that id, or the database does not answer.
    pub async fn decision(&self, id: &str) -> Written<DecisionView> {
        let not_found = || WriteError::Refused(SchedulerError::DecisionNotFound(id.to_owned()));
        let uuid = Uuid::parse_str(id).map_err(|_| not_found())?;
        let mut stored = self.ledger.decision(uuid).await?.ok_or_else(not_found)?;
        if stored.body.is_none() {
            // It may be one of those that wait to be written together.
            self.drain().await;
            stored = self.ledger.decision(uuid).await?.ok_or_else(not_found)?;
        }
        Ok(DecisionView::of(stored))
    }

    /// Decisions, the newest first; of one request if it is named.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn decisions(
        &self,
        request_id: Option<&str>,
        limit: u64,
    ) -> Result<DecisionPage, Unavailable> {
        let stored = self.ledger.decisions(request_id, limit).await?;
        Ok(DecisionPage { decisions: stored.into_iter().map(DecisionView::of_header).collect() })
    }
}
