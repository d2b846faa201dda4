//! `ComputeFilter`: the host's service is enabled and alive.

use stowplan_model::Micros;

use crate::fault::Fault;
use crate::filter::{Filter, Predicate, Runs, Verdict};
use crate::offers::{Offers, Survivors};
use crate::reason::Reason;
use crate::request::RequestCx;
use crate::set::WORD;
use crate::table::{Figure, HostIx, StateFlags};
use crate::view::HostView;

/// Fails hosts whose service is disabled, declared down, or was not heard of
/// within `service_down_time`. A time too far ahead counts as not heard of.
#[derive(Clone, Copy, Debug, Default)]
pub struct ComputeFilter;

impl Filter for ComputeFilter {
    fn name(&self) -> &'static str {
        "ComputeFilter"
    }

    fn runs(&self) -> Runs {
        Runs { once_per_request: true, on_rebuild: false }
    }

    fn prepare(&self, cx: &RequestCx<'_>) -> Result<Option<Box<dyn Predicate>>, Fault> {
        Ok(Some(Box::new(ServiceUp {
            now: cx.now,
            limit: cx.config.service_down_time,
            bus_limit: cx.config.bus_down_time,
        })))
    }
}

struct ServiceUp {
    now: Micros,
    limit: i64,
    bus_limit: i64,
}

impl ServiceUp {
    /// How long a host may be silent.
    const fn limit(&self, flags: i64) -> i64 {
        if flags & StateFlags::BUS_ONLY == 0 { self.limit } else { self.bus_limit }
    }

    /// Whether a service that was alive then counts as alive now.
    const fn alive(&self, flags: i64, alive_since: i64) -> bool {
        let age = self.now.0.saturating_sub(alive_since).saturating_abs();
        age <= self.limit(flags)
    }
}

const DOWN: i64 = StateFlags::DISABLED | StateFlags::FORCED_DOWN;

impl Predicate for ServiceUp {
    fn judge(
        &self,
        view: &dyn HostView,
        host: HostIx,
        _offers: &Offers,
        _left: &Survivors,
    ) -> Result<Verdict, Fault> {
        let flags = view.figure(Figure::StateFlags, host);
        let alive_since = view.figure(Figure::AliveSince, host);
        Ok(if flags & StateFlags::DISABLED != 0 {
            Verdict::Fail(Reason::ServiceDisabled {
                reason: view.facts(host).service.disabled_reason.clone(),
            })
        } else if flags & StateFlags::FORCED_DOWN != 0 {
            Verdict::Fail(Reason::ServiceForcedDown)
        } else if self.alive(flags, alive_since) {
            Verdict::Pass
        } else {
            Verdict::Fail(Reason::ServiceSilent {
                age_us: (alive_since != i64::MIN).then(|| self.now.0.saturating_sub(alive_since)),
                limit_us: self.limit(flags),
            })
        })
    }

    fn narrow(
        &self,
        view: &dyn HostView,
        _offers: &Offers,
        left: &mut Survivors,
    ) -> Result<(), Fault> {
        let (flags, alive) = (view.column(Figure::StateFlags), view.column(Figure::AliveSince));
        for (n, word) in left.hosts.words_mut().iter_mut().enumerate() {
            if *word == 0 {
                continue;
            }
            let (flags, alive) = (flags.word(n), alive.word(n));
            let mut up = 0_u64;
            for bit in 0..WORD {
                let pass = flags[bit] & DOWN == 0 && self.alive(flags[bit], alive[bit]);
                up |= u64::from(pass) << bit;
            }
            *word &= up;
        }
        Ok(())
    }
}
