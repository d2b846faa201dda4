//! The mutations of the batch layer: proposals that check themselves against
//! an image of the ledger.

mod bind;
mod cancel;
mod control;
mod detail;
mod devices;
mod domains;
mod fence;
mod hints;
mod hold;
mod lead;
mod load;
mod nominate;
mod objects;
mod phases;
mod queues;
mod report;
mod seed;
mod shuffle;
mod status;
mod submit;
mod sweep;
mod totals;
mod tree;

pub use bind::{BindRefusal, BindTerms, Terms, bind};
pub use cancel::{cancel, forget};
pub use control::{JobUpdate, RoleUpdate, read_update, requeue, resume, suspend, update_job};
pub use detail::{Cause, Evicted, TaskDetail, is_due};
pub use domains::{
    DomainRequest, Member, MemberKind, TopologyDomain, domain, domains, hosts_of, put_domain,
    read_domain,
};
pub use fence::{Fenced, fence};
pub use hints::hint_warnings;
pub use lead::{Epoch, Superseded, take_lead};
pub use load::{LoadOptions, Loaded, SpecCache, has_work, load, open_jobs};
pub use objects::{
    ObjectKind, PriorityClass, PriorityClassRequest, Quota, QuotaRequest, class_for, delete_object,
    priority_class, priority_classes, put_priority_class, put_quota, quota, quotas,
    read_priority_class, read_quota,
};
pub use phases::has_place;
pub use queues::{
    QueueState, create_queue, delete_queue, is_open, queue_state, set_queue_state, update_queue,
};
pub use report::{ReportVerdict, ReportedState, TaskReport, report};
pub use seed::{DEFAULT_QUEUE, ROOT_QUEUE, seed};
pub use status::{news, record_verdicts};
pub use submit::{Submission, submit};
pub use sweep::{Deadlines, sweep};
pub use totals::physical;
pub(crate) use tree::Tree;
