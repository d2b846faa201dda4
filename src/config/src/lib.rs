//! scheduler.conf: every option of stowplan, typed once.
//!
//! The options stand in one table, written with the `section!` macro in
//! `options/`: section, name, type, default, range, help, whether a reload may
//! change it, older names. The typed snapshot ([`Settings`]), the sample file,
//! the checks and the listing of effective values all come from that table.

mod assign;
mod database;
mod differing;
mod error;
mod ini;
mod interpolate;
mod known;
mod load;
mod macros;
mod messaging;
mod names;
mod options;
mod origin;
mod redact;
mod reload;
mod render;
mod report;
mod settle;
mod sources;
mod spec;
mod value;

pub use error::{ConfigError, ConfigErrors, OptionError, Warning};
pub use load::Loaded;
pub use options::*;
pub use origin::Origin;
pub use reload::{Change, Reload};
pub use render::{render_reference, render_sample};
pub use report::{Report, ShowFormat, check, render_show, show};
pub use sources::Sources;
pub use spec::{Meta, OptionSpec, SectionSpec};
pub use value::*;

#[cfg(test)]
mod tests;
