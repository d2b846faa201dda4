//! The traits of filters.
//!
//! A filter is prepared once per request into a predicate. The predicate says
//! which hosts pass; it neither counts nor explains, the runner does.

use crate::fault::Fault;
use crate::finding::Finding;
use crate::offers::{Kept, Offers, Survivors};
use crate::reason::Reason;
use crate::request::RequestCx;
use crate::table::HostIx;
use crate::view::HostView;

/// When a filter runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runs {
    /// Skipped for the second and later server of one request: its answer
    /// cannot change, and the list of hosts is already reduced by it.
    pub once_per_request: bool,
    /// Runs for rebuilds too; all other filters then pass every host.
    pub on_rebuild: bool,
}

/// A filter by name: knows when it runs and how to prepare itself.
pub trait Filter: Send + Sync {
    /// Its name in `[filter_scheduler] enabled_filters`.
    fn name(&self) -> &'static str;

    /// When it runs.
    fn runs(&self) -> Runs;

    /// Reads the request once. `None` when there is nothing to say about it:
    /// every host passes.
    ///
    /// # Errors
    /// A request that cannot be judged; it fails as a whole.
    fn prepare(&self, cx: &RequestCx<'_>) -> Result<Option<Box<dyn Predicate>>, Fault>;
}

/// A filter made ready for one request.
pub trait Predicate: Send + Sync {
    /// Judges one host. `left` holds what earlier filters kept of its
    /// candidates.
    ///
    /// # Errors
    /// A host's data or the request cannot be judged; the request fails.
    fn judge(
        &self,
        view: &dyn HostView,
        host: HostIx,
        offers: &Offers,
        left: &Survivors,
    ) -> Result<Verdict, Fault>;

    /// Narrows the survivors to those that pass. Judges one after the other
    /// unless a filter does better over whole columns; both must agree.
    ///
    /// # Errors
    /// As [`Predicate::judge`].
    fn narrow(
        &self,
        view: &dyn HostView,
        offers: &Offers,
        left: &mut Survivors,
    ) -> Result<(), Fault> {
        let hosts: Vec<HostIx> = left.hosts.iter().collect();
        for host in hosts {
            match self.judge(view, host, offers, left)? {
                Verdict::Pass => {}
                Verdict::PassWith(kept) => left.keep(host, kept),
                Verdict::Fail(_) => left.hosts.remove(host),
            }
        }
        Ok(())
    }

    /// What of the settings or of host aggregates could not be used.
    fn findings(&self) -> Vec<Finding> {
        Vec::new()
    }
}

/// What a predicate says of one host.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It passes.
    Pass,
    /// It passes with only some of its allocation candidates.
    PassWith(Kept),
    /// It fails, and why.
    Fail(Reason),
}

impl Verdict {
    /// Whether the host passes.
    #[must_use]
    pub const fn passes(&self) -> bool {
        matches!(self, Self::Pass | Self::PassWith(_))
    }
}
