//! Amounts as a scenario writes them: cpu in thousandths, memory in bytes, all
//! else as plain counts; or quantities as texts.

use crate::amounts::{Amounts, DimIx, Dims, DimsFault, Quantity};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use stowplan_config::Settings;

/// Amounts by the name of their dimension.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct AmountsInput(pub(super) BTreeMap<String, Value>);

/// Names of objects that are counted, which nobody is charged for here.
const COUNTS: &str = "count/";

impl AmountsInput {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn names_one(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str).filter(|name| !name.starts_with(COUNTS))
    }

    /// In quanta, rounded up as requests are.
    pub(super) fn charged(&self, dims: &Dims) -> Result<Amounts, String> {
        self.read(dims, Quantity::quanta)
    }

    /// In quanta, rounded down as what hosts have is.
    pub(super) fn whole(&self, dims: &Dims) -> Result<Amounts, String> {
        self.read(dims, Quantity::whole_quanta)
    }

    fn read(
        &self,
        dims: &Dims,
        quanta: impl Fn(Quantity, Quantity) -> i64,
    ) -> Result<Amounts, String> {
        let mut amounts = Amounts::new();
        for name in self.names() {
            let dim = dims.ix(name).ok_or_else(|| format!("{name:?} is not in resource_map"))?;
            let read = quantity(dim, &self.0[name]);
            let quantity = read.map_err(|fault| format!("{name}: {fault}"))?;
            amounts.set(dim, quanta(quantity, dims.quantum(dim)));
        }
        Ok(amounts)
    }
}

/// A number in the peer's unit, or a text.
fn quantity(dim: DimIx, value: &Value) -> Result<Quantity, String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if dim == DimIx::CPU => format!("{number}m"),
        Value::Number(number) => number.to_string(),
        other => return Err(format!("amount {other}: expected a number or a quantity")),
    };
    text.parse().map_err(|fault| format!("{fault}"))
}

/// The dimensions of a scenario: those of its map, or all that it names, in
/// steps that hold every recorded amount exactly.
pub(super) fn dims<'a>(
    settings: &Settings,
    map: Option<&Value>,
    named: impl Iterator<Item = &'a AmountsInput>,
) -> Result<Dims, DimsFault> {
    if map.is_some() {
        return Dims::from_settings(settings);
    }
    let mut names: Vec<&str> = named.flat_map(AmountsInput::names).collect();
    names.sort_unstable();
    names.dedup();
    let quantum = |name: &str| match name {
        "memory" | "pods" => Quantity::units(1),
        _ => Quantity::milli(1),
    };
    let always = ["cpu", "memory"].into_iter().filter(|name| !names.contains(name));
    let all: Vec<&str> = always.chain(names.iter().copied()).collect();
    Dims::free(all.into_iter().map(|name| (name, quantum(name))))
}
