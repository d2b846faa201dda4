//! Which instances are where, by word of their hosts.

use std::collections::BTreeSet;
use std::sync::Arc;

use stowplan_engine::HostView;
use stowplan_ledger::rows::HostRow;
use stowplan_model::Uuid;

use super::Place;
use super::stamps::Lesson;
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

/// Where an instance was last said to be.
fn about_where(instance: Uuid) -> String {
    format!("where/{instance}")
}

/// Whether a later word says that an instance is on another host.
fn has_moved_on(lesson: &Lesson<'_>, instance: Uuid, host: &str) -> bool {
    lesson
        .stamp(&about_where(instance))
        .is_some_and(|stamp| stamp.said > lesson.at && stamp.state.as_deref() != Some(host))
}

/// Whether nothing later is known of an instance on a host.
fn is_news_of(lesson: &Lesson<'_>, instance: Uuid, host: &str) -> bool {
    lesson.is_news(&about(host, instance)) && lesson.is_news(&about_all(host))
}

/// An instance is on a node. Any other host that says it has it, in older words,
/// has it no more.
pub(super) fn is_on(
    lesson: &mut Lesson<'_>,
    instance: Uuid,
    place: &Place,
) -> Result<(), SchedulerError> {
    find(lesson.image, &place.host, place.node.as_deref())?;
    if has_moved_on(lesson, instance, &place.host) {
        return Ok(());
    }
    if lesson.is_news(&about_where(instance)) {
        lesson.note(&about_where(instance), Some(place.host.clone()));
    }
    if is_news_of(lesson, instance, &place.host) {
        let row = lesson.host(place)?;
        set(row, instance, true);
        let node = row.uuid;
        confirm(lesson, node, |uuid| uuid == instance);
        lesson.note(&about(&place.host, instance), None);
    }
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
    if !is_news_of(lesson, instance, host) {
        return Ok(());
    }
    for row in rows {
        if row.has_instance(instance) {
            set(lesson.node(row.uuid, &row), instance, false);
        }
    }
    lesson.note(&about(host, instance), None);
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
        let is_elsewhere = has_moved_on(lesson, *instance, host);
        if !is_there && !is_elsewhere && lesson.is_news(&about(host, *instance)) {
            set(lesson.node(first.uuid, first), *instance, true);
        }
    }
    for row in &rows {
        confirm(lesson, row.uuid, |uuid| instances.contains(&uuid));
    }
    lesson.note(&about_all, None);
    Ok(())
}
