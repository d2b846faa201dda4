//! What jobs can spare: tasks above their minima, those of their roles and of
//! their sub-groups included.

use crate::session::{Census, GroupIx, JobIx, Session, TaskIx};
use foldhash::{HashMap, HashMapExt};

/// How many tasks jobs can still spare.
pub(super) struct Spare {
    jobs: HashMap<JobIx, Surplus>,
}

/// What one job can still spare. Numbers count down as tasks are taken.
struct Surplus {
    tasks: i64,
    /// By role; none where no minimum is looked at.
    roles: Vec<Option<i64>>,
    /// By sub-group: tasks above its minimum.
    groups: Vec<i64>,
    /// By policy: sub-groups that have their minimum, above the policy's.
    policies: Vec<i64>,
}

impl Spare {
    /// Nothing is taken yet.
    pub(super) fn new() -> Self {
        Self { jobs: HashMap::new() }
    }

    /// How far a job is above its minimum; below 0 when it has it not.
    pub(super) fn of_job(&mut self, session: &Session<'_>, job: JobIx) -> i64 {
        self.entry(session, job).tasks
    }

    fn entry(&mut self, session: &Session<'_>, job: JobIx) -> &mut Surplus {
        self.jobs.entry(job).or_insert_with(|| Surplus::of(session, job))
    }

    /// Takes a task if its job keeps all minima without it.
    pub(super) fn takes(&mut self, session: &Session<'_>, task: TaskIx) -> bool {
        let at = &session.state[task];
        let policy = session.state[at.job].group(at.group).and_then(|group| group.policy);
        self.entry(session, at.job).take(at.role, at.group, policy)
    }
}

impl Surplus {
    fn of(session: &Session<'_>, job: JobIx) -> Self {
        let at = &session.state[job];
        let surplus = |count: u32, min: u32| i64::from(count) - i64::from(min);
        let ready = |census: &Census| census.ready() + census.best_effort();
        let looks_at_roles = at.min_available >= at.role_minima();
        let roles = at.roles.iter().map(|role| {
            let min = role.min.filter(|_| looks_at_roles)?;
            Some(surplus(ready(&role.census), min))
        });
        let mut policies: Vec<i64> =
            at.policies.iter().map(|policy| -i64::from(policy.min_groups)).collect();
        for group in &at.groups {
            let complete = ready(&group.census) >= group.min;
            if let Some(policy) = group.policy.filter(|_| complete) {
                policies[policy] += 1;
            }
        }
        Self {
            tasks: surplus(at.census.ready(), at.min_available),
            roles: roles.collect(),
            groups: at.groups.iter().map(|it| surplus(ready(&it.census), it.min)).collect(),
            policies,
        }
    }

    fn take(&mut self, role: u32, group: GroupIx, policy: Option<usize>) -> bool {
        let role = self.roles.get_mut(role as usize).and_then(Option::as_mut);
        let group = self.groups.get_mut(group.index());
        // A sub-group that is at its minimum breaks: one less of its policy.
        let breaks = policy.filter(|_| group.as_ref().is_some_and(|left| **left == 0));
        let others = breaks.and_then(|policy| self.policies.get_mut(policy));
        let keeps = self.tasks > 0
            && role.as_ref().is_none_or(|left| **left > 0)
            && others.as_ref().is_none_or(|left| **left > 0);
        if keeps {
            self.tasks -= 1;
            for left in [role, group, others].into_iter().flatten() {
                *left -= 1;
            }
        }
        keeps
    }
}
