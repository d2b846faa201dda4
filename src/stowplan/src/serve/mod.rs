//! `stowplan serve`: everything wired together, from start to stop.

mod background;
mod extender;
mod listen;
mod loading;
mod logging;
mod networks;
mod notify;
mod reload;
mod service;

mod signals;

pub use logging::start as log;
pub use service::{Order, Service};
pub use signals::listen as signals;

use crate::{
    checked,
    cli::ConfigArgs,
    exit::{Fault, Outcome},
};
use std::{io::Write as _, time::Instant};

/// What `serve --help` says at its end.
pub const HELP: &str = "\
Signals:
  TERM, INT  answer what is under way, write what is in memory, stop; a second
             one stops at once
  HUP        read the configuration again and take up what may change while
             running; a bad file changes nothing

Examples:
  stowplan serve                    SQLite in ./stowplan.db, on 127.0.0.1:8778
  stowplan serve --config /etc/placement/placement.conf
  stowplan serve --set api.bind_port=9000 --set DEFAULT.debug=true";

/// Serves until a signal ends it.
pub fn run(args: &ConfigArgs) -> Result<Outcome, Fault> {
    let began = Instant::now();
    let sources = args.sources();
    let loaded = checked::load(&sources).map_err(Fault::usage)?;
    let logs = logging::start(&loaded.settings)?;
    for warning in &loaded.warnings {
        tracing::warn!("{warning}");
    }
    let service = Service::open(loaded.settings)?;
    let (_, orders) = signals::listen(service.background())?;
    let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::info!(url = service.url(), milliseconds, "ready");
    say_where(service.url());
    notify::ready();
    service.run(orders, |settings| reload::reload(&sources, settings, &logs))?;
    tracing::info!("stopped");
    Ok(Outcome::Fine)
}

/// One line for whoever started us, also when the log goes elsewhere. That
/// nobody reads it is no reason to stop.
fn say_where(url: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "stowplan listens on {url} (documentation at {url}/docs)");
    let _ = out.flush();
}
