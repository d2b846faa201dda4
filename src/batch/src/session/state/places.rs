//! Where jobs and their sub-groups have their place.

use super::State;
use crate::session::census::Status;
use crate::session::objects::{DomainIx, GroupIx, JobIx, TaskIx};
use stowplan_engine::HostIx;

impl State {
    /// Sums up what domains have, and works out what jobs are bound to: what
    /// their topology allows, and where they have their place. It is done when a
    /// session is opened.
    pub fn locate_all(&mut self) {
        self.domains.measure(&self.world);
        for job in 0..self.jobs.len() {
            self.locate(JobIx(job as u32));
        }
    }

    /// The same for one job.
    pub(in crate::session) fn locate(&mut self, job: JobIx) {
        if !self.jobs[job.index()].is_grouped() {
            return;
        }
        self.jobs[job.index()].bound(&self.domains);
        for group in self[job].group_numbers() {
            let own = self.spread_of(job, group);
            let at = &mut self.jobs[job.index()].groups[group.index()];
            at.near = None;
            at.placed = own.filter(|_| at.limit.is_some());
        }
        // The job's own topology binds tasks of all sub-groups.
        let placed = self.spread(job);
        self.jobs[job.index()].placed = placed;
    }

    /// The narrowest domain that holds all tasks of a sub-group that have a
    /// place or were promised one.
    #[must_use]
    pub fn spread_of(&self, job: JobIx, group: GroupIx) -> Option<DomainIx> {
        let own = self[job].tasks.iter().filter(|task| self[**task].group == group);
        self.domains.of_hosts(own.filter_map(|task| self.place_of(*task)))
    }

    /// The narrowest domain that holds all tasks of a job that have a place or
    /// were promised one.
    #[must_use]
    pub fn spread(&self, job: JobIx) -> Option<DomainIx> {
        self.domains.of_hosts(self[job].tasks.iter().filter_map(|task| self.place_of(*task)))
    }

    /// A sub-group is about to be placed: tasks look for each other from where
    /// it is.
    pub fn start_near(&mut self, job: JobIx, group: GroupIx) {
        if let Some(at) = self.jobs[job.index()].groups.get_mut(group.index()) {
            at.near = at.placed;
        }
    }

    /// It has been placed.
    pub fn end_near(&mut self, job: JobIx, group: GroupIx) {
        if let Some(at) = self.jobs[job.index()].groups.get_mut(group.index()) {
            at.near = None;
        }
    }

    /// Where the sub-groups of a job have their place.
    #[must_use]
    pub fn placed_groups(&self, job: JobIx) -> Vec<Option<DomainIx>> {
        self[job].groups.iter().map(|group| group.placed).collect()
    }

    /// Puts sub-groups back where they had their place.
    pub fn restore_groups(&mut self, job: JobIx, places: &[Option<DomainIx>]) {
        for (group, placed) in self.jobs[job.index()].groups.iter_mut().zip(places) {
            group.placed = *placed;
        }
    }

    /// A sub-group has tasks in a domain, too: where it has its place then.
    pub fn extend_group(&mut self, job: JobIx, group: GroupIx, domain: DomainIx) -> DomainIx {
        let Some(at) = self.jobs[job.index()].groups.get_mut(group.index()) else { return domain };
        let placed = self.domains.joined(at.placed, domain);
        at.placed = Some(placed);
        placed
    }

    /// A job and its sub-groups have got their places.
    pub fn settle_in(&mut self, job: JobIx, domain: DomainIx, groups: &[(GroupIx, DomainIx)]) {
        for (group, domain) in groups {
            self.extend_group(job, *group, *domain);
        }
        let placed = self.domains.joined(self[job].placed, domain);
        self.jobs[job.index()].placed = Some(placed);
    }

    /// While a sub-group is being placed, a task of it has got a host.
    pub fn draw_near(&mut self, job: JobIx, group: GroupIx, host: HostIx) {
        let narrowest = self.domains.narrowest(host);
        if let Some(at) = self.jobs[job.index()].groups.get_mut(group.index()) {
            at.near = Some(self.domains.joined(at.near, narrowest));
        }
    }

    fn place_of(&self, task: TaskIx) -> Option<HostIx> {
        let at = &self[task];
        let stays = at.status.is_allocated() || at.status == Status::Pipelined;
        at.host.filter(|_| stays)
    }

    /// How many tasks of a sub-group are on hosts of a domain.
    #[must_use]
    pub fn members_in(&self, job: JobIx, group: GroupIx, domain: DomainIx) -> usize {
        let own = self[job].tasks.iter().filter(|task| self[**task].group == group);
        let inside = |host: HostIx| self.domains.contains(domain, host);
        own.filter(|task| self[**task].host.is_some_and(inside)).count()
    }
}
