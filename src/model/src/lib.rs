//! Ids, names, quantities, request and host types of stowplan; no input or output.
