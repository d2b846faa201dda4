//! What an operator should know of settings and host aggregates, seen while a
//! request was decided.

use std::fmt;

use serde::Serialize;

use crate::score::Score;

/// Something that is probably not meant as it is. It changes no decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Finding {
    /// One weigher decides alone: its multiplier is larger than those of all
    /// others together that tell the hosts apart.
    Outweighs {
        /// The weigher.
        weigher: &'static str,
        /// Its largest multiplier in use, without sign.
        reach: Score,
        /// Those of the others together.
        others: Score,
    },
    /// A host aggregate sets an option to what is no number; the option's own
    /// value is in force on its hosts.
    UnreadableOverride {
        /// Id of the host aggregate.
        id: i64,
        /// Its name.
        name: String,
        /// Metadata key.
        key: &'static str,
        /// The value.
        value: String,
        /// The option, as `section.name`.
        option: &'static str,
    },
    /// Metadata of a host aggregate that looks like an option has no effect.
    KeyWithoutEffect {
        /// Id of the host aggregate.
        id: i64,
        /// Its name.
        name: String,
        /// Metadata key.
        key: String,
        /// The value.
        value: String,
        /// Why.
        why: NoEffect,
    },
    /// An item of a list option cannot be read and is left out.
    ItemLeftOut {
        /// The option, as `section.name`.
        option: &'static str,
        /// The item.
        item: String,
    },
    /// What a placed server takes could not be taken from what its host has.
    NotConsumed {
        /// Host.
        host: String,
        /// What, and why not.
        what: String,
    },
}

/// Why metadata that looks like an option has no effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "because", rename_all = "snake_case")]
pub enum NoEffect {
    /// The filter or weigher that would read it is not in use.
    NotInUse {
        /// The filter or weigher.
        reader: &'static str,
        /// The option that would name it, as `section.name`.
        option: &'static str,
    },
    /// The weigher that reads it is switched off for all hosts by its option.
    SwitchedOff {
        /// The weigher.
        reader: &'static str,
        /// The option that is 0, as `section.name`.
        option: &'static str,
    },
    /// Another key is meant.
    OtherKey {
        /// That key.
        key: &'static str,
    },
    /// Nothing reads the option from host aggregates.
    NoOverride {
        /// What to set instead.
        instead: &'static str,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outweighs { weigher, reach, others } => write!(
                f,
                "{weigher} (multiplier {}) outweighs all other weighers together ({}): they only \
                 decide between hosts that are equal to it",
                reach.0, others.0
            ),
            Self::UnreadableOverride { id, name, key, value, option } => write!(
                f,
                "host aggregate {id} ({name}) sets {key} to \"{value}\", which is no whole \
                 number: its hosts take {option}"
            ),
            Self::KeyWithoutEffect { id, name, key, value, why } => write!(
                f,
                "host aggregate {id} ({name}) sets {key} to \"{value}\", which has no effect: {why}"
            ),
            Self::ItemLeftOut { option, item } => {
                write!(f, "{option} has \"{item}\", which is left out: expected name=number")
            }
            Self::NotConsumed { host, what } => {
                write!(f, "{host} keeps its books without the placed server: {what}")
            }
        }
    }
}

impl fmt::Display for NoEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInUse { reader, option } => write!(f, "{reader} is not in {option}"),
            Self::SwitchedOff { reader, option } => {
                write!(f, "{reader} is switched off by {option} = 0")
            }
            Self::OtherKey { key } => write!(f, "the key that is read is {key}"),
            Self::NoOverride { instead } => f.write_str(instead),
        }
    }
}
