//! Tables for people.

use comfy_table::{CellAlignment, ContentArrangement, Row, Table, presets};

/// An empty table with these columns.
pub fn with_header(header: impl Into<Row>) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(header);
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
