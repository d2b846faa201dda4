//! Progress of something that takes a while.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar for so many steps; it shows on a terminal alone.
pub fn progress(what: &'static str, steps: usize) -> ProgressBar {
    let style = ProgressStyle::with_template(
        "{msg} {bar:40} {human_pos}/{human_len} {per_sec}, {eta} left",
    );
    ProgressBar::new(u64::try_from(steps).unwrap_or(u64::MAX))
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_message(what)
}
