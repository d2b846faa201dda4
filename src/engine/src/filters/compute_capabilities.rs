//! `ComputeCapabilitiesFilter`: the host has what the flavor's extra specs
//! ask of its capabilities.

use std::borrow::Cow;
use std::collections::HashMap;

use foldhash::fast::RandomState;
use serde_json::Value;
use stowplan_model::flavor::ExtraSpecs;
use stowplan_model::pytext;

use crate::attributes::{Attribute, attribute};
use crate::extra_specs::Requirement;
use crate::fault::Fault;
use crate::filter::{Filter, Predicate, Runs, Verdict};
use crate::offers::{Offers, Survivors};
use crate::reason::Reason;
use crate::request::RequestCx;
use crate::table::{Class, HostIx, PoolId};
use crate::view::HostView;

/// The scope of extra specs that name a capability by its path.
const SCOPE: &str = "capabilities";

/// An extra spec that stands for a requirement on the CPU description.
const ADDRESS_BITS: &str = "hw:maxphysaddr_bits";
const ADDRESS_BITS_PATH: &str = "capabilities:cpu_info:maxphysaddr:bits";

/// Fails hosts that lack what extra specs ask for: `capabilities:a:b` walks
/// the host's attributes and stats, a plain key counts where a host has such
/// an attribute or stat.
#[derive(Clone, Copy, Debug, Default)]
pub struct ComputeCapabilitiesFilter;

impl Filter for ComputeCapabilitiesFilter {
    fn name(&self) -> &'static str {
        "ComputeCapabilitiesFilter"
    }

    fn runs(&self) -> Runs {
        Runs { once_per_request: true, on_rebuild: false }
    }

    fn prepare(&self, cx: &RequestCx<'_>) -> Result<Option<Box<dyn Predicate>>, Fault> {
        let specs = rewritten(&cx.request.request().flavor.extra_specs);
        let wanted: Vec<Wanted> = specs.iter().filter_map(|(k, v)| Wanted::new(k, v)).collect();
        Ok(if wanted.is_empty() { None } else { Some(Box::new(Capabilities(wanted))) })
    }
}

/// The extra specs with the address width as what it stands for.
fn rewritten(specs: &ExtraSpecs) -> Cow<'_, ExtraSpecs> {
    match specs.get(ADDRESS_BITS) {
        None | Some("") => Cow::Borrowed(specs),
        Some(bits) => {
            let mut specs: ExtraSpecs = specs.iter().filter(|(k, _)| *k != ADDRESS_BITS).collect();
            specs.insert(ADDRESS_BITS_PATH, format!(">= {bits}"));
            Cow::Owned(specs)
        }
    }
}

/// One extra spec that may concern a host.
struct Wanted {
    key: String,
    path: Vec<String>,
    /// Counts only where the host has an attribute or stat of that name.
    only_if_there: bool,
    requirement: Requirement,
}

/// What a host has for an extra spec.
enum Has<'a> {
    /// The spec does not concern the host.
    Nothing,
    /// It does, and there is no such value.
    Missing,
    /// A value.
    Value(Attribute<'a>),
}

impl Wanted {
    fn new(key: &str, value: &str) -> Option<Self> {
        let mut path: Vec<String> = key.split(':').map(str::to_owned).collect();
        let only_if_there = path.len() == 1;
        if !only_if_there {
            if path[0] != SCOPE {
                return None;
            }
            path.remove(0);
        }
        Some(Self {
            key: key.to_owned(),
            path,
            only_if_there,
            requirement: Requirement::parse(value),
        })
    }

    /// Whether the CPU description alone decides: hosts that share it share
    /// the verdict.
    fn is_of_cpu(&self) -> bool {
        self.path[0] == "cpu_info" && self.path.len() > 1
    }

    fn has<'a>(&self, view: &'a dyn HostView, host: HostIx) -> Has<'a> {
        let name = &self.path[0];
        if self.is_of_cpu()
            && let Some(info) = view.cpu_info(host)
            && info.text().is_some()
        {
            // The text is parsed already.
            return info
                .json()
                .and_then(|json| descend(json, &self.path[1..]))
                .map_or(Has::Missing, Has::Value);
        }
        let stats = &view.facts(host).stats;
        let (known, own) = match attribute(view, host, name) {
            None => (false, None),
            Some(Attribute::Null) => (true, None),
            Some(value) => (true, Some(value)),
        };
        if self.only_if_there && !known && !stats.contains_key(name) {
            return Has::Nothing;
        }
        let value = own.or_else(|| {
            stats
                .get(name)
                .filter(|value| !value.is_null())
                .map(|value| Attribute::Json(Cow::Borrowed(value)))
        });
        match value {
            None => Has::Missing,
            Some(value) if self.path.len() == 1 => Has::Value(value),
            Some(Attribute::Json(Cow::Borrowed(json))) => {
                descend(json, &self.path[1..]).map_or(Has::Missing, Has::Value)
            }
            Some(other) => {
                let json = match &other {
                    Attribute::Json(json) => Cow::Borrowed(json.as_ref()),
                    Attribute::Text(text) => Cow::Owned(Value::String(text.to_string())),
                    _ => return Has::Missing,
                };
                descend(&json, &self.path[1..]).map_or(Has::Missing, |value| {
                    Has::Value(Attribute::Text(Cow::Owned(value.text().into_owned())))
                })
            }
        }
    }

    fn verdict(&self, view: &dyn HostView, host: HostIx) -> Result<Verdict, Fault> {
        match self.has(view, host) {
            Has::Nothing => Ok(Verdict::Pass),
            Has::Missing => Ok(Verdict::Fail(Reason::CapabilityMissing { spec: self.key.clone() })),
            Has::Value(value) => {
                let text = value.text();
                let holds = self
                    .requirement
                    .holds(&text)
                    .map_err(|fault| Fault::new(fault.kind, format!("{}: {fault}", self.key)))?;
                Ok(if holds {
                    Verdict::Pass
                } else {
                    Verdict::Fail(Reason::CapabilityDiffers {
                        spec: self.key.clone(),
                        wanted: self.requirement.text().to_owned(),
                        has: text.into_owned(),
                    })
                })
            }
        }
    }
}

/// Walks down from a value. Texts are decoded on the way; what is null or has
/// no such key ends the walk.
fn descend<'a>(from: &'a Value, path: &[String]) -> Option<Attribute<'a>> {
    let mut at: Cow<'a, Value> = Cow::Borrowed(from);
    for name in path {
        if let Value::String(text) = at.as_ref() {
            at = Cow::Owned(serde_json::from_str(text).ok()?);
        }
        let next = match at {
            Cow::Borrowed(value) => Cow::Borrowed(value.as_object()?.get(name)?),
            Cow::Owned(Value::Object(mut map)) => Cow::Owned(map.remove(name)?),
            Cow::Owned(_) => return None,
        };
        if next.is_null() {
            return None;
        }
        at = next;
    }
    Some(match at {
        Cow::Borrowed(Value::String(text)) => Attribute::Text(Cow::Borrowed(text)),
        Cow::Borrowed(value) => Attribute::Json(Cow::Borrowed(value)),
        Cow::Owned(value) => Attribute::Text(Cow::Owned(pytext::str(&value))),
    })
}

struct Capabilities(Vec<Wanted>);

impl Predicate for Capabilities {
    fn judge(
        &self,
        view: &dyn HostView,
        host: HostIx,
        _offers: &Offers,
        _left: &Survivors,
    ) -> Result<Verdict, Fault> {
        for wanted in &self.0 {
            let verdict = wanted.verdict(view, host)?;
            if !verdict.passes() {
                return Ok(verdict);
            }
        }
        Ok(Verdict::Pass)
    }

    fn narrow(
        &self,
        view: &dyn HostView,
        _offers: &Offers,
        left: &mut Survivors,
    ) -> Result<(), Fault> {
        let classes = view.classes(Class::CpuInfo);
        for wanted in &self.0 {
            let mut known: HashMap<PoolId, bool, RandomState> = HashMap::default();
            let mut fault = None;
            left.hosts.retain(|host| {
                if fault.is_some() {
                    return false;
                }
                let class = wanted.is_of_cpu().then(|| classes.value(host));
                if let Some(passes) = class.and_then(|class| known.get(&class)) {
                    return *passes;
                }
                let passes = match wanted.verdict(view, host) {
                    Ok(verdict) => verdict.passes(),
                    Err(found) => {
                        fault = Some(found);
                        false
                    }
                };
                // Without a description the host's own stats decide.
                if let Some(class) = class.filter(|class| *class != 0) {
                    known.insert(class, passes);
                }
                passes
            });
            if let Some(fault) = fault {
                return Err(fault);
            }
        }
        Ok(())
    }
}
