//! Whose the tokens of callers are: Keystone is asked once, the answer is
//! remembered for a while.

use crate::{AccountFault, Clock, CloudError, Person, Session, person::Answer, session::TOKEN};
use moka::future::Cache;
use reqwest::StatusCode;
use std::{sync::Arc, time::Duration};
use stowplan_config::KeystoneAuthtoken;

/// What callers show at the door.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// X-Auth-Token.
    pub user: &'a str,
    /// X-Service-Token: of a service that acts for the user.
    pub service: Option<&'a str>,
}

/// Asks Keystone about tokens.
pub struct Doorkeeper {
    session: Session,
    remembered: Option<Cache<Asked, Option<Arc<Person>>>>,
    service_roles: Vec<String>,
    service_needs_role: bool,
}

/// A token, and whether it may have run out.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Asked {
    token: String,
    expired: bool,
}

/// Who stands at the door: the user, and the service that acts for it.
pub type Party = (Arc<Person>, Option<Arc<Person>>);

impl Doorkeeper {
    /// One who asks Keystone as `[keystone_authtoken]` says.
    ///
    /// # Errors
    /// The option that cannot be used.
    pub fn new(options: &KeystoneAuthtoken, clock: Clock) -> Result<Self, AccountFault> {
        let seconds = options.http_connect_timeout;
        let session =
            Session::new(&options.login(), seconds, options.http_request_max_retries, clock)?;
        let remembered = u64::try_from(options.token_cache_time).ok().filter(|time| *time > 0);
        let remembered = remembered.map(|seconds| {
            Cache::builder()
                .max_capacity(options.token_cache_size.into())
                .time_to_live(Duration::from_secs(seconds))
                .build()
        });
        Ok(Self {
            session,
            remembered,
            service_roles: options.service_token_roles.clone(),
            service_needs_role: options.service_token_roles_required,
        })
    }

    /// Address of Keystone.
    #[must_use]
    pub fn url(&self) -> &str {
        self.session.url()
    }

    /// Who it is; nobody where a token is none of Keystone's or has run out.
    ///
    /// # Errors
    /// When Keystone gives no answer.
    pub async fn ask(&self, shown: Shown<'_>) -> Result<Option<Party>, CloudError> {
        let mut may_be_late = false;
        let mut service = None;
        if let Some(token) = shown.service {
            let Some(person) = self.person(token, false).await? else { return Ok(None) };
            may_be_late = self.is_service(&person);
            if self.service_needs_role && !may_be_late {
                return Ok(None);
            }
            service = Some(person);
        }
        let user = self.person(shown.user, may_be_late).await?;
        Ok(user.map(|user| (user, service)))
    }

    fn is_service(&self, person: &Person) -> bool {
        let is_meant =
            |role: &String| self.service_roles.iter().any(|meant| meant.eq_ignore_ascii_case(role));
        person.roles.iter().any(is_meant)
    }

    async fn person(&self, token: &str, expired: bool) -> Result<Option<Arc<Person>>, CloudError> {
        // What cannot be sent in a header is no token.
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Ok(None);
        }
        let asked = Asked { token: token.to_owned(), expired };
        let found = match &self.remembered {
            None => self.fetch(&asked).await?,
            // Those who come with the same token meanwhile wait for the one answer.
            Some(remembered) => remembered
                .try_get_with(asked.clone(), self.fetch(&asked))
                .await
                .map_err(|error: Arc<CloudError>| (*error).clone())?,
        };
        let is_good = |person: &Arc<Person>| expired || person.expires > self.session.now();
        Ok(found.filter(is_good))
    }

    async fn fetch(&self, asked: &Asked) -> Result<Option<Arc<Person>>, CloudError> {
        let url = format!("{}/auth/tokens", self.session.url());
        let mut query = vec![("nocatalog", "1")];
        if asked.expired {
            query.push(("allow_expired", "1"));
        }
        let line = self.session.keystone();
        let response = self
            .session
            .call(line, &url, |client, ours| {
                let call = client.get(&url).query(&query);
                call.header(TOKEN, ours).header("x-subject-token", &asked.token)
            })
            .await?;
        match response.status() {
            StatusCode::NOT_FOUND => return Ok(None),
            // Ours was new, so it is we who may not ask.
            status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
                return Err(CloudError::NotLetIn {
                    service: "Keystone",
                    url,
                    section: "keystone_authtoken",
                    status: status.as_u16(),
                });
            }
            _ => {}
        }
        let answer: Answer = line.read(&url, response).await?;
        let person = answer.token.person().map_err(|problem| CloudError::Garbled {
            service: "Keystone",
            url,
            problem,
        })?;
        Ok(Some(Arc::new(person)))
    }
}
