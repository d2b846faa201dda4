//! What compute services tell of their hosts.

use stowplan_model::host::MetricReport;

use super::Place;
use super::stamps::Lesson;
use crate::error::SchedulerError;

/// Takes the metrics of a node up, all of which it names.
pub(super) fn metrics(
    lesson: &mut Lesson<'_>,
    place: &Place,
    host_ip: Option<&str>,
    metrics: &[MetricReport],
) -> Result<(), SchedulerError> {
    let row = lesson.host(place)?;
    let about = format!("metrics/{}", row.uuid);
    if !lesson.is_news(&about) {
        return Ok(());
    }
    let row = lesson.host(place)?;
    row.report.metrics = Some(metrics.to_vec());
    if let Some(host_ip) = host_ip {
        row.report.host_ip = Some(host_ip.to_owned());
    }
    lesson.note(&about, None);
    Ok(())
}
