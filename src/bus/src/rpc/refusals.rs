//! Refusals of the scheduler as exceptions that Nova's services know.

use stowplan_ledger::{Unavailable, WriteError};
use stowplan_scheduler::SchedulerError;
use stowplan_scheduler::select::{Refusal, Stage};

use crate::wire::failure::Failure;

/// What Nova says when filters or claims have left too few hosts.
const NOT_ENOUGH: &str = "There are not enough hosts available.";

/// The exception for a call that was not done.
#[must_use]
pub fn failure(error: &WriteError<SchedulerError>) -> Failure {
    match error {
        WriteError::Refused(error) => refusal(error),
        WriteError::Unavailable(trouble) => unavailable(trouble),
    }
}

fn refusal(error: &SchedulerError) -> Failure {
    match error {
        SchedulerError::NoValidHost(refusal) => no_valid_host(refusal),
        SchedulerError::Fields(errors) => Failure::value(errors.to_string()),
        SchedulerError::RoutedNetworks(_) => {
            Failure::nova("InvalidRoutedNetworkConfiguration", error.to_string(), 500)
        }
        SchedulerError::NeutronAway(why) => Failure::nova("ServiceUnavailable", why, 503),
        // What fails a request before hosts are looked at is no valid host to
        // Nova's conductor, with the reason.
        error => Failure::no_valid_host(&error.to_string(), Vec::new()),
    }
}

/// Nova's words for the reason; ours follow in the lines that the caller logs.
fn no_valid_host(refusal: &Refusal) -> Failure {
    let reason = match refusal.stage {
        Stage::NoSuchHost => refusal.reasons.first().map_or("", String::as_str),
        Stage::Candidates => "",
        Stage::Hosts => NOT_ENOUGH,
    };
    let mut told: Vec<String> =
        refusal.reasons.iter().map(|reason| format!("{reason}\n")).collect();
    if let Some(id) = refusal.decision_id {
        told.push(format!("stowplan explain {id} tells more\n"));
    }
    Failure::no_valid_host(reason, told)
}

/// The ledger cannot write just now.
#[must_use]
pub fn unavailable(trouble: &Unavailable) -> Failure {
    Failure::nova("ServiceUnavailable", trouble.to_string(), 503)
}
