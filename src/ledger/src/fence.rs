//! Shutting out what a predecessor left in the database server.
//!
//! A process that was killed may have sent its last transaction already: the
//! server's session goes on with it, and may commit after a successor has read
//! the tables. So the successor moves the head itself before it reads. A
//! transaction that holds the head by then is waited for and will be read; one
//! that comes later finds the head moved and gives up.

use crate::{
    change::{Change, Entry},
    clock,
    error::{OpenError, Unavailable},
    image::Image,
    store::{sheets::Sheets, touched::Touched},
};
use std::time::Duration;
use stowplan_db::{Backend, Batch, Connection, DbErr, Script, Trouble, Written};
use uuid::Uuid;

/// How often the head is asked for: each try waits for the database's own
/// bound on locks.
const TRIES: u32 = 6;
/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(200);

/// Moves the head of a database that a server keeps. A SQLite file needs none
/// of it: what a killed process had not committed is gone with it.
pub(crate) async fn fence(connection: &Connection) -> Result<(), OpenError> {
    if connection.backend() == Backend::Sqlite {
        return Ok(());
    }
    let mut last = String::new();
    for _ in 0..TRIES {
        match move_head(connection).await {
            Ok(Written::Committed) => return Ok(()),
            Ok(Written::HeadMoved) => "another process moved the head".clone_into(&mut last),
            Err(error) if Trouble::classify(&error) == Trouble::Retry => last = error.to_string(),
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(PAUSE).await;
    }
    Err(OpenError::Away(format!("the ledger's head is held by somebody else: {last}")))
}

async fn move_head(connection: &Connection) -> Result<Written, DbErr> {
    let mut batch = Batch::begin(connection).await?;
    let locked = batch.lock_head().await;
    batch.rollback().await?;
    let known = locked?.seq;
    let id = Uuid::new_v4().to_string();
    let entry = Entry {
        seq: known + 1,
        request_id: String::new(),
        time: clock::now(),
        change: Change::new("ledger.open"),
    };
    let (nothing, untouched) = (Image::default(), Touched::default());
    let script = Script::new(connection);
    let sheets = Sheets::write(script, &nothing, &nothing, &untouched, &[entry], &id);
    let sheets = sheets.map_err(|trouble: Unavailable| DbErr::Custom(trouble.to_string()))?;
    connection.write(known, known + 1, &id, sheets.statements).await
}
