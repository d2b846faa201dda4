//! The HTTP surfaces of stowplan: Placement, compute and native.
//!
//! Every request passes one gate, which gives it an id, finds out who asks and
//! in which version, and renders errors in the form of the surface. Handlers
//! are thin: typed extractors, one call into the crates below, one view.

mod app;
mod auth;
mod body;
mod compute;
mod cors;
mod description;
mod docs;
mod door;
mod failure;
mod gate;
mod json;
mod media;
mod metrics;
pub mod native;
mod placement;
mod policy;
mod probes;
mod query;
mod reached;
mod schema;
mod server;
mod state;
mod storable;
mod surface;
mod version;

pub use auth::{Scope, Token};
pub use compute::version::{
    FEATURES as COMPUTE_FEATURES, Feature as ComputeFeature, Microversion, MicroversionFault,
};
pub use docs::openapi;
pub use failure::{Code, Failure, Problem};
pub use gate::REQUEST_ID;
pub use metrics::list::{ALL as METRICS, Metric};
pub use policy::{
    Check, CheckFault, DefaultRule, Denied, Policy, PolicyFault, PolicySource, Target, defaults,
};
pub use server::serve;
pub use state::{ApiState, Clock};
pub use version::{FEATURES, Feature, Version};
