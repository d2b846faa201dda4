//! A server in this process on a ledger of its own, and a client that sends
//! requests as they are written.

use arc_swap::ArcSwap;
use serde_json::Value;
use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, mpsc},
    thread::JoinHandle,
    time::{SystemTime, UNIX_EPOCH},
};
use stowplan_api::ApiState;
use stowplan_config::Settings;
use stowplan_db::{Backend, ConnectSpec};
use stowplan_ledger::{Ledger, Limits, OpenOptions, Quiet};
use stowplan_model::Micros;
use stowplan_scheduler::Scheduler;

/// A server that runs until it is dropped.
pub struct Server {
    address: SocketAddr,
    ledger: Ledger,
    runtime: tokio::runtime::Handle,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// An answer, taken apart.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    /// The values of a header, joined.
    pub fn header(&self, name: &str) -> Option<String> {
        let values: Vec<&str> = self
            .head
            .lines()
            .filter_map(|line| line.split_once(':'))
            .filter(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
            .collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }
}

impl Server {
    /// Starts with these options changed.
    pub fn start(change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings::default();
        change(&mut settings);
        let settings = Arc::new(ArcSwap::from_pointee(settings));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (ready, started) = mpsc::channel();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            let folder = tempfile::tempdir().unwrap();
            runtime.block_on(async {
                let url = format!("sqlite://{}/test.db?mode=rwc", folder.path().display());
                let mut database = ConnectSpec::new(Backend::Sqlite, url);
                database.sqlite_synchronous = false;
                let options = OpenOptions { database, lock_file: None, limits: Limits::default() };
                let ledger = Ledger::open(options, &mut Quiet).await.unwrap();
                let seed = |image: &_| {
                    Ok::<_, std::convert::Infallible>(stowplan_placement::names::seed(image, now()))
                };
                ledger.write("start", seed).await.unwrap();
                let scheduler = Scheduler::new(ledger.clone(), settings.clone()).unwrap();
                let clock = Arc::new(now);
                let state = ApiState {
                    ledger: ledger.clone(),
                    scheduler,
                    settings,
                    clock,
                    bus: None,
                    shadow: None,
                    batch: Arc::default(),
                    nova: None,
                };
                let server = stowplan_api::serve(state, vec![listener]).unwrap();
                let handle = server.handle();
                tokio::spawn(server);
                let current = tokio::runtime::Handle::current();
                ready.send((ledger, current)).unwrap();
                let _ = stopped.await;
                handle.stop(false).await;
            });
        });
        let (ledger, runtime) = started.recv().unwrap();
        Self { address, ledger, runtime, stop: Some(stop), thread: Some(thread) }
    }

    /// Closes the ledger under the server.
    pub fn close_ledger(&self) {
        self.runtime.block_on(self.ledger.close());
    }

    /// Sends bytes and reads until the connection is closed.
    pub fn raw(&self, request: impl AsRef<[u8]>) -> Answer {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(request.as_ref()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        Answer { status: status.unwrap_or(0), head: head.to_owned(), body: body.to_owned() }
    }

    /// Sends a request as admin, with more headers and a JSON body.
    pub fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: t\r\nConnection: close\r\n");
        let mut lines = vec!["X-Auth-Token: admin".to_owned()];
        lines.extend(headers.iter().map(|&line| line.to_owned()));
        if !body.is_empty() {
            lines.push("Content-Type: application/json".to_owned());
            lines.push(format!("Content-Length: {}", body.len()));
        }
        for line in lines {
            request.push_str(&line);
            request.push_str("\r\n");
        }
        self.raw(format!("{request}\r\n{body}"))
    }

    /// Sends a request at the newest microversion.
    pub fn latest(&self, method: &str, path: &str, body: &str) -> Answer {
        self.send(method, path, &["OpenStack-API-Version: placement latest"], body)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn now() -> Micros {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Micros(i64::try_from(since.as_micros()).unwrap())
}
