//! Builds that failed since the last one that did not.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stowplan_model::{Micros, Uuid};

use super::Place;
use super::stamps::Lesson;
use crate::error::SchedulerError;

/// Failures that are told apart; more are not counted.
const MOST: usize = 1000;

/// What is known of the builds of one node.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Builds {
    /// When one last succeeded.
    built: Option<Micros>,
    /// Those that failed since, with their times.
    failed: BTreeMap<Uuid, Micros>,
}

/// A build that came to its end. Each failure counts once; a success counts those
/// before it out, whichever is heard of first.
pub(super) fn ended(
    lesson: &mut Lesson<'_>,
    place: &Place,
    instance: Uuid,
    failed: bool,
) -> Result<(), SchedulerError> {
    let row = lesson.host(place)?;
    let (about, count) = (format!("builds/{}", row.uuid), row.report.failed_builds);
    let stamp = lesson.stamp(&about);
    let said = stamp.map_or(lesson.at, |stamp| stamp.said.max(lesson.at));
    let state = stamp.and_then(|stamp| stamp.state.as_deref());
    let mut builds: Builds =
        state.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let at = lesson.at;
    let count = if failed {
        if builds.built.is_some_and(|built| at <= built) {
            return Ok(());
        }
        let known = builds.failed.get(&instance).copied();
        if known.is_none() && builds.failed.len() >= MOST {
            return Ok(());
        }
        builds.failed.insert(instance, known.map_or(at, |known| known.max(at)));
        count.unwrap_or_default() + i64::from(known.is_none())
    } else {
        if builds.built.is_some_and(|built| at <= built) {
            return Ok(());
        }
        builds.built = Some(at);
        builds.failed.retain(|_, failed| *failed > at);
        i64::try_from(builds.failed.len()).unwrap_or(i64::MAX)
    };
    lesson.host(place)?.report.failed_builds = Some(count);
    lesson.note_as_of(&about, serde_json::to_string(&builds).ok(), said);
    Ok(())
}
