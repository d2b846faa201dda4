//! What is told of server groups.

use stowplan_ledger::Record;
use stowplan_ledger::rows::ServerGroupRow;
use stowplan_model::Uuid;

use super::GroupFact;
use super::stamps::Lesson;

/// The state of a stamp that tells that a group is gone for good.
const GONE: &str = "gone";

fn about(uuid: Uuid) -> String {
    format!("group/{uuid}")
}

/// A group as it is. Its policy is never changed and its members only become
/// more, so older word adds what newer word did not say; only a group that is
/// gone stays so.
pub(super) fn is(lesson: &mut Lesson<'_>, fact: &GroupFact) {
    let about = about(fact.uuid);
    if lesson.stamp(&about).is_some_and(|stamp| stamp.state.as_deref() == Some(GONE)) {
        return;
    }
    let (image, now) = (lesson.image, lesson.now);
    let before = image.server_groups.get(fact.uuid);
    let mut after = match before {
        Some(row) => ServerGroupRow::clone(row),
        None => ServerGroupRow {
            id: image.server_groups.next_id(),
            uuid: fact.uuid,
            name: fact.name.clone(),
            policy: fact.policy.clone(),
            max_server_per_host: fact.max_server_per_host,
            project: fact.project.clone(),
            user: fact.user.clone(),
            members: Vec::new(),
            created: now,
            updated: now,
        },
    };
    after.members.extend(&fact.members);
    let mut seen = std::collections::BTreeSet::new();
    after.members.retain(|member| seen.insert(*member));
    if before.is_none_or(|before| **before != after) {
        after.updated = now;
        lesson.push(Record::ServerGroup(after));
    }
    lesson.note(&about, None);
}

pub(super) fn gone(lesson: &mut Lesson<'_>, uuid: Uuid) {
    if lesson.image.server_groups.get(uuid).is_some() {
        lesson.push(Record::ServerGroupGone(uuid));
    }
    lesson.note(&about(uuid), Some(GONE.to_owned()));
}
