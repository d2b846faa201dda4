//! Tables for people.

use crate::latency::Distribution;
use comfy_table::{CellAlignment, ContentArrangement, Row, Table, presets};

/// Width where no terminal says another.
const WIDTH: u16 = 120;

/// An empty table with these columns.
pub fn with_header(header: impl Into<Row>) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(header);
    if !table.is_tty() {
        table.set_width(WIDTH);
    }
    table
}

/// Aligns columns.
pub fn align(
    table: &mut Table,
    columns: impl IntoIterator<Item = usize>,
    alignment: CellAlignment,
) {
    for column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(alignment);
        }
    }
}

/// Distributions of calls, in milliseconds.
pub fn latency_table(latencies: &[(&str, Distribution)]) -> Table {
    let mut table = with_header(["ms", "calls", "p50", "p90", "p99", "max"]);
    align(&mut table, 1..=5, CellAlignment::Right);
    for (call, of) in latencies {
        let mut row = vec![(*call).to_owned(), of.count.to_string()];
        row.extend([of.p50_ms, of.p90_ms, of.p99_ms, of.max_ms].map(|ms| format!("{ms:.2}")));
        table.add_row(row);
    }
    table
}
