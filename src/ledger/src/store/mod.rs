//! Between the image and the tables: what a batch writes, what a start reads.

pub(crate) mod load;
mod rows_in;
mod rows_out;
pub(crate) mod sheets;
pub(crate) mod touched;
