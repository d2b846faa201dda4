//! Rows as structs whose fields bear the names of the columns.

use super::Dialect;
use sea_orm::{DbErr, QueryResult};

/// A row of a table, or of a join.
pub trait Row: Sized {
    /// What stands after FROM.
    const FROM: &'static str;

    /// What stands after SELECT.
    fn columns(sql: Dialect) -> Vec<String>;

    /// A row of the answer.
    ///
    /// # Errors
    /// A column of another type than it should have.
    fn read(row: &QueryResult) -> Result<Self, DbErr>;
}

/// Declares rows of tables: the types of the fields say how their columns are
/// read, and a field whose column has another name, or is an expression, says it.
///
/// ```text
/// rows! {
///     /// A trait.
///     Trait from "traits" {
///         id: i64,
///         label: Option<String> = "name",
///     }
/// }
/// ```
#[macro_export]
macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident from $from:literal {
        $($field:ident: $type:ty $(= $column:literal)?,)*
    })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq)]
            pub struct $name { $(pub $field: $type,)* }

            impl $crate::peer::Row for $name {
                const FROM: &'static str = $from;

                fn columns(sql: $crate::peer::Dialect) -> Vec<String> {
                    vec![$(
                        <$type as $crate::peer::Cell>::column(
                            sql, $crate::column!($field $($column)?),
                        ),
                    )*]
                }

                fn read(row: &$crate::sea_orm::QueryResult) -> Result<Self, $crate::DbErr> {
                    let mut places = 0..;
                    let mut place = || places.next().unwrap_or_default();
                    Ok(Self { $($field: $crate::peer::Cell::read(row, place())?,)* })
                }
            }
        )*
    };
}

/// The column of a field.
#[doc(hidden)]
#[macro_export]
macro_rules! column {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $column:literal) => {
        $column
    };
}
