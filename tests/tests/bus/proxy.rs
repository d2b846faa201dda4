//! A line to the broker that can be cut, and that can fall silent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const OPEN: u8 = 0;
/// Nothing passes, nothing is closed.
const SILENT: u8 = 1;
/// Nobody is let in, everybody is thrown out.
const CUT: u8 = 2;

/// The proxy; it runs on a runtime of its test.
#[derive(Clone)]
pub struct Proxy {
    pub address: String,
    mode: Arc<AtomicU8>,
}

impl Proxy {
    /// A proxy before this address.
    pub async fn start(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let mode = Arc::new(AtomicU8::new(OPEN));
        let (target, shared) = (target.to_owned(), mode.clone());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if shared.load(Ordering::Relaxed) == CUT {
                    continue;
                }
                let Ok(server) = TcpStream::connect(&target).await else { continue };
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.into_split();
                tokio::spawn(pass(from_client, to_server, shared.clone()));
                tokio::spawn(pass(from_server, to_client, shared.clone()));
            }
        });
        Self { address, mode }
    }

    pub fn open(&self) {
        self.mode.store(OPEN, Ordering::Relaxed);
    }

    pub fn silence(&self) {
        self.mode.store(SILENT, Ordering::Relaxed);
    }

    pub fn cut(&self) {
        self.mode.store(CUT, Ordering::Relaxed);
    }
}

async fn pass(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    mode: Arc<AtomicU8>,
) {
    const LOOK: Duration = Duration::from_millis(20);
    let mut buffer = vec![0; 65536];
    loop {
        let read = tokio::time::timeout(LOOK, from.read(&mut buffer)).await;
        while mode.load(Ordering::Relaxed) == SILENT {
            tokio::time::sleep(LOOK).await;
        }
        if mode.load(Ordering::Relaxed) == CUT {
            return;
        }
        match read {
            Err(_) => {}
            Ok(Ok(count)) if count > 0 => {
                if to.write_all(&buffer[..count]).await.is_err() {
                    return;
                }
            }
            Ok(_) => return,
        }
    }
}
