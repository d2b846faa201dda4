//! Columns by the types that they are read as.

use super::Dialect;
use sea_orm::{DbErr, QueryResult, TryGetable};
use stowplan_model::Micros;

/// A value of a column.
pub trait Cell: Sized {
    /// How the column is asked for.
    fn column(sql: Dialect, name: &str) -> String;

    /// The value at a place of a row.
    ///
    /// # Errors
    /// A value of another type.
    fn read(row: &QueryResult, place: usize) -> Result<Self, DbErr>;
}

/// A type that a driver reads, and how its columns are asked for.
macro_rules! cell {
    ($($type:ty => $column:ident),* $(,)?) => {
        $(impl Cell for $type {
            fn column(sql: Dialect, name: &str) -> String {
                sql.$column(name)
            }

            fn read(row: &QueryResult, place: usize) -> Result<Self, DbErr> {
                driver_value(row, place)
            }
        })*
    };
}

cell! {
    i64 => number,
    Option<i64> => number,
    String => text,
    Option<String> => text,
    f64 => double,
    Option<f64> => double,
}

impl Cell for bool {
    fn column(sql: Dialect, name: &str) -> String {
        sql.flag(name)
    }

    /// What is null is not so.
    fn read(row: &QueryResult, place: usize) -> Result<Self, DbErr> {
        Ok(driver_value::<Option<i64>>(row, place)?.is_some_and(|flag| flag != 0))
    }
}

impl Cell for Option<Micros> {
    fn column(sql: Dialect, name: &str) -> String {
        sql.time(name)
    }

    fn read(row: &QueryResult, place: usize) -> Result<Self, DbErr> {
        Ok(driver_value::<Option<i64>>(row, place)?.map(Micros))
    }
}

fn driver_value<T: TryGetable>(row: &QueryResult, place: usize) -> Result<T, DbErr> {
    row.try_get_by_index(place)
}
