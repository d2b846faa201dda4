//! A scheduler on a ledger in memory, with the standard names.

use std::sync::Arc;

use arc_swap::ArcSwap;
use serde_json::{Value, json};
use stowplan_config::Settings;
use stowplan_ledger::{ConnectSpec, Image, Ledger, Limits, OpenOptions, Quiet, WriteError};
use stowplan_model::{Micros, Uuid};
use stowplan_scheduler::hosts::{Reported, read_report};
use stowplan_scheduler::select::{Destinations, Refusal, read_request};
use stowplan_scheduler::{Call, Scheduler, SchedulerError};

/// The present of all tests: 2026-01-01.
pub const NOW: Micros = Micros(1_767_225_600_000_000);

pub const CALL: Call<'static> = Call { request_id: "req-test", now: NOW };

pub struct Cloud {
    pub scheduler: Scheduler,
}

impl Cloud {
    pub async fn new() -> Self {
        Self::with(|_| {}).await
    }

    pub async fn with(set: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings::default();
        set(&mut settings);
        let options = OpenOptions {
            database: ConnectSpec::in_memory(),
            lock_file: None,
            limits: Limits::default(),
        };
        let ledger = Ledger::open(options, &mut Quiet).await.unwrap();
        let seed =
            |image: &Image| Ok::<_, SchedulerError>(stowplan_placement::names::seed(image, NOW));
        ledger.write("req-seed", seed).await.unwrap();
        let settings = Arc::new(ArcSwap::from_pointee(settings));
        Self { scheduler: Scheduler::new(ledger, settings).unwrap() }
    }

    pub fn image(&self) -> Arc<Image> {
        self.scheduler.ledger().image()
    }

    pub async fn report(&self, host: &str, report: Value) -> Reported {
        self.try_report(host, report).await.unwrap()
    }

    pub async fn try_report(&self, host: &str, report: Value) -> Result<Reported, SchedulerError> {
        self.report_with(host, None, report, false).await
    }

    pub async fn report_with(
        &self,
        host: &str,
        node: Option<&str>,
        report: Value,
        take_over: bool,
    ) -> Result<Reported, SchedulerError> {
        let report = read_report(report.to_string().as_bytes())?;
        refused(self.scheduler.report_host(CALL, host, node, report, take_over).await)
    }

    /// Hosts `name0`, `name1`, ... of this size.
    pub async fn hosts(&self, name: &str, count: usize, vcpus: i64) {
        for number in 0..count {
            self.report(&format!("{name}{number}"), host(vcpus)).await;
        }
    }

    pub async fn select(&self, asked: Value) -> Destinations {
        self.try_select(asked).await.unwrap()
    }

    pub async fn try_select(&self, asked: Value) -> Result<Destinations, SchedulerError> {
        let asked = read_request(asked.to_string().as_bytes())?;
        refused(self.scheduler.select_destinations(CALL, asked, ("project", "user")).await)
    }

    pub async fn no_host(&self, asked: Value) -> Refusal {
        match self.try_select(asked).await {
            Err(SchedulerError::NoValidHost(refusal)) => *refusal,
            other => panic!("expected no valid host, got {other:?}"),
        }
    }

    /// Units of a class in use in the tree of a host.
    pub fn used(&self, host: &str, class: &str) -> i64 {
        let image = self.image();
        let class = image.classes.ix(class).unwrap();
        let host = image.hosts.nodes_of(host).next().unwrap().row.uuid;
        let root = image.providers.find(host).unwrap();
        image.providers.tree_of(root).iter().map(|at| image.providers.used(*at, class)).sum()
    }

    pub fn total(&self, provider: &str, class: &str) -> Option<i64> {
        let image = self.image();
        let at = image.providers.find_name(provider)?;
        image.providers.inventory(at, image.classes.ix(class)?).map(|inventory| inventory.total)
    }

    pub fn traits(&self, provider: &str) -> Vec<String> {
        let image = self.image();
        let at = image.providers.find_name(provider).unwrap();
        let traits = image.providers.get(at).unwrap().traits.clone();
        let mut names: Vec<String> =
            traits.iter().map(|name| image.traits.name(*name).to_owned()).collect();
        names.sort();
        names
    }

    pub fn generation(&self, provider: &str) -> i64 {
        let image = self.image();
        image.providers.generation(image.providers.find_name(provider).unwrap())
    }
}

/// A host's report.
pub fn host(vcpus: i64) -> Value {
    json!({"vcpus": vcpus, "memory_mb": vcpus * 1024, "local_gb": 1000})
}

/// A request for one server of one CPU.
pub fn small() -> Value {
    json!({"flavor": {"vcpus": 1, "memory_mb": 1024, "root_gb": 1}})
}

/// The same with further fields.
pub fn small_with(more: Value) -> Value {
    let mut asked = small();
    for (name, value) in more.as_object().unwrap() {
        asked[name] = value.clone();
    }
    asked
}

pub fn uuid(number: u128) -> Uuid {
    Uuid::from_u128(0xABCD << 64 | number)
}

/// The refusal of a call; trouble of the ledger ends the test.
pub fn refused<T>(result: Result<T, WriteError<SchedulerError>>) -> Result<T, SchedulerError> {
    result.map_err(|error| match error {
        WriteError::Refused(refusal) => refusal,
        WriteError::Unavailable(trouble) => panic!("{trouble}"),
    })
}
