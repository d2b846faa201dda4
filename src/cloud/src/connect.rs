//! Calls of other services: connections, deadlines, second tries.

use crate::{AccountFault, CloudError, account::Tls};
use reqwest::{Certificate, Client, Identity, RequestBuilder, Response, StatusCode};
use std::{path::Path, time::Duration};
use stowplan_config::Login;

/// The pause before the second try of a call; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// What of a refusal is kept.
const DETAIL: usize = 200;

/// A way to one service.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    client: Client,
    service: &'static str,
    tries: u32,
}

impl Line {
    /// Prepares a way; nothing is sent yet.
    ///
    /// # Errors
    /// A file of certificates that cannot be used.
    pub fn new(
        service: &'static str,
        login: &Login,
        seconds: u32,
        retries: u32,
    ) -> Result<Self, AccountFault> {
        // Whoever came first has set it, for the whole process.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let tls = Tls::of(login);
        let fault =
            |option, problem: String| AccountFault { section: login.section, option, problem };
        let timeout = Duration::from_secs(seconds.into());
        let mut builder = Client::builder()
            .timeout(timeout)
            .connect_timeout(timeout)
            .user_agent(concat!("stowplan/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .tls_danger_accept_invalid_certs(tls.unchecked);
        if let Some(path) = &tls.authorities {
            let unusable = |problem| fault("cafile", problem);
            let authorities = Certificate::from_pem_bundle(&read(path).map_err(unusable)?)
                .map_err(|error| unusable(format!("{}: {error}", path.display())))?;
            builder = builder.tls_certs_merge(authorities);
        }
        if let Some(path) = &tls.certificate {
            let mut pem = read(path).map_err(|problem| fault("certfile", problem))?;
            if let Some(key) = &tls.key {
                pem.push(b'\n');
                pem.extend(read(key).map_err(|problem| fault("keyfile", problem))?);
            }
            let identity = Identity::from_pem(&pem)
                .map_err(|error| fault("certfile", format!("{}: {error}", path.display())))?;
            builder = builder.identity(identity);
        }
        let client = builder.build().map_err(|error| fault("cafile", chain(&error)))?;
        Ok(Self { client, service, tries: retries.saturating_add(1) })
    }

    /// Makes a call, again where there was no answer or one that says to try
    /// later.
    ///
    /// # Errors
    /// [`CloudError::Away`] after the last try.
    pub async fn send(
        &self,
        url: &str,
        call: impl Fn(&Client) -> RequestBuilder,
    ) -> Result<Response, CloudError> {
        let mut pause = FIRST_PAUSE;
        let mut problem = String::new();
        for left in (0..self.tries).rev() {
            match call(&self.client).send().await {
                Ok(response) if !is_trouble(response.status()) => return Ok(response),
                Ok(response) => problem = response.status().to_string(),
                Err(error) => problem = chain(&error.without_url()),
            }
            if left > 0 {
                tokio::time::sleep(pause).await;
                pause *= 2;
            }
        }
        Err(CloudError::Away { service: self.service, url: url.to_owned(), problem })
    }

    /// Reads an answer as JSON.
    ///
    /// # Errors
    /// A refusal, or an answer of another form.
    pub async fn read<T: serde::de::DeserializeOwned>(
        &self,
        url: &str,
        response: Response,
    ) -> Result<T, CloudError> {
        let (service, url) = (self.service, url.to_owned());
        let status = response.status();
        if !status.is_success() {
            let detail: String =
                response.text().await.unwrap_or_default().chars().take(DETAIL).collect();
            return Err(CloudError::Refused { service, url, status: status.as_u16(), detail });
        }
        response.json().await.map_err(|error| CloudError::Garbled {
            service,
            url,
            problem: chain(&error.without_url()),
        })
    }
}

/// Answers behind which there may be another one a moment later.
fn is_trouble(status: StatusCode) -> bool {
    status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// An error with all that caused it, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
