//! The recording, played: every event in order of time, as fast as the server
//! answers or at a pace.

use super::{
    ask::{Answer, ask, consumer, release, request},
    books::{Amounts, Books, Place},
    cluster::{Cluster, Part},
    events::{Event, What},
    openb::Task,
};
use crate::{http::Client, latency::Latencies};
use indicatif::ProgressBar;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};
use uuid::Uuid;

/// What does not change while a recording is played.
pub struct Play<'a> {
    /// The server.
    pub client: &'a Client,
    /// The cluster on it.
    pub cluster: &'a Cluster,
    /// The tasks.
    pub tasks: &'a [Task],
    /// The models of GPUs in the cluster.
    pub models: &'a BTreeSet<String>,
    /// Requests under way at once.
    pub concurrency: usize,
    /// Seconds of the recording in one second; none: as fast as it goes.
    pub speed: Option<f64>,
    /// Whether refusals are checked against the books.
    pub verify: bool,
    /// Moved by every event.
    pub bar: &'a ProgressBar,
}

/// A refusal although there was room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FalseRefusal {
    /// The task.
    pub task: String,
    /// A node where it would have fitted.
    pub node: String,
    /// The reason given.
    pub reason: String,
    /// The decision that was to explain it.
    pub decision: Option<Uuid>,
}

/// What came of the recording so far.
#[derive(Debug)]
pub struct Tally {
    /// What is taken, by our own books.
    pub books: Books,
    /// Tasks that were placed.
    pub placed: usize,
    /// Tasks that were refused.
    pub refused: usize,
    /// Tasks that ended.
    pub released: usize,
    /// Reasons of refusals, numbers left out, with their count.
    pub reasons: BTreeMap<String, usize>,
    /// Refusals although there was room.
    pub false_refusals: Vec<FalseRefusal>,
    /// Placements that were not what was asked for, or above a capacity.
    pub wrong: Vec<String>,
    /// The most that was taken at once, each amount by itself.
    pub peak: Amounts,
    /// Times of requests for destinations.
    pub asking: Latencies,
    /// Times of releases.
    pub releasing: Latencies,
    states: Vec<State>,
    /// Seconds in which events were played.
    pub seconds: f64,
}

/// Where a task is in its life.
#[derive(Clone, Debug)]
enum State {
    /// Not asked for yet, refused, or over.
    Out,
    /// Asked for, and not answered.
    Asking,
    /// On a node.
    Placed(Place),
}

impl Tally {
    /// Before the first event.
    pub fn new(books: Books, tasks: usize) -> Self {
        Self {
            books,
            placed: 0,
            refused: 0,
            released: 0,
            reasons: BTreeMap::new(),
            false_refusals: Vec::new(),
            wrong: Vec::new(),
            peak: Amounts::default(),
            asking: Latencies::default(),
            releasing: Latencies::default(),
            states: vec![State::Out; tasks],
            seconds: 0.0,
        }
    }

    fn state(&mut self, task: usize) -> Option<&mut State> {
        self.states.get_mut(task)
    }

    fn answered(&mut self, play: &Play<'_>, place: usize, task: &Task, answer: Answer) {
        let state = match answer {
            Answer::Placed(at) => {
                self.placed += 1;
                if let Err(error) = self.books.take(task, &at) {
                    self.wrong.push(error.to_string());
                }
                let (used, peak) = (self.books.used(), &mut self.peak);
                peak.cpu_milli = peak.cpu_milli.max(used.cpu_milli);
                peak.memory_mib = peak.memory_mib.max(used.memory_mib);
                peak.gpu_milli = peak.gpu_milli.max(used.gpu_milli);
                State::Placed(at)
            }
            Answer::Refused { reason, decision } => {
                self.refused += 1;
                let kind = kind_of(&reason, |word| play.cluster.part_named(word));
                *self.reasons.entry(kind).or_default() += 1;
                if play.verify
                    && let Some(node) = self.books.somewhere(task)
                {
                    self.false_refusals.push(FalseRefusal {
                        task: task.name.clone(),
                        node: node.name.clone(),
                        reason,
                        decision,
                    });
                }
                State::Out
            }
        };
        if let Some(slot) = self.state(place) {
            *slot = state;
        }
    }
}

/// What all reasons have in common that differ in names and numbers alone.
fn kind_of(reason: &str, part: impl Fn(&str) -> Option<Part>) -> String {
    let kinds = reason.split(' ').map(|word| match part(word) {
        Some(Part::Node(_)) => "<node>".to_owned(),
        Some(Part::Gpu(..)) => "<gpu>".to_owned(),
        None => without_number(word),
    });
    kinds.collect::<Vec<_>>().join(" ")
}

/// A word with N for its number, if it is one.
fn without_number(word: &str) -> String {
    let inner = word.trim_matches(|c: char| !c.is_ascii_digit());
    let is_number = !inner.is_empty()
        && inner.chars().all(|c| c.is_ascii_digit() || c == '.')
        && !word.contains(|c: char| c.is_alphabetic() || c == '_');
    if is_number { word.replacen(inner, "N", 1) } else { word.to_owned() }
}

/// The events in the making.
struct Stage {
    next: usize,
    tally: Tally,
    fault: Option<anyhow::Error>,
}

/// Plays events in their order. With more than one request at once an event
/// may be answered before an earlier one, but a task never ends before it has
/// begun.
///
/// # Errors
/// When the server does not answer as a server should.
pub fn play(play: &Play<'_>, events: &[Event], tally: Tally) -> anyhow::Result<Tally> {
    let began = Instant::now();
    let stage = Mutex::new(Stage { next: 0, tally, fault: None });
    let moved = Condvar::new();
    thread::scope(|scope| {
        for _ in 0..play.concurrency {
            scope.spawn(|| {
                while let Some(event) = next(&stage, &moved, events) {
                    pace(play, events, event, began);
                    let done = step(play, &stage, event);
                    let mut stage = lock(&stage);
                    if let Err(error) = done {
                        stage.fault.get_or_insert(error);
                    }
                    drop(stage);
                    moved.notify_all();
                    play.bar.inc(1);
                }
            });
        }
    });
    let Stage { mut tally, fault, .. } = stage.into_inner().unwrap_or_else(PoisonError::into_inner);
    tally.seconds += began.elapsed().as_secs_f64();
    fault.map_or(Ok(tally), Err)
}

/// What one thread has noted holds, whatever became of the thread.
fn lock(stage: &Mutex<Stage>) -> MutexGuard<'_, Stage> {
    stage.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the next event, once its task is known to have been answered; none
/// when all are taken or something broke.
fn next(stage: &Mutex<Stage>, moved: &Condvar, events: &[Event]) -> Option<Event> {
    let mut stage = lock(stage);
    loop {
        if stage.fault.is_some() {
            return None;
        }
        let event = *events.get(stage.next)?;
        let ends = event.what != What::Begins;
        match stage.tally.state(event.task) {
            Some(State::Asking) if ends => {
                stage = moved.wait(stage).unwrap_or_else(PoisonError::into_inner);
            }
            Some(state) => {
                if !ends {
                    *state = State::Asking;
                }
                stage.next += 1;
                return Some(event);
            }
            None => return None,
        }
    }
}

/// Waits for the moment of an event, if there is a pace.
fn pace(play: &Play<'_>, events: &[Event], event: Event, began: Instant) {
    let (Some(speed), Some(first)) = (play.speed, events.first()) else { return };
    let due = Duration::try_from_secs_f64((event.time - first.time) as f64 / speed);
    let due = due.unwrap_or(Duration::MAX);
    thread::sleep(due.saturating_sub(began.elapsed()));
}

fn step(play: &Play<'_>, stage: &Mutex<Stage>, event: Event) -> anyhow::Result<()> {
    let Some(task) = play.tasks.get(event.task) else { return Ok(()) };
    let consumer = consumer(event.task, task);
    if event.what == What::Begins {
        let request = request(consumer, task, play.models);
        let asked = Instant::now();
        let answer = ask(play.client, play.cluster, &request);
        let time = asked.elapsed();
        let answer = answer.map_err(|error| error.context(format!("task {}", task.name)))?;
        let mut stage = lock(stage);
        stage.tally.asking.note(time);
        stage.tally.answered(play, event.task, task, answer);
        return Ok(());
    }
    let mut guard = lock(stage);
    let Some(state) = guard.tally.state(event.task) else { return Ok(()) };
    let State::Placed(place) = std::mem::replace(state, State::Out) else { return Ok(()) };
    // Before the server is asked: what it places there meanwhile must not look
    // like too much.
    guard.tally.books.give_back(&place);
    drop(guard);
    let asked = Instant::now();
    release(play.client, consumer)?;
    let mut guard = lock(stage);
    guard.tally.releasing.note(asked.elapsed());
    guard.tally.released += 1;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_that_differ_in_names_and_numbers_are_one() {
        let part = |word: &str| match word {
            "node-3" => Some(Part::Node(3)),
            "node-3_gpu-0" => Some(Part::Gpu(3, 0)),
            _ => None,
        };
        assert_eq!(
            kind_of("12 GPU_2 (17.5): 1 of V100 at node-3_gpu-0 of node-3", part),
            "N GPU_2 (N): N of V100 at <gpu> of <node>"
        );
    }
}
