//! `[batch]`: the cycle that places jobs.

use std::time::Duration;

use super::list;
use crate::macros::{choice, section};
use crate::value::ResourceMapping;

choice! {
    /// What queues share.
    BatchTotal {
        /// The capacity of batch hosts less what others hold there.
        Available = "available",
        /// The capacity of batch hosts.
        Physical = "physical",
    }
}

section! {
    /// The cycle that places jobs. Options of a plugin stand in [batch:<plugin>].
    batch: Batch = "batch" {
        /// Time between two cycles; a change starts one at once.
        schedule_period: Duration = Duration::from_secs(1), min(0.01), mutable;
        /// Actions of a cycle, in order.
        actions: Vec<String> =
            list(&["enqueue", "allocate", "backfill", "reclaim", "preempt"]), mutable;
        /// Plugins of a tier, in order; the option is given once per tier.
        tiers: Vec<Vec<String>> =
            vec![list(&[
            "priority",
            "gang",
            "conformance",
            "drf",
            "predicates",
            "capacity",
            "nodeorder",
            "binpack",
            "network-topology-aware",
            "resourcequota",
        ])], mutable;
        /// How requests of tasks are held in the ledger, as dimension:CLASS:quantum.
        /// A request is rounded up to whole quanta.
        resource_map: Vec<ResourceMapping> = vec![
            ResourceMapping::new("cpu", "VCPU", "1000m"),
            ResourceMapping::new("memory", "MEMORY_MB", "1Mi"),
            ResourceMapping::new("ephemeral-storage", "DISK_GB", "1Gi"),
            ResourceMapping::new("nvidia.com/gpu", "PGPU", "1"),
        ];
        /// Most tasks on a host that does not say itself.
        default_max_tasks: u32 = 1000, min(1.0), mutable;
        /// Most tasks of one job.
        max_tasks_per_job: u32 = 10_000, min(1.0), mutable;
        /// How often in one cycle a job whose claim lost a race is tried again.
        commit_retries: u32 = 3, mutable;
        /// A task that is not reported as running so long after its bind has to
        /// leave its host.
        bind_timeout: Duration = Duration::from_secs(600), min(1.0), mutable;
        /// An executor that does not report so long that a task has left is told
        /// again.
        release_timeout: Duration = Duration::from_secs(300), min(1.0), mutable;
        /// Room that tasks were evicted for is kept so long for who needs it.
        nomination_timeout: Duration = Duration::from_secs(900), min(1.0), mutable;
        /// A task that was evicted for others twice, the second time so soon after
        /// the first, is not evicted again before so much time is over; 0 for none.
        loop_window: Duration = Duration::from_secs(900), mutable;
        /// The tasks of a host are unknown once it is down for so long.
        host_down_grace: Duration = Duration::from_secs(60), mutable;
        /// What queues share: available is the capacity of batch hosts less what
        /// others hold there, physical is all of it.
        total: BatchTotal = BatchTotal::Available, mutable;
    }
}
