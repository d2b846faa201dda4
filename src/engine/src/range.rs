//! The lowest and the highest of many numbers.

use std::cmp::Ordering;

use crate::multiplier::order;

/// Numbers looked at side by side, so that no comparison waits for the one
/// before it.
const LANES: usize = 8;

/// The lowest and highest of `values` by [`order`], in which NaN is the
/// smallest; 0 and 0 of none. Among equal ones the first stands for all.
pub(crate) fn range(values: &[f64]) -> (f64, f64) {
    let Some(first) = values.first().copied() else {
        return (0.0, 0.0);
    };
    let (mut low, mut high) = ([first; LANES], [first; LANES]);
    let mut odd = [false; LANES];
    let mut strips = values.chunks_exact(LANES);
    for strip in &mut strips {
        for lane in 0..LANES {
            let value = strip[lane];
            low[lane] = if value < low[lane] { value } else { low[lane] };
            high[lane] = if value > high[lane] { value } else { high[lane] };
            odd[lane] |= value.is_nan();
        }
    }
    let rest = strips.remainder();
    if odd.contains(&true) || rest.iter().any(|value| value.is_nan()) {
        return one_by_one(values, first);
    }
    let ends = low.iter().chain(&high).chain(rest).copied();
    ends.fold((first, first), widen)
}

/// The rule itself.
fn one_by_one(values: &[f64], first: f64) -> (f64, f64) {
    values.iter().copied().fold((first, first), widen)
}

fn widen((low, high): (f64, f64), value: f64) -> (f64, f64) {
    (
        if order(value, low) == Ordering::Less { value } else { low },
        if order(value, high) == Ordering::Greater { value } else { high },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn side_by_side_is_one_by_one() {
        let mut values: Vec<f64> = (0..37).map(|n| f64::from((n * 31) % 23) - 7.0).collect();
        assert_eq!(range(&values), (-7.0, 15.0));
        values[20] = f64::INFINITY;
        values[36] = f64::NEG_INFINITY;
        assert_eq!(range(&values), (f64::NEG_INFINITY, f64::INFINITY));
        for place in [3, 35] {
            let mut values = values.clone();
            values[place] = f64::NAN;
            let (low, high) = range(&values);
            assert!(low.is_nan());
            assert_eq!(high, f64::INFINITY);
        }
        assert!(range(&[f64::NAN; 9]).1.is_nan());
        assert_eq!(range(&[]), (0.0, 0.0));
    }
}
