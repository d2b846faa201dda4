//! The binary, run as a server on a free port with a folder of its own.

use crate::{Cli, Client};
use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// How long a server may take to start.
const START: Duration = Duration::from_secs(60);
/// How long it may take to stop.
const STOP: Duration = Duration::from_secs(40);

/// A server to be started.
#[derive(Debug)]
pub struct Builder {
    /// The folder of its database and log, and what removes it.
    folder: PathBuf,
    guard: Option<TempDir>,
    files: Vec<PathBuf>,
    set: Vec<String>,
    file_limit: Option<u32>,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// In a fresh folder, on SQLite without waiting for the disk.
    ///
    /// # Panics
    /// When no folder can be made.
    #[must_use]
    pub fn new() -> Self {
        let guard = tempfile::tempdir().expect("a folder for the server");
        let folder = guard.path().to_owned();
        let set = vec!["placement_database.sqlite_synchronous=false".to_owned()];
        Self { folder, guard: Some(guard), files: Vec::new(), set, file_limit: None }
    }

    /// In this folder, which stays.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self.guard = None;
        self
    }

    /// With a configuration file.
    #[must_use]
    pub fn config(mut self, file: impl Into<PathBuf>) -> Self {
        self.files.push(file.into());
        self
    }

    /// With an option, such as `scheduler.max_attempts=1`.
    #[must_use]
    pub fn set(mut self, assignment: &str) -> Self {
        self.set.push(assignment.to_owned());
        self
    }

    /// With files that grow no larger than so many blocks of the shell's
    /// `ulimit -f`, 512 bytes or 1 KiB each: a write beyond fails as on a full
    /// disk.
    #[must_use]
    pub fn file_limit(mut self, blocks: u32) -> Self {
        self.file_limit = Some(blocks);
        self
    }

    /// Starts it and waits until it listens.
    ///
    /// # Panics
    /// When it does not.
    #[must_use]
    pub fn start(self) -> Server {
        let (child, url) = self.spawn();
        Server { builder: self, child, url }
    }

    fn log(&self) -> PathBuf {
        self.folder.join("server.log")
    }

    fn spawn(&self) -> (Child, String) {
        let mut arguments: Vec<String> = vec!["serve".to_owned()];
        for file in &self.files {
            arguments.extend(["--config".to_owned(), file.display().to_string()]);
        }
        for set in ["api.bind_port=0"].into_iter().chain(self.set.iter().map(String::as_str)) {
            arguments.extend(["--set".to_owned(), set.to_owned()]);
        }
        let log = File::options().create(true).append(true).open(self.log()).expect("a log");
        let cli = match self.file_limit {
            Some(blocks) => Cli::in_shell(&format!("ulimit -f {blocks}; trap '' XFSZ"), arguments),
            None => Cli::new(arguments),
        };
        let mut child = cli
            .inside(&self.folder)
            .into_command()
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("the server starts");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        // Whatever else it prints is read too, lest it waits for a reader.
        let (send, lines) = mpsc::channel();
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|l| send.send(l)));
        let until = Instant::now() + START;
        while let Ok(line) = lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
            if let Some(rest) = line.strip_prefix("stowplan listens on ") {
                let url = rest.split_whitespace().next().expect("a URL").to_owned();
                thread::spawn(move || lines.iter().count());
                return (child, url);
            }
        }
        let _ = child.kill();
        let ended = child.wait();
        panic!("the server did not start ({ended:?}):\n{}", read(&self.log()));
    }
}

/// A running server; it is killed when this goes out of scope.
#[derive(Debug)]
pub struct Server {
    builder: Builder,
    child: Child,
    url: String,
}

impl Server {
    /// A server with every option at its default.
    #[must_use]
    pub fn start() -> Self {
        Builder::new().start()
    }

    /// A server with these options, such as `api.max_limit=2`.
    #[must_use]
    pub fn with(set: &[&str]) -> Self {
        set.iter().fold(Builder::new(), |builder, set| builder.set(set)).start()
    }

    /// Where it is reached, such as `http://127.0.0.1:40123`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A client of it.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::new(&self.url)
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The folder of its database and log.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.builder.folder
    }

    /// Its log so far.
    #[must_use]
    pub fn log(&self) -> String {
        read(&self.builder.log())
    }

    /// Waits until its log holds a text.
    ///
    /// # Panics
    /// When it does not in ten seconds.
    pub fn wait_for_log(&self, text: &str) {
        let until = Instant::now() + Duration::from_secs(10);
        while !self.log().contains(text) {
            assert!(Instant::now() < until, "no {text:?} in the log:\n{}", self.log());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sends it a signal, such as `HUP`.
    ///
    /// # Panics
    /// When that cannot be done.
    pub fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.pid());
        let sent = std::process::Command::new("sh").args(["-c", &kill]).status();
        assert!(sent.expect("a shell").success(), "{kill}");
    }

    /// Asks it to end, and waits for that.
    ///
    /// # Panics
    /// When it does not end in time.
    pub fn stop(&mut self) -> ExitStatus {
        self.signal("TERM");
        let until = Instant::now() + STOP;
        loop {
            if let Some(status) = self.child.try_wait().expect("the server's state") {
                return status;
            }
            assert!(Instant::now() < until, "the server does not end:\n{}", self.log());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Kills it on the spot (`kill -9`).
    ///
    /// # Panics
    /// When that cannot be done.
    pub fn kill(&mut self) {
        self.child.kill().expect("the server is killed");
        self.child.wait().expect("the server is gone");
    }

    /// Takes the limit off its files, from its next start on.
    pub fn lift_file_limit(&mut self) {
        self.builder.file_limit = None;
    }

    /// Starts it again on the same database, on a new port, after it was
    /// stopped or killed.
    ///
    /// # Panics
    /// When it does not start.
    pub fn start_again(&mut self) {
        (self.child, self.url) = self.builder.spawn();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("the server's log:\n{}", self.log());
        }
        let _ = self.builder.guard.take().map(TempDir::close);
    }
}

fn read(log: &Path) -> String {
    fs::read_to_string(log).unwrap_or_default()
}
