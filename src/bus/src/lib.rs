//! The message bus of stowplan.
