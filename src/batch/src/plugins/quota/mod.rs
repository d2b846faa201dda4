//! What plugins that divide amounts among queues have in common.

mod books;

pub use books::{
    Books, capability, dominant_share, elastic, held_by_jobs, promised, queue_of, real_capability,
    remaining_need, too_much,
};
