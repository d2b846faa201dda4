//! What `[batch:extender]` says.

use super::link::{ExtenderCall, ExtenderLink, Outside};
use crate::plugins::{ArgumentFault, Arguments};
use crate::session::{Shape, State};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const URL: &str = "extender.urlPrefix";
const TIMEOUT: &str = "extender.httpTimeout";
const IGNORABLE: &str = "extender.ignorable";
const RESOURCES: &str = "extender.managedResources";

/// What an extender can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verb {
    Open,
    Close,
    Predicate,
    Prioritize,
    Preemptable,
    Reclaimable,
    Overused,
    Enqueueable,
    Enqueued,
    Ready,
    Allocate,
    Deallocate,
}

/// The arguments that name the last part of the address; without one the
/// question is not asked.
const VERBS: &[(Verb, &str)] = &[
    (Verb::Open, "extender.onSessionOpenVerb"),
    (Verb::Close, "extender.onSessionCloseVerb"),
    (Verb::Predicate, "extender.predicateVerb"),
    (Verb::Prioritize, "extender.prioritizeVerb"),
    (Verb::Preemptable, "extender.preemptableVerb"),
    (Verb::Reclaimable, "extender.reclaimableVerb"),
    (Verb::Overused, "extender.queueOverusedVerb"),
    (Verb::Enqueueable, "extender.jobEnqueueableVerb"),
    (Verb::Enqueued, "extender.jobEnqueuedVerb"),
    (Verb::Ready, "extender.jobReadyVerb"),
    (Verb::Allocate, "extender.allocateFuncVerb"),
    (Verb::Deallocate, "extender.deallocateFuncVerb"),
];

/// An extender, and what it is asked.
pub(super) struct Extension {
    prefix: String,
    timeout: Duration,
    verbs: BTreeMap<Verb, String>,
    /// Whether it is left out when it does not answer.
    pub(super) ignorable: bool,
    /// Tasks that ask for none of these are none of its business; none named:
    /// all are.
    resources: Vec<String>,
    link: Option<Arc<dyn ExtenderLink>>,
    /// It did not answer a question of this session: it is asked no more, so
    /// that it holds a cycle up by one timeout at most.
    is_silent: AtomicBool,
}

impl Extension {
    /// Of these arguments.
    ///
    /// # Errors
    /// No address of http or https, no duration or switch.
    pub(super) fn new(arguments: &Arguments, outside: &Outside) -> Result<Self, ArgumentFault> {
        let prefix = arguments.text(URL).unwrap_or_default().trim_end_matches('/');
        if prefix.strip_prefix("http://").is_none_or(str::is_empty) {
            let expected = "the address of the extender, such as http://127.0.0.1:8713/filter";
            return Err(arguments.fault(URL, expected));
        }
        let micros = arguments.duration(TIMEOUT, 1_000_000)?;
        let verbs = VERBS.iter().filter_map(|(verb, argument)| {
            let text = arguments.text(argument).filter(|text| !text.is_empty())?;
            Some((*verb, text.to_owned()))
        });
        Ok(Self {
            verbs: verbs.collect(),
            prefix: prefix.to_owned(),
            timeout: Duration::from_micros(u64::try_from(micros).unwrap_or(1_000_000)),
            ignorable: arguments.switch(IGNORABLE, false)?,
            resources: arguments.list(RESOURCES).map(str::to_owned).collect(),
            link: outside.extender.clone(),
            is_silent: AtomicBool::new(false),
        })
    }

    /// Whether a question is asked at all: it has an address, and somebody
    /// takes it there.
    pub(super) fn asks(&self, verb: Verb) -> bool {
        self.link.is_some() && self.verbs.contains_key(&verb)
    }

    /// Whether tasks of a shape are the extender's business.
    pub(super) fn is_interested(&self, state: &State, shape: &Shape) -> bool {
        let dims = state.world.dims();
        let asked = |name: &String| dims.ix(name).is_some_and(|dim| shape.request.get(dim) > 0);
        self.resources.is_empty() || self.resources.iter().any(asked)
    }

    /// Asks, and reads the answer; none when the question is not asked.
    ///
    /// # Errors
    /// No answer, or one that cannot be read.
    pub(super) fn ask<T: DeserializeOwned>(
        &self,
        verb: Verb,
        body: impl FnOnce() -> Value,
    ) -> Option<Result<T, String>> {
        let (link, path) = (self.link.as_ref()?, self.verbs.get(&verb)?);
        if self.is_silent.load(Ordering::Relaxed) {
            return Some(Err("it did not answer before".to_owned()));
        }
        let url = format!("{}/{path}", self.prefix);
        let call = ExtenderCall { url, timeout: self.timeout, body: body() };
        let answer = link.ask(&call).and_then(|answer| {
            serde_json::from_value(answer).map_err(|error| format!("its answer: {error}"))
        });
        Some(answer.map_err(|why| {
            tracing::warn!(url = call.url, why, "an extender is not asked again in this cycle");
            self.is_silent.store(true, Ordering::Relaxed);
            why
        }))
    }

    /// Tells something that no answer is needed to.
    pub(super) fn tell(&self, verb: Verb, body: impl FnOnce() -> Value) {
        self.ask::<Value>(verb, body);
    }
}
