//! The API database: cells, host aggregates with their hosts, server groups with
//! their members. The large tables are read again only when sums over them have
//! changed, and at each comparison of everything.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};
use stowplan_db::peer::{ReadError, Snapshot};
use stowplan_model::{Micros, Uuid, pytext};
use stowplan_scheduler::facts::{AggregateFact, CellFact, GroupFact};

use super::tables::{
    Aggregate, AggregateHost, AggregateMetadata, CellMapping, Group, GroupMember, GroupPolicy,
};

/// Sums over a table whose rows come and go but do not change.
type Sums = [i64; 5];

/// The tables of server groups.
const GROUPS: [&str; 3] = ["instance_groups", "instance_group_policy", "instance_group_member"];

/// What is known of the API database.
#[derive(Default)]
pub struct Books {
    aggregates: Vec<Aggregate>,
    metadata: Vec<AggregateMetadata>,
    hosts: Sums,
    groups: [Sums; GROUPS.len()],
    is_complete: bool,
}

/// What a reading has found; of what has not changed, nothing.
pub struct Told {
    pub mappings: Vec<CellMapping>,
    pub aggregates: Option<Vec<AggregateFact>>,
    pub groups: Option<Vec<GroupFact>>,
}

impl Books {
    /// Has everything read again next time.
    pub fn distrust(&mut self) {
        self.is_complete = false;
    }

    /// Reads what has changed, or `all`.
    pub async fn read(&mut self, snapshot: &Snapshot, all: bool) -> Result<Told, ReadError> {
        let all = all || !std::mem::take(&mut self.is_complete);
        let told = Told {
            mappings: snapshot.select("ORDER BY id").await?,
            aggregates: self.aggregates(snapshot, all).await?,
            groups: self.groups(snapshot, all).await?,
        };
        self.is_complete = true;
        Ok(told)
    }

    async fn aggregates(
        &mut self,
        snapshot: &Snapshot,
        all: bool,
    ) -> Result<Option<Vec<AggregateFact>>, ReadError> {
        let aggregates: Vec<Aggregate> = snapshot.select("ORDER BY id").await?;
        let metadata: Vec<AggregateMetadata> = snapshot.select("ORDER BY id").await?;
        let hosts = sums(snapshot, "aggregate_hosts").await?;
        let is_same =
            aggregates == self.aggregates && metadata == self.metadata && hosts == self.hosts;
        (self.aggregates, self.metadata, self.hosts) = (aggregates, metadata, hosts);
        if is_same && !all {
            return Ok(None);
        }
        let members: Vec<AggregateHost> = snapshot.all().await?;
        let mut facts: BTreeMap<i64, AggregateFact> = BTreeMap::new();
        for row in &self.aggregates {
            let fact = AggregateFact {
                external_id: Some(row.id),
                uuid: row.uuid.as_deref().and_then(|uuid| Uuid::try_parse(uuid).ok()),
                name: row.name.clone().unwrap_or_default(),
                ..AggregateFact::default()
            };
            facts.insert(row.id, fact);
        }
        for row in members {
            if let (Some(fact), Some(host)) = (facts.get_mut(&row.aggregate_id), row.host) {
                fact.hosts.push(host);
            }
        }
        for row in &self.metadata {
            if let Some(fact) = facts.get_mut(&row.aggregate_id) {
                fact.metadata.insert(row.key.clone(), row.value.clone());
            }
        }
        Ok(Some(facts.into_values().collect()))
    }

    async fn groups(
        &mut self,
        snapshot: &Snapshot,
        all: bool,
    ) -> Result<Option<Vec<GroupFact>>, ReadError> {
        let mut found = [Sums::default(); GROUPS.len()];
        for (sums_of, table) in found.iter_mut().zip(GROUPS) {
            *sums_of = sums(snapshot, table).await?;
        }
        if std::mem::replace(&mut self.groups, found) == found && !all {
            return Ok(None);
        }
        let groups: Vec<Group> = snapshot.select("ORDER BY id").await?;
        let members: Vec<GroupMember> = snapshot.select("ORDER BY id").await?;
        let policies: Vec<GroupPolicy> = snapshot.select("ORDER BY id").await?;
        let mut members_of: HashMap<i64, Vec<Uuid>> = HashMap::new();
        for row in members {
            let uuid = row.instance_uuid.and_then(|uuid| Uuid::try_parse(&uuid).ok());
            members_of.entry(row.group_id).or_default().extend(uuid);
        }
        let mut policy_of: HashMap<i64, GroupPolicy> = HashMap::new();
        for row in policies {
            // Of several the first counts, as at the peer.
            policy_of.entry(row.group_id).or_insert(row);
        }
        let fact = |row: Group| {
            let policy = policy_of.get(&row.id);
            Some(GroupFact {
                uuid: Uuid::try_parse(&row.uuid).ok()?,
                name: row.name.unwrap_or_default(),
                policy: policy.and_then(|it| it.policy.clone()).unwrap_or_default(),
                max_server_per_host: policy.and_then(|it| most(it.rules.as_deref()?)),
                project: row.project_id.unwrap_or_default(),
                user: row.user_id.unwrap_or_default(),
                members: members_of.remove(&row.id).unwrap_or_default(),
                complete: true,
            })
        };
        Ok(Some(groups.into_iter().filter_map(fact).collect()))
    }
}

/// The cells of the mappings.
pub fn cell_facts(mappings: &[CellMapping]) -> Vec<CellFact> {
    let fact = |row: &CellMapping| {
        Some(CellFact {
            uuid: Uuid::try_parse(&row.uuid).ok().filter(|uuid| !uuid.is_nil())?,
            name: row.name.clone().unwrap_or_default(),
            disabled: row.disabled,
        })
    };
    mappings.iter().filter_map(fact).collect()
}

/// Members on one host at most, of a policy's rules in JSON.
fn most(rules: &str) -> Option<i64> {
    let rules: Map<String, Value> = serde_json::from_str(rules).ok()?;
    rules.get("max_server_per_host").and_then(|most| pytext::int(&pytext::str(most)))
}

async fn sums(snapshot: &Snapshot, table: &str) -> Result<Sums, ReadError> {
    let sql = snapshot.sql();
    let newest = |column| format!("COALESCE(MAX({}), 0)", sql.time(column));
    let expressions = [
        "COUNT(*)",
        "COALESCE(SUM(id), 0)",
        "COALESCE(SUM((id % 1021) * (id % 509)), 0)",
        &newest("created_at"),
        &newest("updated_at"),
    ];
    Ok(snapshot.numbers(expressions, table).await?.first().copied().unwrap_or_default())
}

/// When a reading of everything is due again.
pub fn is_due(last: Option<Micros>, now: Micros, interval: std::time::Duration) -> bool {
    let interval = i64::try_from(interval.as_micros()).unwrap_or(i64::MAX);
    last.is_none_or(|last| now.since(last).saturating_abs() >= interval)
}
