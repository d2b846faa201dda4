//! What a provider has of one resource class.

use serde::{Deserialize, Serialize};

/// One inventory of a resource provider, as the Placement API defines it.
///
/// All amounts are whole units of the resource class (MEMORY_MB counts MiB).
/// Only the total must be given; the rest takes the API's defaults.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = InventoryReport)]
pub struct Inventory {
    /// Units that exist, 1 to 2^31 - 1.
    pub total: i64,
    /// Units kept back, 0 to `total` (equal to it only from microversion 1.26).
    #[serde(default)]
    pub reserved: i64,
    /// The smallest amount that one allocation may take, at least 1.
    #[serde(default = "one")]
    pub min_unit: i64,
    /// The largest amount that one allocation may take.
    #[serde(default = "unbounded")]
    pub max_unit: i64,
    /// Every amount is a multiple of this, at least 1.
    #[serde(default = "one")]
    pub step_size: i64,
    /// How often a unit may be promised.
    #[serde(default = "once")]
    pub allocation_ratio: f64,
}

const fn one() -> i64 {
    1
}

const fn unbounded() -> i64 {
    i32::MAX as i64
}

const fn once() -> f64 {
    1.0
}

impl Inventory {
    /// What may be allocated in all: `(total - reserved) x allocation_ratio`,
    /// rounded towards zero. Negative when more is reserved than exists.
    #[must_use]
    pub fn capacity(&self) -> i64 {
        // A float cast saturates and takes NaN to 0: never undefined, and an
        // absurd ratio of a client gives an absurd capacity, not a panic.
        (self.total.saturating_sub(self.reserved) as f64 * self.allocation_ratio) as i64
    }

    /// Why one allocation of `amount` units breaks this inventory's own rules
    /// (its unit bounds and step), regardless of what is in use.
    #[must_use]
    pub fn unit_fault(&self, amount: i64) -> Option<UnitFault> {
        if amount < self.min_unit {
            Some(UnitFault::BelowMinimum(self.min_unit))
        } else if amount > self.max_unit {
            Some(UnitFault::AboveMaximum(self.max_unit))
        } else if self.step_size > 1 && amount % self.step_size != 0 {
            Some(UnitFault::OffStep(self.step_size))
        } else {
            None
        }
    }
}

/// How an amount breaks the unit rules of an [`Inventory`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnitFault {
    /// Less than `min_unit`, given.
    BelowMinimum(i64),
    /// More than `max_unit`, given.
    AboveMaximum(i64),
    /// No multiple of `step_size`, given.
    OffStep(i64),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inventory(total: i64, reserved: i64, allocation_ratio: f64) -> Inventory {
        Inventory { total, reserved, min_unit: 2, max_unit: 10, step_size: 2, allocation_ratio }
    }

    #[test]
    fn capacity_rounds_towards_zero() {
        for (total, reserved, ratio, capacity) in [
            (10, 0, 1.0, 10),
            (10, 3, 1.5, 10),
            (7, 0, 0.1, 0),
            (4, 8, 1.5, -6),
            (5, 0, 0.0, 0),
            (i64::MAX, i64::MIN, 2.0, i64::MAX),
            (i64::MIN, i64::MAX, 2.0, i64::MIN),
            (5, 0, f64::NAN, 0),
        ] {
            assert_eq!(inventory(total, reserved, ratio).capacity(), capacity);
        }
    }

    #[test]
    fn unit_rules() {
        let inventory = inventory(100, 0, 1.0);
        for (amount, fault) in [
            (1, Some(UnitFault::BelowMinimum(2))),
            (2, None),
            (3, Some(UnitFault::OffStep(2))),
            (10, None),
            (12, Some(UnitFault::AboveMaximum(10))),
        ] {
            assert_eq!(inventory.unit_fault(amount), fault, "amount {amount}");
        }
    }
}
