//! What is counted of requests.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use actix_web::http::{Method, StatusCode};
use prometheus_client::metrics::histogram::Histogram;

use crate::surface::Surface;

/// Surfaces, in the order of their counters.
const SURFACES: [&str; 4] = ["placement", "compute", "native", "public"];
/// Methods; the last stands for all others.
const METHODS: [&str; 7] = ["GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "other"];
/// Classes of statuses.
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
/// Upper bounds of the buckets of durations, in seconds.
const BUCKETS: [f64; 12] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// The counters of all requests, shared by all workers.
#[derive(Debug)]
pub struct Requests {
    counts: [[[AtomicU64; CLASSES.len()]; METHODS.len()]; SURFACES.len()],
    seconds: [Histogram; SURFACES.len()],
}

impl Default for Requests {
    fn default() -> Self {
        Self {
            counts: Default::default(),
            seconds: std::array::from_fn(|_| Histogram::new(BUCKETS)),
        }
    }
}

const fn place_of(surface: Surface) -> usize {
    match surface {
        Surface::Placement { .. } => 0,
        Surface::Compute { .. } => 1,
        Surface::Native => 2,
        Surface::Public => 3,
    }
}

impl Requests {
    /// Counts a request that was answered.
    pub fn count(&self, surface: Surface, method: &Method, status: StatusCode, took: Duration) {
        let surface = place_of(surface);
        let other = METHODS.len() - 1;
        let method = METHODS.iter().position(|name| *name == method.as_str()).unwrap_or(other);
        let class = usize::from(status.as_u16() / 100).clamp(1, CLASSES.len()) - 1;
        self.counts[surface][method][class].fetch_add(1, Ordering::Relaxed);
        self.seconds[surface].observe(took.as_secs_f64());
    }

    /// Surface, method and class with how many there were; those that never came are
    /// left out.
    pub(super) fn counts(&self) -> impl Iterator<Item = ([(&'static str, &'static str); 3], u64)> {
        let surfaces = SURFACES.iter().zip(&self.counts);
        let methods =
            surfaces.flat_map(|(surface, of)| METHODS.iter().zip(of).map(move |it| (surface, it)));
        let all = methods.flat_map(|(surface, (method, of))| {
            CLASSES.iter().zip(of).map(move |(class, count)| {
                let labels = [("surface", *surface), ("method", *method), ("status", *class)];
                (labels, count.load(Ordering::Relaxed))
            })
        });
        all.filter(|(_, count)| *count > 0)
    }

    /// Durations, by surface.
    pub(super) fn seconds(&self) -> impl Iterator<Item = (&'static str, &Histogram)> {
        SURFACES.into_iter().zip(&self.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_what_they_were() {
        let requests = Requests::default();
        let brew = Method::from_bytes(b"BREW").unwrap_or_default();
        for (method, status) in [
            (Method::GET, StatusCode::OK),
            (Method::GET, StatusCode::NO_CONTENT),
            (Method::PUT, StatusCode::CONFLICT),
            (brew, StatusCode::NOT_FOUND),
        ] {
            requests.count(Surface::Native, &method, status, Duration::from_millis(2));
        }
        let labels =
            |method, status| [("surface", "native"), ("method", method), ("status", status)];
        let counts: Vec<_> = requests.counts().collect();
        assert_eq!(
            counts,
            [(labels("GET", "2xx"), 2), (labels("PUT", "4xx"), 1), (labels("other", "4xx"), 1),]
        );
    }
}
