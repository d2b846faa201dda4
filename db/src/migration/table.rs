//! How a table is made so that the three databases treat it alike.

use sea_orm::DbBackend;
use sea_orm_migration::prelude::*;

/// A table in the making: columns, keys and indexes by name.
pub(super) struct NewTable {
    name: &'static str,
    columns: Vec<ColumnDef>,
    primary: &'static [&'static str],
    unique: Vec<&'static [&'static str]>,
    indexed: Vec<&'static [&'static str]>,
}

impl NewTable {
    /// A table with these columns as its primary key.
    pub(super) fn new(name: &'static str, primary: &'static [&'static str]) -> Self {
        Self { name, columns: Vec::new(), primary, unique: Vec::new(), indexed: Vec::new() }
    }

    fn column(mut self, name: &'static str, kind: ColumnType, null: bool) -> Self {
        let mut column = ColumnDef::new_with_type(name, kind);
        if null {
            column.null();
        } else {
            column.not_null();
        }
        self.columns.push(column);
        self
    }

    /// 64-bit integers: ids, amounts, times.
    pub(super) fn longs(mut self, names: &[&'static str]) -> Self {
        for name in names {
            self = self.column(name, ColumnType::BigInteger, false);
        }
        self
    }

    /// A 64-bit integer that may be absent.
    pub(super) fn long_or_null(self, name: &'static str) -> Self {
        self.column(name, ColumnType::BigInteger, true)
    }

    /// A 32-bit integer.
    pub(super) fn int(self, name: &'static str) -> Self {
        self.column(name, ColumnType::Integer, false)
    }

    /// A double.
    pub(super) fn double(self, name: &'static str) -> Self {
        self.column(name, ColumnType::Double, false)
    }

    /// A truth value.
    pub(super) fn flag(self, name: &'static str) -> Self {
        self.column(name, ColumnType::Boolean, false)
    }

    /// Text of at most `length` characters.
    pub(super) fn string(self, name: &'static str, length: u32) -> Self {
        self.column(name, ColumnType::String(StringLen::N(length)), false)
    }

    /// Text of at most `length` characters that may be absent.
    pub(super) fn string_or_null(self, name: &'static str, length: u32) -> Self {
        self.column(name, ColumnType::String(StringLen::N(length)), true)
    }

    /// A uuid as 36 characters.
    pub(super) fn uuid(self, name: &'static str) -> Self {
        self.string(name, UUID_LENGTH)
    }

    /// A uuid that may be absent.
    pub(super) fn uuid_or_null(self, name: &'static str) -> Self {
        self.string_or_null(name, UUID_LENGTH)
    }

    /// Text without a limit of its own.
    pub(super) fn text(self, name: &'static str) -> Self {
        self.column(name, ColumnType::Text, false)
    }

    /// Text without a limit of its own that may be absent.
    pub(super) fn text_or_null(self, name: &'static str) -> Self {
        self.column(name, ColumnType::Text, true)
    }

    /// Bytes without a limit of their own that may be absent.
    pub(super) fn blob_or_null(self, name: &'static str) -> Self {
        self.column(name, ColumnType::Blob, true)
    }

    /// `created_us` and `updated_us`.
    pub(super) fn times(self) -> Self {
        self.longs(&["created_us", "updated_us"])
    }

    /// No two rows hold the same in these columns.
    pub(super) fn unique(mut self, columns: &'static [&'static str]) -> Self {
        self.unique.push(columns);
        self
    }

    /// Rows are looked for by these columns.
    pub(super) fn indexed(mut self, columns: &'static [&'static str]) -> Self {
        self.indexed.push(columns);
        self
    }

    /// Makes the table and its indexes, what of them is not there yet.
    pub(super) async fn create(self, manager: &SchemaManager<'_>) -> Result<(), DbErr> {
        let backend = manager.get_database_backend();
        let mut table = Table::create();
        table.table(self.name).if_not_exists();
        for mut column in self.columns {
            if let Some(wide) = wide_type(backend, column.get_column_type()) {
                column.custom(wide);
            }
            table.col(column);
        }
        let mut primary = Index::create();
        for column in self.primary {
            primary.col(*column);
        }
        table.primary_key(&mut primary);
        if backend == DbBackend::Sqlite && self.primary.len() > 1 {
            // The rows lie in the key's own tree, as on MariaDB; a single
            // number as the key is one already.
            table.extra("WITHOUT ROWID");
        }

        let mut apart = Vec::new();
        for (columns, unique) in keys(&self.unique, &self.indexed) {
            let mut index = index(self.name, columns, unique);
            if backend == DbBackend::MySql {
                table.index(&mut index);
            } else {
                apart.push(index.table(self.name).if_not_exists().take());
            }
        }
        if backend == DbBackend::MySql {
            table.engine("InnoDB").character_set("utf8mb4");
            table.collate(exact_collation(manager).await?);
        }
        manager.create_table(table).await?;
        for index in apart {
            manager.create_index(index).await?;
        }
        Ok(())
    }
}

/// Adds a column of text that may be absent to a table that is there already.
pub(super) async fn add_text_or_null(
    manager: &SchemaManager<'_>,
    table: &'static str,
    name: &'static str,
) -> Result<(), DbErr> {
    if manager.has_column(table, name).await? {
        return Ok(());
    }
    let mut column = ColumnDef::new_with_type(name, ColumnType::Text);
    column.null();
    if let Some(wide) = wide_type(manager.get_database_backend(), column.get_column_type()) {
        column.custom(wide);
    }
    manager.alter_table(Table::alter().table(table).add_column(column).take()).await
}

const UUID_LENGTH: u32 = 36;

fn keys<'a>(
    unique: &'a [&'static [&'static str]],
    indexed: &'a [&'static [&'static str]],
) -> impl Iterator<Item = (&'static [&'static str], bool)> + 'a {
    let unique = unique.iter().map(|columns| (*columns, true));
    unique.chain(indexed.iter().map(|columns| (*columns, false)))
}

fn index(table: &str, columns: &[&'static str], unique: bool) -> IndexCreateStatement {
    let kind = if unique { "uq" } else { "ix" };
    let mut index = Index::create();
    index.name(format!("{kind}_{table}_{}", columns.join("_")));
    for column in columns {
        index.col(*column);
    }
    if unique {
        index.unique();
    }
    index.take()
}

/// Adds a column that may be absent to a table that is there, unless it is
/// there too.
pub(super) async fn add_column(
    manager: &SchemaManager<'_>,
    table: &'static str,
    name: &'static str,
    kind: ColumnType,
) -> Result<(), DbErr> {
    if manager.has_column(table, name).await? {
        return Ok(());
    }
    let mut column = ColumnDef::new_with_type(name, kind);
    column.null();
    let backend = manager.get_database_backend();
    if let Some(wide) = wide_type(backend, column.get_column_type()) {
        column.custom(wide);
    }
    manager.alter_table(Table::alter().table(table).add_column(column).take()).await
}

/// MariaDB's TEXT and BLOB end at 64 KiB; the others have no limit to speak of.
fn wide_type(backend: DbBackend, kind: Option<&ColumnType>) -> Option<&'static str> {
    match (backend, kind) {
        (DbBackend::MySql, Some(ColumnType::Text)) => Some("longtext"),
        (DbBackend::MySql, Some(ColumnType::Blob)) => Some("longblob"),
        _ => None,
    }
}

/// The collation that keeps 'a' from 'A' and 'b' from 'b ', as the other two
/// databases do. `utf8mb4_bin` would not do: it pads with blanks.
async fn exact_collation(manager: &SchemaManager<'_>) -> Result<&'static str, DbErr> {
    let version = Query::select().expr(Func::cust("version")).take();
    let row = manager.get_connection().query_one(&version).await?;
    let version: String = match row {
        Some(row) => row.try_get_by_index(0)?,
        None => String::new(),
    };
    Ok(if version.contains("MariaDB") { "utf8mb4_nopad_bin" } else { "utf8mb4_0900_bin" })
}
