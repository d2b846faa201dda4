//! Which traits the providers must have that a task takes from: the model of a
//! device, as a rule.

use crate::amounts::DimIx;
use std::fmt;
use std::sync::Arc;

/// The traits of a provider, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TraitSet(Vec<Box<str>>);

impl TraitSet {
    /// Of names in any order.
    #[must_use]
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut names: Vec<Box<str>> = names.into_iter().map(Into::into).collect();
        names.sort_unstable();
        Self(names)
    }

    /// Whether a trait is among them.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.binary_search_by(|own| (**own).cmp(name)).is_ok()
    }
}

/// One thing that is asked of a provider's traits, in the words of Placement's
/// `required`: a trait, `!` and a trait, or `in:` and a list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TraitRule {
    /// It has one of these.
    AnyOf(Vec<String>),
    /// It has not this one.
    Without(String),
}

impl TraitRule {
    /// Reads `T`, `!T` or `in:T,U`; any text is one of these. The names are not
    /// looked at.
    #[must_use]
    pub fn read(text: &str) -> Self {
        match (text.strip_prefix('!'), text.strip_prefix("in:")) {
            (Some(name), _) => Self::Without(name.to_owned()),
            (None, Some(list)) => Self::AnyOf(list.split(',').map(str::to_owned).collect()),
            (None, None) => Self::AnyOf(vec![text.to_owned()]),
        }
    }

    /// The traits that it names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let (any, without) = match self {
            Self::AnyOf(names) => (names.as_slice(), None),
            Self::Without(name) => (&[][..], Some(name)),
        };
        any.iter().chain(without).map(String::as_str)
    }

    /// Whether it holds of a provider with these traits.
    #[must_use]
    pub fn holds(&self, traits: &TraitSet) -> bool {
        match self {
            Self::AnyOf(names) => names.iter().any(|name| traits.has(name)),
            Self::Without(name) => !traits.has(name),
        }
    }
}

impl fmt::Display for TraitRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AnyOf(names) => f.write_str(&names.join(" or ")),
            Self::Without(name) => write!(f, "not {name}"),
        }
    }
}

/// What is asked of the providers of each dimension; nothing of most.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TraitRules(Option<Arc<Vec<(DimIx, TraitRule)>>>);

impl TraitRules {
    /// All of these.
    #[must_use]
    pub fn new(rules: Vec<(DimIx, TraitRule)>) -> Self {
        Self((!rules.is_empty()).then(|| Arc::new(rules)))
    }

    /// Whether nothing is asked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// What is asked of the providers of a dimension.
    pub fn of(&self, dim: DimIx) -> impl Iterator<Item = &TraitRule> {
        let all = self.0.iter().flat_map(|rules| rules.iter());
        all.filter(move |(at, _)| *at == dim).map(|(_, rule)| rule)
    }

    /// Whether a provider with these traits may give of a dimension.
    #[must_use]
    pub fn allow(&self, dim: DimIx, traits: &TraitSet) -> bool {
        self.of(dim).all(|rule| rule.holds(traits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_placement_writes_them() {
        let traits = TraitSet::new(["CUSTOM_V100", "CUSTOM_BIG"]);
        for (text, holds) in [
            ("CUSTOM_V100", true),
            ("CUSTOM_A100", false),
            ("!CUSTOM_A100", true),
            ("!CUSTOM_BIG", false),
            ("in:CUSTOM_A100,CUSTOM_V100", true),
            ("in:CUSTOM_A100,CUSTOM_T4", false),
        ] {
            assert_eq!(TraitRule::read(text).holds(&traits), holds, "{text}");
        }
        let (gpu, cpu) = (DimIx(4), DimIx::CPU);
        let rules = TraitRules::new(vec![(gpu, TraitRule::read("CUSTOM_A100"))]);
        assert!(!rules.allow(gpu, &traits) && rules.allow(cpu, &traits));
        assert!(TraitRules::new(Vec::new()).is_empty());
    }
}
