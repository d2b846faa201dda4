//! Resource classes and traits, and the texts that consumers refer to.

use super::{
    findings::{Findings, Rule},
    peer::{
        Peer,
        tables::{Class, ConsumerType, Project, Trait, User},
    },
    times::{Stamps, Times},
};
use std::collections::{HashMap, HashSet};
use stowplan_ledger::{Record, rows::NameRow};
use stowplan_model::names::{MAX_NAME, is_plain};

/// Names and texts by their ids.
pub type Texts = HashMap<i64, String>;

/// What providers and consumers refer to.
pub struct Names {
    pub classes: Texts,
    pub traits: Texts,
    pub projects: Texts,
    pub users: Texts,
    pub consumer_types: Texts,
}

impl Names {
    /// Reads and checks them; gives the records of classes and traits too, in
    /// order of their ids.
    pub async fn read(
        peer: &Peer,
        times: Times,
        findings: &mut Findings,
    ) -> anyhow::Result<(Self, Vec<Record>)> {
        let mut records = Vec::new();
        let mut named = |table, rows: Vec<(i64, String, Stamps)>, record: fn(NameRow) -> Record| {
            let mut texts = Vec::with_capacity(rows.len());
            for (id, name, stamps) in rows {
                let (created, updated) = times.of(stamps, findings);
                texts.push((id, name.clone()));
                records.push(record(NameRow { id, name, created, updated }));
            }
            checked(table, texts, is_plain, findings)
        };
        let mut classes = peer.all::<Class>().await?;
        classes.sort_unstable_by_key(|row| row.id);
        let classes =
            classes.into_iter().map(|row| (row.id, row.name, (row.created_at, row.updated_at)));
        let classes = named("resource_classes", classes.collect(), Record::Class);
        let mut traits = peer.all::<Trait>().await?;
        traits.sort_unstable_by_key(|row| row.id);
        let traits =
            traits.into_iter().map(|row| (row.id, row.name, (row.created_at, row.updated_at)));
        let traits = named("traits", traits.collect(), Record::Trait);

        let projects = peer.all::<Project>().await?.into_iter();
        let projects = projects.map(|row| (row.id, row.external_id));
        let users = peer.all::<User>().await?.into_iter();
        let users = users.map(|row| (row.id, row.external_id));
        let types = peer.all::<ConsumerType>().await?.into_iter();
        let types = types.map(|row| (row.id, row.name));
        let names = Self {
            classes,
            traits,
            projects: checked("projects", projects, is_external, findings),
            users: checked("users", users, is_external, findings),
            consumer_types: checked("consumer_types", types, is_plain, findings),
        };
        Ok((names, records))
    }
}

/// Texts by their ids, after each was checked: its form, and that it is there
/// once.
fn checked(
    table: &'static str,
    rows: impl IntoIterator<Item = (i64, String)>,
    holds: fn(&str) -> bool,
    findings: &mut Findings,
) -> Texts {
    let mut seen = HashSet::new();
    let mut texts = Texts::new();
    for (id, text) in rows {
        if !holds(&text) {
            findings.fault(table, Rule::Name, || format!("id {id}: {text:?}"));
        }
        if !seen.insert(text.clone()) {
            findings.fault(table, Rule::SameName, || format!("id {id}: {text:?}"));
        }
        texts.insert(id, text);
    }
    texts
}

/// Whether a text can be the id of a project or user.
fn is_external(text: &str) -> bool {
    is_text(text, MAX_NAME)
}

/// Whether a text has 1 to `longest` characters, as our tables can hold them.
pub fn is_text(text: &str, longest: usize) -> bool {
    (1..=longest).contains(&text.chars().count()) && !text.contains('\0')
}
