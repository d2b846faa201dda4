//! One ledger and one engine that place virtual machines and batch jobs.

fn main() {}
