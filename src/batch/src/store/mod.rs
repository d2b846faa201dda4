//! The mutations of the batch layer: proposals that check themselves against
//! an image of the ledger.

mod bind;
mod cancel;
mod load;
mod phases;
mod report;
mod seed;
mod status;
mod submit;

pub use bind::{BindRefusal, bind};
pub use cancel::{cancel, forget};
pub use load::{Loaded, SpecCache, has_work, load};
pub use phases::has_place;
pub use report::{ReportVerdict, ReportedState, TaskReport, report};
pub use seed::{DEFAULT_QUEUE, ROOT_QUEUE, seed};
pub use status::record_verdicts;
pub use submit::{Submission, submit};
