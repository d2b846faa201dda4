//! Room on the disk for SQLite's write-ahead log, before it is needed: a commit
//! that makes the file longer waits twice as long for the disk as one that
//! writes where the file has been.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// A piece of room that is written at once.
const PIECE: usize = 1 << 20;

/// Gives a database that has no log one of so many bytes, all zeros, which
/// SQLite takes for an empty one. A log that is there stays as it is.
pub(super) fn make(database: &Path, bytes: u64) -> io::Result<()> {
    let log = beside(database, "-wal");
    if log.try_exists()? {
        return Ok(());
    }
    // Whoever opens the database meanwhile finds no log or a whole one.
    let draft = beside(database, "-wal.new");
    let made = fill(&draft, database, bytes).and_then(|()| fs::hard_link(&draft, &log));
    fs::remove_file(&draft)?;
    match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

fn fill(file: &Path, like: &Path, bytes: u64) -> io::Result<()> {
    let mut file = File::create(file)?;
    // The log holds what the database holds, so the same may read it.
    file.set_permissions(fs::metadata(like)?.permissions())?;
    let zeros = vec![0; PIECE];
    let mut left = bytes;
    while left > 0 {
        let piece = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
        file.write_all(&zeros[..piece])?;
        left -= piece as u64;
    }
    file.sync_all()
}

fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(database);
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_log_is_made_like_its_database_and_one_that_is_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("a.db");
        let log = folder.path().join("a.db-wal");
        fs::write(&database, "").unwrap();
        fs::set_permissions(&database, fs::Permissions::from_mode(0o600)).unwrap();
        let bytes = 3 * PIECE as u64 + 7;
        make(&database, bytes).unwrap();
        let made = fs::metadata(&log).unwrap();
        assert_eq!((made.len(), made.permissions().mode() & 0o777), (bytes, 0o600));
        assert!(fs::read(&log).unwrap().iter().all(|byte| *byte == 0));
        fs::write(&log, "frames").unwrap();
        make(&database, bytes).unwrap();
        assert_eq!(fs::read(&log).unwrap(), b"frames");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "the draft is gone");
    }
}
