//! What is told of cells.

use stowplan_ledger::Record;
use stowplan_ledger::rows::CellRow;

use super::CellFact;
use super::stamps::Lesson;

pub(super) fn is(lesson: &mut Lesson<'_>, fact: &CellFact) {
    let image = lesson.image;
    let before = image.cells.get(fact.uuid);
    let after = CellRow {
        id: before.map_or_else(|| image.cells.next_id(), |row| row.id),
        uuid: fact.uuid,
        name: fact.name.clone(),
        disabled: fact.disabled,
    };
    if before.is_none_or(|before| **before != after) {
        lesson.push(Record::Cell(after));
    }
}
