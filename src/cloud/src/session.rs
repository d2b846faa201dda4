//! An account of the service, logged in while it is needed.

use crate::{
    Account, AccountFault, Clock, CloudError,
    catalog::{Service, Wanted},
    connect::Line,
    person::Answer,
};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use std::{sync::Arc, time::Instant};
use stowplan_config::Login;
use stowplan_model::Micros;
use tokio::sync::Mutex;

/// How long before its end a token is replaced.
const EARLY: i64 = 60_000_000;

/// The header that bears the token of who calls.
pub(crate) const TOKEN: &str = "x-auth-token";

/// An account of the service with Keystone.
pub struct Session {
    account: Account,
    keystone: Line,
    clock: Clock,
    held: Mutex<Held>,
}

/// What came of the last login.
#[derive(Default)]
struct Held {
    ticket: Option<Arc<Ticket>>,
    /// When one failed, and why.
    failed: Option<(Instant, CloudError)>,
}

/// A token of the service.
pub(crate) struct Ticket {
    pub token: String,
    pub catalog: Vec<Service>,
    expires: Micros,
}

impl Session {
    /// An account that is not logged in yet. `seconds` is how long an answer may
    /// take, `retries` how often a call is made again.
    ///
    /// # Errors
    /// The option that cannot be used.
    pub fn new(
        login: &Login,
        seconds: u32,
        retries: u32,
        clock: Clock,
    ) -> Result<Self, AccountFault> {
        let account = Account::of(login)?;
        let keystone = Line::new("Keystone", login, seconds, retries)?;
        Ok(Self { account, keystone, clock, held: Mutex::default() })
    }

    /// Address of Keystone's API of version 3.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.account.url
    }

    pub(crate) fn keystone(&self) -> &Line {
        &self.keystone
    }

    /// Now.
    pub(crate) fn now(&self) -> Micros {
        (self.clock)()
    }

    /// The endpoint that the catalogue has.
    pub(crate) async fn endpoint(&self, wanted: &Wanted) -> Result<String, CloudError> {
        wanted.in_catalog(&self.ticket().await?.catalog)
    }

    /// Makes a call with a token of the service; where that is not taken, once
    /// more with a new one.
    pub(crate) async fn call(
        &self,
        line: &Line,
        url: &str,
        call: impl Fn(&Client, &str) -> RequestBuilder,
    ) -> Result<Response, CloudError> {
        let ticket = self.ticket().await?;
        let response = line.send(url, |client| call(client, &ticket.token)).await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        self.tear(&ticket).await;
        let ticket = self.ticket().await?;
        line.send(url, |client| call(client, &ticket.token)).await
    }

    /// A token that is good for a while: the one we have, or a new one. Who comes
    /// while one is asked for waits for that, and shares what comes of it: while
    /// Keystone is away, callers do not stand in line to find that out.
    async fn ticket(&self) -> Result<Arc<Ticket>, CloudError> {
        let came = Instant::now();
        let mut held = self.held.lock().await;
        if let Some(ticket) = &held.ticket
            && ticket.expires.0.saturating_sub(EARLY) > self.now().0
        {
            return Ok(ticket.clone());
        }
        if let Some((at, error)) = &held.failed
            && *at >= came
        {
            return Err(error.clone());
        }
        match self.log_in().await {
            Ok(ticket) => {
                let ticket = Arc::new(ticket);
                *held = Held { ticket: Some(ticket.clone()), failed: None };
                Ok(ticket)
            }
            Err(error) => {
                held.failed = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }

    /// Forgets a token that was not taken, unless there is another one already.
    async fn tear(&self, torn: &Arc<Ticket>) {
        let mut held = self.held.lock().await;
        if held.ticket.as_ref().is_some_and(|ticket| Arc::ptr_eq(ticket, torn)) {
            held.ticket = None;
        }
    }

    async fn log_in(&self) -> Result<Ticket, CloudError> {
        let url = format!("{}/auth/tokens", self.account.url);
        let call = |client: &Client| client.post(&url).json(self.account.login());
        let response = self.keystone.send(&url, call).await?;
        let status = response.status();
        if status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN {
            return Err(CloudError::NotLetIn {
                service: "Keystone",
                url,
                section: self.account.section,
                status: status.as_u16(),
            });
        }
        let garbled = |problem: &str| CloudError::Garbled {
            service: "Keystone",
            url: url.clone(),
            problem: problem.to_owned(),
        };
        let token = response
            .headers()
            .get("x-subject-token")
            .and_then(|token| token.to_str().ok())
            .map(str::to_owned);
        let answer: Answer = self.keystone.read(&url, response).await?;
        let token = token.ok_or_else(|| garbled("it has no X-Subject-Token"))?;
        let expires = answer.token.expires().map_err(|problem| garbled(&problem))?;
        Ok(Ticket { token, expires, catalog: answer.token.catalog })
    }
}
