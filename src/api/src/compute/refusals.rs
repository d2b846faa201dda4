//! Refusals of the scheduler as failures of this surface. Most have the code
//! that they have everywhere; those of the rules of aggregates differ by call.

use crate::failure::{Code, Failure};
use stowplan_ledger::WriteError;
use stowplan_scheduler::SchedulerError as E;

/// A refusal, where a broken rule of aggregates (an aggregate with hosts is not
/// deleted, a host stays in one zone and in that of its servers) has this code:
/// 409 for membership, 400 for all else.
pub fn refusal(error: WriteError<E>, broken_rule: Code) -> Failure {
    match error {
        WriteError::Refused(
            refusal @ (E::AggregateNotEmpty { .. } | E::ZoneConflict { .. } | E::ZoneInUse { .. }),
        ) => Failure::new(broken_rule, refusal.to_string()),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_by_call() {
        let not_empty = || E::AggregateNotEmpty { name: "a".to_owned(), hosts: "h".to_owned() };
        let taken = || E::AggregateName("a".to_owned());
        for (error, broken_rule, code) in [
            (not_empty(), Code::BadRequest, Code::BadRequest),
            (not_empty(), Code::Conflict, Code::Conflict),
            (taken(), Code::BadRequest, Code::Conflict),
            (E::AggregateNotFound("1".to_owned()), Code::BadRequest, Code::NotFound),
            (E::ServiceNotFound("1".to_owned()), Code::BadRequest, Code::NotFound),
            (
                E::GroupQuota { project: "p".to_owned(), count: 1, limit: 1 },
                Code::BadRequest,
                Code::Forbidden,
            ),
        ] {
            let failure = refusal(WriteError::Refused(error), broken_rule);
            assert_eq!(failure.code(), code, "{failure}");
        }
    }
}
