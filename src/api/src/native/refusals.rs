//! Refusals of the scheduler as failures of the surface.

use crate::failure::{Code, Failure};
use stowplan_scheduler::SchedulerError;

impl From<SchedulerError> for Failure {
    fn from(error: SchedulerError) -> Self {
        let code = match error.status() {
            403 => Code::Forbidden,
            404 => Code::NotFound,
            409 => Code::Conflict,
            422 => Code::KeyReused,
            503 => Code::Unavailable,
            _ => Code::BadRequest,
        };
        let detail = error.to_string();
        match error {
            SchedulerError::Placement(error) => error.into(),
            SchedulerError::Fields(errors) => Self::new(code, detail).with("errors", errors.all()),
            SchedulerError::NoValidHost(refusal) => Self::new(Code::NoValidHost, detail)
                .with("reasons", &refusal.reasons)
                .with("decision_id", refusal.decision_id),
            SchedulerError::HostInUse { count, first, .. } => {
                Self::new(code, detail).with("consumers", first).with("consumer_count", count)
            }
            _ => Self::new(code, detail),
        }
    }
}
