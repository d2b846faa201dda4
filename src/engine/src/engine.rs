//! The pipeline: preselection, filters, weighers, choice.

use rand_chacha::ChaCha8Rng;
use stowplan_config::Settings;
use stowplan_model::Micros;

use crate::chain::{self, FilterRun, Round};
use crate::choose::{Chosen, choose, choose_first};
use crate::config::EngineConfig;
use crate::explain::{Detail, Explanation, explain};
use crate::fault::StageFault;
use crate::filter::Filter;
use crate::hint::HintTrace;
use crate::offers::Offers;
use crate::preselect::Preselection;
use crate::registry::{self, RegistryError};
use crate::request::{CheckedRequest, RequestCx};
use crate::table::HostIx;
use crate::view::HostView;
use crate::weigh::{WeighPlan, Weighed};
use crate::weigher::Weigher;

/// Filters and weighers as configured, ready for any number of requests.
pub struct Engine {
    config: EngineConfig,
    filters: Vec<Box<dyn Filter>>,
    weighers: Vec<Box<dyn Weigher>>,
}

/// What is asked of the engine for one server of a request.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    /// The hosts, as they are after the servers before this one.
    pub view: &'a dyn HostView,
    /// The request, turned to this server.
    pub request: &'a CheckedRequest,
    /// The present.
    pub now: Micros,
    /// Place of the server in its request, 0 for the first.
    pub index: usize,
    /// Hosts to choose from, in the order in which equal weights keep them.
    pub hosts: &'a [HostIx],
    /// Their allocation candidates, as far as filters look at them.
    pub offers: &'a Offers,
}

/// What filters and weighers said of one server.
pub struct Evaluation {
    /// What the request's own lists of hosts left.
    pub preselection: Preselection,
    /// What became of the request's hint; `None` when it has none.
    pub hint: Option<HintTrace>,
    /// What each filter did.
    pub filters: FilterRun,
    /// The survivors with their weights, in the order of [`Ask::hosts`].
    pub weighed: Weighed,
    /// The weighers made ready; `None` when no host was left to weigh.
    pub(crate) plan: Option<WeighPlan>,
    /// The host that a hint leads to, whatever the weights.
    pub(crate) first: Option<HostIx>,
}

impl Engine {
    /// The filters and weighers that the settings name.
    ///
    /// # Errors
    /// A name that no filter or weigher has.
    pub fn new(settings: &Settings) -> Result<Self, RegistryError> {
        let config = EngineConfig::from(settings);
        Ok(Self {
            filters: registry::enabled_filters(&config.scheduler)?,
            weighers: registry::weighers(&config.scheduler.weight_classes)?,
            config,
        })
    }

    /// The same with other filters.
    pub(crate) fn filtering_by(self, filters: Vec<Box<dyn Filter>>) -> Self {
        Self { filters, ..self }
    }

    /// The settings in force.
    #[must_use]
    pub const fn config(&self) -> &EngineConfig {
        &self.config
    }

    /// The filters in their order: a batch session prepares them itself.
    #[must_use]
    pub fn filters(&self) -> &[Box<dyn Filter>] {
        &self.filters
    }

    /// The weighers in their order.
    #[must_use]
    pub fn weighers(&self) -> &[Box<dyn Weigher>] {
        &self.weighers
    }

    /// Filters and weighs hosts for one server.
    ///
    /// # Errors
    /// A filter or weigher that cannot judge: the request fails as a whole.
    pub fn evaluate(&self, ask: &Ask<'_>) -> Result<Evaluation, StageFault> {
        self.evaluate_hinted(ask, None)
    }

    /// Filters and weighs what the lists of a request left.
    pub(crate) fn evaluate_left(
        &self,
        ask: &Ask<'_>,
        preselection: Preselection,
    ) -> Result<Evaluation, StageFault> {
        let cx =
            RequestCx { request: ask.request, config: &self.config, now: ask.now, view: ask.view };
        let round = Round { index: ask.index, forced: preselection.filters_skipped, without: None };
        let hosts = preselection.hosts.iter().copied().collect();
        let filters = chain::run(&self.filters, &cx, round, ask.offers, hosts)?;
        let survivors = survivors(&preselection.hosts, &filters);
        let (plan, weighed) = self.weigh(&cx, survivors)?;
        Ok(Evaluation { preselection, hint: None, filters, weighed, plan, first: None })
    }

    fn weigh(
        &self,
        cx: &RequestCx<'_>,
        hosts: Vec<HostIx>,
    ) -> Result<(Option<WeighPlan>, Weighed), StageFault> {
        if hosts.is_empty() {
            return Ok((None, Weighed::default()));
        }
        let plan = WeighPlan::prepare(&self.weighers, cx)?;
        let weighed = plan.weigh(cx.view, hosts)?;
        Ok((Some(plan), weighed))
    }

    /// The hosts in the order in which they are to be tried.
    #[must_use]
    pub fn choose(&self, evaluation: &Evaluation, rng: &mut ChaCha8Rng) -> Chosen {
        match evaluation.first {
            Some(first) => choose_first(&evaluation.weighed, first),
            None => choose(&evaluation.weighed, &self.config, rng),
        }
    }

    /// Why each host passed, failed or weighs what it does. Ask before the
    /// view changes.
    #[must_use]
    pub fn explain(&self, ask: &Ask<'_>, evaluation: &Evaluation, detail: Detail) -> Explanation {
        let weighed = &evaluation.weighed;
        let all = detail.weights >= weighed.hosts.len();
        let best = if all { weighed.ranking() } else { weighed.best(detail.weights) };
        explain(ask, evaluation, &self.config, detail, best)
    }
}

/// The hosts that all filters left, in the order given.
fn survivors(hosts: &[HostIx], filters: &FilterRun) -> Vec<HostIx> {
    let left = &filters.left.hosts;
    if filters.eliminations().all(|(_, eliminated)| eliminated.is_empty()) {
        return hosts.to_vec();
    }
    hosts.iter().copied().filter(|host| left.contains(*host)).collect()
}
