//! A client that takes every status for an answer.

use serde_json::Value;
use std::time::Duration;
use ureq::{
    Agent,
    http::{HeaderMap, Request},
};

/// A client of one server. By default it is `admin` and asks for the newest
/// microversion.
#[derive(Clone, Debug)]
pub struct Client {
    agent: Agent,
    url: String,
    headers: Vec<(String, String)>,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as text.
    pub body: String,
}

impl Client {
    /// A client of the server at this URL.
    #[must_use]
    pub fn new(url: &str) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(Duration::from_secs(60)))
            .build()
            .new_agent();
        let headers = [
            ("x-auth-token", "admin"),
            ("openstack-api-version", "placement latest"),
            ("accept", "application/json"),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Self { agent, url: url.to_owned(), headers }
    }

    /// The same with another value of a header; an empty one leaves it out.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(have, _)| !have.eq_ignore_ascii_case(name));
        if !value.is_empty() {
            self.headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// The same at another microversion of the Placement API, such as `1.10`.
    #[must_use]
    pub fn at(self, version: &str) -> Self {
        self.header("openstack-api-version", &format!("placement {version}"))
    }

    /// GET.
    #[must_use]
    pub fn get(&self, path: &str) -> Reply {
        self.send("GET", path, None)
    }

    /// DELETE.
    pub fn delete(&self, path: &str) -> Reply {
        self.send("DELETE", path, None)
    }

    /// PUT with a JSON body.
    pub fn put(&self, path: &str, body: &Value) -> Reply {
        self.send("PUT", path, Some(body))
    }

    /// POST with a JSON body.
    pub fn post(&self, path: &str, body: &Value) -> Reply {
        self.send("POST", path, Some(body))
    }

    /// PATCH with a JSON body.
    pub fn patch(&self, path: &str, body: &Value) -> Reply {
        self.send("PATCH", path, Some(body))
    }

    /// Any method.
    ///
    /// # Panics
    /// When no answer comes.
    pub fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Reply {
        self.try_send(method, path, body)
            .unwrap_or_else(|error| panic!("{method} {}{path}: {error}", self.url))
    }

    /// Any method, where the server may be gone.
    ///
    /// # Errors
    /// When no answer comes.
    pub fn try_send(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Reply, ureq::Error> {
        match body {
            Some(body) => {
                let json = self.clone().header("content-type", "application/json");
                json.try_send_text(method, path, Some(&body.to_string()))
            }
            None => self.try_send_text(method, path, None),
        }
    }

    /// Any method with a body as it is written, whatever it is; what it is said
    /// to be is a header of the client.
    ///
    /// # Errors
    /// When no answer comes.
    pub fn try_send_text(
        &self,
        method: &str,
        path: &str,
        body: Option<&str>,
    ) -> Result<Reply, ureq::Error> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.url));
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let mut response = match body {
            Some(body) => self.agent.run(request.body(body)?)?,
            None => self.agent.run(request.body(())?)?,
        };
        Ok(Reply {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            body: response.body_mut().read_to_string()?,
        })
    }
}

impl Reply {
    /// The answer, if it has this status.
    ///
    /// # Panics
    /// When it has another.
    #[must_use]
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.body);
        self
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// When it is none.
    #[must_use]
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.body))
    }

    /// A header as text; empty when it is not there.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
    }
}
