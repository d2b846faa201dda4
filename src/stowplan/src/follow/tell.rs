//! What a reading has found, told to the ledger.

use std::collections::BTreeMap;

use stowplan_ledger::rows::HostSource;
use stowplan_ledger::{Image, WriteError};
use stowplan_model::{Micros, Uuid};
use stowplan_scheduler::facts::{Fact, Said};
use stowplan_scheduler::hosts::ReportHost;
use stowplan_scheduler::{Call, Scheduler};

use super::cell::Changed;

/// Under what the journal and the log know the follower.
const REQUEST: &str = "nova_db";
/// Reports that are on their way to the ledger at once.
const TOGETHER: usize = 256;

/// What cannot be taken up, and why: by host and node, or by name.
#[derive(Default)]
pub struct Refused {
    now: BTreeMap<String, String>,
    /// The same before everything was read again, so that nothing is warned of twice.
    before: BTreeMap<String, String>,
}

impl Refused {
    /// Everything is told again.
    pub fn start_anew(&mut self) {
        self.before = std::mem::take(&mut self.now);
    }

    pub fn len(&self) -> usize {
        self.now.len()
    }

    /// The first of them, with its reason.
    pub fn first(&self) -> Option<String> {
        self.now.first_key_value().map(|(name, reason)| format!("{name}: {reason}"))
    }

    fn add(&mut self, name: String, reason: String) {
        if self.now.get(&name).or(self.before.get(&name)) != Some(&reason) {
            tracing::warn!(name, reason, "Nova's database says what cannot be taken up");
        }
        self.now.insert(name, reason);
    }

    fn remove(&mut self, name: &str) {
        self.now.remove(name);
        self.before.remove(name);
    }
}

/// What is told of a moment.
pub struct Teller<'a> {
    pub scheduler: &'a Scheduler,
    /// When the database was read.
    pub at: Micros,
}

impl Teller<'_> {
    fn call(&self) -> Call<'static> {
        Call { request_id: REQUEST, now: self.at }
    }

    /// Tells of facts. Gives whether the ledger could take them; those that its rules
    /// forbid are noted.
    pub async fn facts(&self, facts: Vec<Fact>, refused: &mut Refused) -> bool {
        let mut is_told = true;
        for fact in facts {
            let name = named(&fact);
            match self.scheduler.learn(self.call(), Said { fact, at: self.at }).await {
                Ok(_) => refused.remove(&name),
                Err(WriteError::Refused(error)) => refused.add(name, error.to_string()),
                Err(WriteError::Unavailable(error)) => {
                    tracing::debug!(%error, name, "to be told again");
                    is_told = false;
                }
            }
        }
        is_told
    }

    /// Tells of nodes that have changed; `as_of` is the number of the last change that
    /// was in the ledger before they were read. Gives those to be told again.
    pub async fn nodes(
        &self,
        changed: Vec<Changed>,
        as_of: i64,
        default_max_tasks: i64,
        refused: &mut Refused,
    ) -> Vec<i64> {
        let mut again = Vec::new();
        let mut changed = changed.into_iter().peekable();
        while changed.peek().is_some() {
            let (mut ids, mut reports) = (Vec::new(), Vec::new());
            for node in changed.by_ref().take(TOGETHER) {
                let name = node_name(&node.host, &node.name);
                match node.report {
                    Ok(report) => {
                        ids.push((node.id, name));
                        reports.push(ReportHost {
                            host: node.host,
                            node: Some(node.name),
                            source: HostSource::NovaDb,
                            report,
                            take_over: false,
                            as_of: Some(as_of),
                            default_max_tasks,
                        });
                    }
                    Err(error) => refused.add(name, error.to_string()),
                }
            }
            let outcomes = self.scheduler.report_hosts(self.call(), reports).await;
            for ((id, name), outcome) in ids.into_iter().zip(outcomes) {
                match outcome {
                    Ok(_) => refused.remove(&name),
                    Err(WriteError::Refused(error)) => refused.add(name, error.to_string()),
                    Err(WriteError::Unavailable(error)) => {
                        tracing::debug!(%error, name, "to be told again");
                        again.push(id);
                    }
                }
            }
        }
        again
    }

    /// Takes out the hosts that Nova has no more. Gives whether the ledger could take
    /// that.
    pub async fn gone(&self, image: &Image, is_gone: impl Fn(Uuid, Option<Uuid>) -> bool) -> bool {
        let followed = image.hosts.iter().filter(|host| host.row.source == HostSource::NovaDb);
        let gone = followed.filter(|host| is_gone(host.row.uuid, host.row.report.cell_uuid));
        let mut is_told = true;
        for host in gone {
            let told = self.scheduler.forget_host(self.call(), host.row.uuid).await;
            is_told &= told.is_ok();
            match told {
                Ok(_) => tracing::info!(
                    host = host.row.host,
                    node = host.row.node,
                    "Nova has this compute node no more"
                ),
                Err(error) => tracing::debug!(%error, "to be told again"),
            }
        }
        is_told
    }
}

/// How a node is named in what is refused.
fn node_name(host: &str, node: &str) -> String {
    format!("host {host}, node {node}")
}

fn named(fact: &Fact) -> String {
    match fact {
        Fact::Aggregate(it) => format!("host aggregate {}", it.name),
        Fact::Group(it) => format!("server group {}", it.uuid),
        Fact::Cell(it) => format!("cell {}", it.uuid),
        Fact::GroupGone(uuid) => format!("server group {uuid}"),
        Fact::AggregateGone { external_id, .. } => {
            format!("host aggregate {}", external_id.unwrap_or_default())
        }
        _ => String::new(),
    }
}
