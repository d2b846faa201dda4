//! The policy files: rules that replace defaults, read again when they change.

use super::{Check, CheckFault, Policy};
use arc_swap::{ArcSwap, Guard};
use serde::Deserialize;
use std::{
    collections::{BTreeMap, HashMap},
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
    time::SystemTime,
};
use stowplan_config::OsloPolicy;
use stowplan_model::Micros;
use thiserror::Error;

/// Between two looks at the files, in microseconds.
const PAUSE: i64 = 100_000;

/// Why a policy file cannot be used.
#[derive(Debug, Error)]
pub enum PolicyFault {
    /// It cannot be read.
    #[error("policy file {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is not a mapping of names to texts or lists of lists.
    #[error(
        "policy file {path}: expected rule names with their checks, each a text or a list of \
         lists of texts: {problem}"
    )]
    Form {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        problem: String,
    },
    /// Rules refer to one another in a circle, or too many do.
    #[error("policy rule {0} refers to others in a circle, or more than 32 deep")]
    Chain(String),
    /// A rule cannot be read.
    #[error("policy file {path}, rule {rule} = {text}: {fault}")]
    Rule {
        /// The file.
        path: PathBuf,
        /// The rule's name.
        rule: String,
        /// The check as written.
        text: String,
        /// What is wrong.
        fault: CheckFault,
    },
}

/// What tells one state of the files from another: those that are there, in the
/// order in which they are read.
type Stamp = Vec<(PathBuf, SystemTime, u64)>;

/// A check as a file has it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Lists(Vec<Inner>),
}

/// A part of a check in the older form.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Inner {
    One(String),
    List(Vec<String>),
}

/// The rules in force, with the files that they come from.
#[derive(Debug)]
pub struct PolicySource {
    options: OsloPolicy,
    policy: ArcSwap<Policy>,
    stamp: Mutex<Stamp>,
    looked: AtomicI64,
}

impl PolicySource {
    /// Reads the rules that the options name.
    ///
    /// # Errors
    /// When a file is there and cannot be used.
    pub fn open(options: &OsloPolicy) -> Result<Self, PolicyFault> {
        let stamp = stamp(options);
        let policy = read(options, &stamp)?;
        Ok(Self {
            options: options.clone(),
            policy: ArcSwap::from_pointee(policy),
            stamp: Mutex::new(stamp),
            looked: AtomicI64::new(i64::MIN),
        })
    }

    /// The rules in force. The files are looked at ten times a second at most;
    /// a bad one changes nothing and is told in the log.
    pub fn current(&self, now: Micros) -> Guard<Arc<Policy>> {
        let looked = self.looked.load(Ordering::Relaxed);
        // A clock that was set back does not put the next look off.
        let since = now.0.saturating_sub(looked);
        if !(0..PAUSE).contains(&since)
            && self
                .looked
                .compare_exchange(looked, now.0, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        {
            self.look();
        }
        self.policy.load()
    }

    fn look(&self) {
        let seen = stamp(&self.options);
        let Ok(mut stamp) = self.stamp.lock() else { return };
        if *stamp == seen {
            return;
        }
        match read(&self.options, &seen) {
            Ok(policy) => {
                tracing::info!(files = seen.len(), "policy rules were read again");
                self.policy.store(Arc::new(policy));
            }
            Err(fault) => tracing::error!(%fault, "the policy stays as it was"),
        }
        *stamp = seen;
    }
}

/// The files that are there: the policy file, then those of each folder by name.
/// A file whose name begins with a point is none.
fn stamp(options: &OsloPolicy) -> Stamp {
    let mut paths = vec![options.policy_file.clone()];
    for folder in &options.policy_dirs {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        let entries = entries.filter_map(Result::ok);
        let shown = entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
        let mut inside: Vec<PathBuf> = shown.map(|entry| entry.path()).collect();
        inside.sort_unstable();
        paths.append(&mut inside);
    }
    let state = |path: PathBuf| {
        let metadata = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
        Some((path, metadata.modified().ok()?, metadata.len()))
    };
    paths.into_iter().filter_map(state).collect()
}

fn read(options: &OsloPolicy, files: &Stamp) -> Result<Policy, PolicyFault> {
    let mut rules = HashMap::new();
    for (path, ..) in files {
        read_file(path, &mut rules)?;
    }
    let (enforce_new, stand_in) = (options.enforce_new_defaults, &options.policy_default_rule);
    let policy = Policy::new(enforce_new, stand_in, rules).map_err(PolicyFault::Chain)?;
    for doubt in policy.doubts() {
        tracing::warn!("policy rule {doubt}");
    }
    Ok(policy)
}

/// Adds the rules of a file to others, in whose place they come.
fn read_file(path: &Path, rules: &mut HashMap<String, Check>) -> Result<(), PolicyFault> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(PolicyFault::Read { path: path.to_owned(), source }),
    };
    let written: Option<BTreeMap<String, Written>> = serde_saphyr::from_str(&text)
        .map_err(|error| PolicyFault::Form { path: path.to_owned(), problem: error.to_string() })?;
    for (rule, written) in written.unwrap_or_default() {
        let check = written.check().map_err(|fault| PolicyFault::Rule {
            path: path.to_owned(),
            rule: rule.clone(),
            text: written.to_string(),
            fault,
        })?;
        rules.insert(rule, check);
    }
    Ok(())
}

impl Written {
    fn check(&self) -> Result<Check, CheckFault> {
        match self {
            Self::Text(text) => Check::parse(text),
            Self::Lists(lists) => {
                Check::parse_lists(&lists.iter().map(Inner::list).collect::<Vec<_>>())
            }
        }
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Lists(lists) => f.debug_list().entries(lists.iter().map(Inner::list)).finish(),
        }
    }
}

impl Inner {
    fn list(&self) -> Vec<String> {
        match self {
            Self::One(word) => vec![word.clone()],
            Self::List(words) => words.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use crate::{auth::Token, policy::Target};

    fn source(text: Option<&str>) -> (tempfile::TempDir, Result<PolicySource, PolicyFault>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.yaml");
        if let Some(text) = text {
            fs::write(&path, text).unwrap();
        }
        let options = OsloPolicy { policy_file: path, ..OsloPolicy::default() };
        let source = PolicySource::open(&options);
        (folder, source)
    }

    fn may(source: &PolicySource, rule: &str, role: &str, now: i64) -> bool {
        let token = Token {
            user: "u".to_owned(),
            project: Some("p".to_owned()),
            roles: vec![role.to_owned()],
            ..Token::default()
        };
        let policy = source.current(Micros(now));
        policy.enforce(rule, &token, Target::default()).is_ok()
    }

    #[test]
    fn a_rule_of_the_file_replaces_that_rule_only() {
        let (_folder, source) = source(Some("# all may list\n\"placement:traits:list\": \"@\"\n"));
        let source = source.unwrap();
        assert!(may(&source, "placement:traits:list", "member", 0));
        assert!(!may(&source, "placement:traits:show", "member", 0));
        assert!(may(&source, "placement:traits:show", "admin", 0));
    }

    #[test]
    fn no_file_means_the_defaults_and_json_is_read_too() {
        assert!(!may(&source(None).1.unwrap(), "placement:traits:list", "member", 0));
        let (_folder, json) = source(Some(r#"{"placement:traits:list": "role:member"}"#));
        assert!(may(&json.unwrap(), "placement:traits:list", "member", 0));
    }

    #[test]
    fn a_change_is_taken_up_and_a_bad_one_is_not() {
        let (folder, source) = source(None);
        let (source, path) = (source.unwrap(), folder.path().join("policy.yaml"));
        let list = "placement:traits:list";
        assert!(!may(&source, list, "member", 0));
        fs::write(&path, "\"placement:traits:list\": \"role:member\"").unwrap();
        assert!(!may(&source, list, "member", PAUSE - 1), "not looked at yet");
        assert!(may(&source, list, "member", PAUSE));
        fs::write(&path, "\"placement:traits:list\": \"role:member and\"").unwrap();
        assert!(may(&source, list, "member", 2 * PAUSE));
        fs::remove_file(&path).unwrap();
        assert!(!may(&source, list, "member", 3 * PAUSE));
    }

    #[test]
    fn faults_name_file_rule_and_word() {
        for (text, parts) in [
            ("a: \"role:x and\"", ["rule a = \"role:x and\"", "the rule ends"]),
            ("- a", ["policy.yaml", "line 1"]),
            ("a: [[b]]", ["rule a = [[\"b\"]]", "'b' is no check"]),
            ("a: {b: c}", ["expected rule names", "policy.yaml"]),
            ("a: ", ["expected rule names", "policy.yaml"]),
            ("a: https://b/c", ["rule a", "another service"]),
            ("a: rule:b\nb: not rule:a", ["rule a", "in a circle"]),
        ] {
            let (_folder, fault) = source(Some(text));
            let fault = fault.unwrap_err().to_string();
            assert!(parts.iter().all(|part| fault.contains(part)), "{fault}");
        }
    }

    #[test]
    fn folders_come_after_the_file_in_the_order_of_names() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("policy.d");
        fs::create_dir(&inside).unwrap();
        let list = "placement:traits:list";
        let write = |name: &str, role: &str| {
            fs::write(inside.join(name), format!("\"{list}\": \"role:{role}\"")).unwrap();
        };
        let options = OsloPolicy {
            policy_file: folder.path().join("policy.yaml"),
            policy_dirs: vec![inside.display().to_string()],
            ..OsloPolicy::default()
        };
        fs::write(&options.policy_file, format!("\"{list}\": \"role:zero\"")).unwrap();
        let source = PolicySource::open(&options).unwrap();
        assert!(may(&source, list, "zero", 0));
        write("b.yaml", "two");
        write("a.json", "one");
        write(".hidden.yaml", "hidden");
        assert!(may(&source, list, "two", PAUSE) && !may(&source, list, "one", PAUSE));
        fs::remove_file(inside.join("b.yaml")).unwrap();
        assert!(may(&source, list, "one", 2 * PAUSE));
        fs::remove_dir_all(&inside).unwrap();
        assert!(may(&source, list, "zero", 3 * PAUSE));
    }

    #[test]
    fn lists_are_read() {
        let text = "placement:traits:list: [[\"role:a\", \"role:member\"], \"role:member\"]";
        let (_folder, source) = source(Some(text));
        assert!(may(&source.unwrap(), "placement:traits:list", "member", 0));
    }

    #[test]
    fn a_clock_that_is_set_back_does_not_keep_old_rules() {
        let (folder, source) = source(None);
        let source = source.unwrap();
        let list = "placement:traits:list";
        assert!(!may(&source, list, "member", 1_000_000_000));
        let path = folder.path().join("policy.yaml");
        fs::write(&path, "\"placement:traits:list\": \"role:member\"").unwrap();
        assert!(may(&source, list, "member", 5));
    }
}
