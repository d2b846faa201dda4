//! Numbers as the API takes them.

use super::{
    findings::{Findings, Rule},
    peer::tables::Inventory,
};

/// From the lowest to the highest, both included.
pub type Range = (i64, i64);

/// The largest number of the API.
const MOST: i64 = i32::MAX as i64;
/// Amounts that there are at least 1 of.
pub const AMOUNT: Range = (1, MOST);
/// Amounts and generations that may be 0.
pub const COUNT: Range = (0, MOST);
/// The largest ratio of the API.
const MOST_RATIO: f64 = 3.40282e+38;

/// Checks columns of a row, each with its range.
pub fn check(
    table: &'static str,
    id: i64,
    columns: &[(&'static str, i64, Range)],
    findings: &mut Findings,
) {
    for (column, value, (low, high)) in columns {
        if !(low..=high).contains(&value) {
            findings.fault(table, Rule::Range, || {
                format!("id {id}: {column} is {value}, expected {low} to {high}")
            });
        }
    }
}

/// Checks an inventory.
pub fn check_inventory(row: &Inventory, findings: &mut Findings) {
    const TABLE: &str = "inventories";
    let columns = [
        ("total", row.total, AMOUNT),
        ("reserved", row.reserved, COUNT),
        ("min_unit", row.min_unit, AMOUNT),
        ("max_unit", row.max_unit, AMOUNT),
        ("step_size", row.step_size, AMOUNT),
    ];
    check(TABLE, row.id, &columns, findings);
    let ratio = row.allocation_ratio;
    if !(0.0..=MOST_RATIO).contains(&ratio) {
        findings.fault(TABLE, Rule::Range, || {
            format!("id {}: allocation_ratio is {ratio}, expected 0 to {MOST_RATIO:e}", row.id)
        });
    }
}
