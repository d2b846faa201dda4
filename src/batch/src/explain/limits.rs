//! What limits of queues and quotas leave, in numbers.

use crate::amounts::{Amounts, DimIx, Dims};
use crate::spec::{JobSpec, units};
use crate::store::{Quota, ROOT_QUEUE, has_place, open_jobs};
use crate::views::Standing;
use serde::Serialize;
use std::collections::BTreeMap;
use stowplan_ledger::Image;
use utoipa::ToSchema;

/// What a queue may have of one resource class, in units.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct QueueLimit {
    /// The queue.
    pub queue: String,
    /// The resource class.
    pub class: String,
    /// What its tasks hold.
    pub allocated: i64,
    /// What its admitted jobs still need for their minima.
    pub inqueue: i64,
    /// Its share.
    pub deserved: i64,
    /// What it may hold at most.
    pub real_capability: i64,
}

impl super::Inquiry<'_> {
    /// The limits of a queue and of those above it, but the root's.
    pub(super) fn limits(&self, name: &str) -> Vec<QueueLimit> {
        let standing = self.standing();
        let mut limits = Vec::new();
        // The root is without a limit.
        for queue in standing.path(name).into_iter().filter(|name| *name != ROOT_QUEUE) {
            let most = standing.limits(queue);
            let (allocated, inqueue) = (standing.allocated(queue), standing.inqueue(queue));
            for (at, _) in self.plant.load.dims.iter().filter(|(at, _)| *at != DimIx::PODS) {
                let Some(class) = self.plant.load.dims.class(at) else { continue };
                if most.real_capability.get(at) == 0 && allocated.get(at) == 0 {
                    continue;
                }
                limits.push(QueueLimit {
                    queue: queue.to_owned(),
                    class: class.to_owned(),
                    allocated: allocated.get(at),
                    inqueue: inqueue.get(at),
                    deserved: most.deserved.get(at),
                    real_capability: most.real_capability.get(at),
                });
            }
        }
        limits
    }
}

/// Which queues of a path what is asked for does not fit in, with numbers. A
/// job that is to be admitted stands back behind those that are.
pub(super) fn shortfalls(
    standing: &Standing<'_>,
    dims: &Dims,
    queue: &str,
    asked: &BTreeMap<String, i64>,
    to_be_admitted: bool,
) -> Vec<String> {
    let asked = dims.from_classes(asked).unwrap_or_default();
    let mut texts = Vec::new();
    for name in standing.path(queue).into_iter().filter(|name| *name != ROOT_QUEUE) {
        let most = standing.limits(name).real_capability;
        let held = standing.allocated(name);
        let admitted = if to_be_admitted { standing.inqueue(name) } else { Amounts::new() };
        for (at, amount) in asked.positive() {
            let sum = held.get(at) + admitted.get(at) + amount;
            if sum <= most.get(at) {
                continue;
            }
            let class = dims.class(at).unwrap_or_default();
            let promised = match admitted.get(at) {
                0 => String::new(),
                amount => format!(", {amount} are promised to admitted jobs"),
            };
            texts.push(format!(
                "queue {name} may hold {} {class}: {} are held{promised}, {amount} are asked for",
                most.get(at),
                held.get(at),
            ));
        }
    }
    texts
}

/// In what a quota does not leave what is asked for, with numbers.
pub(super) fn over_quota(
    image: &Image,
    dims: &Dims,
    quota: &Quota,
    asked: &BTreeMap<String, i64>,
) -> Vec<String> {
    let asked = dims.from_classes(asked).unwrap_or_default();
    let hard = units(&quota.hard, dims);
    let held = held_by_project(image, dims, &quota.project);
    let limited = dims.iter().filter(|(_, dim)| quota.hard.contains_key(&dim.name));
    let short = limited
        .filter(|(at, _)| asked.get(*at) > 0 && held.get(*at) + asked.get(*at) > hard.get(*at));
    let text = |(at, dim): (DimIx, &crate::amounts::Dim)| {
        format!(
            "project {} may hold {} {}: {} are held, {} are asked for",
            quota.project,
            hard.get(at),
            dim.class.as_deref().unwrap_or_default(),
            held.get(at),
            asked.get(at)
        )
    };
    short.map(text).collect()
}

/// What the tasks of a project hold.
fn held_by_project(image: &Image, dims: &Dims, project: &str) -> Amounts {
    let mut sum = Amounts::new();
    for job in open_jobs(image).filter(|job| job.namespace == project) {
        let Ok(spec) = JobSpec::read(&job.spec) else { continue };
        for task in image.batch.tasks_of(job.id).filter(|task| has_place(&task.state)) {
            let role = spec.role(&task.role);
            let charged = role.and_then(|role| dims.from_classes(&role.charged).ok());
            sum.add(&charged.unwrap_or_default());
        }
    }
    sum
}
