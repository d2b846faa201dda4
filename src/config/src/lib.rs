//! scheduler.conf: every option of stowplan, typed once.
//!
//! The options stand in one table, written with the `section!` macro in
//! `options/`: section, name, type, default, range, help, whether a reload may
//! change it, older names. The typed snapshot ([`Settings`]), the sample file,
//! the checks and the listing of effective values all come from that table.

mod macros;
mod options;
mod spec;
mod value;

pub use options::*;
pub use spec::{Meta, OptionSpec, SectionSpec};
pub use value::*;
