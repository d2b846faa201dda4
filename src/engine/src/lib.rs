//! Filters, weighers, selection and explanation: pure functions over host columns.
//!
//! One pipeline for virtual machines and batch tasks: preselection, filters,
//! weighers, choice, every step leaving its trace for the explanation. The
//! engine knows no database, no HTTP and no clock; hosts, time and randomness
//! are passed in, so a decision can be replayed and a policy tried offline.

pub mod attributes;
pub mod chain;
pub mod choose;
pub mod config;
pub mod consume;
pub mod engine;
mod exact_names;
pub mod explain;
pub mod extra_specs;
pub mod fault;
pub mod filter;
pub mod filters;
pub mod finding;
pub mod fragment;
pub mod hint;
mod idle_keys;
pub mod multiplier;
pub mod numa;
pub mod offers;
pub mod overrides;
pub mod pci;
pub mod preselect;
mod range;
pub mod ranking;
mod reach;
pub mod reason;
pub mod registry;
pub mod request;
mod rounds;
pub mod scenario;
pub mod score;
pub mod sequence;
pub mod set;
pub mod table;
pub mod view;
pub mod weigh;
pub mod weigher;
pub mod weighers;
mod weighted_names;

pub use config::EngineConfig;
pub use consume::{Claimed, consume};
pub use engine::{Ask, Engine, Evaluation};
pub use explain::{Detail, Explanation};
pub use fault::{Fault, FaultKind, StageFault};
pub use filter::{Filter, Predicate, Runs, Verdict};
pub use finding::Finding;
pub use hint::{Guide, Hint, HintTrace};
pub use offers::{Kept, Offers, Survivors};
pub use reason::Reason;
pub use request::{CheckedRequest, RequestCx};
pub use set::HostSet;
pub use table::{Figure, HostIx, HostRow, HostTable, Undo};
pub use view::HostView;
pub use weigher::{LocalScore, RawScore, Weigher};
