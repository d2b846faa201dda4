//! Which instances make their hosts read and write much. The latest word counts,
//! unless a later one says that the instance has left that host.

use stowplan_engine::HostView;
use stowplan_engine::table::Figure;
use stowplan_model::{Micros, Uuid};

use super::Place;
use super::stamps::{BUSY, Lesson};
use crate::error::SchedulerError;

fn about(instance: Uuid) -> String {
    format!("work/{instance}")
}

fn about_left(host: &str, instance: Uuid) -> String {
    format!("left/{host}/{instance}")
}

/// What an instance does: it is busy on a host, or nowhere.
pub(super) fn does(
    lesson: &mut Lesson<'_>,
    instance: Uuid,
    busy_on: Option<&Place>,
) -> Result<(), SchedulerError> {
    if !lesson.is_news(&about(instance)) {
        return Ok(());
    }
    let has_left = |place: &&Place| {
        let left = lesson.stamp(&about_left(&place.host, instance));
        left.is_some_and(|left| left.said >= lesson.at)
    };
    let after = match busy_on.filter(|place| !has_left(place)) {
        Some(place) => Some(lesson.host(place)?.uuid),
        None => None,
    };
    set(lesson, instance, after, lesson.at);
    Ok(())
}

/// An instance that has left a host does nothing there.
pub(super) fn left(lesson: &mut Lesson<'_>, instance: Uuid, host: &str) {
    let about_left = about_left(host, instance);
    if lesson.is_news(&about_left) {
        lesson.note(&about_left, None);
    }
    let Some(stamp) = lesson.stamp(&about(instance)) else { return };
    let (said, node) = (stamp.said, stamp.state.as_deref().and_then(works_on));
    let node = node.and_then(|uuid| lesson.image.hosts.get(uuid));
    if said <= lesson.at && node.is_some_and(|node| node.row.host == host) {
        set(lesson, instance, None, said);
    }
}

/// Notes what an instance does, and moves its work from one host to the other.
fn set(lesson: &mut Lesson<'_>, instance: Uuid, after: Option<Uuid>, said: Micros) {
    let about = about(instance);
    let before = lesson.stamp(&about).and_then(|stamp| works_on(stamp.state.as_deref()?));
    if before != after {
        for (host, more) in [(before, -1), (after, 1)] {
            let Some(host) = host.and_then(|uuid| lesson.image.hosts.get(uuid)) else { continue };
            let figure = lesson.image.hosts.table().figure(Figure::NumIoOps, host.ix);
            let reported = figure - host.claimed_since().io_ops;
            let row = lesson.node(host.row.uuid, &host.row);
            row.report.io_workload = Some((reported + more).max(0));
        }
    }
    lesson.note_as_of(&about, after.map(|uuid| format!("{BUSY} {uuid}")), said);
}

/// The node that a stamp names.
fn works_on(state: &str) -> Option<Uuid> {
    state.strip_prefix(BUSY)?.trim().parse().ok()
}
