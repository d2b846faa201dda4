//! A client of a stowplan server, as `replay` and `demo` use it.

use anyhow::{Context as _, anyhow, bail};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::time::Duration;
use ureq::{Agent, http::Request};

/// The largest answer that is read.
const MAX_BODY: u64 = 1 << 30;
/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(120);

/// A client of one server; cheap to clone, its connections are kept.
#[derive(Clone, Debug)]
pub struct Client {
    agent: Agent,
    url: String,
    token: String,
}

/// An answer of any status.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Method and path that it answers, for messages.
    asked: String,
    /// The HTTP status.
    pub status: u16,
    body: Vec<u8>,
}

impl Client {
    /// A client that bears this token.
    ///
    /// # Errors
    /// When the URL is not one of a plain HTTP server.
    pub fn new(url: &str, token: &str) -> anyhow::Result<Self> {
        if !url.starts_with("http://") {
            bail!("{url}: expected the URL of a server, such as http://127.0.0.1:8778");
        }
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .timeout_global(Some(PATIENCE))
            .max_idle_connections_per_host(64)
            .build()
            .new_agent();
        let url = url.trim_end_matches('/').to_owned();
        Ok(Self { agent, url, token: token.to_owned() })
    }

    /// GET.
    ///
    /// # Errors
    /// When no answer comes, whatever its status.
    pub fn get(&self, path: &str) -> anyhow::Result<Answer> {
        self.send("GET", path, &[], None::<&Value>)
    }

    /// DELETE.
    ///
    /// # Errors
    /// When no answer comes.
    pub fn delete(&self, path: &str) -> anyhow::Result<Answer> {
        self.send("DELETE", path, &[], None::<&Value>)
    }

    /// PUT of a JSON body.
    ///
    /// # Errors
    /// When no answer comes.
    pub fn put(&self, path: &str, body: &impl Serialize) -> anyhow::Result<Answer> {
        self.send("PUT", path, &[], Some(body))
    }

    /// POST of a JSON body.
    ///
    /// # Errors
    /// When no answer comes.
    pub fn post(&self, path: &str, body: &impl Serialize) -> anyhow::Result<Answer> {
        self.send("POST", path, &[], Some(body))
    }

    /// Any request, with headers of its own.
    ///
    /// # Errors
    /// When no answer comes.
    pub fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&impl Serialize>,
    ) -> anyhow::Result<Answer> {
        let asked = format!("{method} {}{path}", self.url);
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header("x-auth-token", &self.token)
            .header("openstack-api-version", "placement 1.39")
            .header("accept", "application/json");
        let request =
            headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let sent = match body {
            Some(body) => {
                let request = request.header("content-type", "application/json");
                self.agent.run(request.body(serde_json::to_vec(body)?)?)
            }
            None => self.agent.run(request.body(())?),
        };
        let mut response = sent.with_context(|| asked.clone())?;
        let status = response.status().as_u16();
        let body = response.body_mut().with_config().limit(MAX_BODY).read_to_vec();
        let body = body.with_context(|| asked.clone())?;
        Ok(Answer { asked, status, body })
    }
}

impl Answer {
    /// The answer, if its status says success.
    ///
    /// # Errors
    /// With what the server said instead.
    pub fn demand(self) -> anyhow::Result<Self> {
        if (200..300).contains(&self.status) {
            return Ok(self);
        }
        Err(anyhow!("{}: {} {}", self.asked, self.status, self.complaint()))
    }

    /// The body, read.
    ///
    /// # Errors
    /// When it is not of this form.
    pub fn json<T: DeserializeOwned>(&self) -> anyhow::Result<T> {
        serde_json::from_slice(&self.body).with_context(|| {
            format!("{}: {} with an answer of another form", self.asked, self.status)
        })
    }

    /// The body as it is.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }

    /// What the server complains of.
    pub fn complaint(&self) -> String {
        let value: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let detail = value.get("detail").or_else(|| value.pointer("/errors/0/detail"));
        match detail.and_then(Value::as_str) {
            Some(detail) => detail.trim().to_owned(),
            None => String::from_utf8_lossy(&self.body).into_owned(),
        }
    }
}
