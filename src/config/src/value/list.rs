//! Lists: of items, of tiers, and the map of batch dimensions.

use super::{Input, Kind, OptionType, Problem, python_float};
use crate::spec::Meta;

/// Splits at commas, strips blanks, forgets commas at the end.
fn items(text: &str) -> Vec<String> {
    match text.trim().trim_end_matches(',') {
        "" => Vec::new(),
        text => text.split(',').map(|item| item.trim().to_owned()).collect(),
    }
}

/// The last part of a Python class path, which is the name used here.
fn class_name(item: &str) -> String {
    item.rsplit('.').next().unwrap_or(item).to_owned()
}

/// Whether an item is `name=number`.
fn is_weight(item: &str) -> bool {
    item.split_once('=').is_some_and(|(name, number)| {
        !name.is_empty() && python_float(number).is_some_and(f64::is_finite)
    })
}

impl OptionType for Vec<String> {
    const KIND: Kind = Kind::List;

    fn read(input: Input<'_>, meta: &Meta, _notes: &mut Vec<String>) -> Result<Self, Problem> {
        let mut list = match input {
            Input::Items(items) => items.to_vec(),
            Input::Texts(texts) if meta.is_multi => {
                texts.iter().filter(|text| !text.trim().is_empty()).cloned().collect()
            }
            Input::Texts(texts) => texts.last().map_or_else(Self::new, |text| items(text)),
        };
        if !meta.words.is_empty() && list.iter().any(|item| !meta.words.contains(&item.as_str())) {
            return Err(Problem::new(format!("items that are {}", super::one_of(meta.words))));
        }
        // The peer leaves out what it cannot read, and weighs less than its
        // operator believes; offline scenarios may hold such items.
        if meta.is_weights
            && matches!(input, Input::Texts(_))
            && let Some(item) = list.iter().find(|item| !is_weight(item))
        {
            return Err(Problem::new(format!(
                "items such as name=1.5, each with a finite number (not \"{item}\")"
            )));
        }
        if meta.is_class_path {
            list = list.iter().map(|item| class_name(item)).collect();
        }
        Ok(list)
    }

    fn texts(&self, meta: &Meta) -> Vec<String> {
        if meta.is_multi { self.clone() } else { vec![self.join(",")] }
    }
}

impl OptionType for Vec<Vec<String>> {
    const KIND: Kind = Kind::Tiers;

    fn read(input: Input<'_>, meta: &Meta, _notes: &mut Vec<String>) -> Result<Self, Problem> {
        let (Input::Texts(texts) | Input::Items(texts)) = input;
        let tiers: Self =
            texts.iter().map(|text| items(text)).filter(|tier| !tier.is_empty()).collect();
        if tiers.is_empty() || tiers.iter().flatten().any(String::is_empty) {
            return Err(Problem::expected(Self::KIND, meta));
        }
        Ok(tiers)
    }

    fn texts(&self, _meta: &Meta) -> Vec<String> {
        self.iter().map(|tier| tier.join(",")).collect()
    }
}

/// How a dimension of batch requests is held in the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceMapping {
    /// Name in a task's requests, such as `cpu` or `nvidia.com/gpu`.
    pub dimension: String,
    /// Resource class in the ledger, such as `VCPU`.
    pub class: String,
    /// What one unit of the class is worth, as a Kubernetes quantity (`1000m`,
    /// `1Mi`); requests are rounded up to whole units.
    pub quantum: String,
}

impl ResourceMapping {
    /// A mapping of these three.
    pub fn new(
        dimension: impl Into<String>,
        class: impl Into<String>,
        quantum: impl Into<String>,
    ) -> Self {
        Self { dimension: dimension.into(), class: class.into(), quantum: quantum.into() }
    }

    fn read(item: &str) -> Option<Self> {
        let mut parts = item.split(':').map(str::trim);
        let mapping = Self::new(parts.next()?, parts.next()?, parts.next()?);
        let whole = parts.next().is_none()
            && !mapping.dimension.is_empty()
            && !mapping.class.is_empty()
            && !mapping.quantum.is_empty();
        whole.then_some(mapping)
    }
}

impl OptionType for Vec<ResourceMapping> {
    const KIND: Kind = Kind::ResourceMap;

    fn read(input: Input<'_>, meta: &Meta, _notes: &mut Vec<String>) -> Result<Self, Problem> {
        let list = match input {
            Input::Items(items) => items.to_vec(),
            Input::Texts(texts) => texts.last().map_or_else(Vec::new, |text| items(text)),
        };
        let mappings = list
            .iter()
            .map(|item| ResourceMapping::read(item))
            .collect::<Option<Self>>()
            .ok_or_else(|| Problem::expected(Self::KIND, meta))?;
        for (at, mapping) in mappings.iter().enumerate() {
            if mappings.iter().take(at).any(|other| other.dimension == mapping.dimension) {
                return Err(Problem::new(format!(
                    "each dimension once ({} is given twice)",
                    mapping.dimension
                )));
            }
        }
        Ok(mappings)
    }

    fn texts(&self, _meta: &Meta) -> Vec<String> {
        let items: Vec<String> = self
            .iter()
            .map(|mapping| format!("{}:{}:{}", mapping.dimension, mapping.class, mapping.quantum))
            .collect();
        vec![items.join(",")]
    }
}
