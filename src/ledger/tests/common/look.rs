//! Looking at an image from all sides.

use super::CLASSES;
use std::collections::BTreeMap;
use stowplan_engine::{Figure, view::HostView};
use stowplan_ledger::{
    Image, Record,
    image::{
        block::Block, consumers::Consumer, ids::Kind, memo::RootHost, providers::At, usage::Usage,
    },
    rows::HostRow,
};

/// All that can be asked of an image, whatever places it uses inside, but its
/// number: that moves with each opening on a server.
pub fn fingerprint(image: &Image) -> (Vec<Record>, Vec<String>) {
    let mut derived = Vec::new();
    providers(image, &mut derived);
    consumers(image, &mut derived);
    hosts(image, &mut derived);
    batch(image, &mut derived);
    (image.dump(), derived)
}

/// The last id that was given of each kind.
pub fn last_ids(image: &Image) -> Vec<(Kind, i64)> {
    Kind::ALL.iter().map(|kind| (*kind, image.last_id(*kind))).collect()
}

fn providers(image: &Image, derived: &mut Vec<String>) {
    for at in image.providers.iter() {
        let row = image.providers.get(at).unwrap();
        assert_eq!(image.providers.find(row.uuid), Some(at));
        assert_eq!(image.providers.find_name(&row.name), Some(at));
        let sums = CLASSES
            .iter()
            .filter_map(|class| image.classes.ix(class))
            .map(|class| (image.providers.used(at, class), image.providers.capacity(at, class)));
        let sums: Vec<_> = sums.collect();
        let holders: Vec<_> = image.consumers.of_provider(at).map(|c| c.uuid).collect();
        let tree: Vec<_> = row.tree.iter().map(|at| image.providers.uuid(*at)).collect();
        let (block, place) = block_of(image, at);
        assert!(block.live().has(place));
        let root = block.roots().has(place);
        let traits = image.traits.iter().map(|row| image.traits.ix(&row.name).unwrap());
        let traits: Vec<_> = traits.filter(|name| block.with_trait(*name).has(place)).collect();
        assert_eq!(*row.traits, *traits);
        let known = (0..8).filter_map(|number| image.aggregates.ix(super::id("agg", number)));
        let mut aggregates: Vec<_> =
            known.filter(|aggregate| block.in_aggregate(*aggregate).has(place)).collect();
        aggregates.sort_unstable();
        assert_eq!(*row.aggregates, *aggregates);
        for class in CLASSES.iter().filter_map(|class| image.classes.ix(class)) {
            let inventory = image.providers.inventory(at, class);
            assert_eq!(row.classes.contains(&class), inventory.is_some());
            assert_eq!(inventory.map(|i| i.capacity()), image.providers.capacity(at, class));
        }
        derived.push(format!("{} {sums:?} {holders:?} {tree:?} {root}", row.uuid));
    }
    let children: Vec<_> = image
        .providers
        .iter()
        .filter_map(|at| image.providers.get(at).filter(|row| row.root != at))
        .collect();
    assert_eq!(children.len(), image.providers.children() as usize);
    for class in CLASSES.iter().filter_map(|class| image.classes.ix(class)) {
        let with = children.iter().filter(|row| row.classes.contains(&class)).count();
        assert_eq!(with, image.providers.children_with(class) as usize);
    }
    let live: u32 = image.providers.blocks().iter().map(|block| block.live().count()).sum();
    assert_eq!(live as usize, image.providers.len());
}

fn block_of(image: &Image, at: At) -> (&Block, usize) {
    let mut places = image.providers.blocks().iter().enumerate().flat_map(|(number, block)| {
        block.live().iter().map(move |place| (number, &**block, place))
    });
    let found = places.find(|(number, _, place)| At::of(*number, *place) == at);
    found.map(|(_, block, place)| (block, place)).unwrap()
}

fn consumers(image: &Image, derived: &mut Vec<String>) {
    let mut all: Vec<_> = image.consumers.iter().collect();
    all.sort_by_key(|consumer| consumer.uuid);
    assert_eq!(all.len(), image.consumers.len());
    for project in (0..3).map(|number| format!("project {number}")) {
        let kept: Vec<_> = image
            .consumers
            .usages_of(&project)
            .map(|own| (own.user, own.consumer_type, own.usage.clone()))
            .collect();
        let mut summed: BTreeMap<(&str, Option<&str>), Usage> = BTreeMap::new();
        for consumer in all.iter().filter(|c| *c.project == *project) {
            let owner = (&*consumer.user, consumer.consumer_type.as_deref());
            let usage = summed.entry(owner).or_default();
            usage.consumers += 1;
            consumer.allocations.iter().for_each(|held| usage.add(held.class, held.used));
        }
        let summed: Vec<_> =
            summed.into_iter().map(|((user, kind), usage)| (user, kind, usage)).collect();
        assert_eq!(kept, summed, "{project}");
    }
    for host in (0..12).map(|number| super::id("provider", number)) {
        let found: Vec<_> = image.consumers.placed_on(host).map(|c| c.uuid).collect();
        let origin = |c: &Consumer| c.origin.as_ref().map(|origin| origin.host);
        let here = all.iter().filter(|c| origin(c) == Some(host));
        let scanned: Vec<_> = here.map(|c| c.uuid).collect();
        assert_eq!(found, scanned);
        derived.push(format!("{host} {found:?}"));
    }
}

fn hosts(image: &Image, derived: &mut Vec<String>) {
    let table = image.hosts.table();
    let name = |ix| table.facts(ix).host.clone();
    for host in image.hosts.iter() {
        let HostRow { host: named, node, uuid, id, .. } = &*host.row;
        assert_eq!(image.hosts.find(named, node).map(|h| h.row.uuid), Some(*uuid));
        assert_eq!(image.hosts.by_id(*id).map(|h| h.row.uuid), Some(*uuid));
        assert_eq!(table.host_of_node(*uuid), Some(host.ix));
        assert!(image.hosts.nodes_of(named).any(|h| h.row.uuid == *uuid));
        let figures: Vec<_> = Figure::ALL.iter().map(|f| table.figure(*f, host.ix)).collect();
        let instances: Vec<_> =
            table.instances(host.ix).as_slice().iter().map(|(uuid, _)| *uuid).collect();
        let aggregates = table.aggregates_of(host.ix).unwrap().iter();
        let aggregates: Vec<_> = aggregates.map(|a| (a.id, a.metadata.clone())).collect();
        let member_of: Vec<_> = image.hosts.aggregates_of(named).collect();
        let service = image.service_of(named).map(|service| service.id);
        let scanned = image.services.iter().find(|service| service.host == *named);
        assert_eq!(service, scanned.map(|service| service.id));
        let facts = table.facts(host.ix);
        derived.push(format!(
            "{named} {figures:?} {instances:?} {aggregates:?} {member_of:?} {service:?} {facts:?}"
        ));
    }
    assert_eq!(image.hosts.by_name().count(), image.hosts.len());
    assert_eq!(table.live().count(), image.hosts.len());
    for instance in (0..8).map(super::consumer_id) {
        let mut on: Vec<_> = table.hosts_with(instance).iter().map(|ix| name(*ix)).collect();
        on.sort();
        derived.push(format!("{instance} on {on:?}"));
    }
}

fn batch(image: &Image, derived: &mut Vec<String>) {
    let ids = |tasks: &mut dyn Iterator<Item = i64>| tasks.collect::<Vec<_>>();
    for job in image.batch.jobs.iter() {
        let named = image.batch.job_named(&job.namespace, &job.name);
        assert_eq!(named.map(|named| named.uuid), Some(job.uuid));
        let tasks = ids(&mut image.batch.tasks_of(job.id).map(|task| task.id));
        let scanned = image.batch.tasks.iter().filter(|task| task.job == job.id);
        assert_eq!(tasks, ids(&mut scanned.map(|task| task.id)));
    }
    for phase in ["Pending", "Inqueue", "Running"] {
        let found = ids(&mut image.batch.jobs_in(phase).map(|job| job.id));
        let scanned = image.batch.jobs.iter().filter(|job| job.phase == phase);
        assert_eq!(found, ids(&mut scanned.map(|job| job.id)), "{phase}");
    }
    for host in (0..12).map(|number| super::id("provider", number)) {
        let tasks = ids(&mut image.batch.tasks_on(host).map(|task| task.id));
        derived.push(format!("{host} runs {tasks:?}"));
    }
    let orphan = |job: i64| image.batch.jobs.by_id(job).is_none();
    let orphans = image.batch.tasks.iter().filter(|task| orphan(task.job));
    assert_eq!(orphans.count(), 0, "tasks without their job");
}

/// What is over capacity, counted wrongly, or remembered of an earlier image.
pub fn faults(image: &Image) -> Vec<String> {
    let mut faults = Vec::new();
    let table = image.hosts.table();
    for at in image.providers.iter() {
        let provider = image.providers.get(at).unwrap();
        let host = table.host_of_node(provider.uuid);
        let found = host.map(|host| RootHost { host, id: provider.id });
        let known = image.root_hosts().get(at.0 as usize).copied().flatten();
        if known != found {
            faults.push(format!("{at:?}: {known:?} known, {found:?} found"));
        }
        for class in CLASSES.iter().filter_map(|class| image.classes.ix(class)) {
            let used = image.providers.used(at, class);
            let held: i64 = image
                .consumers
                .iter()
                .flat_map(|c| &c.allocations)
                .filter(|a| a.provider == at && a.class == class)
                .map(|a| a.used)
                .sum();
            let capacity = image.providers.capacity(at, class).unwrap_or(0);
            if used != held || used > capacity {
                faults.push(format!("{at:?} {class:?}: used {used}, held {held} of {capacity}"));
            }
        }
    }
    let known = image.root_hosts().iter().flatten().count();
    let found = image.providers.iter().filter_map(|at| image.providers.get(at));
    let found = found.filter(|provider| table.host_of_node(provider.uuid).is_some()).count();
    let compute = image.services.iter().filter(|service| service.binary == "nova-compute");
    let lowest = compute.map(|service| service.version).min();
    if known != found || image.lowest_service_version() != lowest {
        faults.push(format!("{known} hosts known, {found} found; or not version {lowest:?}"));
    }
    faults
}
