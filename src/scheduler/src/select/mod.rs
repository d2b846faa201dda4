//! Destinations: from a request to claims.
//!
//! A request becomes a query of the ledger; hosts with a candidate pass the
//! filters, are weighed, and the best takes the server. All servers of a
//! request are claimed in one mutation or none is. The decision is made beside
//! the ledger's writer; what may have changed meanwhile is looked at again in
//! the mutation, for the chosen hosts, and if somebody was faster it is decided
//! anew. The last try is decided inside the mutation: nobody is faster then.

mod answer;
mod bounds;
mod call;
mod candidates;
mod check;
mod claim;
mod decide;
mod group;
mod hint;
mod lease;
mod networks;
mod offered;
mod once;
mod query;
mod reasons;
mod record;
mod refusal;
mod repeat;
mod request;
mod run;
mod tally;
mod trials;
mod undo;
mod unlock;

pub use answer::{AllocationRequest, Destination, Destinations, Selection};
pub(crate) use bounds::MAX_NETWORKS;
pub use call::{BusCall, CallAnswer, WriteAnswer, call_uuid};
pub(crate) use call::{forget, missing};
pub(crate) use candidates::Pool;
pub use check::{MAX_ALTERNATES, MAX_INSTANCES, Order};
pub use claim::CONSUMER_TYPE;
pub use decide::Stage;
pub(crate) use decide::{Decided, Failure, Means, Refused, decide};
pub use hint::{HintAnswer, Hinted, SchedulingHint};
pub use lease::Confirmed;
pub(crate) use lease::{confirm, confirmed_by_report, expire};
pub(crate) use networks::learn;
pub use networks::{NetworkFault, Networks, PortFacts, Reply, RequestedNetwork};
pub(crate) use once::{REFUSED, RequestKey, forget_keys};
pub(crate) use query::{Asked, RootTraits, Site, query_string, translate};
pub(crate) use reasons::why;
pub(crate) use record::VERSION;
pub use refusal::Refusal;
pub(crate) use repeat::{Anew, Repeat};
pub use request::{GroupRef, Hints, RequestedGroup, SelectRequest, read_request};
pub(crate) use run::{Found, Run};
pub(crate) use tally::Became;
pub use tally::{Tallied, Tally};
pub use undo::Undone;
pub(crate) use undo::undo_call;
