//! `AllHostsFilter`: passes every host.

use crate::fault::Fault;
use crate::filter::{Filter, Predicate, Runs};
use crate::request::RequestCx;

/// Passes every host, as its name says.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllHostsFilter;

impl Filter for AllHostsFilter {
    fn name(&self) -> &'static str {
        "AllHostsFilter"
    }

    fn runs(&self) -> Runs {
        Runs { once_per_request: true, on_rebuild: false }
    }

    fn prepare(&self, _cx: &RequestCx<'_>) -> Result<Option<Box<dyn Predicate>>, Fault> {
        Ok(None)
    }
}
