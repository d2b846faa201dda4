//! Consumers and what they hold, page by page.

use super::{
    findings::{EXAMPLES, Findings, Note, Rule},
    names::Names,
    peer::{
        Peer,
        tables::{Allocation, Consumer},
    },
    providers::Providers,
    ranges,
    times::Times,
    uuids::Uuids,
};
use std::collections::{HashMap, HashSet};
use stowplan_ledger::rows::{AllocationRow, ConsumerRow};
use stowplan_model::Micros;

/// Consumers in a page.
const PAGE: u64 = 10_000;

/// Where the reading of consumers is.
pub struct Consumers<'a> {
    peer: &'a Peer,
    names: &'a Names,
    providers: &'a Providers,
    times: Times,
    last: i64,
    uuids: Uuids,
    used: Used,
}

/// Ids that some consumer refers to.
#[derive(Default)]
struct Used {
    projects: HashSet<i64>,
    users: HashSet<i64>,
    types: HashSet<i64>,
}

/// A page of consumers that hold something.
pub struct Page {
    pub rows: Vec<ConsumerRow>,
    /// Rows of the peer that were read for it.
    pub read: usize,
}

impl<'a> Consumers<'a> {
    /// Before the first page.
    pub fn new(peer: &'a Peer, names: &'a Names, providers: &'a Providers, times: Times) -> Self {
        let (uuids, used) = (Uuids::default(), Used::default());
        Self { peer, names, providers, times, last: i64::MIN, uuids, used }
    }

    /// The next page, checked; nothing after the last.
    pub async fn next(&mut self, findings: &mut Findings) -> anyhow::Result<Option<Page>> {
        let consumers = self.peer.consumers(self.last, PAGE).await?;
        let Some(end) = consumers.last().map(|row| row.id) else { return Ok(None) };
        let allocations = self.peer.allocations(self.last, end).await?;
        self.last = end;
        let read = consumers.len() + allocations.len();
        let mut held = self.held(allocations, findings);
        let mut rows = Vec::with_capacity(consumers.len());
        for consumer in consumers {
            match held.remove(&consumer.id) {
                Some(held) => rows.extend(self.row(consumer, held, findings)),
                None => findings.note(Note::IdleConsumer, 1),
            }
        }
        Ok(Some(Page { rows, read }))
    }

    /// After the last page: what belongs to no consumer.
    pub async fn finish(self, findings: &mut Findings) -> anyhow::Result<()> {
        let (names, used) = (self.names, &self.used);
        findings.note(Note::IdleProject, names.projects.len().saturating_sub(used.projects.len()));
        findings.note(Note::IdleUser, names.users.len().saturating_sub(used.users.len()));
        findings.note(
            Note::IdleConsumerType,
            names.consumer_types.len().saturating_sub(used.types.len()),
        );
        const WITHOUT: &str =
            "allocations a LEFT JOIN consumers c ON c.uuid = a.consumer_id WHERE c.id IS NULL";
        let rows = self.peer.count(WITHOUT).await?;
        let orphans = self.peer.orphans(EXAMPLES).await?.into_iter();
        let examples = orphans.map(|row| format!("consumer {}", row.consumer_id)).collect();
        findings.faults("allocations", Rule::NoConsumer, rows, examples);
        Ok(())
    }

    /// What each consumer holds, with the time at which it was written last.
    fn held(&self, allocations: Vec<Allocation>, findings: &mut Findings) -> HashMap<i64, Held> {
        const TABLE: &str = "allocations";
        let mut all: HashMap<i64, Held> = HashMap::new();
        let mut seen = HashSet::with_capacity(allocations.len());
        for row in allocations {
            let named = || format!("id {}", row.id);
            let provider = self.providers.look(row.resource_provider_id, TABLE, named, findings);
            let class = findings.look(
                &self.names.classes,
                row.resource_class_id,
                TABLE,
                Rule::NoClass,
                named,
            );
            ranges::check(TABLE, row.id, &[("used", row.used, ranges::AMOUNT)], findings);
            if !seen.insert((row.consumer, row.resource_provider_id, row.resource_class_id)) {
                findings.fault(TABLE, Rule::Twice, named);
            }
            let (_, changed) = self.times.of((row.created_at, row.updated_at), findings);
            let held = all.entry(row.consumer).or_default();
            held.changed = held.changed.max(changed);
            if let (Some(provider), Some(class)) = (provider, class) {
                let class = class.clone();
                held.rows.push(AllocationRow { provider, class, used: row.used });
            }
        }
        all
    }

    fn row(&mut self, row: Consumer, held: Held, findings: &mut Findings) -> Option<ConsumerRow> {
        const TABLE: &str = "consumers";
        let names = self.names;
        let named = || format!("id {}", row.id);
        let uuid = self.uuids.read(TABLE, &row.id, &row.uuid, findings);
        ranges::check(TABLE, row.id, &[("generation", row.generation, ranges::COUNT)], findings);
        let project = findings.look(&names.projects, row.project_id, TABLE, Rule::NoProject, named);
        let user = findings.look(&names.users, row.user_id, TABLE, Rule::NoUser, named);
        let consumer_type = match row.consumer_type_id {
            Some(id) => {
                let types = &names.consumer_types;
                Some(findings.look(types, id, TABLE, Rule::NoConsumerType, named)?.clone())
            }
            None => None,
        };
        self.used.note(&row);
        Some(ConsumerRow {
            id: row.id,
            uuid,
            generation: row.generation,
            project: project?.clone(),
            user: user?.clone(),
            consumer_type,
            allocations: held.rows,
            origin: None,
            created: row.created_at.unwrap_or(held.changed),
            // The peer shows when the allocations were written; of them it never
            // changes one alone.
            updated: held.changed,
        })
    }
}

/// What a consumer holds.
#[derive(Default)]
struct Held {
    rows: Vec<AllocationRow>,
    changed: Micros,
}

impl Used {
    fn note(&mut self, row: &Consumer) {
        self.projects.insert(row.project_id);
        self.users.insert(row.user_id);
        self.types.extend(row.consumer_type_id);
    }
}
