//! The dimensions in which requests are made, and how the ledger holds them.

use super::fault::DimsFault;
use super::quantity::{Quantity, QuantityFault};
use super::vector::Amounts;
use std::collections::BTreeMap;
use stowplan_config::Settings;

/// The resource class of which every running task holds one unit, at a child
/// provider of its host (rule 3).
pub const TASK_CLASS: &str = "CUSTOM_BATCH_TASK";

/// Dimensions at most.
pub const MOST_DIMS: usize = 64;

/// A dimension by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DimIx(pub u8);

impl DimIx {
    /// Processors.
    pub const CPU: Self = Self(0);
    /// Memory.
    pub const MEMORY: Self = Self(1);
    /// Places for tasks; every task asks for one.
    pub const PODS: Self = Self(2);

    /// As an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dim {
    /// Its name in requests, such as `cpu` or `nvidia.com/gpu`.
    pub name: String,
    /// The resource class that holds it in the ledger; none for a dimension
    /// that no request may name there.
    pub class: Option<String>,
    /// What one unit of the class is worth.
    pub quantum: Quantity,
}

/// All dimensions: cpu, memory and pods first, then the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dims {
    dims: Vec<Dim>,
}

impl Dims {
    /// The dimensions of `[batch] resource_map`.
    ///
    /// # Errors
    /// A quantum that is none, `pods`, a class that holds two dimensions, or
    /// more than [`MOST_DIMS`] dimensions.
    pub fn from_settings(settings: &Settings) -> Result<Self, DimsFault> {
        let mut dims = Self::bare();
        for mapping in &settings.batch.resource_map {
            let fault = |fault: String| DimsFault::Quantum {
                dimension: mapping.dimension.clone(),
                quantum: mapping.quantum.clone(),
                fault,
            };
            let parsed = mapping.quantum.parse();
            let quantum: Quantity = parsed.map_err(|e: QuantityFault| fault(e.to_string()))?;
            if quantum.is_zero() {
                return Err(fault("expected more than nothing".to_owned()));
            }
            let class = Some(mapping.class.clone());
            if let Some(other) = dims.dims.iter().find(|dim| dim.class == class) {
                return Err(DimsFault::ClassTwice {
                    class: mapping.class.clone(),
                    first: other.name.clone(),
                    second: mapping.dimension.clone(),
                });
            }
            match dims.ix(&mapping.dimension) {
                Some(DimIx::PODS) => return Err(DimsFault::Pods),
                Some(at) => {
                    let dim = &mut dims.dims[at.index()];
                    (dim.class, dim.quantum) = (class, quantum);
                }
                None => dims.dims.push(Dim { name: mapping.dimension.clone(), class, quantum }),
            }
        }
        if dims.dims.len() > MOST_DIMS {
            return Err(DimsFault::TooMany(dims.dims.len() - 3));
        }
        Ok(dims)
    }

    /// Dimensions that no ledger holds, each with its quantum, beside cpu,
    /// memory and pods.
    ///
    /// # Errors
    /// More than [`MOST_DIMS`] dimensions.
    pub fn free<'a>(
        quanta: impl IntoIterator<Item = (&'a str, Quantity)>,
    ) -> Result<Self, DimsFault> {
        let mut dims = Self::bare();
        for (name, quantum) in quanta {
            match dims.ix(name) {
                Some(at) => dims.dims[at.index()].quantum = quantum,
                None => dims.dims.push(Dim { name: name.to_owned(), class: None, quantum }),
            }
        }
        if dims.dims.len() > MOST_DIMS {
            return Err(DimsFault::TooMany(dims.dims.len() - 3));
        }
        Ok(dims)
    }

    /// What one unit of a dimension's count is worth.
    #[must_use]
    pub fn quantum(&self, dim: DimIx) -> Quantity {
        self.dims.get(dim.index()).map_or(Quantity::units(1), |dim| dim.quantum)
    }

    /// The three that are always there, in quanta of one.
    fn bare() -> Self {
        let dim = |name: &str, class: Option<&str>| Dim {
            name: name.to_owned(),
            class: class.map(str::to_owned),
            quantum: Quantity::units(1),
        };
        Self { dims: vec![dim("cpu", None), dim("memory", None), dim("pods", Some(TASK_CLASS))] }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.dims.len()
    }

    /// All of them with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (DimIx, &Dim)> {
        self.dims.iter().enumerate().map(|(at, dim)| (DimIx(at as u8), dim))
    }

    /// The number of a name.
    #[must_use]
    pub fn ix(&self, name: &str) -> Option<DimIx> {
        self.dims.iter().position(|dim| dim.name == name).map(|at| DimIx(at as u8))
    }

    /// The name of a number.
    #[must_use]
    pub fn name(&self, dim: DimIx) -> &str {
        self.dims.get(dim.index()).map_or("", |dim| &dim.name)
    }

    /// The dimension that a class holds.
    #[must_use]
    pub fn holding(&self, class: &str) -> Option<DimIx> {
        self.iter().find(|(_, dim)| dim.class.as_deref() == Some(class)).map(|(at, _)| at)
    }

    /// The class that holds a dimension.
    #[must_use]
    pub fn class(&self, dim: DimIx) -> Option<&str> {
        self.dims.get(dim.index())?.class.as_deref()
    }

    /// What a request is charged: every dimension rounded up to quanta, and
    /// one place for a task (rules 1 and 3).
    ///
    /// # Errors
    /// A name that is not mapped to a class of the ledger.
    pub fn charge(&self, requests: &BTreeMap<String, Quantity>) -> Result<Amounts, DimsFault> {
        let mut amounts = Amounts::new();
        for (name, quantity) in requests {
            let mapped = self
                .iter()
                .find(|(at, dim)| dim.name == *name && dim.class.is_some() && *at != DimIx::PODS);
            let (at, dim) = mapped.ok_or_else(|| self.unknown(name))?;
            amounts.set(at, quantity.quanta(dim.quantum));
        }
        amounts.set(DimIx::PODS, 1);
        Ok(amounts)
    }

    /// What is asked for by resource class, as the ledger holds it and as a
    /// job keeps it: a later change of quanta does not touch it.
    #[must_use]
    pub fn by_class(&self, amounts: &Amounts) -> BTreeMap<String, i64> {
        let asked = amounts.positive();
        asked.filter_map(|(dim, value)| Some((self.class(dim)?.to_owned(), value))).collect()
    }

    /// Amounts from what [`Dims::by_class`] gave.
    ///
    /// # Errors
    /// A class that no dimension is held as any more.
    pub fn from_classes(&self, charged: &BTreeMap<String, i64>) -> Result<Amounts, DimsFault> {
        let mut amounts = Amounts::new();
        for (class, value) in charged {
            let at = self.holding(class);
            let at = at.ok_or_else(|| DimsFault::Unmapped { class: class.clone() })?;
            amounts.set(at, *value);
        }
        Ok(amounts)
    }

    fn unknown(&self, name: &str) -> DimsFault {
        let known = self.iter().filter(|(at, dim)| dim.class.is_some() && *at != DimIx::PODS);
        let known: Vec<&str> = known.map(|(_, dim)| dim.name.as_str()).collect();
        DimsFault::Unknown { name: name.to_owned(), known: known.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use stowplan_config::ResourceMapping;

    fn dims(map: &[(&str, &str, &str)]) -> Result<Dims, DimsFault> {
        let mut settings = Settings::default();
        settings.batch.resource_map =
            map.iter().map(|(d, c, q)| ResourceMapping::new(*d, *c, *q)).collect();
        Dims::from_settings(&settings)
    }

    #[test]
    fn requests_are_rounded_up_once() {
        let dims = Dims::from_settings(&Settings::default()).unwrap();
        let requests = [("cpu", "500m"), ("memory", "1500k"), ("nvidia.com/gpu", "2")];
        let requests = requests.map(|(name, q)| (name.to_owned(), q.parse().unwrap()));
        let charged = dims.charge(&requests.into()).unwrap();
        let named = dims.by_class(&charged);
        let expected = [("VCPU", 1), ("MEMORY_MB", 2), ("PGPU", 2), (TASK_CLASS, 1)];
        assert_eq!(named, expected.map(|(name, n)| (name.to_owned(), n)).into());
        assert_eq!(dims.from_classes(&named).unwrap(), charged);
    }

    #[test]
    fn what_is_not_mapped_cannot_be_asked_for() {
        let dims = dims(&[("cpu", "VCPU", "1")]).unwrap();
        for name in ["memory", "pods", "fpga"] {
            let requests = [(name.to_owned(), Quantity::units(1))].into();
            let fault = dims.charge(&requests).unwrap_err();
            assert_eq!(
                fault,
                DimsFault::Unknown { name: name.to_owned(), known: "cpu".to_owned() }
            );
        }
    }

    #[test]
    fn a_map_that_cannot_hold() {
        let refused = |map: &[(&str, &str, &str)]| dims(map).unwrap_err().to_string();
        assert!(refused(&[("cpu", "VCPU", "0")]).contains("more than nothing"));
        assert!(refused(&[("cpu", "VCPU", "lots")]).contains("\"lots\" is not a quantity"));
        assert!(refused(&[("pods", "CUSTOM_PODS", "1")]).contains("pods"));
        assert!(refused(&[("a", "CUSTOM_A", "1"), ("b", "CUSTOM_A", "1")]).contains("a and b"));
        assert!(refused(&[("a", "CUSTOM_BATCH_TASK", "1")]).contains("pods and a"));
        let gone = dims(&[]).unwrap().from_classes(&[("PGPU".to_owned(), 1)].into()).unwrap_err();
        assert_eq!(gone, DimsFault::Unmapped { class: "PGPU".to_owned() });
    }
}
