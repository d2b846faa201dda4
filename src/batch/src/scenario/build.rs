//! The state of a session, made of a scenario's cluster.

use super::BatchFailure;
use super::amounts::{AmountsInput, dims};
use super::cluster::{Cluster, JobInput, NodeInput, QueueInput, ShardMode, TotalInput, hint};
use super::hosts::{has_devices, world};
use super::task::TaskInput;
use crate::amounts::{Amounts, DimIx, Dims};
use crate::life::JobPhase;
use crate::session::{
    Budget, Census, Domains, GroupIx, Job, JobIx, Queue, QueueIx, Quota, Role, Shape, Shard, State,
    Task, host_notes, task_number,
};
use crate::world::{Picks, TraitRules};
use std::collections::BTreeMap;
use std::sync::Arc;
use stowplan_config::Settings;
use stowplan_engine::{Hint, HostIx, HostSet};
use stowplan_model::{Micros, Uuid};

/// A time at which nothing that waits has waited long enough.
const NO_TIME: Micros = Micros(i64::MIN / 4);
/// Priority classes whose tasks are never evicted, and the namespace.
const PROTECTED: [&str; 3] = ["system-cluster-critical", "system-node-critical", "kube-system"];

/// The state of a session for a cluster.
pub(super) fn state(cluster: &Cluster, settings: &Settings) -> Result<State, BatchFailure> {
    let mut settings = settings.clone();
    if let Some(map) = &cluster.resource_map {
        settings.set_json("batch.resource_map", map)?;
    }
    let dims = Arc::new(dims(&settings, cluster.resource_map.as_ref(), all_amounts(cluster))?);
    let now = cluster.now.map_or(NO_TIME, seconds);
    let labels_matter = all_tasks(cluster).any(TaskInput::looks_at_tasks);
    let state = State::new(world(cluster, &dims, now)?, now);
    let queues_differ = cluster.queues.iter().any(QueueInput::keeps_to_groups);
    let mut nodes: Vec<&NodeInput> = cluster.nodes.iter().collect();
    nodes.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    let held = Amounts::new();
    let mut builder = Builder { state, dims, cluster, nodes, held, labels_matter, queues_differ };
    builder.shard();
    builder.quotas()?;
    builder.domains();
    for queue in &cluster.queues {
        builder.queue(queue)?;
    }
    for job in &cluster.jobs {
        builder.job(job)?;
    }
    builder.strays()?;
    if cluster.total == Some(TotalInput::Available) {
        let others = builder.state.world.total_used().exceeded(&builder.held);
        builder.state.set_foreign(others);
    }
    Ok(builder.state)
}

fn all_tasks(cluster: &Cluster) -> impl Iterator<Item = &TaskInput> {
    cluster.jobs.iter().flat_map(|job| &job.tasks).chain(&cluster.tasks_without_job)
}

fn all_amounts(cluster: &Cluster) -> impl Iterator<Item = &AmountsInput> {
    let queues = cluster.queues.iter();
    let nodes = cluster.nodes.iter().flat_map(|node| [&node.allocatable, &node.used]);
    let quotas = cluster.resource_quotas.iter().flat_map(|quota| [&quota.hard, &quota.used]);
    nodes
        .chain(quotas)
        .chain(cluster.queues.iter().flat_map(|queue| queue.node_group_limits.values()))
        .chain(queues.flat_map(|q| [&q.capability, &q.deserved, &q.guarantee.resource]))
        .chain(cluster.jobs.iter().filter_map(|job| job.min_resources.as_ref()))
        .chain(all_tasks(cluster).map(|task| &task.requests))
}

fn seconds(seconds: f64) -> Micros {
    Micros((seconds * 1e6).round() as i64)
}

/// An id that follows from a name.
pub(super) fn uuid(kind: &str, name: &str) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{kind}:{name}").as_bytes())
}

struct Builder<'a> {
    state: State,
    dims: Arc<Dims>,
    cluster: &'a Cluster,
    /// Its nodes by name, as they are numbered.
    nodes: Vec<&'a NodeInput>,
    /// What tasks hold on them.
    held: Amounts,
    /// Whether any task looks at the labels of others.
    labels_matter: bool,
    /// Whether queues differ in the hosts that they may use.
    queues_differ: bool,
}

impl Builder<'_> {
    fn shard(&mut self) {
        let Some(shard) = &self.cluster.shard else { return };
        let mut hosts = HostSet::with_room(self.cluster.nodes.len());
        let known = shard.nodes.iter().filter_map(|name| self.host(name));
        known.collect::<Vec<_>>().into_iter().for_each(|host| hosts.insert(host));
        self.state.shard = Some(Shard { hosts, hard: shard.mode == ShardMode::Hard });
    }

    fn domains(&mut self) {
        let inputs = &self.cluster.hyper_nodes;
        let inputs = inputs.iter().map(|input| input.domain(|name| self.host(name)));
        self.state.domains = Domains::new(&self.state.world, inputs.collect());
    }

    fn host(&self, name: &str) -> Option<HostIx> {
        let place = self.nodes.binary_search_by(|node| node.name.as_str().cmp(name));
        place.ok().map(|place| HostIx(place as u32))
    }

    /// Amounts of something, which is named where they cannot be.
    fn amounts(&self, of: &str, input: &AmountsInput) -> Result<Amounts, BatchFailure> {
        input.charged(&self.dims).map_err(|fault| BatchFailure::Input(format!("{of}: {fault}")))
    }

    fn quotas(&mut self) -> Result<(), BatchFailure> {
        for input in &self.cluster.resource_quotas {
            let of = |field: &str| format!("quota of namespace {:?}, {field}", input.namespace);
            let used = self.amounts(&of("used"), &input.used)?;
            self.state.quotas.push(Quota {
                project: input.namespace.clone(),
                hard: self.limits(&of("hard"), &input.hard)?,
                used: (!input.counts_tasks).then_some(used),
            });
        }
        Ok(())
    }

    /// Limits in the dimensions that are named, in quanta, rounded down.
    fn limits(&self, of: &str, input: &AmountsInput) -> Result<Vec<(DimIx, i64)>, BatchFailure> {
        let amounts = input.whole(&self.dims);
        let amounts = amounts.map_err(|fault| BatchFailure::Input(format!("{of}: {fault}")))?;
        let named = |dim: &DimIx| input.0.contains_key(self.dims.name(*dim));
        Ok(amounts.iter().filter(|(dim, _)| named(dim)).collect())
    }

    fn queue(&mut self, input: &QueueInput) -> Result<(), BatchFailure> {
        let state = input.state.as_deref();
        let of = |field: &str| format!("queue {:?}, {field}", input.name);
        let queue = Queue {
            priority: input.priority,
            created: seconds(input.created),
            open: matches!(state, None | Some("" | "Open")),
            weight: input.weight,
            capability: match input.capability.is_empty() {
                true => None,
                false => Some(self.amounts(&of("capability"), &input.capability)?),
            },
            deserved: self.amounts(&of("deserved"), &input.deserved)?,
            guarantee: self.amounts(&of("guarantee"), &input.guarantee.resource)?,
            reclaimable: input.reclaimable,
            parent: input.parent.clone(),
            hierarchy: input.hierarchy.clone(),
            hierarchy_weights: input.hierarchy_weights.clone(),
            groups: input.affinity.clone().map(Arc::new),
            group_limits: self.group_limits(input)?,
            ..Queue::named(&input.name)
        };
        self.state.add_queue(queue);
        Ok(())
    }

    fn group_limits(
        &self,
        input: &QueueInput,
    ) -> Result<BTreeMap<String, Vec<(DimIx, i64)>>, BatchFailure> {
        let limits = input.node_group_limits.iter().map(|(group, amounts)| {
            let of = format!("queue {:?}, node_group_limits.{group}", input.name);
            Ok((group.clone(), self.limits(&of, amounts)?))
        });
        limits.collect()
    }

    fn job(&mut self, input: &JobInput) -> Result<(), BatchFailure> {
        let queue = self.state.queues().find(|queue| self.state[*queue].name == input.queue);
        let class = input.priority_class.as_deref();
        let classes = &self.cluster.priority_classes;
        let priority = classes.iter().find(|known| Some(known.name.as_str()) == class);
        let mut names: Vec<&str> = input.tasks.iter().map(|task| task.role.as_str()).collect();
        names.extend(input.min_task_member.keys().map(String::as_str));
        names.sort_unstable();
        names.dedup();
        let role = |name: &&str| Role {
            name: (*name).to_owned(),
            min: input.min_task_member.get(*name).copied(),
            census: Census::default(),
        };
        let min_resources = match &input.min_resources {
            Some(amounts) => {
                let of = format!("job {:?}, min_resources", input.name);
                Some(self.amounts(&of, amounts)?)
            }
            None => None,
        };
        let id = input.id();
        let job = self.state.add_job(Job {
            created: seconds(input.created),
            priority: priority.map_or(0, |class| class.value),
            phase: phase(&input.phase)?,
            min_available: input.min_member,
            min_resources,
            annotations: Arc::new(input.annotations.clone()),
            budget: Budget::of_annotations(&input.annotations),
            listed: queue.is_some(),
            roles: names.iter().map(role).collect(),
            ..Job::named(uuid("job", &id), id, queue.unwrap_or(QueueIx(0)))
        });
        input.divide(self.state.job_mut(job));
        let protected = [class.unwrap_or_default(), &input.namespace]
            .iter()
            .any(|name| PROTECTED.contains(name));
        let hint = hint(input.hint.as_ref(), &input.annotations)
            .map_err(|why| BatchFailure::Input(format!("job {:?}, {why}", input.name)))?;
        let hint = hint.map(Arc::new);
        for task in &input.tasks {
            let role = names.binary_search(&task.role.as_str()).unwrap_or_default();
            let group = input.group(self.state.job_mut(job), &task.labels);
            self.task(job, (role as u32, group), task, protected, hint.clone())?;
        }
        Ok(())
    }

    /// Counts what a task holds, but for what devices have told.
    fn occupy(&mut self, host: HostIx, request: &Amounts) {
        self.held.add(request);
        let mut told = request.clone();
        if let Some(node) = self.nodes.get(host.index()) {
            let dims = request.iter().map(|(dim, _)| dim);
            for dim in dims.filter(|dim| has_devices(node, &self.dims, *dim)) {
                told.set(dim, 0);
            }
        }
        self.state.world.occupy(host, &told);
    }

    fn strays(&mut self) -> Result<(), BatchFailure> {
        if self.cluster.tasks_without_job.is_empty() {
            return Ok(());
        }
        let nobody = Job::named(Uuid::nil(), String::new(), QueueIx(0));
        let job = self.state.add_job(Job { listed: false, ..nobody });
        for task in &self.cluster.tasks_without_job {
            self.task(job, (0, GroupIx(0)), task, true, None)?;
        }
        Ok(())
    }

    fn task(
        &mut self,
        job: JobIx,
        (role, group): (u32, GroupIx),
        input: &TaskInput,
        protected: bool,
        of_job: Option<Arc<Hint>>,
    ) -> Result<(), BatchFailure> {
        let of = format!("task {:?}, requests", input.name);
        let mut request = self.amounts(&of, &input.requests)?;
        if !(protected && input.requests.names_one("pods")) {
            request.set(DimIx::PODS, 1);
        }
        let status = input.status().map_err(BatchFailure::Input)?;
        let host = self.host(&input.node).filter(|_| status.is_on_host());
        if let Some(host) = host {
            self.occupy(host, &request);
        }
        let wishes = input.has_wishes() || self.labels_matter;
        let hint = hint(input.hint.as_ref(), &input.annotations)
            .map_err(|why| BatchFailure::Input(format!("task {:?}, {why}", input.name)))?;
        let shape = self.state.shape(Shape {
            request,
            node_selector: Arc::new(input.node_selector.clone()),
            tolerations: Arc::new(input.tolerations.clone()),
            traits: TraitRules::default(),
            wishes: wishes.then(|| Arc::new(input.wishes())),
            hint: hint.map(Arc::new).or(of_job),
            queue: self.queues_differ.then_some(self.state[job].queue),
            notes: host_notes(&input.annotations),
        });
        let nominated = input.nominated_node.as_deref().and_then(|name| self.host(name));
        let id = input.id();
        self.state.add_task(Task {
            uuid: uuid("task", &id),
            name: id,
            job,
            role,
            group,
            number: task_number(&input.name),
            created: seconds(input.created),
            priority: input.priority,
            shape,
            status,
            attempt: 0,
            preemptable: input.preemptable,
            // The peer evicts nobody for a task that waits for a node that is gone.
            may_preempt: input.may_preempt()
                && (input.nominated_node.is_none() || nominated.is_some()),
            protected,
            notes: Arc::new(input.notes()),
            cells: Vec::new(),
            started: input.started.map(seconds),
            host,
            picks: Picks::new(),
            nominated,
            hint: None,
        });
        Ok(())
    }
}

/// The phase of a job; without one it is Pending.
fn phase(word: &str) -> Result<JobPhase, BatchFailure> {
    match word {
        "" => Ok(JobPhase::Pending),
        word => JobPhase::named(word).ok_or_else(|| {
            let expected = "expected Pending, Inqueue, Running, Completed or Unknown";
            BatchFailure::Input(format!("phase of a job is {word:?}: {expected}"))
        }),
    }
}
