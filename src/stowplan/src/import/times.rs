//! When rows were made and changed.

use super::findings::{Findings, Note};
use stowplan_model::Micros;

/// What a row says of itself: when it was made, when it was changed.
pub type Stamps = (Option<Micros>, Option<Micros>);

/// How what is missing is filled in.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// The time of the import: the peer answers with the present for rows that
    /// have no time.
    pub now: Micros,
}

impl Times {
    /// When a row was made and last changed. The peer says nothing of a change
    /// until there was one.
    pub fn of(self, (created, updated): Stamps, findings: &mut Findings) -> (Micros, Micros) {
        if created.or(updated).is_none() {
            findings.note(Note::NoTime, 1);
        }
        let created = created.or(updated).unwrap_or(self.now);
        (created, updated.unwrap_or(created))
    }
}
