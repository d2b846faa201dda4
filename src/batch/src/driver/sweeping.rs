//! What time brings about is written once a second.

use super::Clock;
use crate::store::{Deadlines, Epoch, Superseded, sweep};
use std::sync::Arc;
use std::time::Duration;
use stowplan_config::Settings;
use stowplan_engine::config::EngineConfig;
use stowplan_ledger::image::hosts::Host;
use stowplan_ledger::{Image, Ledger};
use stowplan_model::Micros;
use stowplan_scheduler::hosts::{self, HostState};
use tokio::time::Instant;

/// Time between two looks.
const INTERVAL: Duration = Duration::from_secs(1);

/// Looks what is over.
#[derive(Debug, Default)]
pub(super) struct Sweeper {
    last: Option<Instant>,
}

impl Sweeper {
    /// Writes what is over by now, unless that was done just before.
    pub(super) async fn sweep(
        &mut self,
        ledger: &Ledger,
        settings: &Arc<Settings>,
        epoch: Epoch,
        clock: &Clock,
    ) {
        if self.last.is_some_and(|last| last.elapsed() < INTERVAL) {
            return;
        }
        self.last = Some(Instant::now());
        let rules = Rules::of(settings);
        let (image, now) = (ledger.image(), clock());
        let look = move || rules.sweep(&image, now).records.is_empty();
        if tokio::task::spawn_blocking(look).await.unwrap_or(true) {
            return;
        }
        let rules = Rules::of(settings);
        let written = ledger.write::<_, (), Superseded>("batch-sweep", move |image| {
            epoch.check(image)?;
            Ok((rules.sweep(image, now), ()))
        });
        if let Err(error) = written.await {
            tracing::warn!(%error, "time limits of batch tasks were not enforced");
        }
    }
}

/// What is over when.
struct Rules {
    deadlines: Deadlines,
    engine: EngineConfig,
    grace: i64,
}

impl Rules {
    fn of(settings: &Settings) -> Self {
        let micros = |time: Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        let batch = &settings.batch;
        Self {
            deadlines: Deadlines {
                bind: micros(batch.bind_timeout),
                release: micros(batch.release_timeout),
            },
            engine: EngineConfig::from(settings),
            grace: micros(batch.host_down_grace),
        }
    }

    fn sweep(&self, image: &Image, now: Micros) -> stowplan_ledger::Change {
        sweep(image, self.deadlines, |host| self.is_lost(image, host, now), now)
    }

    /// Whether a host is down, and has been for the time of grace.
    fn is_lost(&self, image: &Image, host: &Host, now: Micros) -> bool {
        if hosts::state(image, host, &self.engine, now) == HostState::Up {
            return false;
        }
        let Some(service) = image.service_of(&host.row.host) else { return true };
        let heard = service.last_seen.unwrap_or(service.created);
        let limit = self.engine.service_down_time.saturating_add(self.grace);
        service.forced_down || now.since(heard) > limit
    }
}
