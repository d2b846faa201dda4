//! Resource providers, and what hangs on them.

use super::{
    findings::{Findings, Note, Rule},
    names::{Names, is_text},
    peer::{
        Peer,
        tables::{Aggregate, Inventory, Provider, ProviderAggregate, ProviderTrait},
    },
    ranges,
    times::Times,
    uuids::Uuids,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use stowplan_ledger::{
    Record,
    rows::{Inventories, ProviderRow},
};
use stowplan_model::{Uuid, names::MAX_PROVIDER_NAME};

/// Providers by their ids.
pub struct Providers {
    /// Their uuids; nil for one that has none.
    pub uuids: HashMap<i64, Uuid>,
}

impl Providers {
    /// Reads and checks providers and all that hangs on them; gives the records,
    /// every parent before its children.
    pub async fn read(
        peer: &Peer,
        names: &Names,
        times: Times,
        findings: &mut Findings,
    ) -> anyhow::Result<(Self, Vec<Record>)> {
        let mut rows = peer.all::<Provider>().await?;
        rows.sort_unstable_by_key(|row| row.id);
        let mut seen = Uuids::default();
        let uuids = rows
            .iter()
            .map(|row| (row.id, seen.read("resource_providers", &row.id, &row.uuid, findings)));
        let all = Self { uuids: uuids.collect() };
        let mut records = all.trees(rows, times, findings);
        records.extend(all.inventories(peer.all().await?, names, findings));
        records.extend(all.traits(peer.all().await?, names, findings));
        records.extend(all.aggregates(peer.all().await?, peer.all().await?, findings));
        Ok((all, records))
    }

    /// The uuid of a provider that a row of a table refers to.
    pub fn look(
        &self,
        id: i64,
        table: &'static str,
        row: impl FnOnce() -> String,
        findings: &mut Findings,
    ) -> Option<Uuid> {
        findings.look(&self.uuids, id, table, Rule::NoProvider, row).copied()
    }

    fn trees(&self, rows: Vec<Provider>, times: Times, findings: &mut Findings) -> Vec<Record> {
        const TABLE: &str = "resource_providers";
        let parents: HashMap<i64, Option<i64>> =
            rows.iter().map(|row| (row.id, row.parent_provider_id)).collect();
        let mut seen = HashSet::new();
        let mut placed = Vec::with_capacity(rows.len());
        for row in rows {
            let (created, updated) = times.of((row.created_at, row.updated_at), findings);
            let id = row.id;
            let name = row.name.unwrap_or_default();
            if !is_text(&name, MAX_PROVIDER_NAME) {
                findings.fault(TABLE, Rule::Name, || format!("id {id}: {name:?}"));
            }
            if !seen.insert(name.clone()) {
                findings.fault(TABLE, Rule::SameName, || format!("id {id}: {name:?}"));
            }
            let Some(generation) = row.generation else {
                findings.fault(TABLE, Rule::Missing, || format!("id {id}: generation"));
                continue;
            };
            ranges::check(TABLE, id, &[("generation", generation, ranges::COUNT)], findings);
            let Some(root) = row.root_provider_id else {
                findings.fault(TABLE, Rule::NoRoot, || format!("id {id}: {name:?}"));
                continue;
            };
            let Some(depth) = depth(id, root, &parents) else {
                findings.fault(TABLE, Rule::Tree, || {
                    let parent = row.parent_provider_id;
                    let parent = parent.map_or("none".to_owned(), |parent| parent.to_string());
                    format!("id {id}: parent {parent}, root {root}")
                });
                continue;
            };
            let uuid_of = |id: i64| self.uuids.get(&id).copied().unwrap_or_default();
            let row = ProviderRow {
                id,
                uuid: uuid_of(id),
                name,
                generation,
                parent: row.parent_provider_id.map(uuid_of),
                root: uuid_of(root),
                created,
                updated,
            };
            placed.push((depth, row));
        }
        placed.sort_by_key(|(depth, row)| (*depth, row.id));
        placed.into_iter().map(|(_, row)| Record::Provider(row)).collect()
    }

    fn inventories(
        &self,
        rows: Vec<Inventory>,
        names: &Names,
        findings: &mut Findings,
    ) -> Vec<Record> {
        const TABLE: &str = "inventories";
        let mut all: BTreeMap<i64, Inventories> = BTreeMap::new();
        for row in rows {
            let named = || format!("id {}", row.id);
            let provider = self.look(row.resource_provider_id, TABLE, named, findings);
            let class =
                findings.look(&names.classes, row.resource_class_id, TABLE, Rule::NoClass, named);
            ranges::check_inventory(&row, findings);
            let (Some(_), Some(class)) = (provider, class) else { continue };
            let inventory = stowplan_model::Inventory {
                total: row.total,
                reserved: row.reserved,
                min_unit: row.min_unit,
                max_unit: row.max_unit,
                step_size: row.step_size,
                allocation_ratio: row.allocation_ratio,
            };
            let there = all.entry(row.resource_provider_id).or_default();
            if there.insert(class.clone(), inventory).is_some() {
                findings.fault(TABLE, Rule::Twice, named);
            }
        }
        self.each(all, |provider, inventories| Record::Inventories { provider, inventories })
    }

    fn traits(
        &self,
        rows: Vec<ProviderTrait>,
        names: &Names,
        findings: &mut Findings,
    ) -> Vec<Record> {
        const TABLE: &str = "resource_provider_traits";
        let mut all: BTreeMap<i64, BTreeSet<String>> = BTreeMap::new();
        for ProviderTrait { resource_provider_id: provider, trait_id: id } in rows {
            let named = || format!("provider id {provider}, trait id {id}");
            let there = self.look(provider, TABLE, named, findings);
            let name = findings.look(&names.traits, id, TABLE, Rule::NoTrait, named);
            if let (Some(_), Some(name)) = (there, name) {
                all.entry(provider).or_default().insert(name.clone());
            }
        }
        self.each(all, |provider, traits| {
            let traits = traits.into_iter().collect();
            Record::Traits { provider, traits }
        })
    }

    fn aggregates(
        &self,
        aggregates: Vec<Aggregate>,
        rows: Vec<ProviderAggregate>,
        findings: &mut Findings,
    ) -> Vec<Record> {
        const TABLE: &str = "resource_provider_aggregates";
        let mut seen = Uuids::default();
        let uuids: HashMap<i64, Uuid> = aggregates
            .iter()
            .map(|row| {
                let text = row.uuid.as_deref().unwrap_or_default();
                (row.id, seen.read("placement_aggregates", &row.id, text, findings))
            })
            .collect();
        let mut used = HashSet::new();
        let mut all: BTreeMap<i64, Vec<Uuid>> = BTreeMap::new();
        for ProviderAggregate { resource_provider_id: provider, aggregate_id: id } in rows {
            let named = || format!("provider id {provider}, aggregate id {id}");
            let there = self.look(provider, TABLE, named, findings);
            let aggregate = findings.look(&uuids, id, TABLE, Rule::NoAggregate, named);
            if let (Some(_), Some(aggregate)) = (there, aggregate) {
                all.entry(provider).or_default().push(*aggregate);
                used.insert(id);
            }
        }
        findings.note(Note::IdleAggregate, uuids.len() - used.len());
        self.each(all, |provider, aggregates| Record::Aggregates { provider, aggregates })
    }

    fn each<T>(&self, all: BTreeMap<i64, T>, record: impl Fn(Uuid, T) -> Record) -> Vec<Record> {
        let known = |(id, value)| Some(record(*self.uuids.get(&id)?, value));
        all.into_iter().filter_map(known).collect()
    }
}

/// How far below its root a provider is; nothing when its parents do not lead
/// there.
fn depth(id: i64, root: i64, parents: &HashMap<i64, Option<i64>>) -> Option<usize> {
    let (mut at, mut depth) = (id, 0);
    while let Some(parent) = *parents.get(&at)? {
        (at, depth) = (parent, depth + 1);
        if depth > parents.len() {
            return None;
        }
    }
    (at == root).then_some(depth)
}
