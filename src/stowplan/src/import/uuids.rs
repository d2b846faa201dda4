//! Uuids, which the peer keeps in whatever spelling they came.

use super::findings::{Findings, Note, Rule};
use std::{collections::HashSet, fmt::Display};
use stowplan_model::Uuid;

/// The uuids of one kind of thing, each of which is there once.
#[derive(Debug, Default)]
pub struct Uuids(HashSet<Uuid>);

impl Uuids {
    /// The uuid in a row of a table; nil where that is none.
    pub fn read(
        &mut self,
        table: &'static str,
        row: &dyn Display,
        text: &str,
        findings: &mut Findings,
    ) -> Uuid {
        let Ok(uuid) = Uuid::try_parse(text) else {
            findings.fault(table, Rule::Uuid, || format!("id {row}: {text:?}"));
            return Uuid::nil();
        };
        if !self.0.insert(uuid) {
            findings.fault(table, Rule::SameUuid, || format!("id {row}: {text}"));
        }
        if !is_spelt_as_ours(uuid, text) {
            findings.note(Note::Spelling, 1);
        }
        uuid
    }
}

fn is_spelt_as_ours(uuid: Uuid, text: &str) -> bool {
    let mut buffer = Uuid::encode_buffer();
    uuid.hyphenated().encode_lower(&mut buffer) == text
}
