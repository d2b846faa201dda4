//! How far the loading of the ledger is, once it takes long enough to ask.

use indicatif::{ProgressBar, ProgressStyle};
use std::{
    io::{IsTerminal as _, stderr},
    time::{Duration, Instant},
};
use stowplan_ledger::Progress;

/// A loading that is faster says nothing.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between two lines of the log.
const PAUSE: Duration = Duration::from_secs(5);

/// Shows a bar on a terminal, and writes to the log otherwise.
pub struct Bar {
    began: Instant,
    is_terminal: bool,
    bar: Option<ProgressBar>,
    last_line: Option<Instant>,
}

impl Default for Bar {
    fn default() -> Self {
        let is_terminal = stderr().is_terminal();
        Self { began: Instant::now(), is_terminal, bar: None, last_line: None }
    }
}

impl Progress for Bar {
    fn rows(&mut self, done: u64, total: u64) {
        if self.began.elapsed() < PATIENCE {
            return;
        }
        if self.is_terminal {
            let bar = self.bar.get_or_insert_with(|| ProgressBar::new(total).with_style(style()));
            bar.set_position(done);
        } else if self.last_line.is_none_or(|line| line.elapsed() >= PAUSE) {
            self.last_line = Some(Instant::now());
            tracing::info!(done, total, "rows of the ledger are being read");
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("reading the ledger {bar:40} {human_pos}/{human_len} rows, {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}
