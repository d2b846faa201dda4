//! List options of the form `name=number`.

use stowplan_model::pytext;

use crate::finding::Finding;

/// The items of a list option that can be read, in their order, and what is to
/// be said of the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WeightedNames {
    /// Names as they are written, blanks included.
    pub items: Vec<(String, f64)>,
    pub findings: Vec<Finding>,
}

impl WeightedNames {
    /// Reads the items of `option` (as `section.name`). Each is split at its
    /// first `=`; one without name, `=` or number is left out.
    pub(crate) fn read(option: &'static str, items: &[String]) -> Self {
        let mut read = Self::default();
        for item in items {
            let parts = item.split_once('=').filter(|(name, _)| !name.is_empty());
            match parts.and_then(|(name, value)| Some((name, pytext::float(value)?))) {
                Some((name, value)) => read.items.push((name.to_owned(), value)),
                None => read.findings.push(Finding::ItemLeftOut { option, item: item.clone() }),
            }
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_left_out_alone() {
        let items = ["a=1", " b = 2 ", "=3", "c", "d=x", "e=", "f=1=2", "a=-.5"];
        let read = WeightedNames::read("metrics.weight_setting", &items.map(str::to_owned));
        let expected = [("a", 1.0), (" b ", 2.0), ("a", -0.5)];
        assert_eq!(read.items, expected.map(|(name, value)| (name.to_owned(), value)));
        assert_eq!(read.findings.len(), 5);
        assert_eq!(
            read.findings[0].to_string(),
            "metrics.weight_setting has \"=3\", which is left out: expected name=number"
        );
    }
}
