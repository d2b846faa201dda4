//! How the cloud is, summed up over one image.

use std::collections::BTreeMap;
use std::fmt;

use stowplan_engine::EngineConfig;
use stowplan_ledger::Image;
use stowplan_model::Micros;
use stowplan_scheduler::hosts::{HostState, state};

use super::list;
use super::page::Page;
use crate::state::Shared;

/// States of services.
const STATES: [&str; 3] = ["up", "down", "disabled"];

/// Sums over an image.
#[derive(Debug, Default)]
pub(super) struct Cloud {
    hosts: BTreeMap<&'static str, usize>,
    providers: usize,
    consumers: usize,
    /// By resource class: capacity and what is used of it.
    resources: BTreeMap<String, (i64, i64)>,
    queues: usize,
    jobs: BTreeMap<String, usize>,
    tasks: BTreeMap<String, usize>,
}

impl Cloud {
    pub fn of(shared: &Shared) -> Self {
        let image = shared.api.ledger.image();
        let prepared = shared.api.scheduler.prepared();
        Self::sum(&image, prepared.engine.config(), shared.now())
    }

    fn sum(image: &Image, config: &EngineConfig, now: Micros) -> Self {
        let mut cloud = Self {
            hosts: STATES.map(|state| (state, 0)).into(),
            providers: image.providers.len(),
            consumers: image.consumers.len(),
            queues: image.batch.queues().count(),
            ..Self::default()
        };
        for host in image.hosts.iter() {
            let is_disabled = image.service_of(&host.row.host).is_some_and(|it| it.disabled);
            let state = match state(image, host, config, now) {
                _ if is_disabled => "disabled",
                HostState::Up => "up",
                HostState::Down => "down",
            };
            *cloud.hosts.entry(state).or_default() += 1;
        }
        for at in image.providers.iter() {
            let Some(provider) = image.providers.get(at) else { continue };
            for class in provider.classes.iter() {
                let name = image.classes.name(*class);
                let sums = match cloud.resources.get_mut(name) {
                    Some(sums) => sums,
                    None => cloud.resources.entry(name.to_owned()).or_default(),
                };
                let capacity = image.providers.capacity(at, *class).unwrap_or_default();
                sums.0 = sums.0.saturating_add(capacity);
                sums.1 = sums.1.saturating_add(image.providers.used(at, *class));
            }
        }
        count(&mut cloud.jobs, image.batch.jobs.iter().map(|job| job.phase.as_str()));
        count(&mut cloud.tasks, image.batch.tasks.iter().map(|task| task.state.as_str()));
        cloud
    }

    pub fn write(&self, page: &mut Page<'_>) -> fmt::Result {
        page.one(list::BATCH_QUEUES, self.queues)?;
        for (metric, label, counts) in
            [(list::BATCH_JOBS, "phase", &self.jobs), (list::BATCH_TASKS, "state", &self.tasks)]
        {
            let samples: Vec<_> =
                counts.iter().map(|(name, count)| ([(label, name.as_str())], *count)).collect();
            page.each(metric, samples.iter().map(|(labels, n)| (&labels[..], *n)))?;
        }
        let hosts: Vec<_> =
            self.hosts.iter().map(|(state, count)| ([("state", *state)], *count)).collect();
        page.each(list::HOSTS, hosts.iter().map(|(labels, n)| (&labels[..], *n)))?;
        page.one(list::PROVIDERS, self.providers)?;
        page.one(list::CONSUMERS, self.consumers)?;
        let resources = self.resources.iter();
        let resources: Vec<_> =
            resources.map(|(name, sums)| ([("resource_class", name.as_str())], *sums)).collect();
        page.each(list::CAPACITY, resources.iter().map(|(labels, it)| (&labels[..], it.0)))?;
        page.each(list::USED, resources.iter().map(|(labels, it)| (&labels[..], it.1)))
    }
}

fn count<'a>(counts: &mut BTreeMap<String, usize>, names: impl Iterator<Item = &'a str>) {
    for name in names {
        match counts.get_mut(name) {
            Some(count) => *count += 1,
            None => {
                counts.insert(name.to_owned(), 1);
            }
        }
    }
}
