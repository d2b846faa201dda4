//! Amounts: quantities as users write them, dimensions, exact vectors.

pub mod algebra;
pub mod dims;
pub mod fault;
pub mod quantity;
pub mod vector;

pub use algebra::{Missing, UNLIMITED};
pub use dims::{Dim, DimIx, Dims, TASK_CLASS};
pub use fault::DimsFault;
pub use quantity::{Quantity, QuantityFault};
pub use vector::{Amounts, share};
