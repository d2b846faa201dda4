//! `DifferentHostFilter` and `SameHostFilter`: away from, or beside, servers
//! that a hint names.

use stowplan_model::Uuid;

use crate::fault::Fault;
use crate::filter::{Filter, Predicate, Runs, Verdict};
use crate::offers::{Offers, Survivors};
use crate::reason::Reason;
use crate::request::RequestCx;
use crate::set::HostSet;
use crate::table::HostIx;
use crate::view::HostView;

/// A filter on the servers that a hint names.
#[derive(Clone, Copy, Debug)]
pub struct ServersByHint {
    name: &'static str,
    hint: &'static str,
    /// Whether one of them must be on the host, or none may be.
    beside: bool,
}

/// `DifferentHostFilter`: none of the servers of hint `different_host` is on
/// the host.
pub const DIFFERENT_HOST: ServersByHint =
    ServersByHint { name: "DifferentHostFilter", hint: "different_host", beside: false };

/// `SameHostFilter`: one of the servers of hint `same_host` is on the host.
pub const SAME_HOST: ServersByHint =
    ServersByHint { name: "SameHostFilter", hint: "same_host", beside: true };

impl Filter for ServersByHint {
    fn name(&self) -> &'static str {
        self.name
    }

    fn runs(&self) -> Runs {
        Runs { once_per_request: true, on_rebuild: false }
    }

    fn prepare(&self, cx: &RequestCx<'_>) -> Result<Option<Box<dyn Predicate>>, Fault> {
        let named = cx.request.request().hint(self.hint);
        if named.iter().all(String::is_empty) && named.len() < 2 {
            return Ok(None);
        }
        let servers = named.iter().filter_map(|text| as_written(text)).collect();
        Ok(Some(Box::new(Near { hint: self.hint, servers, beside: self.beside })))
    }
}

/// A uuid in the form in which servers are known; texts of any other form are
/// nobody's.
fn as_written(text: &str) -> Option<Uuid> {
    let uuid: Uuid = text.parse().ok()?;
    (uuid.to_string() == text).then_some(uuid)
}

struct Near {
    hint: &'static str,
    servers: Vec<Uuid>,
    beside: bool,
}

impl Predicate for Near {
    fn judge(
        &self,
        view: &dyn HostView,
        host: HostIx,
        _offers: &Offers,
        _left: &Survivors,
    ) -> Result<Verdict, Fault> {
        let here = view.instances(host);
        let met: Vec<Uuid> = self.servers.iter().copied().filter(|s| here.contains(*s)).collect();
        Ok(match (self.beside, met.is_empty()) {
            (true, false) | (false, true) => Verdict::Pass,
            (true, true) => Verdict::Fail(Reason::NoneOfServersHere {
                hint: self.hint,
                wanted: self.servers.len(),
            }),
            (false, false) => Verdict::Fail(Reason::ServersHere { hint: self.hint, servers: met }),
        })
    }

    fn narrow(
        &self,
        view: &dyn HostView,
        _offers: &Offers,
        left: &mut Survivors,
    ) -> Result<(), Fault> {
        let theirs: HostSet =
            self.servers.iter().flat_map(|server| view.hosts_with(*server)).copied().collect();
        if self.beside {
            left.hosts.intersect(&theirs);
        } else {
            left.hosts.subtract(&theirs);
        }
        Ok(())
    }
}
