//! The policy file: rules that replace defaults, read again when it changes.

use super::{Check, CheckFault, Policy};
use arc_swap::{ArcSwap, Guard};
use std::{
    collections::BTreeMap,
    fs, io,
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

/// Between two looks at the file, in microseconds.
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
    /// It is not a YAML mapping of names to texts.
    #[error("policy file {path}: expected rule names with their checks as texts: {problem}")]
    Form {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        problem: String,
    },
    /// A rule cannot be read.
    #[error("policy file {path}, rule {rule} = \"{text}\": {fault}")]
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

/// What tells one state of the file from another; none: it is not there.
type Stamp = Option<(SystemTime, u64)>;

/// The rules in force, with the file that they come from.
#[derive(Debug)]
pub struct PolicySource {
    path: PathBuf,
    enforce_new: bool,
    policy: ArcSwap<Policy>,
    stamp: Mutex<Stamp>,
    looked: AtomicI64,
}

impl PolicySource {
    /// Reads the rules that the options name.
    ///
    /// # Errors
    /// When the file is there and cannot be used.
    pub fn open(options: &OsloPolicy) -> Result<Self, PolicyFault> {
        let path = options.policy_file.clone();
        let enforce_new = options.enforce_new_defaults;
        let stamp = stamp(&path);
        let policy = read(&path, enforce_new)?;
        Ok(Self {
            path,
            enforce_new,
            policy: ArcSwap::from_pointee(policy),
            stamp: Mutex::new(stamp),
            looked: AtomicI64::new(i64::MIN),
        })
    }

    /// The rules in force. The file is looked at ten times a second at most;
    /// a bad one changes nothing and is told in the log.
    pub fn current(&self, now: Micros) -> Guard<Arc<Policy>> {
        let looked = self.looked.load(Ordering::Relaxed);
        if now.0.saturating_sub(looked) >= PAUSE
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
        let seen = stamp(&self.path);
        let Ok(mut stamp) = self.stamp.lock() else { return };
        if *stamp == seen {
            return;
        }
        *stamp = seen;
        match read(&self.path, self.enforce_new) {
            Ok(policy) => {
                tracing::info!(path = %self.path.display(), "policy rules were read again");
                self.policy.store(Arc::new(policy));
            }
            Err(fault) => tracing::error!(%fault, "the policy stays as it was"),
        }
    }
}

fn stamp(path: &Path) -> Stamp {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

fn read(path: &Path, enforce_new: bool) -> Result<Policy, PolicyFault> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(source) => return Err(PolicyFault::Read { path: path.to_owned(), source }),
    };
    let rules: Option<BTreeMap<String, String>> = serde_saphyr::from_str(&text)
        .map_err(|error| PolicyFault::Form { path: path.to_owned(), problem: error.to_string() })?;
    let mut policy = Policy::defaults(enforce_new);
    for (rule, text) in rules.unwrap_or_default() {
        let check = Check::parse(&text).map_err(|fault| PolicyFault::Rule {
            path: path.to_owned(),
            rule: rule.clone(),
            text: text.clone(),
            fault,
        })?;
        policy.replace(rule, check);
    }
    Ok(policy)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use crate::{
        auth::{Scope, Token},
        policy::Target,
    };

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
            scope: Scope::Project,
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
            ("a: \"role:x and\"", ["rule a", "the rule ends"]),
            ("- a", ["policy.yaml", "line 1"]),
            ("a: [b]", ["expected rule names", "line 1"]),
        ] {
            let (_folder, fault) = source(Some(text));
            let fault = fault.unwrap_err().to_string();
            assert!(parts.iter().all(|part| fault.contains(part)), "{fault}");
        }
    }
}
