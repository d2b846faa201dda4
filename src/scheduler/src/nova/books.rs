//! What differs between Nova's books of cells, host aggregates and server groups
//! and ours: the facts that bring ours up to date. Those that Nova has not, and
//! that were not learnt from there, are ours alone and stay.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use stowplan_ledger::Image;
use stowplan_ledger::rows::HostAggregateRow;
use stowplan_model::Uuid;

use crate::facts::{AggregateFact, CellFact, Fact, GroupFact, followed_group, followed_groups};
use crate::groups::lives;

/// Cells that are new or say something new.
#[must_use]
pub fn cells(image: &Image, told: &[CellFact]) -> Vec<Fact> {
    let is_known = |cell: &&CellFact| {
        image
            .cells
            .get(cell.uuid)
            .is_some_and(|row| row.name == cell.name && row.disabled == cell.disabled)
    };
    told.iter().filter(|cell| !is_known(cell)).cloned().map(Fact::Cell).collect()
}

/// Host aggregates that are gone, new or changed. `told` are all that Nova has.
#[must_use]
pub fn aggregates(image: &Image, told: &[AggregateFact]) -> Vec<Fact> {
    let there: BTreeSet<i64> = told.iter().filter_map(|it| it.external_id).collect();
    let learnt: BTreeMap<i64, &HostAggregateRow> = image
        .host_aggregates
        .iter()
        .filter_map(|row| Some((row.external_id?, row.as_ref())))
        .collect();
    let gone = learnt
        .iter()
        .filter(|(id, _)| !there.contains(id))
        .map(|(id, row)| Fact::AggregateGone { uuid: Some(row.uuid), external_id: Some(*id) });
    let changed = told.iter().filter(|it| {
        let row = it.external_id.and_then(|id| learnt.get(&id));
        row.is_none_or(|row| !is_as_told(row, it))
    });
    gone.chain(changed.cloned().map(Fact::Aggregate)).collect()
}

fn is_as_told(row: &HostAggregateRow, told: &AggregateFact) -> bool {
    let hosts: BTreeSet<&String> = told.hosts.iter().collect();
    row.name == told.name && row.metadata == told.metadata && row.hosts.iter().eq(hosts)
}

/// Server groups that are gone, new, or have other members. `told` are all that
/// Nova has. A member of ours that Nova has not stays while it is a server here.
#[must_use]
pub fn groups(image: &Image, told: &[GroupFact]) -> Vec<Fact> {
    let there: HashSet<Uuid> = told.iter().map(|group| group.uuid).collect();
    let gone = followed_groups(image).filter(|uuid| !there.contains(uuid)).map(Fact::GroupGone);
    let changed = told.iter().filter(|group| !is_group_as_told(image, group));
    gone.chain(changed.cloned().map(Fact::Group)).collect()
}

fn is_group_as_told(image: &Image, told: &GroupFact) -> bool {
    let Some(row) = image.server_groups.get(told.uuid) else { return false };
    let here: HashMap<Uuid, ()> = row.members.iter().map(|member| (*member, ())).collect();
    let wanted: HashSet<Uuid> = told.members.iter().copied().collect();
    followed_group(image, told.uuid)
        && told.members.iter().all(|member| here.contains_key(member))
        && row.members.iter().all(|member| wanted.contains(member) || lives(image, *member))
}
