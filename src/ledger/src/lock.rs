//! The lock file that keeps two stowplan processes from one SQLite database.
//!
//! The database itself stays open to an operator's sqlite3 and to backups.

use crate::error::OpenError;
use std::{
    fs::{File, TryLockError},
    io,
    path::Path,
};

/// A held lock file. The system lets go of it when the process ends, however
/// it ends.
#[derive(Debug)]
pub(crate) struct Lock(File);

impl Lock {
    /// Takes the lock.
    pub fn take(path: &Path) -> Result<Self, OpenError> {
        let display = || path.display().to_string();
        let failed = |source| OpenError::Lock { path: display(), source };
        let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
        if let Some(directory) = directory.filter(|directory| !directory.is_dir()) {
            let text = format!("there is no directory {}", directory.display());
            return Err(failed(io::Error::new(io::ErrorKind::NotFound, text)));
        }
        let file =
            File::options().create(true).truncate(false).write(true).open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(OpenError::Locked { path: display() }),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// Lets go before the process ends.
    pub fn release(&self) {
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "the lock file was not released");
        }
    }
}
