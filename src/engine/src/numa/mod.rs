//! NUMA topologies: whether a server's cells fit onto those of a host, and
//! what they take from them.

mod cell;
mod fit;
mod needs;
mod network;
mod packing;
mod pages;
mod usage;

pub use cell::CellMisfit;
pub use fit::{Fit, HostSide, Misfit, Terms};
pub use needs::NumaNeeds;
pub use usage::after;

use cell::HostCell;
use needs::{CpuPolicy, NeedCell, ThreadPolicy};
