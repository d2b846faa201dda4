//! Notifications, as Nova's services send them: what is learnt from those of
//! others, and what ours say.

pub mod events;
pub mod incoming;
mod payload;
pub mod told;

pub use payload::request_spec;
