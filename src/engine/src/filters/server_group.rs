//! `ServerGroupAntiAffinityFilter` and `ServerGroupAffinityFilter`.

use stowplan_model::Uuid;

use crate::exact_names::ExactNames;
use crate::fault::Fault;
use crate::filter::{Filter, Predicate, Runs, Verdict};
use crate::offers::{Offers, Survivors};
use crate::reason::Reason;
use crate::request::RequestCx;
use crate::table::HostIx;
use crate::view::HostView;

/// Each server of the request changes what these filters say of the next.
const EVERY_TIME: Runs = Runs { once_per_request: false, on_rebuild: false };

/// Keeps the members of a group with policy `anti-affinity` apart: fewer than
/// `max_server_per_host` (default 1) of them may be on a host already. The
/// server that is asked for does not stand in its own way.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerGroupAntiAffinityFilter;

impl Filter for ServerGroupAntiAffinityFilter {
    fn name(&self) -> &'static str {
        "ServerGroupAntiAffinityFilter"
    }

    fn runs(&self) -> Runs {
        EVERY_TIME
    }

    fn prepare(&self, cx: &RequestCx<'_>) -> Result<Option<Box<dyn Predicate>>, Fault> {
        let request = cx.request.request();
        let Some(group) = &request.instance_group else {
            return Ok(None);
        };
        if group.policy.as_deref() != Some("anti-affinity") {
            return Ok(None);
        }
        let mut members = group.members.clone();
        members.sort_unstable();
        members.dedup();
        Ok(Some(Box::new(Apart {
            members,
            instance: request.instance_uuid,
            limit: group.rules.and_then(|rules| rules.max_server_per_host).unwrap_or(1),
        })))
    }
}

struct Apart {
    members: Vec<Uuid>,
    instance: Uuid,
    limit: i64,
}

impl Apart {
    /// Members on a host.
    fn members_on(&self, view: &dyn HostView, host: HostIx) -> usize {
        let here = view.instances(host);
        self.members.iter().filter(|m| here.contains(**m)).count()
    }

    fn verdict(&self, view: &dyn HostView, host: HostIx) -> Verdict {
        let members = self.members_on(view, host);
        let few = i64::try_from(members).is_ok_and(|members| members < self.limit);
        if few || view.instances(host).contains(self.instance) {
            Verdict::Pass
        } else {
            Verdict::Fail(Reason::GroupMembersHere { members, limit: self.limit })
        }
    }
}

impl Predicate for Apart {
    fn judge(
        &self,
        view: &dyn HostView,
        host: HostIx,
        _offers: &Offers,
        _left: &Survivors,
    ) -> Result<Verdict, Fault> {
        Ok(self.verdict(view, host))
    }

    fn narrow(
        &self,
        view: &dyn HostView,
        _offers: &Offers,
        left: &mut Survivors,
    ) -> Result<(), Fault> {
        if self.limit < 1 {
            left.hosts.retain(|host| self.verdict(view, host).passes());
            return Ok(());
        }
        // Only hosts of members can fail.
        for host in self.members.iter().flat_map(|m| view.hosts_with(*m)) {
            if left.hosts.contains(*host) && !self.verdict(view, *host).passes() {
                left.hosts.remove(*host);
            }
        }
        Ok(())
    }
}

/// Keeps the members of a group with policy `affinity` together: once it has
/// hosts, only these pass, by their exact names.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerGroupAffinityFilter;

impl Filter for ServerGroupAffinityFilter {
    fn name(&self) -> &'static str {
        "ServerGroupAffinityFilter"
    }

    fn runs(&self) -> Runs {
        EVERY_TIME
    }

    fn prepare(&self, cx: &RequestCx<'_>) -> Result<Option<Box<dyn Predicate>>, Fault> {
        let Some(group) = &cx.request.request().instance_group else {
            return Ok(None);
        };
        if !group.has_policy("affinity") || group.hosts.is_empty() {
            return Ok(None);
        }
        let hosts = ExactNames::new(&group.hosts);
        Ok(Some(Box::new(Together { hosts })))
    }
}

/// Hosts of a group that a reason names.
const NAMED_HOSTS: usize = 5;

struct Together {
    hosts: ExactNames,
}

impl Predicate for Together {
    fn judge(
        &self,
        view: &dyn HostView,
        host: HostIx,
        _offers: &Offers,
        _left: &Survivors,
    ) -> Result<Verdict, Fault> {
        Ok(if self.hosts.has(view, host) {
            Verdict::Pass
        } else {
            Verdict::Fail(Reason::GroupElsewhere { hosts: self.hosts.first(NAMED_HOSTS) })
        })
    }

    fn narrow(
        &self,
        view: &dyn HostView,
        _offers: &Offers,
        left: &mut Survivors,
    ) -> Result<(), Fault> {
        left.hosts.intersect(&self.hosts.hosts(view));
        Ok(())
    }
}
