//! The scheduler as everybody above uses it.

use std::sync::Arc;

use arc_swap::ArcSwap;
use stowplan_config::Settings;
use stowplan_engine::Engine;
use stowplan_engine::registry::RegistryError;
use stowplan_ledger::rows::{HostAggregateRow, HostSource, ServerGroupRow, ServiceRow};
use stowplan_ledger::{Change, Image, Ledger, Unavailable, WriteError};
use stowplan_model::host::HostReport;
use stowplan_model::{Micros, Uuid};

use crate::aggregates::{self, AggregateUpdate, Joined, NewAggregate};
use crate::beside::Beside;
use crate::decisions::{self, DecisionLog, DecisionPage, DecisionView};
use crate::error::SchedulerError;
use crate::facts::{self, Said};
use crate::groups::{self, NewGroup};
use crate::hosts::{
    self, Deleted, HostFilter, HostPage, ReportHost, Reported, ServiceKey, ServiceUpdate,
};
use crate::select::{
    self, BusCall, CallAnswer, Confirmed, Destinations, Found, Order, REFUSED, RequestKey, Run,
    SelectRequest, Undone, call_uuid,
};
use crate::snapshot::Snapshot;

/// What comes of a call that writes.
pub type Written<T> = Result<T, WriteError<SchedulerError>>;

/// Options with what is made of them once.
pub struct Prepared {
    /// The options.
    pub settings: Arc<Settings>,
    /// Filters and weighers.
    pub engine: Engine,
}

impl Prepared {
    fn new(settings: Arc<Settings>) -> Result<Self, RegistryError> {
        Ok(Self { engine: Engine::new(&settings)?, settings })
    }
}

/// What a request with a key is answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It was decided now.
    Now(Destinations),
    /// It was answered before: that answer, as it was written.
    Before(String),
}

/// Who asks, and when.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The request's id, under which journal and decisions know the call.
    pub request_id: &'a str,
    /// Now.
    pub now: Micros,
}

/// Hosts, host aggregates, server groups, destinations and decisions on one
/// ledger: cheap to clone.
#[derive(Clone)]
pub struct Scheduler {
    ledger: Ledger,
    settings: Arc<ArcSwap<Settings>>,
    prepared: Arc<ArcSwap<Prepared>>,
    log: DecisionLog,
    beside: Beside,
    seeds: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl Scheduler {
    /// A scheduler on a ledger. Options that are swapped later take effect
    /// with the next call. Starts the task that writes the bodies of decisions
    /// on the current tokio runtime.
    ///
    /// # Errors
    /// A filter or weigher that the options name and that is not there.
    pub fn new(ledger: Ledger, settings: Arc<ArcSwap<Settings>>) -> Result<Self, RegistryError> {
        let prepared = Arc::new(ArcSwap::from_pointee(Prepared::new(settings.load_full())?));
        let options = settings.clone();
        let log = DecisionLog::start(ledger.clone(), move || options.load().decisions.clone());
        Ok(Self { ledger, settings, prepared, log, beside: Beside::new(), seeds: Arc::new(chance) })
    }

    /// The same with seeds from elsewhere, so that decisions can be foreseen.
    #[must_use]
    pub fn with_seeds(self, seeds: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self { seeds: Arc::new(seeds), ..self }
    }

    /// The ledger.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The options in force with the engine that they make. Options that no
    /// engine can be made of are passed over, with an error in the log.
    #[must_use]
    pub fn prepared(&self) -> Arc<Prepared> {
        let settings = self.settings.load_full();
        let prepared = self.prepared.load_full();
        if Arc::ptr_eq(&settings, &prepared.settings) {
            return prepared;
        }
        match Prepared::new(settings) {
            Ok(prepared) => {
                let prepared = Arc::new(prepared);
                self.prepared.store(prepared.clone());
                prepared
            }
            Err(error) => {
                tracing::error!(%error, "the new options are not used");
                prepared
            }
        }
    }

    /// Runs a computation of more than a fraction of a millisecond beside the calling
    /// thread. Decisions run so too: all of these together are no more at once than
    /// there are processors.
    ///
    /// # Errors
    /// When the service is stopping; or when the computation broke off, which is
    /// logged under the id that the error has.
    pub async fn beside<T, F>(&self, work: F) -> Result<T, Unavailable>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        self.beside.run(work).await
    }

    /// Waits until the bodies of all decisions made so far are written.
    pub async fn drain(&self) {
        self.log.drain().await;
    }

    // Hosts.

    /// Takes in what a host reports of itself over REST. It counts as a sign
    /// of life, also when it says nothing new.
    ///
    /// # Errors
    /// As [`hosts::report_host`], or a ledger that cannot write.
    pub async fn report_host(
        &self,
        call: Call<'_>,
        host: &str,
        node: Option<&str>,
        report: HostReport,
        take_over: bool,
    ) -> Written<Reported> {
        self.report_host_from(HostSource::Rest, call, host, node, report, take_over).await
    }

    /// The same, whatever brings the report.
    ///
    /// # Errors
    /// As [`Scheduler::report_host`].
    pub async fn report_host_from(
        &self,
        source: HostSource,
        call: Call<'_>,
        host: &str,
        node: Option<&str>,
        report: HostReport,
        take_over: bool,
    ) -> Written<Reported> {
        let default_max_tasks = i64::from(self.settings.load().batch.default_max_tasks);
        let seen = report.service.last_seen_up.unwrap_or(call.now);
        let report = ReportHost {
            host: host.to_owned(),
            node: node.map(str::to_owned),
            source,
            report,
            take_over,
            default_max_tasks,
        };
        let now = call.now;
        let propose = move |image: &Image| hosts::report_host(image, &report, now);
        let reported = self.ledger.write(call.request_id, propose).await?;
        self.ledger.heard(vec![host.to_owned()], seen)?;
        Ok(reported)
    }

    /// Takes a host out.
    ///
    /// # Errors
    /// As [`hosts::delete_host`], or a ledger that cannot write.
    pub async fn delete_host(
        &self,
        call: Call<'_>,
        host: &str,
        node: Option<&str>,
    ) -> Written<Deleted> {
        let (host, node) = (host.to_owned(), node.map(str::to_owned));
        let now = call.now;
        self.write(call, move |image| hosts::delete_host(image, &host, node.as_deref(), now)).await
    }

    /// Changes a service as an operator says.
    ///
    /// # Errors
    /// As [`hosts::update_service`], or a ledger that cannot write.
    pub async fn update_service(
        &self,
        call: Call<'_>,
        key: ServiceKey,
        update: ServiceUpdate,
    ) -> Written<ServiceRow> {
        let now = call.now;
        self.write(call, move |image| hosts::update_service(image, &key, &update, now)).await
    }

    /// Takes a service out, and with a nova-compute its host.
    ///
    /// # Errors
    /// As [`hosts::delete_service`], or a ledger that cannot write.
    pub async fn delete_service(&self, call: Call<'_>, key: ServiceKey) -> Written<ServiceRow> {
        let now = call.now;
        self.write(call, move |image| hosts::delete_service(image, &key, now)).await
    }

    /// A page of hosts.
    ///
    /// # Errors
    /// As [`hosts::list`].
    pub fn list_hosts(
        &self,
        image: &Image,
        filter: &HostFilter,
        marker: Option<Uuid>,
        limit: usize,
        now: Micros,
    ) -> Result<HostPage, SchedulerError> {
        let prepared = self.prepared();
        let zone = &prepared.settings.default.default_availability_zone;
        hosts::list(image, filter, marker, limit, prepared.engine.config(), zone, now)
    }

    /// Notes signs of life of many hosts. Gives the names that no host bears.
    ///
    /// # Errors
    /// A ledger that is closing, or in which too much waits.
    pub fn heartbeat(&self, hosts: Vec<String>, now: Micros) -> Result<Vec<String>, Unavailable> {
        let unknown = hosts::unknown(&self.ledger.image(), &hosts);
        self.ledger.heard(hosts, now)?;
        Ok(unknown)
    }

    // Host aggregates.

    /// Makes a host aggregate.
    ///
    /// # Errors
    /// As [`aggregates::create_aggregate`], or a ledger that cannot write.
    pub async fn create_aggregate(
        &self,
        call: Call<'_>,
        new: NewAggregate,
    ) -> Written<HostAggregateRow> {
        let (uuid, now) = (Uuid::new_v4(), call.now);
        let propose = move |image: &Image| aggregates::create_aggregate(image, uuid, &new, now);
        self.write(call, propose).await
    }

    /// Renames a host aggregate or changes its metadata.
    ///
    /// # Errors
    /// As [`aggregates::update_aggregate`], or a ledger that cannot write.
    pub async fn update_aggregate(
        &self,
        call: Call<'_>,
        key: &str,
        update: AggregateUpdate,
    ) -> Written<HostAggregateRow> {
        let (key, now) = (key.to_owned(), call.now);
        let propose = move |image: &Image| aggregates::update_aggregate(image, &key, &update, now);
        self.write(call, propose).await
    }

    /// Deletes a host aggregate.
    ///
    /// # Errors
    /// As [`aggregates::delete_aggregate`], or a ledger that cannot write.
    pub async fn delete_aggregate(&self, call: Call<'_>, key: &str) -> Written<()> {
        let key = key.to_owned();
        self.write(call, move |image| aggregates::delete_aggregate(image, &key)).await
    }

    /// Adds a host to an aggregate.
    ///
    /// # Errors
    /// As [`aggregates::add_host`], or a ledger that cannot write.
    pub async fn add_to_aggregate(&self, call: Call<'_>, key: &str, host: &str) -> Written<Joined> {
        let (key, host, now) = (key.to_owned(), host.to_owned(), call.now);
        self.write(call, move |image| aggregates::add_host(image, &key, &host, now)).await
    }

    /// Adds a host that is known to an aggregate that it is not in.
    ///
    /// # Errors
    /// As [`aggregates::add_known_host`], or a ledger that cannot write.
    pub async fn add_known_to_aggregate(
        &self,
        call: Call<'_>,
        key: &str,
        host: &str,
    ) -> Written<HostAggregateRow> {
        let (key, host, now) = (key.to_owned(), host.to_owned(), call.now);
        self.write(call, move |image| aggregates::add_known_host(image, &key, &host, now)).await
    }

    /// Takes a host out of an aggregate.
    ///
    /// # Errors
    /// As [`aggregates::remove_host`], or a ledger that cannot write.
    pub async fn remove_from_aggregate(
        &self,
        call: Call<'_>,
        key: &str,
        host: &str,
    ) -> Written<HostAggregateRow> {
        let (key, host, now) = (key.to_owned(), host.to_owned(), call.now);
        self.write(call, move |image| aggregates::remove_host(image, &key, &host, now)).await
    }

    // Server groups.

    /// Makes a server group.
    ///
    /// # Errors
    /// As [`groups::create_group`], or a ledger that cannot write.
    pub async fn create_group(&self, call: Call<'_>, new: NewGroup) -> Written<ServerGroupRow> {
        let (uuid, now) = (Uuid::new_v4(), call.now);
        self.write(call, move |image| groups::create_group(image, uuid, &new, now)).await
    }

    /// Makes a server group if its project may have another one (`[quota]
    /// server_groups`).
    ///
    /// # Errors
    /// As [`groups::create_group_within`], or a ledger that cannot write.
    pub async fn create_group_within(
        &self,
        call: Call<'_>,
        new: NewGroup,
    ) -> Written<ServerGroupRow> {
        let (uuid, now) = (Uuid::new_v4(), call.now);
        let limit = self.settings.load().quota.server_groups;
        let propose =
            move |image: &Image| groups::create_group_within(image, uuid, &new, limit, now);
        self.write(call, propose).await
    }

    /// Deletes a server group.
    ///
    /// # Errors
    /// As [`groups::delete_group`], or a ledger that cannot write.
    pub async fn delete_group(&self, call: Call<'_>, key: &str) -> Written<()> {
        let key = key.to_owned();
        self.write(call, move |image| groups::delete_group(image, &key)).await
    }

    /// Takes a server out of a group.
    ///
    /// # Errors
    /// As [`groups::leave`], or a ledger that cannot write.
    pub async fn leave_group(
        &self,
        call: Call<'_>,
        key: &str,
        server: Uuid,
    ) -> Written<ServerGroupRow> {
        let (key, now) = (key.to_owned(), call.now);
        self.write(call, move |image| groups::leave(image, &key, server, now)).await
    }

    // Destinations.

    /// Finds destinations for the servers of a request and claims them.
    /// `caller` are the project and user of a request that names none.
    ///
    /// # Errors
    /// Fields that cannot be, no valid host, a request that cannot be judged,
    /// or a ledger that cannot write.
    pub async fn select_destinations(
        &self,
        call: Call<'_>,
        asked: SelectRequest,
        caller: (&str, &str),
    ) -> Written<Destinations> {
        let order = Order::check(asked, caller, (self.seeds)()).map_err(WriteError::Refused)?;
        match self.run(call, order, None).go().await? {
            Found::Now(destinations) => Ok(destinations),
            // Only calls of the bus and requests with a key are answered twice.
            Found::Before(_) | Found::Kept(_) => Err(Unavailable::Closing.into()),
        }
    }

    /// The same for a request with a key of its sender's, who is `caller`: it is
    /// answered once, and whoever sends the same under the same key again gets the
    /// same answer for `[api] idempotency_key_lifetime`.
    ///
    /// # Errors
    /// As [`Scheduler::select_destinations`], or a key that was used for another
    /// request.
    pub async fn select_destinations_once(
        &self,
        call: Call<'_>,
        asked: SelectRequest,
        caller: (&str, &str),
        key: &str,
    ) -> Written<Answer> {
        let key = RequestKey::new(key, caller, &asked, self.oldest_key(call.now));
        let key = Arc::new(key.map_err(WriteError::Refused)?);
        let order = Order::check(asked, caller, (self.seeds)()).map_err(WriteError::Refused)?;
        let run = Run { key: Some(key), ..self.run(call, order, None) };
        let kept = match run.go().await? {
            Found::Now(destinations) => return Ok(Answer::Now(destinations)),
            Found::Kept(kept) => kept,
            Found::Before(_) => return Err(Unavailable::Closing.into()),
        };
        // What is forgotten in this very moment is to be asked for again.
        let answer = self.ledger.request_answer(kept).await?.ok_or(Unavailable::Closing)?;
        if answer.status == REFUSED {
            let refusal = serde_json::from_str(&answer.body).map_err(|e| Unavailable::fault(&e))?;
            return Err(WriteError::Refused(SchedulerError::NoValidHost(refusal)));
        }
        Ok(Answer::Before(answer.body))
    }

    /// Forgets keys of requests that were used longer ago than `[api]
    /// idempotency_key_lifetime`. Gives how many there were.
    ///
    /// # Errors
    /// A ledger that cannot write.
    pub async fn forget_request_keys(&self, call: Call<'_>) -> Written<usize> {
        let oldest = self.oldest_key(call.now);
        if self.ledger.image().request_keys.iter().next().is_none_or(|row| row.created >= oldest) {
            return Ok(0);
        }
        self.write(call, move |image| Ok(select::forget_keys(image, oldest))).await
    }

    /// When the oldest keys were used that are not forgotten.
    fn oldest_key(&self, now: Micros) -> Micros {
        let lifetime = self.settings.load().api.idempotency_key_lifetime.as_micros();
        Micros(now.0.saturating_sub(i64::try_from(lifetime).unwrap_or(i64::MAX)))
    }

    fn run<'a>(&'a self, call: Call<'a>, order: Order, bus: Option<Arc<BusCall>>) -> Run<'a> {
        let prepared = self.prepared();
        let kept = prepared.settings.decisions.max_rows > 0;
        Run {
            ledger: &self.ledger,
            log: &self.log,
            beside: &self.beside,
            prepared,
            order: Arc::new(order),
            request_id: call.request_id,
            now: call.now,
            decision: kept.then(Uuid::now_v7),
            call: bus,
            key: None,
        }
    }

    /// Finds destinations for a call over the message bus, and claims them. The
    /// answer is kept with the claim; a call that was answered before gets the
    /// same answer. As the peer, this passes over a zone that no host aggregate
    /// has.
    ///
    /// # Errors
    /// As [`Scheduler::select_destinations`].
    pub async fn answer_call(
        &self,
        call: Call<'_>,
        asked: SelectRequest,
        caller: (&str, &str),
        bus: BusCall,
    ) -> Written<CallAnswer> {
        let mut order = Order::check(asked, caller, (self.seeds)()).map_err(WriteError::Refused)?;
        order.zone_must_exist = false;
        let (bus, claims) = (Arc::new(bus), !order.dry_run);
        match self.run(call, order, Some(bus.clone())).go().await? {
            Found::Now(destinations) => Ok(CallAnswer {
                answer: (bus.write)(&destinations.selections),
                kept: claims.then(|| call_uuid(&bus.msg_id)),
                repeated: false,
            }),
            Found::Before(row) => {
                Ok(CallAnswer { answer: row.answer.clone(), kept: Some(row.uuid), repeated: true })
            }
            // Calls of the bus have no key.
            Found::Kept(_) => Err(Unavailable::Closing.into()),
        }
    }

    /// Notes that the broker took the answers of these calls.
    ///
    /// # Errors
    /// A ledger that cannot write.
    pub async fn calls_delivered(&self, calls: Vec<Uuid>, now: Micros) -> Written<()> {
        let propose = move |image: &Image| Ok((select::delivered(image, &calls, now), ()));
        self.ledger.write("bus", propose).await
    }

    /// Takes back what a call claimed whose answer reaches nobody.
    ///
    /// # Errors
    /// As [`select::undo_call`], or a ledger that cannot write.
    pub async fn undo_call(&self, call: Call<'_>, uuid: Uuid) -> Written<Undone> {
        let now = call.now;
        self.write(call, move |image| select::undo_call(image, uuid, now)).await
    }

    /// Forgets delivered calls: those older than `oldest`, and the oldest of more
    /// than `most`.
    ///
    /// # Errors
    /// A ledger that cannot write.
    pub async fn forget_calls(&self, oldest: Micros, most: usize) -> Written<()> {
        let propose = move |image: &Image| Ok((select::forget(image, oldest, most), ()));
        self.ledger.write("bus", propose).await
    }

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

    /// The cloud as it is now, to be written to a file.
    #[must_use]
    pub fn snapshot(&self, now: Micros) -> Snapshot {
        Snapshot::of(&self.ledger.image(), &self.prepared().settings, now)
    }

    /// A decision with its explanation.
    ///
    /// # Errors
    /// When there is none of that id, or the database does not answer.
    pub async fn decision(&self, id: &str) -> Written<DecisionView> {
        let not_found = || WriteError::Refused(SchedulerError::DecisionNotFound(id.to_owned()));
        let uuid = Uuid::parse_str(id).map_err(|_| not_found())?;
        let stored = self.ledger.decision(uuid).await?.ok_or_else(not_found)?;
        Ok(DecisionView::of(stored))
    }

    /// Confirms the claims of a decision, so that they do not run out (`[scheduler]
    /// claim_lease`).
    ///
    /// # Errors
    /// When there is no decision of that id or it claimed nothing, or a ledger that
    /// cannot write.
    pub async fn confirm(&self, call: Call<'_>, id: &str) -> Written<Confirmed> {
        let not_found = || WriteError::Refused(SchedulerError::DecisionNotFound(id.to_owned()));
        let decision = Uuid::parse_str(id).map_err(|_| not_found())?;
        let header = self.ledger.decision(decision).await?.ok_or_else(not_found)?.header;
        if header.outcome != "placed" {
            let outcome = header.outcome;
            return Err(WriteError::Refused(SchedulerError::NothingClaimed { decision, outcome }));
        }
        let servers = decisions::servers_of(&header.header);
        self.write(call, move |image| Ok(select::confirm(image, decision, &servers))).await
    }

    /// Releases claims that were not confirmed in time. Gives the servers.
    ///
    /// # Errors
    /// A ledger that cannot write.
    pub async fn expire_claims(&self, call: Call<'_>) -> Written<Vec<Uuid>> {
        let now = call.now;
        if self.ledger.image().consumers.leased().next().is_none_or(|(until, _)| until > now) {
            return Ok(Vec::new());
        }
        self.write(call, move |image| select::expire(image, now)).await
    }

    /// Decisions, the newest first; of one request if it is named.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn decisions(
        &self,
        request_id: Option<&str>,
        limit: u64,
    ) -> Result<DecisionPage, Unavailable> {
        let stored = self.ledger.decisions(request_id, limit).await?;
        Ok(DecisionPage { decisions: stored.into_iter().map(DecisionView::of_header).collect() })
    }

    async fn write<T, F>(&self, call: Call<'_>, propose: F) -> Written<T>
    where
        T: Send + 'static,
        F: FnMut(&Image) -> Result<(Change, T), SchedulerError> + Send + 'static,
    {
        self.ledger.write(call.request_id, propose).await
    }
}

/// A seed by chance, small enough for every reader of JSON.
fn chance() -> u64 {
    const BITS: u32 = 53;
    let (high, low) = Uuid::new_v4().as_u64_pair();
    (high ^ low.rotate_left(32)) >> (u64::BITS - BITS)
}
