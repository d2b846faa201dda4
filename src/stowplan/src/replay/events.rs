//! What happens when: tasks that come and go, in strict order of time.

use super::openb::Task;

/// What happens to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// It ends, having begun at an earlier time: at each moment those go first.
    Ends,
    /// It is asked for.
    Begins,
    /// It ends in the second in which it began.
    EndsAtOnce,
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// Seconds of the recording.
    pub time: i64,
    /// What happens.
    pub what: What,
    /// To which task, by its place.
    pub task: usize,
}

/// All events of tasks that are in order of creation. A task that is recorded
/// to end before it begins ends as soon as it has begun.
pub fn events(tasks: &[Task]) -> Vec<Event> {
    let mut events = Vec::with_capacity(tasks.len() * 2);
    for (place, task) in tasks.iter().enumerate() {
        events.push(Event { time: task.created, what: What::Begins, task: place });
        if let Some(deleted) = task.deleted {
            let what = if deleted > task.created { What::Ends } else { What::EndsAtOnce };
            events.push(Event { time: deleted.max(task.created), what, task: place });
        }
    }
    events.sort_unstable();
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_one_moment_ends_come_before_beginnings() {
        let task = |created, deleted| Task {
            name: String::new(),
            cpu_milli: 0,
            memory_mib: 0,
            gpus: 0,
            gpu_milli: 0,
            models: Vec::new(),
            created,
            deleted,
        };
        let tasks = [task(0, Some(5)), task(5, None), task(5, Some(4))];
        let order: Vec<_> =
            events(&tasks).iter().map(|event| (event.time, event.what, event.task)).collect();
        assert_eq!(
            order,
            [
                (0, What::Begins, 0),
                (5, What::Ends, 0),
                (5, What::Begins, 1),
                (5, What::Begins, 2),
                (5, What::EndsAtOnce, 2),
            ]
        );
    }
}
