//! The door: how it is found out who calls.

use crate::{
    auth::Token,
    failure::{Code, Failure},
    state::Clock,
};
use actix_web::http::header::HeaderMap;
use stowplan_cloud::{AccountFault, Doorkeeper, Shown};
use stowplan_config::{AuthStrategy, Settings};

/// The header of a caller's token.
const TOKEN: &str = "x-auth-token";
/// The header of the token of a service that acts for the caller.
const SERVICE_TOKEN: &str = "x-service-token";

/// What Placement's middleware says to a token that is none.
const NO_TOKEN: &str = "The request you have made requires authentication.";
/// What it says when Keystone does not answer.
const NO_KEYSTONE: &str = "The Keystone service is temporarily unavailable.";

/// How it is found out who calls: `[api] auth_strategy`.
pub enum Door {
    /// Headers are taken at their word (noauth2).
    Open,
    /// Keystone says whose a token is.
    Kept(Box<Kept>),
}

/// A door that Keystone keeps.
pub struct Kept {
    keeper: Doorkeeper,
    /// The header that tells callers without a token where to get one.
    challenge: String,
}

impl Door {
    /// The door that the options describe.
    ///
    /// # Errors
    /// The option that cannot be used.
    pub fn new(settings: &Settings, clock: Clock) -> Result<Self, AccountFault> {
        match settings.api.auth_strategy {
            AuthStrategy::Noauth2 => Ok(Self::Open),
            AuthStrategy::Keystone => {
                let options = &settings.keystone_authtoken;
                let keeper = Doorkeeper::new(options, clock)?;
                let uri = options.www_authenticate_uri.as_deref();
                let challenge = format!("Keystone uri=\"{}\"", uri.unwrap_or(keeper.url()));
                Ok(Self::Kept(Box::new(Kept { keeper, challenge })))
            }
        }
    }

    /// Who calls.
    ///
    /// # Errors
    /// 401 without a token that is good, 503 when Keystone does not answer.
    pub async fn admit(&self, headers: &HeaderMap) -> Result<Token, Failure> {
        match self {
            Self::Open => {
                Token::believed(headers).ok_or_else(|| Failure::new(Code::Unauthorized, ""))
            }
            Self::Kept(kept) => kept.admit(headers).await,
        }
    }

    /// What an answer of 401 tells in `WWW-Authenticate`.
    #[must_use]
    pub fn challenge(&self) -> Option<&str> {
        match self {
            Self::Open => None,
            Self::Kept(kept) => Some(&kept.challenge),
        }
    }
}

impl Kept {
    async fn admit(&self, headers: &HeaderMap) -> Result<Token, Failure> {
        let nobody = || Failure::new(Code::TokenRefused, NO_TOKEN);
        // A header that is no text is no token.
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
        let user = text(TOKEN).ok_or_else(nobody)?;
        let service = text(SERVICE_TOKEN);
        match self.keeper.ask(Shown { user, service }).await {
            Ok(party) => party.map(Token::vouched).ok_or_else(nobody),
            Err(error) => {
                tracing::error!(%error, "a token cannot be checked");
                Err(Failure::new(Code::Unavailable, NO_KEYSTONE))
            }
        }
    }
}
