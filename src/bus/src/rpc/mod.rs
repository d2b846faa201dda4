//! Calls and casts: what they ask and how they are answered.

pub mod casts;
pub mod interface;
pub mod refusals;
pub mod request;
pub mod selections;
