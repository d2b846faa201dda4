//! The service of a scenario's host.

use serde::{Deserialize, Serialize};
use stowplan_model::{Micros, Uuid};

use crate::table::{Figure, HostIx, ServiceFacts, StateFlags};
use crate::view::HostView;

/// The service of a host, its times counted back from the present.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Service {
    uuid: Option<Uuid>,
    binary: Option<String>,
    version: i64,
    disabled: bool,
    disabled_reason: Option<String>,
    forced_down: bool,
    /// Known from the message bus alone, where nobody sends heartbeats.
    bus_only: bool,
    /// Seconds; null means never.
    seen_s_ago: Option<i64>,
    /// Seconds.
    created_s_ago: Option<i64>,
    /// Microseconds since it was seen, else made: goes before both.
    #[serde(skip_serializing_if = "Option::is_none")]
    alive_us_ago: Option<i64>,
}

impl Default for Service {
    /// Up, and seen five seconds ago.
    fn default() -> Self {
        Self {
            uuid: None,
            binary: None,
            version: 0,
            disabled: false,
            disabled_reason: None,
            forced_down: false,
            bus_only: false,
            seen_s_ago: Some(5),
            created_s_ago: None,
            alive_us_ago: None,
        }
    }
}

/// Bits of the state with the field that each is.
type Flag = (i64, fn(&Service) -> bool);
const FLAGS: [Flag; 3] = [
    (StateFlags::DISABLED, |it| it.disabled),
    (StateFlags::FORCED_DOWN, |it| it.forced_down),
    (StateFlags::BUS_ONLY, |it| it.bus_only),
];

impl Service {
    /// A host's service as filters see it now.
    pub fn of(view: &dyn HostView, host: HostIx, now: Micros) -> Self {
        let facts = &view.facts(host).service;
        let flags = view.figure(Figure::StateFlags, host);
        let alive = view.figure(Figure::AliveSince, host);
        Self {
            uuid: facts.uuid,
            binary: facts.binary.clone(),
            version: facts.version,
            disabled: flags & StateFlags::DISABLED != 0,
            disabled_reason: facts.disabled_reason.clone(),
            forced_down: flags & StateFlags::FORCED_DOWN != 0,
            bus_only: flags & StateFlags::BUS_ONLY != 0,
            seen_s_ago: None,
            created_s_ago: None,
            alive_us_ago: (alive != i64::MIN).then(|| now.0.saturating_sub(alive)),
        }
    }

    pub fn facts(&self) -> ServiceFacts {
        ServiceFacts {
            uuid: self.uuid,
            binary: self.binary.clone(),
            version: self.version,
            disabled_reason: self.disabled_reason.clone(),
            ..ServiceFacts::default()
        }
    }

    pub const fn version(&self) -> i64 {
        self.version
    }

    pub fn flags(&self) -> i64 {
        FLAGS.iter().filter(|(_, is_set)| is_set(self)).map(|(bit, _)| bit).sum()
    }

    pub fn alive_since(&self, now: Micros) -> i64 {
        let seconds = self.seen_s_ago.or(self.created_s_ago);
        let ago = self.alive_us_ago.or(seconds.map(|s| s.saturating_mul(Micros::PER_SECOND)));
        ago.map_or(i64::MIN, |ago| now.0.saturating_sub(ago))
    }
}
