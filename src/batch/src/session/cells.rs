//! Parts of NUMA cells.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a task was given of one NUMA cell of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CellShare {
    /// The cell's number.
    pub cell: i64,
    /// Processors, in units of the class that `cpu` is held in.
    pub cpu: i64,
    /// Memory, in units of the class that `memory` is held in.
    pub memory: i64,
}
