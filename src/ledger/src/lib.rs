//! The ledger of stowplan: image in memory, changes, journal and the one writer.
