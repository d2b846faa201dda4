//! How votes are combined over tiers.

use super::objects::{GroupIx, JobIx, TaskIx};
use super::plugin::{Plugin, Vote};
use super::point::Point;
use super::state::{Diary, State};
use super::tiers::{Seat, Tiers};
use std::collections::BTreeSet;
use stowplan_model::Micros;

/// An answer of a plugin that names victims; none: no opinion.
pub type Ballot<T> = Option<Vec<T>>;

/// Votes of one tier after the other: a rejection ends with no, a tier that
/// permits without one with yes; if all abstain, yes.
fn decide<T>(tiers: &[Vec<T>], vote: impl Fn(&T) -> Vote) -> bool {
    for tier in tiers {
        let mut permitted = false;
        for voter in tier {
            match vote(voter) {
                Vote::Reject => return false,
                Vote::Abstain => {}
                Vote::Permit => permitted = true,
            }
        }
        if permitted {
            return true;
        }
    }
    true
}

/// What happens when the voters of a tier cannot agree on anybody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Disagreement {
    /// Nobody may leave, as far as this tier has to do with it.
    #[default]
    Nobody,
    /// The next voter of the tier starts afresh with its own answer, so that it
    /// undoes what those before it protect: the peer's way, on which recorded
    /// cases hang.
    Afresh,
}

/// Victims that all voters of a tier agree on, in the order of its first
/// answer. A tier in which nobody may leave, or nobody has an opinion, leaves
/// the question to the next one.
pub fn elect<'t, T: PartialEq + Copy, V: 't>(
    tiers: impl IntoIterator<Item = &'t mut Vec<V>>,
    disagreement: Disagreement,
    mut ballot: impl FnMut(&mut V) -> Ballot<T>,
) -> Vec<T> {
    for tier in tiers {
        let mut agreed: Option<Vec<T>> = None;
        for named in tier.iter_mut().filter_map(&mut ballot) {
            let nobody = named.is_empty();
            match &mut agreed {
                None => agreed = Some(named),
                Some(agreed) => agreed.retain(|victim| named.contains(victim)),
            }
            if nobody {
                break;
            }
            if disagreement == Disagreement::Afresh {
                agreed = agreed.filter(|agreed| !agreed.is_empty());
            }
        }
        if let Some(agreed) = agreed.filter(|agreed| !agreed.is_empty()) {
            return agreed;
        }
    }
    Vec::new()
}

/// Which of the two votes on victims is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eviction {
    /// Within a queue.
    Preempt,
    /// Across queues.
    Reclaim,
}

impl Tiers {
    /// Whether a job has its minimum once others have left.
    #[must_use]
    pub fn job_pipelined(&self, state: &State, job: JobIx) -> bool {
        self.vote(Point::JobPipelined, |plugin| plugin.job_pipelined(state, job))
    }

    /// Whether a sub-group has its minimum once others have left. Without
    /// policies it is the job.
    #[must_use]
    pub fn group_pipelined(&self, state: &State, job: JobIx, group: GroupIx) -> bool {
        if state[job].policies.is_empty() {
            return self.job_pipelined(state, job);
        }
        self.vote(Point::GroupPipelined, |plugin| plugin.group_pipelined(state, job, group))
    }

    /// Whether a job may be admitted.
    #[must_use]
    pub fn job_enqueueable(&self, state: &State, job: JobIx) -> bool {
        self.vote(Point::JobEnqueued, |plugin| plugin.job_enqueueable(state, job))
    }

    /// The plugins that reject a job that is to be admitted, each with its
    /// reason where it tells one.
    pub fn rejecting<'a>(
        &'a self,
        state: &'a State,
        job: JobIx,
    ) -> impl Iterator<Item = (&'static str, Option<String>)> + 'a {
        let asked = self.at(Point::JobEnqueued);
        let rejects =
            asked.filter(move |plugin| plugin.job_enqueueable(state, job) == Vote::Reject);
        rejects.map(move |plugin| (plugin.name(), plugin.enqueue_objection(state, job)))
    }

    fn vote(&self, point: Point, vote: impl Fn(&dyn Plugin) -> Vote) -> bool {
        decide(&self.seats, |seat: &Seat| {
            if seat.is_on(point) { vote(seat.plugin.as_ref()) } else { Vote::Abstain }
        })
    }

    /// Which of these tasks may leave for another, in the order given.
    #[must_use]
    pub fn victims(
        &mut self,
        state: &State,
        eviction: Eviction,
        preemptor: TaskIx,
        candidates: &[TaskIx],
    ) -> Vec<TaskIx> {
        elect(&mut self.seats, self.disagreement, |seat| match eviction {
            Eviction::Preempt if seat.is_on(Point::Preemptable) => {
                seat.plugin.preemptable(state, preemptor, candidates)
            }
            Eviction::Reclaim if seat.is_on(Point::Reclaimable) => {
                seat.plugin.reclaimable(state, preemptor, candidates)
            }
            Eviction::Preempt | Eviction::Reclaim => None,
        })
    }

    /// The plugins that are to be asked now which tasks should leave their
    /// hosts: not those that were asked less than their period ago.
    #[must_use]
    pub fn shufflers(&self, now: Micros, diary: &Diary) -> Vec<&'static str> {
        let is_due = |plugin: &&dyn Plugin| {
            let last = diary.get(plugin.name());
            let is_over = |period| last.is_none_or(|last| now.since(*last) >= period);
            plugin.victim_period().is_some_and(is_over)
        };
        self.at(Point::VictimTasks).filter(is_due).map(Plugin::name).collect()
    }

    /// Which of the running tasks should leave their hosts: all that any plugin
    /// of the first tier with an answer names, as far as no plugin keeps them.
    /// `ask` are the plugins that may be asked; with the tasks, those that were.
    #[must_use]
    pub fn victim_tasks(
        &mut self,
        state: &State,
        ask: &[&str],
        running: &[TaskIx],
    ) -> (Vec<TaskIx>, Vec<&'static str>) {
        let mut victims: Vec<TaskIx> = Vec::new();
        let mut asked = Vec::new();
        let mut named = BTreeSet::new();
        for tier in &mut self.seats {
            let seats = tier
                .iter_mut()
                .filter(|seat| seat.is_on(Point::VictimTasks) && ask.contains(&seat.plugin.name()));
            for seat in seats {
                asked.push(seat.plugin.name());
                let more = seat.plugin.victim_tasks(state, running);
                victims.extend(more.into_iter().filter(|task| named.insert(*task)));
            }
            if !victims.is_empty() {
                break;
            }
        }
        let keepers = self.seats.iter_mut().flatten();
        let keepers = keepers.filter(|seat| seat.is_on(Point::VictimTasks));
        let victims = keepers.fold(victims, |left, seat| seat.plugin.lets_go(state, left));
        (victims, asked)
    }

    /// Which of these tasks may leave for a job as a whole, in the order given.
    #[must_use]
    pub fn evictable(
        &mut self,
        state: &State,
        eviction: Eviction,
        preemptor: JobIx,
        candidates: &[TaskIx],
    ) -> Vec<TaskIx> {
        elect(&mut self.seats, self.disagreement, |seat| {
            let asked = seat.is_on(Point::Evictable);
            let plugin = asked.then_some(&mut seat.plugin)?;
            plugin.evictable(state, eviction, preemptor, candidates)
        })
    }

    /// Whether gangs are evicted as wholes (rule 15b).
    #[must_use]
    pub fn takes_whole_gangs(&self, eviction: Eviction) -> bool {
        let point = match eviction {
            Eviction::Preempt => Point::Preemptable,
            Eviction::Reclaim => Point::Reclaimable,
        };
        self.at(point).any(Plugin::takes_whole_gangs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elected(tiers: Vec<Vec<Ballot<char>>>) -> String {
        elected_by(Disagreement::Nobody, tiers)
    }

    fn elected_by(disagreement: Disagreement, mut tiers: Vec<Vec<Ballot<char>>>) -> String {
        elect(&mut tiers, disagreement, |ballot| ballot.clone()).into_iter().collect()
    }

    fn named(victims: &str) -> Ballot<char> {
        Some(victims.chars().collect())
    }

    #[test]
    fn the_first_tier_with_an_opinion_decides() {
        assert_eq!(elected(vec![vec![named("ab"), named("bc")]]), "b");
        assert_eq!(elected(vec![vec![None, named("a")]]), "a");
        assert_eq!(elected(vec![vec![None], vec![named("ba"), None]]), "ba");
        assert_eq!(elected(vec![vec![]]), "");
    }

    #[test]
    fn no_victim_is_an_answer_within_a_tier() {
        assert_eq!(elected(vec![vec![named(""), named("a")]]), "");
        assert_eq!(elected(vec![vec![named("")], vec![named("a")]]), "a");
        let torn = vec![vec![named("a"), named("b"), named("ab")], vec![named("c")]];
        assert_eq!(elected(torn.clone()), "c");
        assert_eq!(elected_by(Disagreement::Afresh, torn), "ab");
        let refused = vec![vec![named("a"), named(""), named("ab")]];
        assert_eq!(elected_by(Disagreement::Afresh, refused), "");
    }

    #[test]
    fn votes() {
        use Vote::{Abstain, Permit, Reject};
        for (tiers, outcome) in [
            (vec![vec![Permit, Abstain], vec![Reject]], true),
            (vec![vec![Permit, Reject]], false),
            (vec![vec![Abstain], vec![Reject]], false),
            (vec![vec![Abstain], vec![]], true),
        ] {
            assert_eq!(decide(&tiers, |vote| *vote), outcome, "{tiers:?}");
        }
    }
}
