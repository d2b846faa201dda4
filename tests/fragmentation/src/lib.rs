//! Replays a trace of GPU tasks against a policy: the tasks arrive in a given
//! order, each is tried once on all nodes, and nothing ever leaves. What is
//! measured is the part of all GPUs that tasks hold when the tasks so far have
//! asked for all of them, and at the end.
//!
//! Traces are folders of the form of openb (see `trace`).

pub mod best_fit;
pub mod fgd;
pub mod node;
pub mod replay;
pub mod scored;
pub mod stowplan;
pub mod trace;

pub use node::{Node, Task};
pub use replay::{Outcome, Policy, replay};
pub use trace::{List, Trace, TraceFault};
