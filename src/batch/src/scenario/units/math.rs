//! Arithmetic and comparison of amounts.

use super::{Came, UnitCase};
use crate::amounts::{Amounts, DimIx, Dims, Missing, Quantity, UNLIMITED};
use serde_json::{Map, Value, json};
use stowplan_engine::config::EngineConfig;

/// What an operation works on.
struct Operands<'a> {
    dims: Dims,
    left: Amounts,
    args: Vec<&'a Value>,
}

/// Computes an operation. Its result is told by every name that cases know it
/// by.
pub(super) fn compute(case: &UnitCase, _: &EngineConfig) -> Result<Came, String> {
    let args: Vec<&Value> = case.field("args").as_array().into_iter().flatten().collect();
    let objects = args.iter().filter_map(|arg| arg.as_object());
    let added = args.iter().filter_map(|arg| arg.as_str());
    let left = case.field("left").as_object();
    let mut names: Vec<&str> =
        left.into_iter().chain(objects).flat_map(Map::keys).map(String::as_str).collect();
    names.extend(added.filter(|name| missing(name).is_none()));
    names.sort_unstable();
    names.dedup();
    let quanta = names.into_iter().map(|name| (name, Quantity::units(1)));
    let dims = Dims::free(quanta).map_err(|fault| fault.to_string())?;
    let left = amounts(&dims, case.field("left"))?;
    let op = case.field("op").as_str().unwrap_or_default();
    Operands { dims, left, args }.compute(op)
}

fn missing(word: &str) -> Option<Missing> {
    match word {
        "zero" => Some(Missing::Zero),
        "infinity" => Some(Missing::Infinity),
        _ => None,
    }
}

fn amounts(dims: &Dims, value: &Value) -> Result<Amounts, String> {
    let mut amounts = Amounts::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        let number = value.as_f64().ok_or_else(|| format!("{name}: expected a number"))?;
        let dim = dims.ix(name).ok_or_else(|| format!("{name}: no dimension"))?;
        amounts.set(dim, if number >= UNLIMITED as f64 { UNLIMITED } else { number as i64 });
    }
    Ok(amounts)
}

impl Operands<'_> {
    fn compute(mut self, op: &str) -> Result<Came, String> {
        let missing = self.args.iter().filter_map(|arg| missing(arg.as_str()?)).next();
        let missing = missing.unwrap_or(Missing::Zero);
        match op {
            "add_scalar" => {
                let name = self.args[0].as_str().unwrap_or_default();
                let dim = self.dims.ix(name).ok_or("no such dimension")?;
                let more = self.args.get(1).and_then(|arg| arg.as_i64()).unwrap_or_default();
                self.left.set(dim, self.left.get(dim) + more);
                Ok(self.result())
            }
            "is_zero" => {
                let dim = self.dims.ix(self.args[0].as_str().unwrap_or_default());
                Ok(truth(dim.is_none_or(|dim| self.left.get(dim) == 0), Vec::new()))
            }
            _ => {
                let right = self.arg(0)?;
                self.with(op, right, missing)
            }
        }
    }

    fn arg(&self, place: usize) -> Result<Option<Amounts>, String> {
        match self.args.get(place) {
            None | Some(Value::Null | Value::String(_)) => Ok(None),
            Some(value) => amounts(&self.dims, value).map(Some),
        }
    }

    fn with(mut self, op: &str, right: Option<Amounts>, missing: Missing) -> Result<Came, String> {
        let request = self.arg(1)?;
        let right = right.ok_or("expected amounts to compare with")?;
        let names = |dims: Vec<DimIx>| dims.iter().map(|d| self.dims.name(*d).to_owned()).collect();
        let some = |dims: Vec<DimIx>| truth(!dims.is_empty(), names(dims));
        Ok(match op {
            "add" => {
                self.left.add(&right);
                self.result()
            }
            "sub" => {
                self.left.sub(&right);
                self.result()
            }
            "set_max_resource" => {
                self.left.lift(&right);
                self.result()
            }
            "min_dimension_resource" => {
                self.left.cap(&right, missing);
                self.result()
            }
            "diff" if missing == Missing::Zero => {
                let (more, less) = self.left.diff(&right);
                let mut came = Came::new();
                came.insert("expectedIncreased".to_owned(), self.positive(&more));
                came.insert("expectedDecreased".to_owned(), self.positive(&less));
                came
            }
            "less" => truth(self.left.less(&right, missing), Vec::new()),
            "less_equal" => truth(self.left.less_equal(&right, missing), Vec::new()),
            "less_partly" => truth(self.left.less_partly(&right, missing), Vec::new()),
            "less_equal_partly" => truth(self.left.less_equal_partly(&right, missing), Vec::new()),
            "equal" => truth(self.left.equals(&right, missing), Vec::new()),
            "less_equal_with_resources_name" => {
                let above = self.left.above(&right, missing);
                Came::from([("expected".to_owned(), json!(names(above) as Vec<String>))])
            }
            "less_equal_with_dimension_and_resources_name" | "less_equal_with_dimension" => {
                let above = match &request {
                    Some(request) => self.left.above_for(&right, request).collect(),
                    None => self.left.above(&right, Missing::Zero),
                };
                truth(above.is_empty(), names(above))
            }
            "less_equal_partly_with_dimension" => {
                some(asked(&request, |request| self.left.within_for(&right, request).collect()))
            }
            "less_equal_partly_with_dimension_zero_filtered" => some(asked(&request, |request| {
                self.left.within_some_for(&right, request).collect()
            })),
            "greater_partly" => some(self.left.above(&right, missing)),
            "greater_partly_with_dimension" => {
                some(asked(&request, |request| self.left.above_for(&right, request).collect()))
            }
            "greater_partly_with_relevant_dimensions" => {
                some(asked(&request, |request| self.left.above_relevant(&right, request).collect()))
            }
            other => return Err(format!("operation {other:?} is not one of those there are")),
        })
    }

    fn named(&self, amounts: &Amounts, keep: impl Fn(DimIx, i64) -> bool) -> Value {
        let mut named = Map::new();
        for (dim, value) in amounts.iter().filter(|(dim, value)| keep(*dim, *value)) {
            named.insert(self.dims.name(dim).to_owned(), json!(value));
        }
        Value::Object(named)
    }

    fn positive(&self, amounts: &Amounts) -> Value {
        self.named(amounts, |_, value| value > 0)
    }

    /// cpu and memory of 0 are not written.
    fn result(&self) -> Came {
        let written = |dim, value| value != 0 || ![DimIx::CPU, DimIx::MEMORY].contains(&dim);
        Came::from([("expected".to_owned(), self.named(&self.left, written))])
    }
}

/// Nothing is found in the dimensions of a request that is not there.
fn asked(request: &Option<Amounts>, find: impl Fn(&Amounts) -> Vec<DimIx>) -> Vec<DimIx> {
    request.as_ref().map(find).unwrap_or_default()
}

fn truth(holds: bool, names: Vec<String>) -> Came {
    let truths = ["expected", "expectedFlag", "wantBool", "expectedExceeds"];
    let lists = ["expectedResourceNames", "wantNames", "expectedResources"];
    let truths = truths.map(|name| (name.to_owned(), json!(holds)));
    truths.into_iter().chain(lists.map(|name| (name.to_owned(), json!(names)))).collect()
}
