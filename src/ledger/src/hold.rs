//! The lock that keeps two stowplan processes from one database of a server: it
//! is taken at start, watched over while the process runs, and taken again when
//! the server has lost it. Until then nothing is written.

use crate::{error::OpenError, proposal::Message, shared::Shared};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use stowplan_db::{Connection, Hold, Taken};
use tokio::{
    sync::{mpsc, oneshot},
    time::{sleep, timeout},
};

/// How often the server is asked whether the lock is still ours. It gives up a
/// session that was silent for half a minute.
const INTERVAL: Duration = Duration::from_secs(2);
/// How long it may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The pause between two tries to take it.
const PAUSE: Duration = Duration::from_millis(250);

/// Takes the lock; one that somebody holds is waited for as long as `patience`
/// lasts: of a killed process it goes as soon as the server knows of its end.
pub(crate) async fn take(
    connection: &Connection,
    patience: Option<Duration>,
) -> Result<Option<Hold>, OpenError> {
    let Some(patience) = patience else { return Ok(None) };
    let until = Instant::now() + patience;
    let mut is_told = false;
    loop {
        let holder = match connection.hold().await? {
            None => return Ok(None),
            Some(Taken::Ours(hold)) => return Ok(Some(hold)),
            Some(Taken::Theirs(holder)) => holder,
        };
        if Instant::now() >= until {
            return Err(OpenError::Held { holder, seconds: patience.as_secs() });
        }
        if !is_told {
            is_told = true;
            tracing::warn!(
                holder,
                seconds = patience.as_secs(),
                "waiting for another stowplan process to let go of the database"
            );
        }
        sleep(PAUSE).await;
    }
}

/// Does what is to be done before anybody watches over the lock, and keeps it
/// meanwhile: the server takes it from who is silent.
pub(crate) async fn while_held<T>(
    hold: &mut Option<Hold>,
    work: impl Future<Output = Result<T, OpenError>>,
) -> Result<T, OpenError> {
    let Some(hold) = hold else { return work.await };
    tokio::select! {
        biased;
        done = work => done,
        why = lost(hold) => {
            Err(OpenError::Away(format!("the lock on the database was lost: {why}")))
        }
    }
}

/// The watch over a lock; it ends with this value, and lets the lock go.
pub(crate) struct Watch(mpsc::UnboundedSender<oneshot::Sender<()>>);

impl Watch {
    /// Watches over a lock, on the current runtime.
    pub fn over(
        hold: Hold,
        shared: Arc<Shared>,
        writer: mpsc::WeakUnboundedSender<Message>,
    ) -> Self {
        let (stop, stopped) = mpsc::unbounded_channel();
        tokio::spawn(watch(hold, shared, writer, stopped));
        Self(stop)
    }

    /// Lets the lock go.
    pub async fn end(&self) {
        let (done, ended) = oneshot::channel();
        if self.0.send(done).is_ok() {
            let _ = ended.await;
        }
    }
}

async fn watch(
    mut hold: Hold,
    shared: Arc<Shared>,
    writer: mpsc::WeakUnboundedSender<Message>,
    mut stopped: mpsc::UnboundedReceiver<oneshot::Sender<()>>,
) {
    loop {
        let end = tokio::select! {
            end = stopped.recv() => end,
            why = lost(&mut hold) => {
                shared.bar(Some(&format!("the lock on the database was lost: {why}")));
                tokio::select! {
                    end = stopped.recv() => end,
                    again = retake(&shared) => {
                        hold = again;
                        // Somebody else may have written meanwhile: the writer looks,
                        // also where nothing is to be written.
                        shared.set_trouble(Some("the lock on the database was lost"));
                        if let Some(writer) = writer.upgrade() {
                            let _ = writer.send(Message::Wake);
                        }
                        shared.bar(None);
                        continue;
                    }
                }
            }
        };
        let _ = timeout(PATIENCE, hold.release()).await;
        if let Some(done) = end {
            let _ = done.send(());
        }
        return;
    }
}

/// Returns once the lock is no longer ours, and says why.
async fn lost(hold: &mut Hold) -> String {
    loop {
        sleep(INTERVAL).await;
        match timeout(PATIENCE, hold.is_held()).await {
            Ok(Ok(true)) => {}
            Ok(Ok(false)) => return "the server no longer knows of it".to_owned(),
            Ok(Err(error)) => return error.to_string(),
            Err(_) => return format!("no answer within {PATIENCE:?}"),
        }
    }
}

/// Takes the lock again, however long it takes.
async fn retake(shared: &Shared) -> Hold {
    loop {
        match timeout(PATIENCE, shared.connection.hold()).await {
            Ok(Ok(Some(Taken::Ours(hold)))) => return hold,
            Ok(Ok(Some(Taken::Theirs(holder)))) => {
                shared.bar(Some(&format!("another stowplan process holds the database ({holder})")))
            }
            Ok(Ok(None) | Err(_)) | Err(_) => {}
        }
        sleep(PAUSE).await;
    }
}
