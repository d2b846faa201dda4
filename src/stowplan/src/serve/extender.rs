//! Questions of plugin extender on their way over HTTP.

use serde_json::Value;
use stowplan_batch::plugins::{ExtenderCall, ExtenderLink};
use ureq::Agent;

/// The largest answer that is read.
const MAX_BODY: u64 = 10 << 20;

/// Posts questions to extenders. Its connections are kept from cycle to cycle.
pub struct HttpExtender {
    agent: Agent,
}

impl HttpExtender {
    /// Without a connection yet.
    #[must_use]
    pub fn new() -> Self {
        let config = Agent::config_builder().http_status_as_error(false).proxy(None);
        Self { agent: config.build().new_agent() }
    }
}

impl ExtenderLink for HttpExtender {
    fn ask(&self, call: &ExtenderCall) -> Result<Value, String> {
        let request = self.agent.post(&call.url);
        let request = request.config().timeout_global(Some(call.timeout)).build();
        let mut answer = request.send_json(&call.body).map_err(|error| error.to_string())?;
        let status = answer.status().as_u16();
        if status != 200 {
            return Err(format!("status {status}, expected 200"));
        }
        let body = answer.body_mut().with_config().limit(MAX_BODY);
        let text = body.read_to_vec().map_err(|error| error.to_string())?;
        // Who is told something need not answer with a body.
        if text.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&text).map_err(|error| format!("its answer is no JSON: {error}"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use serde_json::json;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::time::Duration;

    /// A server that answers once, or never.
    fn server(answer: Option<&'static str>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/predicate", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = [0; 4096];
            let _ = stream.read(&mut asked).unwrap();
            match answer {
                Some(answer) => stream.write_all(answer.as_bytes()).unwrap(),
                None => std::thread::sleep(Duration::from_secs(5)),
            }
        });
        url
    }

    fn ask(answer: Option<&'static str>) -> Result<Value, String> {
        let timeout = Duration::from_millis(300);
        let call = ExtenderCall { url: server(answer), timeout, body: json!({"task": {}}) };
        HttpExtender::new().ask(&call)
    }

    #[test]
    fn answers_are_read() {
        let good = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\nconnection: close\r\n\r\n{\"code\":3}";
        assert_eq!(ask(Some(good)), Ok(json!({"code": 3})));
        let empty = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        assert_eq!(ask(Some(empty)), Ok(Value::Null));
    }

    #[test]
    fn what_is_no_answer() {
        let error = "HTTP/1.1 500 Oops\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        assert_eq!(ask(Some(error)), Err("status 500, expected 200".to_owned()));
        let text = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno";
        assert!(ask(Some(text)).unwrap_err().starts_with("its answer is no JSON"));
        assert!(ask(None).unwrap_err().contains("timeout"), "nobody waits for ever");
    }
}
