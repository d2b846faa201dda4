//! The statements of a batch as prepared ones with their values beside them:
//! SQLite reads each text once, and then it is the row that costs.

use crate::literal::LiteralError;
use rusqlite::types::Value as Bare;
use sea_orm::{ColumnTrait, EntityName, EntityTrait, IdenStatic, Iterable, ModelTrait, Value};
use std::fmt::Write as _;

/// One statement and the rows that it is run for, one after the other.
#[derive(Debug)]
pub(crate) struct Bound {
    pub text: String,
    pub rows: Vec<Vec<Bare>>,
}

/// Statements in the making.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    statements: Vec<Bound>,
    failed: Option<LiteralError>,
}

impl Bounds {
    pub fn finish(self) -> Result<Vec<Bound>, LiteralError> {
        self.failed.map_or(Ok(self.statements), Err)
    }

    pub fn delete<C: ColumnTrait>(&mut self, column: C, ids: impl IntoIterator<Item = i64>) {
        let rows: Vec<_> = ids.into_iter().map(|id| vec![Bare::Integer(id)]).collect();
        let (table, column) = (C::EntityName::default(), column.as_str());
        self.push(rows, || {
            format!("DELETE FROM \"{}\" WHERE \"{column}\" = ?", table.table_name())
        });
    }

    pub fn insert<M: ModelTrait>(&mut self, rows: impl IntoIterator<Item = M>) {
        let failed = &mut self.failed;
        let columns = <M::Entity as EntityTrait>::Column::iter;
        let mut value = |value| {
            bare(value).unwrap_or_else(|error| {
                failed.get_or_insert(error);
                Bare::Null
            })
        };
        let rows = rows.into_iter();
        let rows: Vec<_> =
            rows.map(|row| columns().map(|column| value(row.get(column))).collect()).collect();
        self.push(rows, || {
            let mut text = format!("INSERT INTO \"{}\" (", M::Entity::default().table_name());
            for (place, column) in columns().enumerate() {
                let comma = if place == 0 { "" } else { ", " };
                let _ = write!(text, "{comma}\"{}\"", column.as_str());
            }
            text.push_str(") VALUES (?");
            columns().skip(1).for_each(|_| text.push_str(", ?"));
            text.push(')');
            text
        });
    }

    pub fn set<C: ColumnTrait>(&mut self, id: C, column: C, numbers: &[(i64, i64)]) {
        let row = |(id, number): &(i64, i64)| vec![Bare::Integer(*number), Bare::Integer(*id)];
        let rows: Vec<_> = numbers.iter().map(row).collect();
        let (table, id, column) = (C::EntityName::default(), id.as_str(), column.as_str());
        self.push(rows, || {
            format!("UPDATE \"{}\" SET \"{column}\" = ? WHERE \"{id}\" = ?", table.table_name())
        });
    }

    fn push(&mut self, rows: Vec<Vec<Bare>>, text: impl FnOnce() -> String) {
        if !rows.is_empty() {
            self.statements.push(Bound { text: text(), rows });
        }
    }
}

/// A value as SQLite keeps it; what the servers would not hold is refused here,
/// too.
fn bare(value: Value) -> Result<Bare, LiteralError> {
    Ok(match value {
        Value::Bool(Some(flag)) => Bare::Integer(flag.into()),
        Value::Int(Some(number)) => Bare::Integer(number.into()),
        Value::BigInt(Some(number)) => Bare::Integer(number),
        Value::Unsigned(Some(number)) => Bare::Integer(number.into()),
        Value::BigUnsigned(Some(number)) => {
            Bare::Integer(i64::try_from(number).map_err(|_| LiteralError::Unsupported)?)
        }
        Value::Double(Some(number)) if number.is_finite() => Bare::Real(number),
        Value::Double(Some(_)) => return Err(LiteralError::NotFinite),
        Value::String(Some(text)) if text.contains('\0') => return Err(LiteralError::Nul),
        Value::String(Some(text)) => Bare::Text(text),
        Value::Bytes(Some(bytes)) => Bare::Blob(bytes),
        Value::Bool(None)
        | Value::Int(None)
        | Value::BigInt(None)
        | Value::Unsigned(None)
        | Value::BigUnsigned(None)
        | Value::Double(None)
        | Value::String(None)
        | Value::Bytes(None) => Bare::Null,
        _ => return Err(LiteralError::Unsupported),
    })
}
