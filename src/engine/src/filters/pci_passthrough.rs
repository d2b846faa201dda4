//! `PciPassthroughFilter`: the host's PCI pools meet the server's requests.

use crate::fault::Fault;
use crate::filter::{Filter, Predicate, Runs, Verdict};
use crate::offers::{Kept, Offers, Survivors};
use crate::pci::{PciNeeds, supports};
use crate::reason::Reason;
use crate::request::RequestCx;
use crate::table::HostIx;
use crate::view::HostView;

/// Keeps the allocation candidates of a host by which its PCI pools meet all
/// requests of the server, and fails hosts of which none is left.
#[derive(Clone, Copy, Debug, Default)]
pub struct PciPassthroughFilter;

impl Filter for PciPassthroughFilter {
    fn name(&self) -> &'static str {
        "PciPassthroughFilter"
    }

    fn runs(&self) -> Runs {
        Runs { once_per_request: false, on_rebuild: false }
    }

    fn prepare(&self, cx: &RequestCx<'_>) -> Result<Option<Box<dyn Predicate>>, Fault> {
        let requests = cx.request.request().pci_requests.as_deref().unwrap_or_default();
        let needs = PciNeeds::read(requests)?;
        Ok(if needs.is_empty() { None } else { Some(Box::new(Devices { needs })) })
    }
}

struct Devices {
    needs: PciNeeds,
}

impl Predicate for Devices {
    fn judge(
        &self,
        view: &dyn HostView,
        host: HostIx,
        offers: &Offers,
        left: &Survivors,
    ) -> Result<Verdict, Fault> {
        let Some(pools) = view.pci_pools(host).filter(|pools| !pools.pools().is_empty()) else {
            return Ok(Verdict::Fail(Reason::NoPciDevices));
        };
        let mut shortage = None;
        let mut candidates = Vec::new();
        for (number, mappings) in offers.standing(left, host) {
            match supports(pools, &self.needs, mappings, None) {
                Ok(()) => candidates.push(number),
                Err(short) => {
                    shortage.get_or_insert(short);
                }
            }
        }
        if !candidates.is_empty() {
            return Ok(Verdict::PassWith(Kept { candidates, ..left.kept_or_all(host) }));
        }
        Ok(Verdict::Fail(match shortage {
            Some(shortage) => Reason::PciDevicesShort(shortage),
            None => Reason::NoCandidateLeft,
        }))
    }
}
