//! `IsolatedHostsFilter`: isolated images on isolated hosts.

use crate::exact_names::ExactNames;
use crate::fault::Fault;
use crate::filter::{Filter, Predicate, Runs, Verdict};
use crate::offers::{Offers, Survivors};
use crate::reason::Reason;
use crate::request::RequestCx;
use crate::table::HostIx;
use crate::view::HostView;

/// Keeps images of `isolated_images` on hosts of `isolated_hosts`, and with
/// `restrict_isolated_hosts_to_isolated_images` other images off them. Names
/// are compared as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct IsolatedHostsFilter;

impl Filter for IsolatedHostsFilter {
    fn name(&self) -> &'static str {
        "IsolatedHostsFilter"
    }

    fn runs(&self) -> Runs {
        Runs { once_per_request: true, on_rebuild: true }
    }

    fn prepare(&self, cx: &RequestCx<'_>) -> Result<Option<Box<dyn Predicate>>, Fault> {
        let scheduler = &cx.config.scheduler;
        let restricted = scheduler.restrict_isolated_hosts_to_isolated_images;
        let image = cx.request.request().image.as_ref().and_then(|image| image.id.as_ref());
        let isolated = image.is_some_and(|id| scheduler.isolated_images.contains(id));
        // Without isolated images every image is an ordinary one.
        let side = match (isolated, restricted) {
            (true, _) => Side::IsolatedOnly { image: image.cloned().unwrap_or_default() },
            (false, true) => Side::OthersOnly,
            (false, false) => return Ok(None),
        };
        let hosts = ExactNames::new(&scheduler.isolated_hosts);
        Ok(Some(Box::new(Isolation { hosts, side })))
    }
}

/// Which hosts a request may go to.
enum Side {
    IsolatedOnly { image: String },
    OthersOnly,
}

struct Isolation {
    /// Isolated hosts.
    hosts: ExactNames,
    side: Side,
}

impl Predicate for Isolation {
    fn judge(
        &self,
        view: &dyn HostView,
        host: HostIx,
        _offers: &Offers,
        _left: &Survivors,
    ) -> Result<Verdict, Fault> {
        Ok(match (&self.side, self.hosts.has(view, host)) {
            (Side::IsolatedOnly { .. }, true) | (Side::OthersOnly, false) => Verdict::Pass,
            (Side::IsolatedOnly { image }, false) => {
                Verdict::Fail(Reason::NotIsolated { image: image.clone() })
            }
            (Side::OthersOnly, true) => Verdict::Fail(Reason::Isolated),
        })
    }

    fn narrow(
        &self,
        view: &dyn HostView,
        _offers: &Offers,
        left: &mut Survivors,
    ) -> Result<(), Fault> {
        let isolated = self.hosts.hosts(view);
        match self.side {
            Side::IsolatedOnly { .. } => left.hosts.intersect(&isolated),
            Side::OthersOnly => left.hosts.subtract(&isolated),
        }
        Ok(())
    }
}
