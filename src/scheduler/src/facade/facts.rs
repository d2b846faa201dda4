//! What other services tell.

use stowplan_ledger::Image;
use stowplan_ledger::rows::HostSource;
use stowplan_model::Micros;
use stowplan_model::host::HostReport;

use super::{Call, Scheduler, Written};
use crate::facts::{self, Said};
use crate::hosts::{self, ReportHost};

impl Scheduler {
    /// Takes up what another service tells. A host that only the Placement API
    /// knows so far becomes a host of ours.
    ///
    /// # Errors
    /// As [`facts::learn`], or a ledger that cannot write.
    pub async fn learn(&self, call: Call<'_>, said: Said) -> Written<bool> {
        if let Some(place) = said.fact.place() {
            self.meet(call, place).await?;
        }
        let now = call.now;
        self.write(call, move |image| facts::learn(image, &said, now)).await
    }

    /// Makes a host of a root provider that bears the name of its node.
    async fn meet(&self, call: Call<'_>, place: facts::Place) -> Written<()> {
        let image = self.ledger.image();
        let node = place.node.unwrap_or_else(|| place.host.clone());
        let is_root = image
            .providers
            .find_name(&node)
            .and_then(|at| image.providers.get(at))
            .is_some_and(|provider| provider.parent.is_none());
        if !is_root || image.hosts.nodes_of(&place.host).next().is_some() {
            return Ok(());
        }
        let report = ReportHost {
            host: place.host,
            node: Some(node),
            source: HostSource::Bus,
            report: HostReport::default(),
            take_over: false,
            as_of: None,
            default_max_tasks: i64::from(self.settings.load().batch.default_max_tasks),
        };
        let now = call.now;
        self.write(call, move |image| hosts::report_host(image, &report, now)).await.map(drop)
    }

    /// Forgets how new knowledge from before `oldest` is.
    ///
    /// # Errors
    /// A ledger that cannot write.
    pub async fn forget_stamps(&self, oldest: Micros) -> Written<()> {
        let propose = move |image: &Image| Ok((facts::forget(image, oldest), ()));
        self.ledger.write("bus", propose).await
    }
}
