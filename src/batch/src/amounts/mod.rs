//! Amounts: quantities as users write them, dimensions, exact vectors.

pub mod algebra;
pub mod dims;
pub mod quantity;
pub mod vector;

pub use algebra::{Missing, UNLIMITED};
pub use dims::{Dim, DimIx, Dims, DimsFault, TASK_CLASS};
pub use quantity::{Quantity, QuantityFault};
pub use vector::{Amounts, share};
