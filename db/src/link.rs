//! The connection that batches are written through.

mod fault;
mod file;
mod pooled;
mod room;

pub(crate) use file::File;
pub(crate) use pooled::{Pooled, Source};

/// The way to the database that a batch goes.
#[derive(Debug)]
pub(crate) enum Link {
    /// Straight to a SQLite file.
    File(File),
    /// Through a pool: to a server, or to a database in memory, which has one
    /// connection for everything.
    Pooled(Pooled),
}

impl Link {
    /// Makes way for one who writes beside the batches.
    pub fn yield_turn(&mut self) {
        match self {
            Self::File(file) => file.yield_turn(),
            Self::Pooled(pooled) => pooled.give_back(),
        }
    }

    /// Takes the turn again.
    pub fn resume(&mut self) {
        if let Self::File(file) = self {
            file.resume();
        }
    }

    /// Gives up the connection in good order.
    pub fn close(&mut self) {
        match self {
            Self::File(file) => file.close(),
            Self::Pooled(pooled) => pooled.give_back(),
        }
    }
}
