//! The points at which plugins are asked.

macro_rules! points {
    ($($(#[doc = $about:literal])+ $point:ident = $switch:literal, $short:literal;)+) => {
        /// A point at which plugins are asked. Each can be switched off per
        /// plugin.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Point {
            $($(#[doc = $about])+ $point,)+
        }

        impl Point {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$point,)+];

            /// The switch in `[batch:<plugin>]` that turns it off (the peer's
            /// name where it has one).
            #[must_use]
            pub const fn switch(self) -> &'static str {
                match self { $(Self::$point => $switch,)+ }
            }

            /// Its name in recorded cases.
            #[must_use]
            pub const fn short(self) -> &'static str {
                match self { $(Self::$point => $short,)+ }
            }
        }
    };
}

points! {
    /// Which queue is served first: first answer that is not equal.
    QueueOrder = "enableQueueOrder", "queue_order";
    /// From which queue others are evicted first: likewise.
    VictimQueueOrder = "enableVictimQueueOrder", "victim_queue_order";
    /// Which job is served first: likewise.
    JobOrder = "enableJobOrder", "job_order";
    /// Which task of a job is placed first: likewise.
    TaskOrder = "enableTaskOrder", "task_order";
    /// Whether a job can be placed at all: the first objection counts.
    JobValid = "enableJobValid", "job_valid";
    /// Whether a job is admitted: votes; and what follows when it was.
    JobEnqueued = "enableJobEnqueued", "job_enqueued";
    /// Whether a job has its minimum: all must agree.
    JobReady = "enableJobReady", "job_ready";
    /// Whether a job has its minimum once others have left: votes.
    JobPipelined = "enableJobPipelined", "job_pipelined";
    /// Which sub-group of a job is placed first: first answer that is not equal.
    GroupOrder = "enabledSubJobOrder", "sub_job_order";
    /// Whether a sub-group has its minimum: all must agree.
    GroupReady = "enabledSubJobReady", "sub_job_ready";
    /// Whether a sub-group has its minimum once others have left: votes.
    GroupPipelined = "enabledSubJobPipelined", "sub_job_pipelined";
    /// Whether others may be evicted for a job: the first tier decides.
    JobStarving = "enableJobStarving", "job_starving";
    /// Whether a queue has all that it deserves: any plugin suffices.
    Overused = "enabledOverused", "overused";
    /// Whether a queue may take what a task asks for: all must agree.
    Allocatable = "enabledAllocatable", "allocatable";
    /// Whether a queue may take from others for a task: all must agree.
    Preemptive = "enablePreemptive", "preemptive";
    /// Which hosts a task may go to: all must agree.
    Predicate = "enablePredicate", "predicate";
    /// How well a host suits: the sum of all.
    NodeOrder = "enableNodeOrder", "node_order";
    /// Which tasks of its own queue may leave for a task: votes on victims.
    Preemptable = "enablePreemptable", "preemptable";
    /// Which tasks of other queues may leave for a task: votes on victims.
    Reclaimable = "enableReclaimable", "reclaimable";
    /// Which running tasks should leave whoever comes after them: all that any
    /// plugin of the first tier with an answer names; and which of them may not.
    VictimTasks = "enabledVictim", "victim";
    /// Which tasks may leave for a job as a whole: votes on victims.
    Evictable = "enableUnifiedEvictable", "unified_evictable";
    /// Which topology domains come into question: how many of them, where
    /// others would have to leave.
    DomainGradient = "enabledHyperNodeGradient", "hyper_node_gradient";
    /// How well a topology domain suits: the sum of all.
    DomainOrder = "enabledHyperNodeOrder", "hyper_node_order";
}

impl Point {
    /// Whether a plugin is asked here when nothing else is said. Our default
    /// differs from the peer's in one place: how much a job has is no reason
    /// for its tasks to be evicted (rule 12).
    #[must_use]
    pub fn is_on_by_default(self, plugin: &str) -> bool {
        !(self == Self::Preemptable && plugin == "drf")
    }
}
