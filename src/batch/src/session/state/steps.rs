//! Steps: what changes a state, each with its undoing.

use super::{State, enter};
use crate::session::census::Status;
use crate::session::objects::TaskIx;
use crate::world::News;
use stowplan_engine::{HostIx, HostView};

impl State {
    /// Gives a task room on a host; whether there was enough.
    pub fn place(&mut self, task: TaskIx, host: HostIx) -> bool {
        let shape = &self.shapes[self.tasks[task.index()].shape.index()];
        let Some(picks) = self.world.take(host, shape.ask()) else { return false };
        self.tasks[task.index()].picks = picks;
        self.placed.insert(task);
        self.come(task, host);
        self.set_status(task, Status::Allocated);
        true
    }

    /// Promises a task room on a host that others are leaving.
    pub fn promise(&mut self, task: TaskIx, host: HostIx) {
        let shape = self.tasks[task.index()].shape;
        let picks = self.world.promise(host, self.shapes[shape.index()].ask());
        self.tasks[task.index()].picks = picks;
        self.come(task, host);
        self.set_status(task, Status::Pipelined);
    }

    /// Takes room or promise of this session back: the task is pending again.
    pub fn unplace(&mut self, task: TaskIx) {
        let at = &self.tasks[task.index()];
        let (shape, status) = (at.shape, at.status);
        let picks = std::mem::take(&mut self.tasks[task.index()].picks);
        if let Some(host) = self.leave(task) {
            let request = &self.shapes[shape.index()].request;
            if status == Status::Pipelined {
                self.world.withdraw(host, request, &picks);
            } else {
                self.world.give_back(host, request, &picks);
            }
        }
        self.placed.remove(&task);
        self.set_status(task, Status::Pending);
    }

    /// Takes a task's room away from it: it is on its way out.
    pub fn evict(&mut self, task: TaskIx) {
        self.take_away(task, 1);
        self.evicted.insert(task);
        self.set_status(task, Status::Releasing);
    }

    /// Lets a task keep its room after all, in the state that it had.
    pub fn keep_on(&mut self, task: TaskIx, status: Status) {
        self.take_away(task, -1);
        self.evicted.remove(&task);
        self.set_status(task, status);
    }

    fn take_away(&mut self, task: TaskIx, sign: i64) {
        let at = &self.tasks[task.index()];
        let Some(host) = at.host else { return };
        self.world.evict(host, &self.shapes[at.shape.index()].request, &at.picks, sign);
        self.world.pad(host, &self.paddings[at.shape.index()], -sign);
    }

    fn come(&mut self, task: TaskIx, host: HostIx) {
        let at = &mut self.tasks[task.index()];
        at.host = Some(host);
        self.world.pad(host, &self.paddings[at.shape.index()], 1);
        self.residents[host.index()].push(task);
    }

    fn leave(&mut self, task: TaskIx) -> Option<HostIx> {
        let at = &mut self.tasks[task.index()];
        let host = at.host.take()?;
        self.world.pad(host, &self.paddings[at.shape.index()], -1);
        let residents = &mut self.residents[host.index()];
        if let Some(place) = residents.iter().rposition(|other| *other == task) {
            residents.swap_remove(place);
        }
        Some(host)
    }

    /// Moves a task to another state, with all that is counted by state.
    pub fn set_status(&mut self, task: TaskIx, status: Status) {
        let at = &mut self.tasks[task.index()];
        let shape = &self.shapes[at.shape.index()];
        let job = &mut self.jobs[at.job.index()];
        enter(job, at, shape, -1);
        at.status = status;
        enter(job, at, shape, 1);
    }

    /// Reads hosts anew, and holds again what tasks of this session took there
    /// that the news do not count yet.
    pub fn refresh(&mut self, hosts: &[HostIx], news: &dyn News) {
        for host in hosts {
            let uuid = self.world.facts(*host).uuid;
            let fresh = news.host(uuid, self.world.dims()).unwrap_or_default();
            self.world.load(*host, fresh);
            for task in &self.placed {
                let task = &self.tasks[task.index()];
                if task.host == Some(*host) && !news.counts(task.uuid) {
                    let request = &self.shapes[task.shape.index()].request;
                    self.world.hold_again(*host, request, &task.picks);
                }
            }
        }
    }
}
