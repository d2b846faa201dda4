//! What the calls about batch jobs share.

use super::caller::Caller;
use crate::failure::{Code, Failure};
use std::{convert::Infallible, sync::Arc};
use stowplan_batch::{BatchError, amounts::Dims};
use stowplan_ledger::{Change, Image, WriteError};

impl From<BatchError> for Failure {
    fn from(error: BatchError) -> Self {
        let code = match &error {
            BatchError::Fields(_) | BatchError::UnknownQueue(_) => Code::BadRequest,
            BatchError::NoQueue(_) | BatchError::NoJob(_) | BatchError::NoObject { .. } => {
                Code::NotFound
            }
            BatchError::NameTaken { .. } | BatchError::QueueExists(_) => Code::DuplicateName,
            BatchError::QueueMoved { .. } => Code::PreconditionFailed,
            BatchError::KeyUsed(_) => Code::KeyReused,
            BatchError::QueueTakesNoJobs { .. }
            | BatchError::QueueInUse { .. }
            | BatchError::WrongPhase { .. }
            | BatchError::HostUp(_)
            | BatchError::Ended { .. }
            | BatchError::NotEnded { .. } => Code::Conflict,
        };
        let detail = error.to_string();
        match error {
            BatchError::Fields(errors) => Self::new(code, detail).with("errors", errors.all()),
            _ => Self::new(code, detail),
        }
    }
}

impl Caller {
    /// The dimensions of requests, as configured.
    ///
    /// # Errors
    /// 503 when they cannot be.
    pub(super) fn dims(&self) -> Result<Arc<Dims>, Failure> {
        let dims = Dims::from_settings(&self.api().settings.load());
        dims.map(Arc::new).map_err(|fault| Failure::new(Code::Unavailable, fault.to_string()))
    }

    /// Has a mutation checked and written.
    ///
    /// # Errors
    /// What the mutation is refused for, or 503.
    pub(super) async fn write<T, F>(&self, check: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: FnMut(&Image) -> Result<(Change, T), BatchError> + Send + 'static,
    {
        Ok(self.api().ledger.write(&self.request_id, check).await?)
    }

    /// The same of a mutation that is never refused.
    ///
    /// # Errors
    /// 503.
    pub(super) async fn write_always<T, F>(&self, mut check: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: FnMut(&Image) -> (Change, T) + Send + 'static,
    {
        let check = move |image: &Image| Ok::<_, Infallible>(check(image));
        match self.api().ledger.write(&self.request_id, check).await {
            Ok(answer) => Ok(answer),
            Err(WriteError::Unavailable(trouble)) => Err(trouble.into()),
            Err(WriteError::Refused(never)) => match never {},
        }
    }
}
