//! `NUMATopologyFilter`: the server's NUMA cells fit onto those of the host.

use stowplan_model::request::{NetworkMetadata, ScheduleRequest};
use stowplan_model::request_devices::RequestNuma;

use crate::fault::Fault;
use crate::filter::{Filter, Predicate, Runs, Verdict};
use crate::numa::{HostSide, NumaNeeds, Terms};
use crate::offers::{Kept, Offers, Survivors};
use crate::pci::PciNeeds;
use crate::reason::Reason;
use crate::request::{CheckedRequest, RequestCx};
use crate::table::HostIx;
use crate::view::HostView;

/// Keeps the allocation candidates of a host with which the server's NUMA cells
/// fit onto its own, and fails hosts of which none is left. Shared CPUs and
/// memory stay within the host's allocation ratios. Also fails hosts without
/// second threads for servers whose pinned CPUs must lie on threads of one core.
#[derive(Clone, Copy, Debug, Default)]
pub struct NumaTopologyFilter;

impl Filter for NumaTopologyFilter {
    fn name(&self) -> &'static str {
        "NUMATopologyFilter"
    }

    fn runs(&self) -> Runs {
        Runs { once_per_request: false, on_rebuild: false }
    }

    fn prepare(&self, cx: &RequestCx<'_>) -> Result<Option<Box<dyn Predicate>>, Fault> {
        let request = cx.request.request();
        let topology = request.numa_topology.as_ref().filter(|numa| !numa.cells.is_empty());
        let threads = needs_threads(cx.request);
        if topology.is_none() && !threads {
            return Ok(None);
        }
        let wanted = topology
            .map(|topology| Wanted::read(topology, request, cx.config.pack_numa_cells))
            .transpose()?;
        Ok(Some(Box::new(Topology { threads, wanted })))
    }
}

/// Whether flavor or image want pinned CPUs on threads of one core.
fn needs_threads(request: &CheckedRequest) -> bool {
    let specs = &request.request().flavor.extra_specs;
    let says = |spec: &str, property: &str, word: &str| {
        let image = request.image().and_then(|image| image.text(property));
        specs.get(spec) == Some(word) || image == Some(word)
    };
    says("hw:cpu_policy", "hw_cpu_policy", "dedicated")
        && says("hw:cpu_thread_policy", "hw_cpu_thread_policy", "require")
}

/// What is wanted of a host's cells.
struct Wanted {
    needs: NumaNeeds,
    pci: PciNeeds,
    network: Option<NetworkMetadata>,
    pack: bool,
}

impl Wanted {
    fn read(topology: &RequestNuma, request: &ScheduleRequest, pack: bool) -> Result<Self, Fault> {
        Ok(Self {
            needs: NumaNeeds::read(topology)?,
            pci: PciNeeds::read(request.pci_requests.as_deref().unwrap_or_default())?,
            network: request.network_metadata.clone(),
            pack,
        })
    }

    fn terms(&self) -> Terms<'_> {
        Terms {
            needs: &self.needs,
            pci: &self.pci,
            network: self.network.as_ref(),
            pack: self.pack,
        }
    }
}

struct Topology {
    threads: bool,
    wanted: Option<Wanted>,
}

impl Predicate for Topology {
    fn judge(
        &self,
        view: &dyn HostView,
        host: HostIx,
        offers: &Offers,
        left: &Survivors,
    ) -> Result<Verdict, Fault> {
        let numa = view.numa(host).filter(|numa| !numa.cells.is_empty());
        let has_threads = numa.is_none_or(|numa| {
            numa.cells.iter().flat_map(|cell| &cell.siblings).any(|core| core.len() > 1)
        });
        if self.threads && !has_threads {
            return Ok(Verdict::Fail(Reason::NoThreads));
        }
        let Some(wanted) = &self.wanted else {
            return Ok(Verdict::Pass);
        };
        let Some(side) = numa.and_then(|_| HostSide::of(view, host, true)) else {
            return Ok(Verdict::Fail(Reason::NumaUnknown));
        };
        let mut search = side.search(wanted.terms());
        let mut misfit = None;
        let mut candidates = Vec::new();
        for (number, mappings) in offers.standing(left, host) {
            match search.fit(mappings) {
                Ok(_) => candidates.push(number),
                Err(found) => {
                    misfit.get_or_insert(found);
                }
            }
        }
        if !candidates.is_empty() {
            return Ok(Verdict::PassWith(Kept { candidates, numa_limits: true }));
        }
        Ok(Verdict::Fail(match misfit {
            Some(misfit) => Reason::NumaMisfit(misfit),
            None => Reason::NoCandidateLeft,
        }))
    }
}
