//! `/metrics`: how the service is and what it has done, as Prometheus reads it.
//!
//! Counters are kept where they are counted; gauges are worked out at each scrape.

mod cloud;
mod http;
pub mod list;
mod page;

use std::fmt;
use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::web::{self, Data, ServiceConfig};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, text};
use prometheus_client::registry::Registry;
use stowplan_bus::{Counter, Link};

use crate::app::resource;
use crate::failure::{Code, Failure};
use crate::state::Shared;
use cloud::Cloud;
pub use http::Requests;
use page::Page;

/// What Prometheus asks for.
const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(crate) fn routes(config: &mut ServiceConfig) {
    config.service(resource("/metrics", [(Method::GET, web::route().to(metrics))]));
}

/// Counters since the start, and how things are now, in the OpenMetrics text format.
/// `api-ref/metrics.md` lists them.
///
/// # Errors
/// While the service is stopping.
#[utoipa::path(get, path = "/metrics", tag = "probes", security(()),
    responses((status = 200, description = "The metrics.",
        content_type = "application/openmetrics-text", body = String)))]
pub async fn metrics(shared: Data<Shared>) -> Result<HttpResponse, Failure> {
    let shared = shared.into_inner();
    let scheduler = shared.api.scheduler.clone();
    // Sums over all providers and jobs.
    let text = scheduler.beside(move || write(shared)).await?;
    let text = text.map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
    Ok(HttpResponse::Ok().content_type(CONTENT_TYPE).body(text))
}

fn write(shared: Arc<Shared>) -> Result<String, fmt::Error> {
    let cloud = Cloud::of(&shared);
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Scrape { shared, cloud }));
    let mut text = String::new();
    text::encode(&mut text, &registry)?;
    Ok(text)
}

/// One scrape.
struct Scrape {
    shared: Arc<Shared>,
    cloud: Cloud,
}

impl fmt::Debug for Scrape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scrape").field("cloud", &self.cloud).finish_non_exhaustive()
    }
}

impl Collector for Scrape {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut page = Page::on(encoder);
        page.each(
            list::BUILD,
            [(&[("version", env!("CARGO_PKG_VERSION"))] as page::Labels<'_>, 1u64)],
        )?;
        self.http(&mut page)?;
        self.ledger(&mut page)?;
        self.decisions(&mut page)?;
        self.batch(&mut page)?;
        self.bus(&mut page)?;
        self.cloud.write(&mut page)
    }
}

impl Scrape {
    fn http(&self, page: &mut Page<'_>) -> fmt::Result {
        let requests = &self.shared.requests;
        let counts: Vec<_> = requests.counts().collect();
        let counts = counts.iter().map(|(labels, count)| (labels.as_slice(), *count));
        page.each(list::HTTP_REQUESTS, counts)?;
        page.histograms(list::HTTP_SECONDS, "surface", requests.seconds())
    }

    fn ledger(&self, page: &mut Page<'_>) -> fmt::Result {
        let ledger = &self.shared.api.ledger;
        let figures = ledger.figures();
        page.one(list::LEDGER_SEQ, ledger.image().seq())?;
        page.one(list::LEDGER_WRITABLE, ledger.trouble().is_none())?;
        page.one(list::LEDGER_WAITING, ledger.waiting())?;
        page.one(list::LEDGER_MUTATIONS, figures.mutations)?;
        let outcomes = [("committed", figures.commits), ("given_up", figures.given_up)];
        let outcomes = outcomes.map(|(outcome, count)| ([("outcome", outcome)], count));
        page.each(list::LEDGER_COMMITS, outcomes.iter().map(|(labels, n)| (&labels[..], *n)))?;
        page.one(list::LEDGER_COMMIT_SECONDS, figures.time.as_secs_f64())
    }

    fn decisions(&self, page: &mut Page<'_>) -> fmt::Result {
        let tally = self.shared.api.scheduler.tally();
        let outcomes: Vec<_> =
            tally.outcomes().map(|(name, of)| ([("outcome", name)], of)).collect();
        let counts = outcomes.iter().map(|(labels, of)| (&labels[..], of.count));
        page.each(list::DECISIONS, counts)?;
        let seconds = outcomes.iter().map(|(labels, of)| (&labels[..], of.time.as_secs_f64()));
        page.each(list::DECISION_SECONDS, seconds)?;
        page.one(list::DECISION_CONFLICTS, tally.conflicts())
    }

    fn batch(&self, page: &mut Page<'_>) -> fmt::Result {
        let figures = self.shared.api.batch.get();
        page.one(list::BATCH_CYCLES, figures.cycles)?;
        page.one(list::BATCH_SECONDS, figures.time.as_secs_f64())?;
        page.one(list::BATCH_LAST, figures.last.as_secs_f64())?;
        page.one(list::BATCH_BINDS, figures.binds)?;
        page.one(list::BATCH_REFUSALS, figures.refusals)
    }

    fn bus(&self, page: &mut Page<'_>) -> fmt::Result {
        let bus = self.shared.api.bus.as_deref();
        let link = bus.map(|bus| bus.link());
        let is = link.as_deref().map_or("off", Link::name);
        let states = ["off"].into_iter().chain(Link::NAMES);
        let states: Vec<_> = states.map(|name| ([("state", name)], name == is)).collect();
        page.each(list::BUS_STATE, states.iter().map(|(labels, on)| (&labels[..], *on)))?;
        let Some(bus) = bus else { return Ok(()) };
        page.one(list::BUS_IN_FLIGHT, bus.in_flight())?;
        let counts = Counter::ALL.map(|(counter, name)| ([("event", name)], bus.count(counter)));
        page.each(list::BUS_EVENTS, counts.iter().map(|(labels, n)| (&labels[..], *n)))?;
        page.one(list::BUS_KEPT, self.shared.api.ledger.image().calls.len())
    }
}
