//! Which instances are where, by word of their hosts, and which of them make
//! their hosts read and write much.

use std::collections::BTreeSet;
use std::sync::Arc;

use stowplan_engine::HostView;
use stowplan_engine::table::Figure;
use stowplan_ledger::rows::HostRow;
use stowplan_model::Uuid;

use super::Place;
use super::stamps::{BUSY, Lesson};
use crate::error::SchedulerError;
use crate::hosts::find;
use crate::select::confirmed_by_report;

fn about(host: &str, instance: Uuid) -> String {
    format!("instance/{host}/{instance}")
}

fn about_all(host: &str) -> String {
    format!("instances/{host}")
}

/// Notes in a row that an instance is on its host, or is not.
fn set(row: &mut HostRow, instance: Uuid, is_there: bool) {
    if row.report.instances.contains_key(&instance) == is_there {
        row.news.remove(&instance);
    } else {
        row.news.insert(instance, is_there);
    }
}

/// A host that tells of servers confirms their claims.
fn confirm(lesson: &mut Lesson<'_>, node: Uuid, tells: impl Fn(Uuid) -> bool) {
    confirmed_by_report(lesson.image, node, tells).into_iter().for_each(|it| lesson.push(it));
}

/// The rows of a host's nodes.
fn nodes(lesson: &Lesson<'_>, host: &str) -> Result<Vec<Arc<HostRow>>, SchedulerError> {
    let rows: Vec<_> = lesson.image.hosts.nodes_of(host).map(|node| node.row.clone()).collect();
    if rows.is_empty() {
        return Err(SchedulerError::HostNotFound { host: host.to_owned() });
    }
    Ok(rows)
}

/// An instance is on a node. Any other host that says it has it, in older words,
/// has it no more.
pub(super) fn is_on(
    lesson: &mut Lesson<'_>,
    instance: Uuid,
    place: &Place,
) -> Result<(), SchedulerError> {
    find(lesson.image, &place.host, place.node.as_deref())?;
    let about = about(&place.host, instance);
    if !lesson.is_news(&about) || !lesson.is_news(&about_all(&place.host)) {
        return Ok(());
    }
    let row = lesson.host(place)?;
    set(row, instance, true);
    let node = row.uuid;
    confirm(lesson, node, |uuid| uuid == instance);
    lesson.note(&about, None);
    let table = lesson.image.hosts.table();
    let there: BTreeSet<String> = table
        .hosts_with(instance)
        .iter()
        .map(|ix| table.facts(*ix).host.clone())
        .filter(|host| *host != place.host)
        .collect();
    for host in there {
        left(lesson, instance, &host)?;
    }
    Ok(())
}

/// An instance is not on a host.
pub(super) fn left(
    lesson: &mut Lesson<'_>,
    instance: Uuid,
    host: &str,
) -> Result<(), SchedulerError> {
    let rows = nodes(lesson, host)?;
    let about = about(host, instance);
    if !lesson.is_news(&about) || !lesson.is_news(&about_all(host)) {
        return Ok(());
    }
    for row in rows {
        if row.has_instance(instance) {
            set(lesson.node(row.uuid, &row), instance, false);
        }
    }
    lesson.note(&about, None);
    Ok(())
}

/// These are all instances of a host, as of the fact.
pub(super) fn all(
    lesson: &mut Lesson<'_>,
    host: &str,
    instances: &[Uuid],
) -> Result<(), SchedulerError> {
    let rows = nodes(lesson, host)?;
    let about_all = about_all(host);
    if !lesson.is_news(&about_all) {
        return Ok(());
    }
    for row in &rows {
        let reported = row.report.instances.keys();
        let there = reported.chain(row.news.keys()).filter(|uuid| row.has_instance(**uuid));
        for instance in there.copied().collect::<BTreeSet<_>>() {
            if !instances.contains(&instance) && lesson.is_news(&about(host, instance)) {
                set(lesson.node(row.uuid, row), instance, false);
            }
        }
    }
    // A host with several nodes does not say on which one it is.
    let first = &rows[0];
    for instance in instances {
        let is_there = rows.iter().any(|row| row.has_instance(*instance));
        if !is_there && lesson.is_news(&about(host, *instance)) {
            set(lesson.node(first.uuid, first), *instance, true);
        }
    }
    for row in &rows {
        confirm(lesson, row.uuid, |uuid| instances.contains(&uuid));
    }
    lesson.note(&about_all, None);
    Ok(())
}

/// What an instance does to its host: it reads and writes much there, or nowhere.
pub(super) fn does(
    lesson: &mut Lesson<'_>,
    instance: Uuid,
    busy_on: Option<&Place>,
) -> Result<(), SchedulerError> {
    let about = format!("work/{instance}");
    if !lesson.is_news(&about) {
        return Ok(());
    }
    let before = lesson.stamp(&about).and_then(|stamp| stamp.state.as_deref());
    let before = before.and_then(works_on);
    let after = match busy_on {
        Some(place) => Some(lesson.host(place)?.uuid),
        None => None,
    };
    if before != after {
        for (host, more) in [(before, -1), (after, 1)] {
            let Some(host) = host.and_then(|uuid| lesson.image.hosts.get(uuid)) else { continue };
            let figure = lesson.image.hosts.table().figure(Figure::NumIoOps, host.ix);
            let reported = figure - host.claimed_since().io_ops;
            let row = lesson.node(host.row.uuid, &host.row);
            row.report.io_workload = Some((reported + more).max(0));
        }
    }
    lesson.note(&about, after.map(|uuid| format!("{BUSY} {uuid}")));
    Ok(())
}

/// An instance that is not on a host does nothing there.
pub(super) fn rests(
    lesson: &mut Lesson<'_>,
    instance: Uuid,
    host: &str,
) -> Result<(), SchedulerError> {
    let stamp = lesson.stamp(&format!("work/{instance}"));
    let busy_on = stamp.and_then(|stamp| stamp.state.as_deref()).and_then(works_on);
    let is_here = busy_on
        .and_then(|uuid| lesson.image.hosts.get(uuid))
        .is_some_and(|there| there.row.host == host);
    if is_here { does(lesson, instance, None) } else { Ok(()) }
}

/// The node that a stamp names.
fn works_on(state: &str) -> Option<Uuid> {
    state.strip_prefix(BUSY)?.trim().parse().ok()
}
