//! A running server that a command asks.

use crate::{exit::Fault, http::Client, out::Format};
use anyhow::anyhow;
use clap::Args;
use serde_json::Value;

/// Where the server is.
#[derive(Debug, Args)]
pub struct Server {
    /// Where the server is.
    #[arg(long, default_value = "http://127.0.0.1:8778")]
    url: String,
    /// The token that it accepts.
    #[arg(long, default_value = "admin")]
    token: String,
}

impl Server {
    /// A client of it.
    pub fn client(&self) -> Result<Client, Fault> {
        Client::new(&self.url, &self.token).map_err(Fault::Usage)
    }
}

/// Where the server is, and how its answer is printed.
#[derive(Debug, Args)]
pub struct Asked {
    #[command(flatten)]
    pub server: Server,
    /// How to print it.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

impl Asked {
    /// What is at a path.
    pub fn get(&self, path: &str) -> Result<Value, Fault> {
        self.send("GET", path, &Value::Null)
    }

    /// The answer to a request, null if it has no body; what the server
    /// refuses is a fault of whoever asked.
    pub fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value, Fault> {
        self.send_with(method, path, &[], body)
    }

    /// The same with headers.
    pub fn send_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Result<Value, Fault> {
        let body = (!body.is_null()).then_some(body);
        let answer = self.server.client()?.send(method, path, headers, body)?;
        if (400..500).contains(&answer.status) {
            return Err(Fault::Usage(anyhow!("{}", answer.complaint())));
        }
        let answer = answer.demand()?;
        if answer.text().is_empty() { Ok(Value::Null) } else { Ok(answer.json()?) }
    }
}

/// A name as a part of a path.
pub fn part(name: &str) -> String {
    form_urlencoded::byte_serialize(name.as_bytes()).collect::<String>().replace('+', "%20")
}
