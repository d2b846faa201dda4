//! The forms on the wire: no connection, no clock, no ledger.

pub mod envelope;
pub mod failure;
pub mod fields;
pub mod message;
pub mod object;
pub mod python;
pub mod reply;
pub mod times;
