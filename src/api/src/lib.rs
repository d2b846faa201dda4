//! The HTTP surfaces of stowplan: Placement, compute and native.
