//! Pauses between tries.

use std::time::Duration;

/// The first pause; it doubles.
const FIRST: Duration = Duration::from_millis(5);
/// The longest.
const LAST: Duration = Duration::from_millis(500);

/// Each about twice as long as the one before. Chance has a part in it, so that
/// two processes do not meet again and again.
pub(super) struct Pauses(Duration);

impl Default for Pauses {
    fn default() -> Self {
        Self(FIRST)
    }
}

impl Pauses {
    pub async fn wait(&mut self) {
        tokio::time::sleep(self.0.mul_f64(0.5 + fastrand::f64() / 2.0)).await;
        self.0 = LAST.min(self.0 * 2);
    }
}
