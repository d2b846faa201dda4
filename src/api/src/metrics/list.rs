//! All metrics, by name. What is not in this list is not told; a test holds the
//! reference to it.

use prometheus_client::metrics::MetricType;

/// A metric.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name; that of a counter gets `_total` behind it.
    pub name: &'static str,
    /// What it tells.
    pub help: &'static str,
    /// What it is.
    pub kind: MetricType,
}

macro_rules! metrics {
    ($($konst:ident: $kind:ident $name:literal, $help:literal;)*) => {
        $(pub(super) const $konst: Metric =
            Metric { name: $name, help: $help, kind: MetricType::$kind };)*
        /// All of them.
        pub const ALL: &[Metric] = &[$($konst),*];
    };
}

metrics! {
    BUILD: Gauge "stowplan_build_info", "Always 1; the label tells the version";
    HTTP_REQUESTS: Counter "stowplan_http_requests",
        "Requests answered, by surface, method and class of status";
    HTTP_SECONDS: Histogram "stowplan_http_request_duration_seconds",
        "Time from the head of a request to the head of its answer, by surface";
    LEDGER_SEQ: Gauge "stowplan_ledger_seq", "Number of the last change in the image";
    LEDGER_WRITABLE: Gauge "stowplan_ledger_writable", "1 while the database takes writes, else 0";
    LEDGER_WAITING: Gauge "stowplan_ledger_waiting_mutations",
        "Mutations that wait for the writer";
    LEDGER_MUTATIONS: Counter "stowplan_ledger_mutations", "Mutations committed";
    LEDGER_COMMITS: Counter "stowplan_ledger_commits",
        "Transactions of the writer, by outcome: committed, or given up and tried again";
    LEDGER_COMMIT_SECONDS: Counter "stowplan_ledger_commit_seconds",
        "Time that committed transactions took in all";
    DECISIONS: Counter "stowplan_decisions",
        "Requests for destinations, by outcome: placed, dry_run, no_valid_host, repeated or failed";
    DECISION_SECONDS: Counter "stowplan_decision_seconds",
        "Time that requests for destinations took in all, commits included, by outcome";
    DECISION_CONFLICTS: Counter "stowplan_decision_conflicts",
        "Decisions made again because somebody else was faster";
    BATCH_CYCLES: Counter "stowplan_batch_cycles", "Batch cycles that had work";
    BATCH_SECONDS: Counter "stowplan_batch_cycle_seconds", "Time that batch cycles took in all";
    BATCH_LAST: Gauge "stowplan_batch_last_cycle_duration_seconds",
        "Time that the last batch cycle took";
    BATCH_BINDS: Counter "stowplan_batch_binds", "Tasks bound";
    BATCH_REFUSALS: Counter "stowplan_batch_refusals",
        "Statements of batch cycles that were refused at commit";
    BATCH_JOBS: Gauge "stowplan_batch_jobs", "Batch jobs, by phase";
    BATCH_TASKS: Gauge "stowplan_batch_tasks", "Batch tasks, by state";
    BATCH_QUEUES: Gauge "stowplan_batch_queues", "Queues";
    BUS_STATE: Gauge "stowplan_bus_state",
        "1 for the state that the message bus is in, else 0: off, connecting, consuming, away, stopped";
    BUS_IN_FLIGHT: Gauge "stowplan_bus_calls_in_flight", "Calls that are worked on";
    BUS_EVENTS: Counter "stowplan_bus_events",
        "What was counted on the message bus, by event, as /readyz names it";
    BUS_KEPT: Gauge "stowplan_bus_kept_answers", "Answers kept for calls that come again";
    HOSTS: Gauge "stowplan_hosts", "Compute nodes, by state of their service: up, down, disabled";
    PROVIDERS: Gauge "stowplan_resource_providers", "Resource providers";
    CONSUMERS: Gauge "stowplan_consumers", "Consumers with allocations";
    CAPACITY: Gauge "stowplan_resource_capacity",
        "Capacity of all providers, by resource class: (total - reserved) x allocation ratio";
    USED: Gauge "stowplan_resource_used", "What is allocated, by resource class";
}
