//! A ledger with hosts, and what is done on it.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use stowplan_batch::BatchError;
use stowplan_batch::amounts::Dims;
use stowplan_batch::driver::{Clock, Cycle, CycleReport, Memory, Plant};
use stowplan_batch::spec::{Limits as JobLimits, check, read_job, read_queue};
use stowplan_batch::store::{
    Deadlines, Epoch, ReportVerdict, ReportedState, Submission, TaskReport, cancel, create_queue,
    report, submit, sweep, take_lead, update_queue,
};
use stowplan_batch::views::{self, JobDetail, TaskView};
use stowplan_config::Settings;
use stowplan_db::ConnectSpec;
use stowplan_ledger::image::hosts::Host;
use stowplan_ledger::rows::{HostSource, Inventories};
use stowplan_ledger::{Image, Ledger, Limits, OpenOptions, Quiet, WriteError};
use stowplan_model::host::HostReport;
use stowplan_model::{Inventory, Micros, Uuid};
use stowplan_placement::PlacementError;
use stowplan_placement::claims::{ConsumerClaim, ConsumerGeneration, ProviderClaim};
use stowplan_scheduler::hosts::{ReportHost, report_host};

pub struct Cloud {
    pub ledger: Ledger,
    pub settings: Settings,
    pub epoch: Epoch,
    time: Arc<AtomicI64>,
    memory: Mutex<Memory>,
}

/// An id that nobody else has in this run.
pub fn fresh() -> Uuid {
    static LAST: AtomicU64 = AtomicU64::new(0);
    Uuid::from_u64_pair(0xf4e5, LAST.fetch_add(1, Ordering::Relaxed))
}

pub fn inventory(total: i64, allocation_ratio: f64) -> Inventory {
    Inventory { total, reserved: 0, min_unit: 1, max_unit: total, step_size: 1, allocation_ratio }
}

impl Cloud {
    /// An empty ledger in memory.
    pub async fn new() -> Self {
        Self::on(ConnectSpec::in_memory()).await
    }

    /// The ledger of a database, with all that is there at the start.
    pub async fn on(database: ConnectSpec) -> Self {
        let options = OpenOptions { database, lock_file: None, limits: Limits::default() };
        let ledger = Ledger::open(options, &mut Quiet).await.unwrap();
        let time = Arc::new(AtomicI64::new(Micros::from_seconds(1_000_000).0));
        let now = Micros(time.load(Ordering::Relaxed));
        let taken =
            ledger.write::<_, _, Infallible>("test", move |image| Ok(take_lead(image, now))).await;
        let epoch = taken.unwrap();
        let memory = Mutex::default();
        let cloud = Self { ledger, settings: Settings::default(), epoch, time, memory };
        let names = move |image: &Image| Ok((stowplan_placement::names::seed(image, now).0, ()));
        cloud.write(names).await;
        stowplan_batch::prepare(&cloud.ledger, &cloud.settings, now).await.unwrap();
        cloud
    }

    async fn write(
        &self,
        check: impl FnMut(&Image) -> Result<(stowplan_ledger::Change, ()), Infallible> + Send + 'static,
    ) {
        self.ledger.write("test", check).await.unwrap();
    }

    pub fn dims(&self) -> Arc<Dims> {
        Arc::new(Dims::from_settings(&self.settings).unwrap())
    }

    pub fn image(&self) -> Arc<Image> {
        self.ledger.image()
    }

    pub fn now(&self) -> Micros {
        Micros(self.time.load(Ordering::Relaxed))
    }

    pub fn pass(&self, seconds: i64) {
        self.time.fetch_add(seconds * Micros::PER_SECOND, Ordering::Relaxed);
    }

    pub fn clock(&self) -> Clock {
        let time = self.time.clone();
        Arc::new(move || Micros(time.load(Ordering::Relaxed)))
    }

    /// Reports a host with processors and memory, and tells its uuid.
    pub async fn host(&self, name: &str, cpus: i64, ratio: f64) -> Uuid {
        self.report(name, cpus, ratio, HostReport::default()).await
    }

    pub async fn report(&self, name: &str, cpus: i64, ratio: f64, more: HostReport) -> Uuid {
        let inventories = [
            ("VCPU".to_owned(), inventory(cpus, ratio)),
            ("MEMORY_MB".to_owned(), inventory(65_536, 1.0)),
        ];
        let mut report = HostReport { inventory: Some(inventories.into()), ..more };
        report.service.last_seen_up = Some(self.now());
        let call = ReportHost {
            host: name.to_owned(),
            node: None,
            source: HostSource::Rest,
            report,
            take_over: false,
            as_of: None,
            default_max_tasks: 1000,
        };
        let now = self.now();
        let written = self.ledger.write("test", move |image| report_host(image, &call, now));
        written.await.unwrap().uuid
    }

    /// Claims processors of a host for a virtual machine, as Placement's
    /// clients do.
    pub async fn claim(&self, host: Uuid, cpus: i64) -> Result<Uuid, WriteError<PlacementError>> {
        self.claim_of(host, "VCPU", cpus).await
    }

    /// The same of any provider and class.
    pub async fn claim_of(
        &self,
        provider: Uuid,
        class: &str,
        amount: i64,
    ) -> Result<Uuid, WriteError<PlacementError>> {
        let consumer = fresh();
        let now = self.now();
        let claim = ConsumerClaim {
            consumer,
            generation: ConsumerGeneration::New,
            project: "vms".to_owned(),
            user: "nova".to_owned(),
            consumer_type: Some("INSTANCE".to_owned()),
            allocations: vec![ProviderClaim {
                provider,
                resources: [(class.to_owned(), amount)].into_iter().collect(),
            }],
            origin: None,
        };
        let check = move |image: &Image| {
            stowplan_placement::claims::replace_allocations(image, &claim, now)
        };
        self.ledger.write("test", check).await.map(|()| consumer)
    }

    /// Submits a job and tells its id.
    pub async fn submit(&self, body: &str) -> Uuid {
        // No two jobs at the same time: their order is that of submission.
        self.pass(1);
        let request = read_job(body.as_bytes()).unwrap();
        let limits = JobLimits { tasks: 1000 };
        let spec = check(&request, "me", None, &self.dims(), limits).unwrap();
        let uuid = fresh();
        let submission = Submission {
            uuid,
            namespace: request.namespace.unwrap_or_else(|| "project".to_owned()),
            name: request.name.unwrap_or_else(|| uuid.to_string()),
            queue: request.queue.unwrap_or_else(|| "default".to_owned()),
            key: None,
            suspend: request.suspend.unwrap_or(false),
            spec,
        };
        let now = self.now();
        let written = self.ledger.write("test", move |image| submit(image, &submission, now));
        written.await.unwrap();
        uuid
    }

    /// Does something to the batch layer.
    pub async fn act<T: Send + 'static>(
        &self,
        check: impl FnMut(&Image) -> Result<(stowplan_ledger::Change, T), BatchError> + Send + 'static,
    ) -> Result<T, BatchError> {
        match self.ledger.write("test", check).await {
            Ok(answer) => Ok(answer),
            Err(WriteError::Refused(error)) => Err(error),
            Err(WriteError::Unavailable(trouble)) => panic!("{trouble}"),
        }
    }

    /// Makes a queue.
    pub async fn queue(&self, body: &str) -> Result<(), BatchError> {
        let (request, dims, now) = (read_queue(body.as_bytes())?, self.dims(), self.now());
        self.act(move |image| create_queue(image, &request, &dims, now)).await
    }

    /// Changes a queue.
    pub async fn patch(&self, name: &str, body: &str) -> Result<(), BatchError> {
        let (request, dims, now) = (read_queue(body.as_bytes())?, self.dims(), self.now());
        let name = name.to_owned();
        self.act(move |image| update_queue(image, &name, &request, None, &dims, now)).await
    }

    /// Lets time bring about what is over.
    pub async fn sweep(&self) {
        let deadlines =
            Deadlines { bind: 600 * Micros::PER_SECOND, release: 300 * Micros::PER_SECOND };
        let now = self.now();
        self.act(move |image| {
            let lost = |host: &Host| {
                let service = image.service_of(&host.row.host).unwrap();
                now.since(service.last_seen.unwrap()) > 3600 * Micros::PER_SECOND
            };
            Ok((sweep(image, deadlines, lost, now), ()))
        })
        .await
        .unwrap();
    }

    /// Runs one cycle.
    pub async fn cycle(&self) -> CycleReport {
        let plant = Plant::new(&self.settings).unwrap();
        let cycle = Cycle::new(self.ledger.clone(), plant, self.clock(), self.epoch);
        let memory = std::mem::take(&mut *self.memory.lock().unwrap());
        let (memory, report) = cycle.run(self.image(), memory).await;
        *self.memory.lock().unwrap() = memory;
        assert!(!report.broke_off);
        report
    }

    /// Whether the driver would run a cycle now.
    pub fn has_work(&self) -> bool {
        let plant = Plant::new(&self.settings).unwrap();
        let waits = stowplan_batch::store::has_work(&self.image(), self.now());
        waits || plant.is_due(self.now(), &self.memory.lock().unwrap())
    }

    pub fn job(&self, job: Uuid) -> JobDetail {
        views::job(&self.image(), job).unwrap()
    }

    pub fn tasks(&self, job: Uuid) -> Vec<TaskView> {
        views::tasks(&self.image(), job).unwrap()
    }

    /// Tasks of a job by state.
    pub fn states(&self, job: Uuid) -> BTreeMap<String, u32> {
        self.job(job).summary.counts
    }

    pub async fn cancel(&self, job: Uuid, force: bool) -> Result<(), stowplan_batch::BatchError> {
        let now = self.now();
        let written = self.ledger.write("test", move |image| cancel(image, job, force, now));
        match written.await {
            Ok(()) => Ok(()),
            Err(WriteError::Refused(error)) => Err(error),
            Err(WriteError::Unavailable(trouble)) => panic!("{trouble}"),
        }
    }

    /// Reports one state of all tasks of a job that are bound.
    pub async fn report_all(&self, job: Uuid, state: ReportedState) -> Vec<ReportVerdict> {
        let tasks = self.tasks(job);
        let bound = tasks.iter().filter(|task| task.host.is_some());
        let reports = bound.map(|task| TaskReport {
            task: task.id,
            attempt: task.attempt,
            state,
            exit_code: None,
            message: None,
        });
        self.task_reports(reports.collect()).await
    }

    pub async fn task_reports(&self, reports: Vec<TaskReport>) -> Vec<ReportVerdict> {
        let now = self.now();
        let written = self
            .ledger
            .write::<_, _, Infallible>("test", move |image| Ok(report(image, &reports, now)));
        written.await.unwrap()
    }

    /// Reports that a task has left its host.
    pub async fn release(&self, task: &TaskView) {
        let report = TaskReport {
            task: task.id,
            attempt: task.attempt,
            state: ReportedState::Released,
            exit_code: None,
            message: None,
        };
        assert_eq!(self.task_reports(vec![report]).await[0].status, 200);
    }

    /// Sets the inventory of a provider, as clients of Placement do.
    pub async fn set_total(&self, provider: &str, class: &str, total: i64) {
        let image = self.image();
        let uuid = image.providers.uuid(image.providers.find_name(provider).unwrap());
        let inventories: Inventories = [(class.to_owned(), inventory(total, 1.0))].into();
        self.write(move |_| {
            let mut change = stowplan_ledger::Change::new("test");
            change.push(stowplan_ledger::Record::Inventories {
                provider: uuid,
                inventories: inventories.clone(),
            });
            Ok((change, ()))
        })
        .await;
    }

    /// Units of a class in use at a provider.
    pub fn used(&self, provider: Uuid, class: &str) -> i64 {
        let image = self.image();
        let at = image.providers.find(provider).unwrap();
        image.providers.used(at, image.classes.ix(class).unwrap())
    }

    /// That the books are exact, and no job stands between nothing and its
    /// minimum.
    pub fn audit(&self) {
        self.audit_books();
        let image = self.image();
        for job in image.batch.jobs.iter() {
            let min = views::job(&image, job.uuid).unwrap().spec.unwrap().min_available;
            let tasks = views::tasks(&image, job.uuid).unwrap();
            let count = tasks.iter().filter(|task| task.host.is_some()).count();
            assert!(count == 0 || count >= min as usize, "job {} has {count} of {min}", job.name);
        }
    }

    /// That nobody is over capacity, what is used is what consumers hold, each
    /// task with a host holds something, and nothing is held for nobody.
    pub fn audit_books(&self) {
        let image = self.image();
        let is_hold = |kind: Option<&str>| kind == Some("BATCH_HOLD");
        let holds = image.consumers.iter().filter(|it| is_hold(it.consumer_type.as_deref()));
        let nominated = image.batch.tasks.iter().filter(|task| {
            task.detail.get("nomination").is_some_and(|nomination| !nomination.is_null())
        });
        assert!(holds.count() <= nominated.count(), "room is held for nobody");
        let mut held: BTreeMap<(u32, u32), i64> = BTreeMap::new();
        for consumer in image.consumers.iter() {
            for allocation in &consumer.allocations {
                let key = (allocation.provider.0, allocation.class.0);
                *held.entry(key).or_default() += allocation.used;
            }
        }
        for at in image.providers.iter() {
            for &class in image.providers.get(at).unwrap().classes.iter() {
                let used = image.providers.used(at, class);
                assert_eq!(used, held.get(&(at.0, class.0)).copied().unwrap_or(0));
                assert!(used <= image.providers.capacity(at, class).unwrap());
            }
        }
        for job in image.batch.jobs.iter() {
            let tasks = views::tasks(&image, job.uuid).unwrap();
            for task in tasks.iter().filter(|task| task.host.is_some()) {
                assert!(image.consumers.get(task.id).is_some(), "{} holds nothing", task.name);
            }
        }
    }
}
