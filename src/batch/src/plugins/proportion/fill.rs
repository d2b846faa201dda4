//! Water filling: an amount divided by weights, up to what each asks for.

use crate::amounts::{Amounts, Missing};
use crate::session::QueueIx;

/// What one queue asks of the whole.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    /// The queue.
    pub(super) queue: QueueIx,
    /// Its part among the others'.
    pub(super) weight: i64,
    /// What it holds and asks for.
    pub(super) request: Amounts,
    /// What it gets in any case.
    pub(super) guarantee: Amounts,
    /// What it gets at most.
    pub(super) limit: Amounts,
}

/// What each queue deserves, in the order of the claims.
///
/// Round by round, what remains is divided among those who have not enough; all
/// of a round divide the same remainder. It ends when nothing remains, nobody
/// wants more, or a round changes nothing.
pub(super) fn fill(total: &Amounts, claims: &[Claim]) -> Vec<Amounts> {
    let mut remaining = total.clone();
    let mut deserved = vec![Amounts::new(); claims.len()];
    let mut met = vec![false; claims.len()];
    loop {
        let open = claims.iter().zip(&met).filter(|(_, met)| !**met);
        let weights: i64 = open.map(|(claim, _)| claim.weight).sum();
        if weights <= 0 {
            return deserved;
        }
        let (mut given, mut returned) = (Amounts::new(), Amounts::new());
        for (place, claim) in claims.iter().enumerate() {
            if met[place] {
                continue;
            }
            let old = std::mem::take(&mut deserved[place]);
            let mut new = old.clone();
            new.add(&part(&remaining, claim.weight, weights));
            new.cap(&claim.limit, Missing::Infinity);
            new.cap(&claim.request, Missing::Zero);
            new.lift(&claim.guarantee);
            met[place] =
                claim.request.less_equal(&new, Missing::Zero) || new.equals(&old, Missing::Zero);
            let (more, less) = new.diff(&old);
            given.add(&more);
            returned.add(&less);
            deserved[place] = new;
        }
        let before = remaining.clone();
        remaining.add(&returned);
        remaining = remaining.exceeded(&given);
        let nothing = remaining.positive().next().is_none();
        if nothing || remaining.equals(&before, Missing::Zero) {
            return deserved;
        }
    }
}

/// A part of an amount, rounded down.
fn part(amount: &Amounts, weight: i64, weights: i64) -> Amounts {
    let mut part = Amounts::new();
    for (dim, value) in amount.iter() {
        let exact = i128::from(value) * i128::from(weight) / i128::from(weights);
        part.set(dim, i64::try_from(exact).unwrap_or(i64::MAX));
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amounts::DimIx;
    use proptest::prelude::*;

    fn cpu(value: i64) -> Amounts {
        let mut amounts = Amounts::new();
        amounts.set(DimIx::CPU, value);
        amounts
    }

    fn claim(weight: i64, request: i64, guarantee: i64, limit: i64) -> Claim {
        let (request, guarantee, limit) = (cpu(request), cpu(guarantee), cpu(limit));
        Claim { queue: QueueIx(0), weight, request, guarantee, limit }
    }

    fn filled(total: i64, claims: &[Claim]) -> Vec<i64> {
        fill(&cpu(total), claims).iter().map(|amounts| amounts.get(DimIx::CPU)).collect()
    }

    #[test]
    fn what_one_does_not_want_goes_to_the_others() {
        let claims = [claim(1, 2, 0, 100), claim(1, 50, 0, 100), claim(2, 50, 0, 100)];
        let filled = filled(20, &claims);
        assert_eq!((filled[0], filled.iter().sum::<i64>()), (2, 20));
        assert_eq!(self::filled(10, &[claim(1, 8, 0, 3), claim(1, 8, 0, 10)]), [3, 7]);
    }

    proptest! {
        #[test]
        fn nobody_gets_more_than_there_is(
            total in 0i64..500,
            claims in proptest::collection::vec((1i64..9, 0i64..200), 1..6),
        ) {
            let claims: Vec<Claim> =
                claims.iter().map(|(weight, request)| claim(*weight, *request, 0, 500)).collect();
            let filled = filled(total, &claims);
            prop_assert!(filled.iter().sum::<i64>() <= total);
            for (got, claim) in filled.iter().zip(&claims) {
                prop_assert!(*got <= claim.request.get(DimIx::CPU));
            }
        }
    }
}
