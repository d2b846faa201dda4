//! The weighers there are.

mod cpu;
mod figure;

pub use cpu::CpuWeigher;
pub use figure::{BUILD_FAILURE, DISK, FigureWeigher, IO_OPS, RAM};
