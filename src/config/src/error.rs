//! What is wrong with a configuration, and what is merely odd.

use std::fmt;

use crate::origin::Origin;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Where it stands.
    pub origin: Origin,
    /// Section and option, if it is about one.
    pub option: Option<(String, String)>,
    /// What stands there, passwords hidden.
    pub value: Option<String>,
    /// What is wrong or was expected.
    pub problem: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.origin)?;
        match (&self.option, &self.value) {
            (Some((section, option)), Some(value)) => {
                write!(f, "[{section}] {option} = {value}: ")?;
            }
            (Some((section, option)), None) => write!(f, "[{section}] {option}: ")?,
            (None, Some(value)) => write!(f, "{value:?}: ")?,
            (None, None) => {}
        }
        f.write_str(&self.problem)
    }
}

/// Everything that is wrong, in the order of the files.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ConfigErrors(pub Vec<ConfigError>);

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, error) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

/// Something that is odd but stops nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// No option has this name.
    UnknownOption {
        /// Where it stands.
        origin: Origin,
        /// Section it stands in.
        section: String,
        /// Name of the option.
        option: String,
        /// What was meant, perhaps.
        meant: Option<String>,
    },
    /// No section has this name.
    UnknownSection {
        /// Where its first option stands.
        origin: Origin,
        /// Name of the section.
        section: String,
        /// What was meant, perhaps.
        meant: Option<String>,
    },
    /// An option is set by an older name.
    OlderName {
        /// Where it stands.
        origin: Origin,
        /// Section and name as set.
        older: (String, String),
        /// Section and name today.
        newer: (&'static str, &'static str),
        /// Is it passed over because the newer name is set too?
        ignored: bool,
    },
    /// An option that will go away is set.
    GoingAway {
        /// Where it stands.
        origin: Origin,
        /// Section and name.
        option: (&'static str, &'static str),
        /// Why it goes.
        why: &'static str,
    },
    /// A value is not taken literally.
    Adjusted {
        /// Where it stands.
        origin: Origin,
        /// Section and name.
        option: (&'static str, &'static str),
        /// How it is read.
        how: String,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownOption { origin, section, option, meant } => {
                write!(f, "{origin}: [{section}] {option}: there is no such option")?;
                meant.as_ref().map_or(Ok(()), |meant| write!(f, ", did you mean {meant}?"))
            }
            Self::UnknownSection { origin, section, meant } => {
                write!(f, "{origin}: [{section}]: there is no such section")?;
                meant.as_ref().map_or(Ok(()), |meant| write!(f, ", did you mean [{meant}]?"))
            }
            Self::OlderName { origin, older, newer, ignored } => {
                let state = if *ignored { "is ignored, as the newer name" } else { "is now" };
                let end = if *ignored { " is set too" } else { "" };
                write!(
                    f,
                    "{origin}: [{}] {} {state} [{}] {}{end}",
                    older.0, older.1, newer.0, newer.1
                )
            }
            Self::GoingAway { origin, option: (section, option), why } => {
                write!(f, "{origin}: [{section}] {option} will go away: {why}")
            }
            Self::Adjusted { origin, option: (section, option), how } => {
                write!(f, "{origin}: [{section}] {option}: {how}")
            }
        }
    }
}

/// Why one option cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// No option has this name.
    #[error("{key}: there is no such option{}", meant.as_ref().map_or_else(String::new, |meant| format!(", did you mean {meant}?")))]
    Unknown {
        /// The name as given.
        key: String,
        /// What was meant, perhaps.
        meant: Option<String>,
    },
    /// The option does not take this value.
    #[error("{key} = {value}: expected {expected}")]
    Value {
        /// Section and option.
        key: String,
        /// The value, passwords hidden.
        value: String,
        /// What was expected.
        expected: String,
    },
}
