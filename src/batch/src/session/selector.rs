//! Selectors: which labels a thing must have, as Kubernetes has it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Labels of a task or host.
pub type Labels = BTreeMap<String, String>;

/// Which tasks are meant: all labels, and all expressions. An empty one means
/// every task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Selector {
    /// Labels with their values.
    pub match_labels: Labels,
    /// What else holds of the labels.
    pub match_expressions: Vec<Expression>,
}

/// Which hosts are meant: all expressions. Without one, no host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(transparent)]
pub struct NodeTerm(pub Vec<Expression>);

/// Something that holds of one label.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Expression {
    /// The label's key.
    pub key: String,
    /// What holds.
    pub operator: Operator,
    /// The values that it is compared with.
    #[serde(default)]
    pub values: Vec<String>,
}

/// How a label is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
pub enum Operator {
    /// Its value is one of these.
    In,
    /// Its value is none of these, or there is no such label.
    NotIn,
    /// There is such a label.
    Exists,
    /// There is none.
    DoesNotExist,
    /// Its value is a whole number above this.
    Gt,
    /// Its value is a whole number below this.
    Lt,
}

impl Selector {
    /// Whether labels are meant.
    #[must_use]
    pub fn matches(&self, labels: &Labels) -> bool {
        self.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
            && self.match_expressions.iter().all(|expression| expression.holds(labels))
    }
}

impl NodeTerm {
    /// Whether labels are meant.
    #[must_use]
    pub fn matches(&self, labels: &Labels) -> bool {
        !self.0.is_empty() && self.0.iter().all(|expression| expression.holds(labels))
    }
}

impl Expression {
    fn holds(&self, labels: &Labels) -> bool {
        let value = labels.get(&self.key);
        let whole = |text: &String| text.parse::<i64>().ok();
        let compares = |holds: fn(i64, i64) -> bool| {
            let left = value.and_then(whole);
            let right = self.values.first().and_then(whole);
            left.zip(right).is_some_and(|(left, right)| holds(left, right))
        };
        match self.operator {
            Operator::In => value.is_some_and(|value| self.values.contains(value)),
            Operator::NotIn => value.is_none_or(|value| !self.values.contains(value)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::Gt => compares(|left, right| left > right),
            Operator::Lt => compares(|left, right| left < right),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions() {
        let labels: Labels = [("zone", "a"), ("cores", "8")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into();
        let holds = |key: &str, operator, values: &[&str]| {
            let values = values.iter().map(|value| (*value).to_owned()).collect();
            Expression { key: key.to_owned(), operator, values }.holds(&labels)
        };
        assert!(holds("zone", Operator::In, &["b", "a"]) && !holds("zone", Operator::In, &["b"]));
        assert!(holds("rack", Operator::NotIn, &["b"]) && !holds("zone", Operator::NotIn, &["a"]));
        assert!(holds("zone", Operator::Exists, &[]) && holds("rack", Operator::DoesNotExist, &[]));
        assert!(holds("cores", Operator::Gt, &["7"]) && !holds("cores", Operator::Gt, &["8"]));
        assert!(holds("cores", Operator::Lt, &["9"]) && !holds("zone", Operator::Lt, &["9"]));
    }

    #[test]
    fn an_empty_selector_means_all_and_an_empty_term_none() {
        assert!(Selector::default().matches(&Labels::new()));
        assert!(!NodeTerm::default().matches(&Labels::new()));
    }
}
