//! Placement semantics over the ledger: validation, candidates, usages.
