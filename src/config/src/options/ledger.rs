//! `[ledger]` and `[decisions]`: the writer, the journal and what is kept.

use std::time::Duration;

use crate::macros::{choice, section};

const DAY: u64 = 86_400;

choice! {
    /// How fresh a read is when several processes share the database.
    ReadConsistency {
        /// A read sees every write that was answered before it came.
        Linearizable = "linearizable",
        /// A read may be as old as `max_staleness`.
        Bounded = "bounded",
    }
}

section! {
    /// The writer and the journal.
    ledger: Ledger = "ledger" {
        /// Most mutations in one transaction.
        batch_max_mutations: u32 = 512, min(1.0), mutable;
        /// Milliseconds of work after which a transaction takes no more mutations.
        batch_max_ms: u64 = 20, min(1.0), mutable;
        /// Microseconds to wait for company before a transaction begins, if the last
        /// one held more than one mutation.
        linger_us: u64 = 40, max(10000.0), mutable;
        /// How often a transaction that lost a race in the database is tried again,
        /// for 10 seconds at most; after one in vain the next are tried once, until
        /// the database takes writes again.
        commit_retries: u32 = 10, mutable;
        /// Most writes that may wait for the writer; more are answered 503 at once.
        max_waiting: u32 = 8192, min(1.0), mutable;
        /// How fresh a read is when several processes share the database:
        /// linearizable sees every write that was answered before, bounded may be
        /// as old as max_staleness. One process serves a database, and its reads see
        /// every write; the option is accepted and changes nothing.
        read_consistency: ReadConsistency = ReadConsistency::Linearizable, mutable;
        /// Oldest state that a bounded read may see; as read_consistency, it is
        /// accepted and changes nothing.
        max_staleness: Duration = Duration::from_secs(1), mutable;
        /// Age after which rows of the journal are deleted.
        journal_max_age: Duration = Duration::from_secs(7 * DAY), min(60.0), mutable;
        /// Time between two writes of hosts' signs of life to the database.
        last_seen_flush_interval: Duration = Duration::from_secs(5), min(0.1), mutable;
    }
}

section! {
    /// Recorded decisions, which explain why a host was chosen.
    decisions: Decisions = "decisions" {
        /// Most decisions kept; 0: none is recorded.
        max_rows: u64 = 100_000, mutable;
        /// Age after which a decision is deleted.
        max_age: Duration = Duration::from_secs(7 * DAY), min(1.0), mutable;
        /// Most bytes that the bodies of decisions take in the database.
        max_bytes: u64 = 536_870_912, mutable;
    }
}
