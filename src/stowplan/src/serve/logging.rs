//! The log: where it goes, in which form, how much of it.

use anyhow::Context as _;
use std::{
    fs::File,
    io::{IsTerminal as _, stderr},
    sync::Mutex,
};
use stowplan_config::Settings;
use tracing::{Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{
    Layer, Registry, filter::Targets, fmt, layer::SubscriberExt as _, registry::LookupSpan, reload,
    util::SubscriberInitExt as _,
};

/// Libraries that say much, with what is let through of them normally and at
/// debug level.
const TALKATIVE: &[(&str, LevelFilter, LevelFilter)] = &[
    ("sqlx", LevelFilter::WARN, LevelFilter::INFO),
    ("sea_orm", LevelFilter::WARN, LevelFilter::INFO),
    ("sea_orm_migration", LevelFilter::WARN, LevelFilter::INFO),
    ("actix_server", LevelFilter::WARN, LevelFilter::INFO),
    ("mio", LevelFilter::WARN, LevelFilter::WARN),
    ("lapin", LevelFilter::OFF, LevelFilter::WARN),
    ("async_rs", LevelFilter::OFF, LevelFilter::WARN),
];

/// The switch for how much is logged.
#[derive(Clone, Debug)]
pub struct Logs(reload::Handle<Targets, Registry>);

impl Logs {
    /// Takes up `[DEFAULT] debug`.
    pub fn set_debug(&self, debug: bool) {
        if let Err(error) = self.0.reload(level(debug)) {
            tracing::warn!(%error, "the level of the log could not be changed");
        }
    }
}

/// Starts the log as the options say (`[DEFAULT] debug`, `log_file`,
/// `use_json`).
pub fn start(settings: &Settings) -> anyhow::Result<Logs> {
    let options = &settings.default;
    let (filter, handle) = reload::Layer::new(level(options.debug));
    let lines: Box<dyn Layer<_> + Send + Sync> = match &options.log_file {
        Some(path) => {
            let file = File::options().create(true).append(true).open(path);
            let file = file.with_context(|| format!("[DEFAULT] log_file {}", path.display()))?;
            form(fmt::layer().with_ansi(false).with_writer(Mutex::new(file)), options.use_json)
        }
        None => {
            let colours = stderr().is_terminal();
            form(fmt::layer().with_ansi(colours).with_writer(stderr), options.use_json)
        }
    };
    tracing_subscriber::registry()
        .with(filter)
        .with(lines)
        .try_init()
        .context("the log cannot be started")?;
    Ok(Logs(handle))
}

fn form<S, W>(
    layer: fmt::Layer<S, fmt::format::DefaultFields, fmt::format::Format, W>,
    as_json: bool,
) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'w> fmt::MakeWriter<'w> + Send + Sync + 'static,
{
    if as_json { layer.json().boxed() } else { layer.boxed() }
}

fn level(debug: bool) -> Targets {
    let own = if debug { LevelFilter::DEBUG } else { LevelFilter::INFO };
    let targets = Targets::new().with_default(own);
    targets.with_targets(
        TALKATIVE
            .iter()
            .map(|(name, normal, at_debug)| (*name, if debug { *at_debug } else { *normal })),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    #[test]
    fn debug_is_for_ourselves() {
        let (normal, debug) = (level(false), level(true));
        assert!(normal.would_enable("stowplan_api", &Level::INFO));
        assert!(!normal.would_enable("stowplan_api", &Level::DEBUG));
        assert!(debug.would_enable("stowplan_api", &Level::DEBUG));
        assert!(!debug.would_enable("sqlx::query", &Level::DEBUG));
        assert!(!normal.would_enable("sqlx::query", &Level::INFO));
    }
}
