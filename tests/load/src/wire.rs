//! A server under load, and one kept-alive connection to it. The client costs
//! as little as it can: it shares the machine with the server.

use serde_json::Value;
use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    process::Command,
    sync::OnceLock,
    time::Duration,
};

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(600);
/// Headers in an answer, at most.
const HEADERS: usize = 64;

/// One server.
#[derive(Debug)]
pub struct Target {
    address: String,
    prefix: String,
    pids: Vec<u32>,
}

/// A request: method, path, body.
pub type Call = (&'static str, String, Option<String>);

impl Target {
    pub fn new(url: &str, pids: Vec<u32>) -> Self {
        let rest = url.trim_start_matches("http://").trim_end_matches('/');
        let (address, prefix) = match rest.split_once('/') {
            Some((address, prefix)) => (address, format!("/{prefix}")),
            None => (rest, String::new()),
        };
        Self { address: address.to_owned(), prefix, pids }
    }

    /// A connection to it.
    pub fn connect(&self) -> Connection {
        let stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time limit");
        let head = format!(
            " HTTP/1.1\r\nhost: {}\r\nx-auth-token: admin\r\naccept: application/json\r\n\
             openstack-api-version: placement 1.39\r\n",
            self.address
        );
        Connection { stream, prefix: self.prefix.clone(), head, buffer: vec![0; 1 << 16] }
    }

    /// CPU time that its processes have taken so far, their children included.
    pub fn cpu(&self) -> Option<Duration> {
        let mut todo = self.pids.clone();
        let mut ticks = 0;
        while let Some(pid) = todo.pop() {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            // After the name, which may hold anything, in parentheses.
            let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
            // User and system time are the 14th and 15th of all fields.
            ticks += fields.skip(11).take(2).filter_map(|t| t.parse::<u64>().ok()).sum::<u64>();
            let children = format!("/proc/{pid}/task/{pid}/children");
            let children = fs::read_to_string(children).unwrap_or_default();
            todo.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
        (!self.pids.is_empty()).then(|| Duration::from_millis(ticks * 1000 / ticks_per_second()))
    }
}

fn ticks_per_second() -> u64 {
    static TICKS: OnceLock<u64> = OnceLock::new();
    *TICKS.get_or_init(|| {
        let said = Command::new("getconf").arg("CLK_TCK").output().ok();
        let said = said.and_then(|said| String::from_utf8(said.stdout).ok());
        said.and_then(|said| said.trim().parse().ok()).unwrap_or(100)
    })
}

/// One connection.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    prefix: String,
    head: String,
    buffer: Vec<u8>,
}

/// An answer; its body lies in the connection's buffer.
#[derive(Debug)]
pub struct Answer<'a> {
    pub status: u16,
    pub body: &'a [u8],
}

impl Answer<'_> {
    pub fn json(&self) -> Value {
        serde_json::from_slice(self.body).expect("JSON")
    }
}

impl Connection {
    /// Puts one request and reads its answer.
    pub fn call(&mut self, (method, path, body): &Call) -> Answer<'_> {
        let mut request = format!("{method} {}{path}{}", self.prefix, self.head);
        match body {
            Some(body) => {
                let length = body.len();
                request += &format!(
                    "content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
                );
            }
            None if *method == "PUT" => request += "content-length: 0\r\n\r\n",
            None => request += "\r\n",
        }
        self.stream.write_all(request.as_bytes()).expect("the server takes requests");
        let mut have = 0;
        loop {
            have += self.fill(have);
            let mut headers = [httparse::EMPTY_HEADER; HEADERS];
            let mut head = httparse::Response::new(&mut headers);
            let httparse::Status::Complete(start) =
                head.parse(&self.buffer[..have]).expect("an HTTP answer")
            else {
                continue;
            };
            let status = head.code.expect("a status");
            let header = |name: &str| {
                let found = head.headers.iter().find(|h| h.name.eq_ignore_ascii_case(name));
                found.map(|header| String::from_utf8_lossy(header.value).into_owned())
            };
            let length = header("content-length").and_then(|length| length.parse::<usize>().ok());
            let length = length.or((status == 204).then_some(0));
            let end = start + length.expect("the length of the body");
            while have < end {
                have += self.fill(have);
            }
            return Answer { status, body: &self.buffer[start..end] };
        }
    }

    fn fill(&mut self, have: usize) -> usize {
        if have == self.buffer.len() {
            self.buffer.resize(have * 2, 0);
        }
        let more = self.stream.read(&mut self.buffer[have..]).expect("an answer");
        assert!(more > 0, "the server closed the connection");
        more
    }
}
