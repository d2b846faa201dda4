//! From an image to a snapshot.

use std::collections::BTreeMap;

use stowplan_config::Settings;
use stowplan_engine::HostView;
use stowplan_engine::scenario::ScenarioHost;
use stowplan_ledger::Image;
use stowplan_ledger::image::names::Names;
use stowplan_ledger::image::providers::At;
use stowplan_model::names::is_custom;
use stowplan_model::{Micros, Uuid};

use super::form::{Aggregate, Cell, Group, Provider, Service, Snapshot};
use crate::draft::{aggregates_of, traits_of};

/// Sections of options that bear on where servers go. What they say that does
/// not is none of anybody's secrets.
const SECTIONS: [&str; 5] = ["scheduler", "filter_scheduler", "metrics", "compute", "workarounds"];
/// The same of `[DEFAULT]`.
const OPTIONS: [&str; 4] = [
    "service_down_time",
    "report_interval",
    "scheduler_instance_sync_interval",
    "default_availability_zone",
];

impl Snapshot {
    /// The cloud of an image, with options, at a moment.
    #[must_use]
    pub fn of(image: &Image, settings: &Settings, now: Micros) -> Self {
        let mut config = settings.differing(&["DEFAULT"]);
        config.retain(|name, _| OPTIONS.contains(&name.as_str()));
        config.extend(settings.differing(&SECTIONS));
        let table = image.hosts.table();
        let hosts = table.live().iter().map(|host| ScenarioHost::of(table, host, now));
        Self {
            seq: image.seq(),
            now,
            config,
            resource_classes: custom(&image.classes),
            traits: custom(&image.traits),
            hosts: hosts.collect(),
            providers: providers(image),
            aggregates: image
                .host_aggregates
                .iter()
                .map(|row| Aggregate {
                    id: row.id,
                    uuid: row.uuid,
                    name: row.name.clone(),
                    hosts: row.hosts.clone(),
                    metadata: row.metadata.clone(),
                })
                .collect(),
            groups: image
                .server_groups
                .iter()
                .map(|row| Group {
                    uuid: row.uuid,
                    policy: row.policy.clone(),
                    max_server_per_host: row.max_server_per_host,
                    members: row.members.clone(),
                })
                .collect(),
            services: image
                .services
                .iter()
                .map(|row| Service {
                    host: row.host.clone(),
                    binary: row.binary.clone(),
                    version: row.version,
                })
                .collect(),
            cells: image
                .cells
                .iter()
                .map(|row| Cell { uuid: row.uuid, name: row.name.clone(), disabled: row.disabled })
                .collect(),
        }
    }
}

/// The custom ones of names, in order of creation.
fn custom(names: &Names) -> Vec<String> {
    names.iter().filter(|row| is_custom(&row.name)).map(|row| row.name.clone()).collect()
}

/// All providers in order of creation.
fn providers(image: &Image) -> Vec<Provider> {
    let mut places: Vec<At> = image.providers.iter().collect();
    places.sort_by_key(|at| image.providers.get(*at).map(|provider| provider.id));
    places.into_iter().filter_map(|at| provider(image, at)).collect()
}

fn provider(image: &Image, at: At) -> Option<Provider> {
    let provider = image.providers.get(at)?;
    let inventories = provider.classes.iter().filter_map(|class| {
        let inventory = image.providers.inventory(at, *class)?;
        Some((image.classes.name(*class).to_owned(), *inventory))
    });
    let mut allocations: BTreeMap<Uuid, BTreeMap<String, i64>> = BTreeMap::new();
    for consumer in image.consumers.of_provider(at) {
        let here = consumer.allocations.iter().filter(|allocation| allocation.provider == at);
        let held = here.map(|it| (image.classes.name(it.class).to_owned(), it.used));
        allocations.insert(consumer.uuid, held.collect());
    }
    Some(Provider {
        uuid: provider.uuid,
        name: provider.name.to_string(),
        parent: provider.parent.map(|parent| image.providers.uuid(parent)),
        inventories: inventories.collect(),
        traits: traits_of(image, at).into_iter().collect(),
        aggregates: aggregates_of(image, at).into_iter().collect(),
        allocations,
    })
}
