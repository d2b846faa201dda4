//! Whatever happens meanwhile, every eviction for others ends with the task that
//! it was for bound, or with a recorded reason (rule 13).

use crate::cloud::Cloud;
use std::collections::BTreeMap;
use stowplan_batch::life::TaskState;
use stowplan_batch::store::{
    ReportedState, TaskDetail, TaskReport, read_update, requeue, resume, suspend, update_job,
};
use stowplan_batch::views::TaskView;
use stowplan_ledger::Record;
use stowplan_ledger::rows::TaskRow;
use stowplan_model::Uuid;

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        let count = u64::try_from(all.len()).unwrap();
        (count > 0).then(|| &all[usize::try_from(self.below(count)).unwrap()])
    }
}

async fn start() -> Cloud {
    let mut cloud = Cloud::new().await;
    cloud.settings.set("service_down_time", "1000000").unwrap();
    for (host, cpus) in [("a", 6), ("b", 4), ("c", 3)] {
        cloud.host(host, cpus, 1.0).await;
    }
    for (name, deserved) in [("gold", 7), ("blue", 4)] {
        let queue = format!(r#"{{"name": "{name}", "deserved": {{"cpu": {deserved}}}}}"#);
        cloud.queue(&queue).await.unwrap();
    }
    cloud
}

fn all_tasks(cloud: &Cloud) -> Vec<TaskView> {
    let image = cloud.image();
    image.batch.jobs.iter().flat_map(|job| cloud.tasks(job.uuid)).collect()
}

fn in_state(cloud: &Cloud, state: TaskState) -> Vec<TaskView> {
    all_tasks(cloud).into_iter().filter(|task| task.state == state).collect()
}

async fn report(cloud: &Cloud, task: &TaskView, state: ReportedState) {
    let (task, attempt) = (task.id, task.attempt);
    let report = TaskReport { task, attempt, state, exit_code: None, message: None };
    cloud.task_reports(vec![report]).await;
}

/// Something that owners, executors or time do.
async fn something(cloud: &Cloud, dice: &mut Dice) {
    let jobs: Vec<Uuid> = cloud.image().batch.jobs.iter().map(|job| job.uuid).collect();
    let job = dice.one_of(&jobs).copied();
    let now = cloud.now();
    match (dice.below(14), job) {
        (0..=3, _) | (_, None) => {
            let queue = ["gold", "blue", "default"][usize::try_from(dice.below(3)).unwrap()];
            let count = 1 + dice.below(3);
            let body = format!(
                r#"{{"queue": "{queue}", "priority": {}, "min_available": {}, "tasks": [
                    {{"role": "w", "count": {count}, "requests": {{"cpu": {}}}}}]}}"#,
                dice.below(4),
                1 + dice.below(count),
                1 + dice.below(3),
            );
            cloud.submit(&body).await;
        }
        (4..=6, _) => {
            for task in in_state(cloud, TaskState::Bound) {
                report(cloud, &task, ReportedState::Running).await;
            }
        }
        (7 | 8, _) => {
            let leaving = in_state(cloud, TaskState::Releasing);
            if let Some(task) = dice.one_of(&leaving) {
                report(cloud, task, ReportedState::Released).await;
            }
        }
        (9, _) => {
            let running = in_state(cloud, TaskState::Running);
            if let Some(task) = dice.one_of(&running) {
                report(cloud, task, ReportedState::Succeeded).await;
            }
        }
        // What cannot be any more is refused.
        (10, Some(job)) => drop(cloud.cancel(job, false).await),
        (11, Some(job)) => {
            drop(cloud.act(move |image| suspend(image, job, now)).await);
            drop(cloud.act(move |image| resume(image, job, now)).await);
        }
        (12, Some(job)) => {
            let hint = read_update(br#"{"hint": {"nodeNames": ["a", "c"]}}"#).unwrap();
            drop(cloud.act(move |image| update_job(image, job, &hint, 1000, now)).await);
        }
        (_, Some(job)) => {
            drop(cloud.act(move |image| requeue(image, job, now)).await);
            cloud.pass(400);
            cloud.sweep().await;
        }
    }
}

/// Follows every task through the journal: how many nominations ended bound,
/// and how many with a reason.
async fn fates(cloud: &Cloud) -> (usize, usize) {
    let (mut bound, mut reasons) = (0, 0);
    let mut last: BTreeMap<Uuid, TaskRow> = BTreeMap::new();
    let mut seq = 0;
    loop {
        let entries = cloud.ledger.journal(seq, 100).await.unwrap();
        let Some(end) = entries.last() else { break };
        seq = end.seq;
        for entry in &entries {
            let rows = entry.change.records.iter().filter_map(|record| match record {
                Record::Task(row) => Some(row),
                _ => None,
            });
            for row in rows.clone() {
                let leaves_to = TaskDetail::of(row).leaving.and_then(|leaving| leaving.leaves_to);
                let is_new = last.get(&row.uuid).is_none_or(|before| {
                    TaskDetail::of(before).leaving.is_none_or(|it| it.leaves_to != leaves_to)
                });
                if let Some(heir) = leaves_to.filter(|_| is_new) {
                    // Where there was room already, it is bound at once.
                    let known = rows.clone().find(|other| other.uuid == heir).is_some_and(|heir| {
                        heir.state == "Bound" || TaskDetail::of(heir).nomination.is_some()
                    });
                    assert!(known, "nobody is nominated for what {} leaves", row.uuid);
                }
            }
            for row in rows {
                let before = last.insert(row.uuid, row.clone());
                let had = before.and_then(|before| TaskDetail::of(&before).nomination);
                if had.is_some() && TaskDetail::of(row).nomination.is_none() {
                    match row.state.as_str() {
                        "Bound" => bound += 1,
                        _ if row.reason.is_some() => reasons += 1,
                        other => panic!("{} is {other} without a word", row.uuid),
                    }
                }
            }
        }
    }
    (bound, reasons)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_eviction_ends_in_a_bind_or_a_reason() {
    let (mut bound, mut reasons) = (0, 0);
    for seed in 1..=12 {
        let cloud = start().await;
        let mut dice = Dice(seed * 7919);
        for _ in 0..70 {
            something(&cloud, &mut dice).await;
            cloud.cycle().await;
        }
        cloud.audit_books();
        // Executors do what they are told, and time runs out for the rest.
        for _ in 0..3 {
            for task in in_state(&cloud, TaskState::Releasing) {
                report(&cloud, &task, ReportedState::Released).await;
            }
            cloud.pass(1000);
            cloud.sweep().await;
        }
        let waits: Vec<TaskView> =
            all_tasks(&cloud).into_iter().filter(|task| task.nominated_host.is_some()).collect();
        assert!(waits.is_empty(), "seed {seed}: {waits:#?}");
        cloud.audit_books();
        let came = fates(&cloud).await;
        (bound, reasons) = (bound + came.0, reasons + came.1);
    }
    assert!(bound > 20 && reasons > 5, "{bound} bound, {reasons} with a reason");
}
