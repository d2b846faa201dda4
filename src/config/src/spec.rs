//! What the table says about an option, apart from its type and default.

use crate::options::Settings;
use crate::value::{Input, Kind, Problem};

/// One section of the file.
#[derive(Debug)]
pub struct SectionSpec {
    /// Name between the brackets.
    pub name: &'static str,
    /// What the section is about, one entry a line.
    pub about: &'static [&'static str],
    /// Its options, in the order of the sample file.
    pub options: &'static [OptionSpec],
}

/// One option of the file.
#[derive(Debug)]
pub struct OptionSpec {
    /// Section it belongs to.
    pub section: &'static str,
    /// Name in the section.
    pub name: &'static str,
    /// Help, one entry a line.
    pub help: &'static [&'static str],
    /// Range, older names and the like.
    pub meta: Meta,
    /// What kind of value it takes.
    pub kind: Kind,
    /// Reads a value into the snapshot.
    pub(crate) write: Write,
    /// The value in the snapshot as a file would say it; empty when unset.
    pub(crate) texts: fn(&Settings, &Meta) -> Vec<String>,
    /// Takes the value over from another snapshot; tells whether it differed.
    pub(crate) take: fn(&mut Settings, &Settings) -> bool,
}

type Write = fn(&mut Settings, Input<'_>, &Meta, &mut Vec<String>) -> Result<(), Problem>;

/// What surrounds an option's type: range, choices, older names, what a reload
/// may do with it. Built in the table with the methods below.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Meta {
    /// Lowest value allowed.
    pub minimum: Option<f64>,
    /// Highest value allowed.
    pub maximum: Option<f64>,
    /// Value that lower ones are read as, with a warning.
    pub floor: Option<i64>,
    /// Words allowed in a string option.
    pub words: &'static [&'static str],
    /// Older (section, option) names that are still read.
    pub older_names: &'static [(&'static str, &'static str)],
    /// May a running service take up a new value when it re-reads its file?
    pub is_mutable: bool,
    /// Does the value hold a password? Then it is never shown.
    pub is_secret: bool,
    /// Is every line of the file one item (rather than a comma list)?
    pub is_multi: bool,
    /// Are items Python class paths, of which the last part counts?
    pub is_class_path: bool,
    /// Are items of a file `name=number`?
    pub is_weights: bool,
    /// Why the option will go away, if it will.
    pub removal: Option<&'static str>,
    /// Default that refers to other options, such as `$state_path/x`.
    pub template: Option<&'static str>,
    /// How the sample shows a default that depends on the machine.
    pub sample: Option<&'static str>,
}

impl Meta {
    /// An option without range or peculiarities.
    pub(crate) const fn new() -> Self {
        Self {
            minimum: None,
            maximum: None,
            floor: None,
            words: &[],
            older_names: &[],
            is_mutable: false,
            is_secret: false,
            is_multi: false,
            is_class_path: false,
            is_weights: false,
            removal: None,
            template: None,
            sample: None,
        }
    }

    pub(crate) const fn min(self, value: f64) -> Self {
        Self { minimum: Some(value), ..self }
    }

    pub(crate) const fn max(self, value: f64) -> Self {
        Self { maximum: Some(value), ..self }
    }

    pub(crate) const fn at_least(self, value: i64) -> Self {
        Self { floor: Some(value), ..self }
    }

    pub(crate) const fn one_of(self, words: &'static [&'static str]) -> Self {
        Self { words, ..self }
    }

    pub(crate) const fn older(self, names: &'static [(&'static str, &'static str)]) -> Self {
        Self { older_names: names, ..self }
    }

    pub(crate) const fn mutable(self) -> Self {
        Self { is_mutable: true, ..self }
    }

    pub(crate) const fn secret(self) -> Self {
        Self { is_secret: true, ..self }
    }

    pub(crate) const fn multi(self) -> Self {
        Self { is_multi: true, ..self }
    }

    pub(crate) const fn class_path(self) -> Self {
        Self { is_class_path: true, ..self }
    }

    pub(crate) const fn weights(self) -> Self {
        Self { is_weights: true, ..self }
    }

    pub(crate) const fn going_away(self, why: &'static str) -> Self {
        Self { removal: Some(why), ..self }
    }

    pub(crate) const fn template(self, text: &'static str) -> Self {
        Self { template: Some(text), ..self }
    }

    pub(crate) const fn sample(self, text: &'static str) -> Self {
        Self { sample: Some(text), ..self }
    }
}
