//! The durable states of jobs and tasks, and the rules between them.

use serde::{Deserialize, Serialize};

macro_rules! words {
    (
        $(#[doc = $about:literal])+
        $name:ident { $( $(#[doc = $help:literal])+ $variant:ident, )+ }
    ) => {
        $(#[doc = $about])+
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
            utoipa::ToSchema,
        )]
        pub enum $name {
            $( $(#[doc = $help])+ $variant, )+
        }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The word that the ledger and the API have for it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => stringify!($variant),)+ }
            }

            /// The one of that word.
            #[must_use]
            pub fn named(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.as_str() == word)
            }
        }
    };
}

words! {
    /// The phase of a job.
    JobPhase {
        /// Not admitted yet.
        Pending,
        /// Admitted; waits for room.
        Inqueue,
        /// At least its minimum has a place.
        Running,
        /// All that had a place has ended, the minimum included.
        Completed,
        /// Some tasks run, but fewer than the minimum, and there is no room
        /// for more.
        Unknown,
        /// Too many tasks have failed for the minimum to be reached.
        Failed,
        /// Cancelled by its owner.
        Cancelled,
        /// Held back by its owner: it waits, and none of it is placed.
        Suspended,
    }
}

impl JobPhase {
    /// Whether the job has ended: it leaves the session.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// Whether a session has to do with the job.
    #[must_use]
    pub const fn is_scheduled(self) -> bool {
        !self.is_final() && !matches!(self, Self::Suspended)
    }

    /// The phases of jobs that have not ended.
    pub const OPEN: [Self; 5] =
        [Self::Pending, Self::Inqueue, Self::Running, Self::Unknown, Self::Suspended];
}

words! {
    /// The state of a task, as the ledger keeps it.
    TaskState {
        /// Waits for a host.
        Pending,
        /// Has a host and holds its room there; has not been reported yet.
        Bound,
        /// Reported as running.
        Running,
        /// Must go: holds its room until its executor has released it.
        Releasing,
        /// Ended well.
        Succeeded,
        /// Ended badly.
        Failed,
        /// Nobody knows: its host is lost.
        Unknown,
        /// Will not run (again).
        Cancelled,
    }
}

impl TaskState {
    /// Whether it has ended.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }

    /// Whether it holds room on a host.
    #[must_use]
    pub const fn holds(self) -> bool {
        matches!(self, Self::Bound | Self::Running | Self::Releasing | Self::Unknown)
    }
}

/// How many tasks of a job (or of a role) are in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([u32; TaskState::ALL.len()]);

impl Counts {
    /// Counts states.
    #[must_use]
    pub fn of(states: impl IntoIterator<Item = TaskState>) -> Self {
        let mut counts = Self::default();
        for state in states {
            counts.0[state as usize] += 1;
        }
        counts
    }

    /// How many are in a state.
    #[must_use]
    pub const fn get(&self, state: TaskState) -> u32 {
        self.0[state as usize]
    }

    /// How many are in any of these states.
    #[must_use]
    pub fn sum(&self, states: &[TaskState]) -> u32 {
        states.iter().map(|state| self.get(*state)).sum()
    }

    /// How many there are.
    #[must_use]
    pub fn all(&self) -> u32 {
        self.0.iter().sum()
    }

    /// Tasks that have a place or had one and ended well: what counts towards
    /// a gang's minimum.
    #[must_use]
    pub fn ready(&self) -> u32 {
        self.sum(&[TaskState::Bound, TaskState::Running, TaskState::Succeeded])
    }
}

/// The phase that a job is in, by the states of its tasks (peer's rule at the
/// close of a cycle, and our `Failed`, rule 19: a job that can no longer reach
/// its minimum fails).
#[must_use]
pub fn phase_of(phase: JobPhase, counts: &Counts, min_available: u32, starved: bool) -> JobPhase {
    use TaskState::{Bound, Failed, Pending, Releasing, Running, Succeeded};
    if phase.is_final() {
        return phase;
    }
    let scheduled = counts.sum(&[Bound, Running, Failed, Succeeded, Releasing, TaskState::Unknown]);
    let ended = counts.sum(&[Failed, Succeeded]);
    if cannot_reach(counts, min_available) {
        JobPhase::Failed
    } else if phase == JobPhase::Suspended && ended < counts.all() {
        JobPhase::Suspended
    } else if counts.get(Running) > 0 && starved {
        JobPhase::Unknown
    } else if scheduled >= min_available && ended == scheduled && counts.get(Pending) == 0 {
        JobPhase::Completed
    } else if scheduled >= min_available && scheduled > 0 {
        JobPhase::Running
    } else if phase == JobPhase::Inqueue {
        JobPhase::Inqueue
    } else {
        JobPhase::Pending
    }
}

/// Whether so many tasks have failed that the minimum is out of reach.
#[must_use]
pub fn cannot_reach(counts: &Counts, min_available: u32) -> bool {
    let lost = counts.sum(&[TaskState::Failed, TaskState::Cancelled]);
    counts.get(TaskState::Failed) > 0 && counts.all() - lost < min_available
}

#[cfg(test)]
mod tests {
    use super::*;
    use TaskState::{Bound, Failed, Pending, Releasing, Running, Succeeded};

    fn phase(states: &[TaskState], min: u32) -> JobPhase {
        phase_of(JobPhase::Inqueue, &Counts::of(states.iter().copied()), min, false)
    }

    #[test]
    fn phases_follow_the_tasks() {
        for (states, min, expected) in [
            (&[Pending, Pending][..], 2, JobPhase::Inqueue),
            (&[Bound, Pending], 2, JobPhase::Inqueue),
            (&[Bound, Running], 2, JobPhase::Running),
            (&[Bound, Pending], 1, JobPhase::Running),
            (&[Succeeded, Succeeded], 2, JobPhase::Completed),
            (&[Succeeded, Running], 2, JobPhase::Running),
            (&[Succeeded, Failed], 1, JobPhase::Completed),
            (&[Succeeded, Failed], 2, JobPhase::Failed),
            (&[Succeeded, Pending], 1, JobPhase::Running),
            (&[Releasing, Running], 2, JobPhase::Running),
        ] {
            assert_eq!(phase(states, min), expected, "{states:?} of {min}");
        }
    }

    #[test]
    fn a_starved_job_that_runs_is_unknown() {
        let counts = Counts::of([Running, Pending]);
        assert_eq!(phase_of(JobPhase::Running, &counts, 2, true), JobPhase::Unknown);
        assert_eq!(phase_of(JobPhase::Cancelled, &counts, 2, true), JobPhase::Cancelled);
    }

    #[test]
    fn words_are_read_back() {
        for state in TaskState::ALL {
            assert_eq!(TaskState::named(state.as_str()), Some(*state));
        }
        assert_eq!(JobPhase::named("pending"), None);
    }
}
