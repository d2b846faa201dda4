//! The service: an open ledger, what goes on in the background, and the HTTP
//! door before them.

use super::{background, listen, listen::Bound, loading, networks};
use crate::{clock, database, exit::Fault, follow::Follower};
use anyhow::Context as _;
use arc_swap::ArcSwap;
use std::{net::TcpListener, sync::Arc};
use stowplan_api::ApiState;
use stowplan_batch::CycleFigures;
use stowplan_bus::{Bus, Parts};
use stowplan_cloud::Neutron;
use stowplan_config::Settings;
use stowplan_engine::Engine;
use stowplan_ledger::Ledger;
use stowplan_scheduler::Scheduler;
use tokio::{
    runtime::{Builder, Handle, Runtime},
    sync::mpsc::UnboundedReceiver,
};

/// Threads for what runs in the background, which must not wait for busy HTTP
/// workers.
const BACKGROUND_THREADS: usize = 2;

/// What a running service may be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Answer what is under way and end; a second time: end at once.
    Stop,
    /// Take up options that have changed.
    Reload,
}

/// A service that holds its database and its address, ready to run.
pub struct Service {
    runtime: Runtime,
    ledger: Ledger,
    scheduler: Scheduler,
    settings: Arc<ArcSwap<Settings>>,
    listeners: Vec<TcpListener>,
    url: String,
}

impl Service {
    /// Takes the address, opens the ledger, then opens the address.
    pub fn open(settings: Settings) -> Result<Self, Fault> {
        let unusable =
            |error| Fault::Usage(anyhow::Error::new(error).context("[filter_scheduler]"));
        Engine::new(&settings).map_err(unusable)?;
        let bound = Bound::take(&settings.api)?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(BACKGROUND_THREADS)
            .thread_name("background")
            .enable_all()
            .build()
            .context("cannot start the threads of the background")?;
        let ledger = runtime.block_on(database::open(&settings, &mut loading::Bar::default()))?;
        let settings = Arc::new(ArcSwap::from_pointee(settings));
        let scheduler = runtime
            .block_on(async { Scheduler::new(ledger.clone(), settings.clone()) })
            .context("[filter_scheduler]")?;
        let neutron = Neutron::new(&settings.load().neutron, Arc::new(clock::now));
        let scheduler = match neutron.context("[neutron]")? {
            Some(neutron) => scheduler.with_networks(Arc::new(networks::Asked(neutron))),
            None => scheduler,
        };
        runtime
            .block_on(stowplan_batch::prepare(&ledger, &settings.load(), clock::now()))
            .context("batch jobs")?;
        let listeners = runtime.block_on(async { bound.listen() })?;
        let url = listen::url(&listeners)?;
        Ok(Self { runtime, ledger, scheduler, settings, listeners, url })
    }

    /// Where it is reached.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The runtime of the background.
    pub fn background(&self) -> &Handle {
        self.runtime.handle()
    }

    /// Serves until it is told to stop. `reload` is called for each
    /// [`Order::Reload`] with the options in force, to swap them.
    pub fn run(
        self,
        mut orders: UnboundedReceiver<Order>,
        mut reload: impl FnMut(&ArcSwap<Settings>),
    ) -> Result<(), Fault> {
        let bus = Bus::start(Parts {
            scheduler: self.scheduler.clone(),
            settings: self.settings.clone(),
            clock: Arc::new(clock::now),
            hostname: hostname(),
        })
        .context("cannot start the thread of the message bus")?;
        let cycles = Arc::<CycleFigures>::default();
        let follower =
            self.runtime.block_on(async { Follower::start(&self.scheduler, &self.settings) });
        let state = ApiState {
            ledger: self.ledger.clone(),
            scheduler: self.scheduler.clone(),
            settings: self.settings.clone(),
            clock: Arc::new(clock::now),
            bus: bus.as_ref().map(Bus::status),
            shadow: bus.as_ref().map(Bus::comparisons),
            batch: cycles.clone(),
            nova: follower.as_ref().map(Follower::status),
        };
        let tasks = background::start(
            self.runtime.handle(),
            &self.ledger,
            &self.scheduler,
            &self.settings,
            &cycles,
        );
        let http = Builder::new_current_thread().enable_all().build()?;
        let listeners = self.listeners;
        let served = http.block_on(async {
            let server = stowplan_api::serve(state, listeners)?;
            let handle = server.handle();
            let mut server = std::pin::pin!(server);
            let mut is_stopping = false;
            loop {
                let order = tokio::select! {
                    ended = &mut server => break ended,
                    Some(order) = orders.recv() => order,
                };
                match order {
                    Order::Reload => {
                        reload(&self.settings);
                        self.ledger.set_limits(database::limits(&self.settings.load()));
                    }
                    Order::Stop if is_stopping => break Ok(()),
                    Order::Stop => {
                        // The command is sent by the call; the server ends itself.
                        drop(handle.stop(true));
                        is_stopping = true;
                    }
                }
            }
        });
        self.runtime.block_on(async {
            if let Some(bus) = bus {
                bus.stop().await;
            }
            if let Some(follower) = follower {
                follower.stop().await;
            }
            tasks.stop().await;
            self.scheduler.drain().await;
            self.ledger.close().await;
        });
        served.context("the HTTP server broke off")?;
        Ok(())
    }
}

/// The name of this machine.
fn hostname() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "localhost".to_owned(),
        name => name.to_owned(),
    }
}
