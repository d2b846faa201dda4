//! What is found while the peer's rows are read: faults, for which the import
//! is refused, and notes.

use serde::Serialize;
use std::{
    collections::{BTreeMap, HashMap},
    fmt::Display,
};

/// Rows that are named for each fault; the rest is counted.
pub const EXAMPLES: usize = 5;

/// A rule that a row may break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    Uuid,
    SameUuid,
    Name,
    SameName,
    Missing,
    Range,
    Twice,
    NoProvider,
    NoClass,
    NoTrait,
    NoAggregate,
    NoProject,
    NoUser,
    NoConsumerType,
    NoConsumer,
    NoRoot,
    Tree,
}

impl Rule {
    /// What is wrong with a row that breaks it, and what helps.
    fn says(self) -> (&'static str, Option<&'static str>) {
        const MIGRATE: Option<&str> = Some("run `placement-manage db online_data_migrations`");
        const DANGLING: Option<&str> =
            Some("no answer of openstack-placement shows such a row: delete it there");
        match self {
            Self::Uuid => ("a text that is no uuid", None),
            Self::SameUuid => ("the uuid of another row", None),
            Self::Name => ("a name that the API does not take", None),
            Self::SameName => ("the name of another row", None),
            Self::Missing => ("a value is missing", None),
            Self::Range => ("a number out of range", None),
            Self::Twice => ("a row that is there twice", Some("one of them is too many there")),
            Self::NoProvider => ("the resource provider does not exist", DANGLING),
            Self::NoClass => ("the resource class does not exist", DANGLING),
            Self::NoTrait => ("the trait does not exist", DANGLING),
            Self::NoAggregate => ("the aggregate does not exist", DANGLING),
            Self::NoProject => ("the project does not exist", DANGLING),
            Self::NoUser => ("the user does not exist", DANGLING),
            Self::NoConsumerType => ("the consumer type does not exist", DANGLING),
            Self::NoConsumer => ("the consumer does not exist", MIGRATE),
            Self::NoRoot => ("a provider without its root", MIGRATE),
            Self::Tree => ("parents that do not lead to the root", None),
        }
    }
}

/// What is imported otherwise than it stands there, or not at all, because no
/// answer depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Note {
    Spelling,
    NoTime,
    IdleConsumer,
    IdleAggregate,
    IdleProject,
    IdleUser,
    IdleConsumerType,
}

impl Note {
    fn says(self) -> &'static str {
        match self {
            Self::Spelling => "uuids in another spelling: shown with dashes and in small letters",
            Self::NoTime => "rows without a time: taken as changed now",
            Self::IdleConsumer => "consumers that hold nothing: left out",
            Self::IdleAggregate => "aggregates without a provider: left out",
            Self::IdleProject => "projects without a consumer: left out",
            Self::IdleUser => "users without a consumer: left out",
            Self::IdleConsumerType => "consumer types without a consumer: left out",
        }
    }
}

/// Rows of one table that break one rule.
#[derive(Clone, Debug, Serialize)]
pub struct Fault {
    pub table: &'static str,
    pub problem: &'static str,
    /// How many rows.
    pub rows: u64,
    /// The first of them.
    pub examples: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'static str>,
}

/// All that was found.
#[derive(Debug, Default)]
pub struct Findings {
    faults: BTreeMap<(&'static str, Rule), Fault>,
    notes: BTreeMap<Note, u64>,
}

impl Findings {
    /// A row of a table breaks a rule; `row` tells which and how, if it is to be
    /// named.
    pub fn fault<T: Display>(&mut self, table: &'static str, rule: Rule, row: impl FnOnce() -> T) {
        let fault = self.entry(table, rule);
        fault.rows += 1;
        if fault.examples.len() < EXAMPLES {
            fault.examples.push(row().to_string());
        }
    }

    /// So many rows of a table break a rule, these among them.
    pub fn faults(&mut self, table: &'static str, rule: Rule, rows: u64, examples: Vec<String>) {
        if rows > 0 {
            let fault = self.entry(table, rule);
            fault.rows += rows;
            fault.examples.extend(examples);
        }
    }

    fn entry(&mut self, table: &'static str, rule: Rule) -> &mut Fault {
        let (problem, hint) = rule.says();
        let none = Fault { table, problem, rows: 0, examples: Vec::new(), hint };
        self.faults.entry((table, rule)).or_insert(none)
    }

    /// Something to be told, so many times.
    pub fn note(&mut self, note: Note, rows: usize) {
        if rows > 0 {
            *self.notes.entry(note).or_default() += rows as u64;
        }
    }

    /// What an id in a column of a row stands for.
    pub fn look<'a, V>(
        &mut self,
        things: &'a HashMap<i64, V>,
        id: i64,
        table: &'static str,
        rule: Rule,
        row: impl FnOnce() -> String,
    ) -> Option<&'a V> {
        let found = things.get(&id);
        if found.is_none() {
            self.fault(table, rule, || format!("{}: id {id}", row()));
        }
        found
    }

    /// Whether everything read so far may be imported.
    pub fn are_fine(&self) -> bool {
        self.faults.is_empty()
    }

    /// The faults by table, and what is to be told besides, with how often.
    pub fn told(self) -> (Vec<Fault>, Vec<(&'static str, u64)>) {
        let notes = self.notes.into_iter().map(|(note, rows)| (note.says(), rows));
        (self.faults.into_values().collect(), notes.collect())
    }
}
