//! A broker for tests, and a virtual host of its own for each of them.

use serde_json::json;
use std::env;
use ureq::Agent;
use ureq::http::Request;

/// The broker of `STOWPLAN_TEST_RABBIT_URL` (rabbit://user:password@host:port/)
/// and `STOWPLAN_TEST_RABBIT_MANAGEMENT` (http://host:port).
#[derive(Clone, Debug)]
pub struct Broker {
    /// User and password.
    login: (String, String),
    /// Host and port.
    pub address: String,
    management: String,
}

impl Broker {
    /// None, with a line about it, where no broker is named.
    pub fn of_environment() -> Option<Self> {
        let named = |name: &str| env::var(name).ok();
        let (Some(url), Some(management)) =
            (named("STOWPLAN_TEST_RABBIT_URL"), named("STOWPLAN_TEST_RABBIT_MANAGEMENT"))
        else {
            eprintln!("left out: STOWPLAN_TEST_RABBIT_URL is not set");
            return None;
        };
        let rest = url.split_once("://").expect("a URL").1.trim_end_matches('/');
        let (login, address) = rest.rsplit_once('@').expect("user:password@host:port");
        let (user, password) = login.split_once(':').expect("user:password");
        let login = (user.to_owned(), password.to_owned());
        Some(Self { login, address: address.to_owned(), management })
    }

    /// Asks the broker's management.
    pub fn manage(&self, method: &str, path: &str, body: Option<serde_json::Value>) -> String {
        let agent = Agent::config_builder().http_status_as_error(false).build().new_agent();
        let token = base64(format!("{}:{}", self.login.0, self.login.1).as_bytes());
        let request = Request::builder()
            .method(method)
            .uri(format!("{}/api/{path}", self.management))
            .header("authorization", format!("Basic {token}"))
            .header("content-type", "application/json");
        let sent = match body {
            Some(body) => agent.run(request.body(body.to_string()).unwrap()),
            None => agent.run(request.body(()).unwrap()),
        };
        sent.expect("the broker's management answers").body_mut().read_to_string().unwrap()
    }
}

/// A virtual host, gone when this goes out of scope.
#[derive(Debug)]
pub struct Vhost {
    pub broker: Broker,
    pub name: String,
}

impl Vhost {
    /// A fresh one; none where there is no broker.
    pub fn create() -> Option<Self> {
        let broker = Broker::of_environment()?;
        let name = format!("stowplan-{}", uuid::Uuid::new_v4().simple());
        broker.manage("PUT", &format!("vhosts/{name}"), Some(json!({})));
        let rights = json!({"configure": ".*", "write": ".*", "read": ".*"});
        let user = broker.login.0.clone();
        broker.manage("PUT", &format!("permissions/{name}/{user}"), Some(rights));
        Some(Self { broker, name })
    }

    /// Its address, at the broker or at a proxy before it.
    pub fn url(&self, address: &str) -> String {
        let (user, password) = &self.broker.login;
        format!("rabbit://{user}:{password}@{address}/{}", self.name)
    }

    /// The same in the words of the AMQP library.
    pub fn amqp(&self) -> String {
        self.url(&self.broker.address).replacen("rabbit", "amqp", 1)
    }

    /// The broker's connections to it that stowplan holds.
    pub fn connections(&self) -> Vec<String> {
        let all = self.broker.manage("GET", &format!("vhosts/{}/connections", self.name), None);
        let all: serde_json::Value = serde_json::from_str(&all).unwrap();
        let names = all.as_array().unwrap().iter().filter(|connection| {
            let name = &connection["client_properties"]["connection_name"];
            name.as_str().is_some_and(|name| name.starts_with("stowplan:"))
        });
        names.map(|connection| connection["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Names of its queues.
    pub fn queues(&self) -> Vec<String> {
        let all = self.broker.manage("GET", &format!("queues/{}", self.name), None);
        let all: serde_json::Value = serde_json::from_str(&all).unwrap();
        let names = all.as_array().unwrap().iter();
        names.map(|queue| queue["name"].as_str().unwrap().to_owned()).collect()
    }
}

impl Drop for Vhost {
    fn drop(&mut self) {
        self.broker.manage("DELETE", &format!("vhosts/{}", self.name), None);
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let mut bits = 0u32;
        for place in 0..3 {
            bits = bits << 8 | u32::from(chunk.get(place).copied().unwrap_or(0));
        }
        for place in 0..4 {
            let digit = (bits >> (18 - 6 * place)) & 63;
            text.push(if place <= chunk.len() { DIGITS[digit as usize] as char } else { '=' });
        }
    }
    text
}
