//! What is told of server groups.

use std::collections::BTreeSet;

use stowplan_ledger::rows::ServerGroupRow;
use stowplan_ledger::{Image, Record};
use stowplan_model::Uuid;

use super::GroupFact;
use super::stamps::{FOLLOWED, Lesson, key};
use crate::groups::lives;

/// The state of a stamp that tells that a group is gone for good.
const GONE: &str = "gone";

/// How stamps of groups begin.
const ABOUT: &str = "group/";

fn about(uuid: Uuid) -> String {
    format!("{ABOUT}{uuid}")
}

/// A group as it is. Its policy is never changed and its members only become
/// more, so older word adds what newer word did not say; only a group that is
/// gone stays so. A list that is complete takes those out that are no servers here.
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
    if fact.complete {
        let told: BTreeSet<Uuid> = fact.members.iter().copied().collect();
        after.members.retain(|member| told.contains(member) || lives(image, *member));
    }
    after.members.extend(&fact.members);
    let mut seen = BTreeSet::new();
    after.members.retain(|member| seen.insert(*member));
    if before.is_none_or(|before| **before != after) {
        after.updated = now;
        lesson.push(Record::ServerGroup(after));
    }
    let is_followed = fact.complete || followed_group(image, fact.uuid);
    lesson.note(&about, is_followed.then(|| FOLLOWED.to_owned()));
}

/// Whether a group is one that was told of with all its members.
pub(crate) fn followed_group(image: &Image, uuid: Uuid) -> bool {
    let stamp = image.stamps.get(key(&about(uuid)));
    stamp.is_some_and(|stamp| stamp.state.as_deref() == Some(FOLLOWED))
}

/// All of these.
pub(crate) fn followed_groups(image: &Image) -> impl Iterator<Item = Uuid> {
    let followed = image.stamps.iter().filter(|row| row.state.as_deref() == Some(FOLLOWED));
    followed.filter_map(|row| row.about.strip_prefix(ABOUT)?.parse().ok())
}

pub(super) fn gone(lesson: &mut Lesson<'_>, uuid: Uuid) {
    if lesson.image.server_groups.get(uuid).is_some() {
        lesson.push(Record::ServerGroupGone(uuid));
    }
    lesson.note(&about(uuid), Some(GONE.to_owned()));
}
