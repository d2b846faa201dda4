//! How new the ledger's knowledge is, and a change that heeds it.

use std::collections::BTreeMap;

use stowplan_ledger::rows::{HostRow, StampRow};
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::{Micros, Uuid};

use super::Place;
use crate::error::SchedulerError;
use crate::hosts;

/// The name space of stamps.
const NAMESPACE: Uuid = Uuid::from_u128(0x3b0c_8a54_0f27_5b7e_8d1b_6f06_20f2_77c9);
/// Stamps that one change forgets.
const PIECE: usize = 1000;
/// The state of a stamp that must not be forgotten.
pub(super) const BUSY: &str = "busy";
/// The state of a stamp of what goes once it is not told of any more: it must not be
/// forgotten either.
pub(super) const FOLLOWED: &str = "followed";

/// A change that comes of one fact.
pub(super) struct Lesson<'a> {
    pub image: &'a Image,
    /// When the fact was said.
    pub at: Micros,
    pub now: Micros,
    records: Vec<Record>,
    /// Host rows as they are to be.
    hosts: BTreeMap<Uuid, HostRow>,
    stamps: BTreeMap<Uuid, StampRow>,
}

impl<'a> Lesson<'a> {
    pub fn new(image: &'a Image, at: Micros, now: Micros) -> Self {
        let (hosts, stamps) = (BTreeMap::new(), BTreeMap::new());
        Self { image, at, now, records: Vec::new(), hosts, stamps }
    }

    /// What is known of how new the knowledge of a thing is.
    pub fn stamp(&self, about: &str) -> Option<&StampRow> {
        let uuid = key(about);
        self.stamps.get(&uuid).or_else(|| self.image.stamps.get(uuid).map(AsRef::as_ref))
    }

    /// Whether the fact is as new as what is known of a thing, or newer.
    pub fn is_news(&self, about: &str) -> bool {
        self.stamp(about).is_none_or(|stamp| self.at >= stamp.said)
    }

    /// Notes that a thing is known as of the fact, with what was said.
    pub fn note(&mut self, about: &str, state: Option<String>) {
        let uuid = key(about);
        let id = match self.stamp(about) {
            Some(stamp) => stamp.id,
            None => self.image.stamps.next_id() + self.fresh(),
        };
        let (said, noted) = (self.at, self.now);
        let row = StampRow { id, uuid, about: about.to_owned(), state, said, noted };
        self.stamps.insert(uuid, row);
    }

    /// The same, where what was said may be newer than the fact.
    pub fn note_as_of(&mut self, about: &str, state: Option<String>, said: Micros) {
        self.note(about, state);
        if let Some(row) = self.stamps.get_mut(&key(about)) {
            row.said = said;
        }
    }

    /// Stamps of this change that are new to the ledger.
    fn fresh(&self) -> i64 {
        let fresh = self.stamps.keys().filter(|uuid| self.image.stamps.get(**uuid).is_none());
        i64::try_from(fresh.count()).unwrap_or(i64::MAX)
    }

    /// The row of a host and node, to be changed.
    pub fn host(&mut self, place: &Place) -> Result<&mut HostRow, SchedulerError> {
        let found = hosts::find(self.image, &place.host, place.node.as_deref())?;
        Ok(self.node(found.row.uuid, &found.row))
    }

    /// A row, to be changed.
    pub fn node(&mut self, uuid: Uuid, row: &HostRow) -> &mut HostRow {
        self.hosts.entry(uuid).or_insert_with(|| row.clone())
    }

    pub fn push(&mut self, record: Record) {
        self.records.push(record);
    }

    pub fn extend(&mut self, change: Change) {
        self.records.extend(change.records);
    }

    /// The change, and whether more than stamps is in it.
    pub fn finish(self) -> (Change, bool) {
        let Self { image, now, mut records, hosts, stamps, .. } = self;
        for (uuid, row) in hosts {
            if image.hosts.get(uuid).is_none_or(|host| *host.row != row) {
                records.push(Record::Host(Box::new(HostRow { updated: now, ..row })));
            }
        }
        let changed = !records.is_empty();
        for (uuid, row) in stamps {
            let known = image.stamps.get(uuid);
            if known.is_none_or(|known| known.said != row.said || known.state != row.state) {
                records.push(Record::Stamp(row));
            }
        }
        (Change { kind: "fact".to_owned(), records }, changed)
    }
}

/// The uuid of a stamp.
pub(super) fn key(about: &str) -> Uuid {
    Uuid::new_v5(&NAMESPACE, about.as_bytes())
}

/// Forgets stamps that were noted before `oldest`.
pub(crate) fn forget(image: &Image, oldest: Micros) -> Change {
    let mut change = Change::new("stamps.forget");
    let old = image.stamps.iter().filter(|row| {
        let state = row.state.as_deref().unwrap_or_default();
        row.noted < oldest && !state.starts_with(BUSY) && state != FOLLOWED
    });
    change.records = old.take(PIECE).map(|row| Record::StampGone(row.uuid)).collect();
    change
}
