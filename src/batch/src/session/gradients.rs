//! The domains that jobs and their sub-groups may go to.

use super::Session;
use super::domains::{Asked, Purpose};
use super::objects::{DomainIx, GroupIx, JobIx, TaskIx};
use super::subgroup::{Tier, Topology};
use crate::amounts::Amounts;

impl Session<'_> {
    /// Domains for a job as a whole: one list per tier. A job without a
    /// topology has the top alone.
    #[must_use]
    pub fn domains_for_job(&self, job: JobIx, purpose: Purpose) -> Vec<Vec<DomainIx>> {
        let (at, domains) = (&self.state[job], &self.state.domains);
        let Some(limit) = at.limit(domains) else { return vec![vec![domains.top()]] };
        let asked = Asked { limit, placed: at.placed, need: at.min_resources.as_ref() };
        self.cut(domains.gradients(domains.top(), asked, purpose), purpose)
    }

    /// Domains for a sub-group within one of its job: one list per tier.
    #[must_use]
    pub fn domains_for_group(
        &self,
        job: JobIx,
        group: GroupIx,
        within: DomainIx,
        purpose: Purpose,
    ) -> Vec<Vec<DomainIx>> {
        let Some(at) = self.state[job].group(group) else { return Vec::new() };
        let Some(limit) = at.limit else { return vec![vec![within]] };
        let need = self.pending_of(job, group);
        let asked = Asked { limit, placed: at.placed, need: Some(&need) };
        self.cut(self.state.domains.gradients(within, asked, purpose), purpose)
    }

    /// Where a single task may go, the best first: as far from those of its job
    /// and sub-group that have a place as their topologies allow; where none has
    /// and not all hosts will do, to one of the domains that do. None when those
    /// that are there are too far from each other as it is.
    #[must_use]
    pub fn domains_for_task(&self, task: TaskIx) -> Vec<DomainIx> {
        let (state, domains) = (&self.state, &self.state.domains);
        let (job, group) = (state[task].job, state[task].group);
        if !state[job].has_topology() {
            return vec![domains.top()];
        }
        let own = state[job].group(group).and_then(|group| group.limit);
        let bounds =
            [(state[job].limit(domains), state.spread(job)), (own, state.spread_of(job, group))];
        // What is around the sub-group is inside what is around the job, or the
        // other way round.
        let mut narrowest = domains.top();
        for (limit, placed) in bounds {
            if let (Some(limit), Some(placed)) = (limit, placed) {
                let Some(widest) = domains.widest(placed, limit) else { return Vec::new() };
                narrowest = narrowest.min(widest);
            }
        }
        let [of_job, of_group] = bounds;
        let too_wide = |at: DomainIx, (limit, placed): (Option<i64>, Option<DomainIx>)| {
            placed.is_none() && limit.is_some_and(|limit| domains.get(at).tier > limit)
        };
        let mut open = vec![narrowest];
        if too_wide(narrowest, of_job) {
            open = self.domains_for_job(job, Purpose::Allocate).concat();
        }
        let inside = |at| match too_wide(at, of_group) {
            true => self.domains_for_group(job, group, at, Purpose::Allocate).concat(),
            false => vec![at],
        };
        open.into_iter().flat_map(inside).collect()
    }

    /// What all tasks of a sub-group that wait ask for.
    fn pending_of(&self, job: JobIx, group: GroupIx) -> Amounts {
        use super::census::Status::Pending;
        let mut sum = Amounts::new();
        for &task in &self.state[job].tasks {
            if self.state[task].group == group && self.state[task].status == Pending {
                sum.add(&self.state.shape_of(task).request);
            }
        }
        sum
    }

    /// Notes that a job found no place in these domains, for its condition.
    pub fn note_domains(&mut self, job: JobIx, lists: &[Vec<DomainIx>]) {
        let domains = &self.state.domains;
        let at = &self.state[job];
        let Some(limit) = at.limit(domains) else { return };
        let unknown = match &at.topology {
            Some(Topology::Hard(Tier::Name(name))) if limit == i64::MIN => {
                Some(format!("no topology domain has a tier {name:?}"))
            }
            _ => None,
        };
        let within = |domain: &super::Domain| domain.tier <= limit;
        let all = domains.iter().filter(|(_, domain)| within(domain)).count();
        let tried: usize = lists.iter().map(Vec::len).sum();
        let at = self.state.job_mut(job);
        if at.held_back.is_none() {
            at.held_back = Some(unknown.unwrap_or_else(|| {
                format!(
                    "none of the {all} domains up to its highest tier can hold it: {tried} have \
                     enough in sum, but not on single hosts"
                )
            }));
        }
    }

    /// For evictions wide domains come first, as a place is found there most
    /// easily, and not more are looked at than plugins say.
    fn cut(&self, mut lists: Vec<Vec<DomainIx>>, purpose: Purpose) -> Vec<Vec<DomainIx>> {
        if purpose == Purpose::Allocate {
            return lists;
        }
        lists.reverse();
        let mut left = self.tiers.most_domains().unwrap_or(usize::MAX);
        for list in &mut lists {
            // Of a list that is too long its end is kept, as the peer does.
            list.drain(..list.len().saturating_sub(left));
            left -= list.len();
        }
        lists.retain(|list| !list.is_empty());
        lists
    }
}
