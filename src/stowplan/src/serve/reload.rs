//! The configuration, read again while the service runs.

use super::logging::Logs;
use crate::checked;
use arc_swap::ArcSwap;
use std::sync::Arc;
use stowplan_batch::driver::Plant;
use stowplan_config::{Settings, Sources};
use stowplan_engine::Engine;

/// Takes up what may change at run time, and says what that is. A
/// configuration that does not hold changes nothing.
pub fn reload(sources: &Sources, settings: &ArcSwap<Settings>, logs: &Logs) {
    let loaded = match checked::load(sources) {
        Ok(loaded) => loaded,
        Err(errors) => {
            for error in &errors.0 {
                tracing::error!("{error}");
            }
            tracing::error!("the configuration does not hold: the old one stays in force");
            return;
        }
    };
    let reload = settings.load().reload(&loaded.settings);
    if let Err(error) = Engine::new(&reload.settings) {
        tracing::error!(%error, "the configuration does not hold: the old one stays in force");
        return;
    }
    if let Err(error) = Plant::new(&reload.settings) {
        tracing::error!(%error, "the configuration does not hold: the old one stays in force");
        return;
    }
    for warning in &loaded.warnings {
        tracing::warn!("{warning}");
    }
    for change in &reload.taken {
        tracing::info!("changed {change}");
    }
    for change in &reload.waiting {
        tracing::warn!("waits for the next start: {change}");
    }
    logs.set_debug(reload.settings.default.debug);
    settings.store(Arc::new(reload.settings));
    tracing::info!(
        changed = reload.taken.len(),
        waiting = reload.waiting.len(),
        "the configuration was read again"
    );
}
