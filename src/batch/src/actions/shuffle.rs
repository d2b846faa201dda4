//! `shuffle`: takes running tasks off their hosts, whoever comes after them.

use super::Action;
use crate::session::{Session, Statement, Status, TaskIx};

/// Evicts the tasks that plugins name, each for itself. They wait for another
/// host then, as if they had just come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shuffle;

impl Action for Shuffle {
    fn name(&self) -> &'static str {
        "shuffle"
    }

    fn run(&self, session: &mut Session<'_>) {
        let due = session.tiers.shufflers(session.state.now, &session.state.diary);
        if due.is_empty() {
            return;
        }
        let state = &session.state;
        let tasks = state.jobs().flat_map(|job| state[job].tasks.iter().copied());
        let running: Vec<TaskIx> =
            tasks.filter(|task| state[*task].status == Status::Running).collect();
        let (victims, asked) = session.tiers.victim_tasks(&session.state, &due, &running);
        for plugin in asked {
            session.state.diary.insert(plugin, session.state.now);
        }
        for task in victims {
            let mut statement = Statement::new(session.state[task].job);
            session.evict(&mut statement, task);
            session.commit(statement);
        }
        session.settle(true);
    }
}
