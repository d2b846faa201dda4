//! Attributes of a host by the names of Nova's host state, for the filters
//! whose requests name them.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use stowplan_model::pytext;

use crate::table::{Figure, HostIx, Ratio, StateFlags};
use crate::view::HostView;

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute<'a> {
    /// There is one, and it has no value.
    Null,
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A text.
    Text(Cow<'a, str>),
    /// A list or an object.
    Json(Cow<'a, Value>),
}

impl Attribute<'_> {
    /// The text that requests are compared with.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Null => Cow::Borrowed("None"),
            Self::Int(number) => Cow::Owned(number.to_string()),
            Self::Float(number) => Cow::Owned(pytext::repr_float(*number)),
            Self::Text(text) => Cow::Borrowed(text),
            Self::Json(value) => Cow::Owned(pytext::str(value)),
        }
    }
}

/// The attribute of that name; `None` when host states have no such one.
#[must_use]
pub fn attribute<'a>(view: &'a dyn HostView, host: HostIx, name: &str) -> Option<Attribute<'a>> {
    if let Some(figure) = Figure::named(name) {
        return Some(Attribute::Int(view.figure(figure, host)));
    }
    if let Some(ratio) = Ratio::named(name) {
        return Some(Attribute::Float(view.ratio(ratio, host)));
    }
    let facts = view.facts(host);
    let text = |value: &'a Option<String>| {
        value.as_deref().map_or(Attribute::Null, |text| Attribute::Text(Cow::Borrowed(text)))
    };
    let owned = |value: Value| Attribute::Json(Cow::Owned(value));
    Some(match name {
        "host" => Attribute::Text(Cow::Borrowed(&facts.host)),
        "nodename" => Attribute::Text(Cow::Borrowed(&facts.node)),
        "uuid" => Attribute::Text(Cow::Owned(facts.uuid.to_string())),
        "cell_uuid" => facts
            .cell_uuid
            .map_or(Attribute::Null, |uuid| Attribute::Text(Cow::Owned(uuid.to_string()))),
        "host_ip" => text(&facts.host_ip),
        "hypervisor_hostname" => text(&facts.hypervisor_hostname),
        "hypervisor_type" => text(&facts.hypervisor_type),
        "hypervisor_version" => facts.hypervisor_version.map_or(Attribute::Null, Attribute::Int),
        "cpu_info" => view
            .cpu_info(host)
            .and_then(|info| info.text())
            .map_or(Attribute::Null, |text| Attribute::Text(Cow::Borrowed(text))),
        "supported_instances" => owned(json!(view.guests_of(host))),
        "stats" => owned(Value::Object(facts.stats.clone())),
        "limits" => owned(Value::Object(Map::new())),
        "metrics" => match &facts.metrics {
            None => Attribute::Null,
            Some(metrics) => owned(
                metrics
                    .iter()
                    .map(|metric| json!({"name": metric.name, "value": metric.value}))
                    .collect(),
            ),
        },
        "aggregates" => {
            owned(json!(view.aggregates_of(host).map(|set| set.iter().collect::<Vec<_>>())))
        }
        "instances" => owned(
            view.instances(host)
                .as_slice()
                .iter()
                .map(|(uuid, _)| (uuid.to_string(), Value::Object(Map::new())))
                .collect::<Map<_, _>>()
                .into(),
        ),
        "service" => owned(service(view, host)),
        "pci_stats" => match view.pci_pools(host) {
            None => Attribute::Null,
            Some(pools) => owned(json!({"pools": pools.pools()})),
        },
        "numa_topology" => match view.numa(host) {
            None => Attribute::Null,
            Some(numa) => owned(json!({"cells": numa.cells})),
        },
        _ => return None,
    })
}

/// The service record as an object.
fn service(view: &dyn HostView, host: HostIx) -> Value {
    let facts = view.facts(host);
    let flags = view.figure(Figure::StateFlags, host);
    json!({
        "host": facts.host,
        "uuid": facts.service.uuid,
        "binary": facts.service.binary.as_deref().unwrap_or("nova-compute"),
        "version": facts.service.version,
        "disabled": flags & StateFlags::DISABLED != 0,
        "disabled_reason": facts.service.disabled_reason,
        "forced_down": flags & StateFlags::FORCED_DOWN != 0,
    })
}
