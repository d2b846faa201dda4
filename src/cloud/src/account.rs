//! Who the service is to Keystone.

use serde_json::{Value, json};
use std::{fmt, path::PathBuf};
use stowplan_config::{AuthType, Login};

/// An option of an account that is missing or does not go with the others.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("[{section}] {option}: {problem}")]
pub struct AccountFault {
    /// The section.
    pub section: &'static str,
    /// The option.
    pub option: &'static str,
    /// What is wrong, and what was expected.
    pub problem: String,
}

/// An account that can be used: where Keystone is, and what proves to it who the
/// service is.
#[derive(Clone)]
pub struct Account {
    /// The section of the configuration that it stands in.
    pub section: &'static str,
    /// Address of Keystone's API of version 3, without a slash at its end.
    pub url: String,
    /// The body that asks for a token.
    login: Value,
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Account([{}] at {})", self.section, self.url)
    }
}

impl Account {
    /// The account that options describe.
    ///
    /// # Errors
    /// The option that is missing or does not go with the others.
    pub fn of(login: &Login) -> Result<Self, AccountFault> {
        let from = Options(login);
        let url = from.url()?;
        let identity = match login.auth_type {
            AuthType::Password | AuthType::V3Password => from.password()?,
            AuthType::ApplicationCredential => from.credential()?,
        };
        let mut auth = json!({ "identity": identity });
        // An application credential has its scope with it.
        if login.auth_type != AuthType::ApplicationCredential
            && let Some(scope) = from.scope()?
        {
            auth["scope"] = scope;
        }
        Ok(Self { section: login.section, url, login: json!({ "auth": auth }) })
    }

    /// The body that asks for a token. It holds the password.
    pub(crate) fn login(&self) -> &Value {
        &self.login
    }
}

/// The options of an account, by what is made of them.
struct Options<'a>(&'a Login);

impl Options<'_> {
    fn fault(&self, option: &'static str, problem: impl Into<String>) -> AccountFault {
        AccountFault { section: self.0.section, option, problem: problem.into() }
    }

    /// Callers write the address with and without the version.
    fn url(&self) -> Result<String, AccountFault> {
        let written = self.0.auth_url.trim().trim_end_matches('/');
        if written.is_empty() {
            return Err(self.fault("auth_url", "expected the address of Keystone"));
        }
        let usable = reqwest::Url::parse(written)
            .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        if !usable {
            let problem = format!("{written:?}: expected an address such as http://host:5000");
            return Err(self.fault("auth_url", problem));
        }
        if written.ends_with("/v2.0") {
            let problem = format!("{written:?}: expected version 3 of Keystone's API");
            return Err(self.fault("auth_url", problem));
        }
        Ok(if written.ends_with("/v3") { written.to_owned() } else { format!("{written}/v3") })
    }

    fn password(&self) -> Result<Value, AccountFault> {
        let Some(password) = &self.0.password else {
            return Err(self.fault("password", "expected the password of the service's user"));
        };
        let mut user = self
            .user()?
            .ok_or_else(|| self.fault("username", "expected the name of the service's user"))?;
        user["password"] = json!(password.reveal());
        Ok(json!({ "methods": ["password"], "password": { "user": user } }))
    }

    fn credential(&self) -> Result<Value, AccountFault> {
        let Some(secret) = &self.0.application_credential_secret else {
            let problem = "expected the secret of the application credential";
            return Err(self.fault("application_credential_secret", problem));
        };
        let mut credential =
            match (&self.0.application_credential_id, &self.0.application_credential_name) {
                (Some(id), _) => json!({ "id": id }),
                (None, Some(name)) => {
                    let user = self.user()?.ok_or_else(|| {
                        self.fault("username", "expected the user of the application credential")
                    })?;
                    json!({ "name": name, "user": user })
                }
                (None, None) => {
                    let problem = "expected the id of the application credential";
                    return Err(self.fault("application_credential_id", problem));
                }
            };
        credential["secret"] = json!(secret.reveal());
        Ok(json!({
            "methods": ["application_credential"],
            "application_credential": credential,
        }))
    }

    fn user(&self) -> Result<Option<Value>, AccountFault> {
        let Login { user_id, username, user_domain_id, user_domain_name, .. } = self.0;
        match (user_id, username) {
            (Some(id), _) => Ok(Some(json!({ "id": id }))),
            (None, Some(name)) => {
                let domain = self.domain(user_domain_id, user_domain_name, "user_domain_name")?;
                Ok(Some(json!({ "name": name, "domain": domain })))
            }
            (None, None) => Ok(None),
        }
    }

    fn scope(&self) -> Result<Option<Value>, AccountFault> {
        let Login { project_id, project_name, project_domain_id, project_domain_name, .. } = self.0;
        match (&self.0.system_scope, project_id, project_name) {
            (Some(all), None, None) if all == "all" => {
                Ok(Some(json!({ "system": { "all": true } })))
            }
            (Some(all), None, None) => {
                Err(self.fault("system_scope", format!("{all:?}: expected \"all\"")))
            }
            (Some(_), ..) => Err(self.fault("system_scope", "expected it or a project, not both")),
            (None, Some(id), _) => Ok(Some(json!({ "project": { "id": id } }))),
            (None, None, Some(name)) => {
                let domain =
                    self.domain(project_domain_id, project_domain_name, "project_domain_name")?;
                Ok(Some(json!({ "project": { "name": name, "domain": domain } })))
            }
            (None, None, None) => Ok(None),
        }
    }

    fn domain(
        &self,
        id: &Option<String>,
        name: &Option<String>,
        option: &'static str,
    ) -> Result<Value, AccountFault> {
        let Login { default_domain_id, default_domain_name, .. } = self.0;
        let by_id = |id: &String| json!({ "id": id });
        let by_name = |name: &String| json!({ "name": name });
        id.as_ref()
            .map(by_id)
            .or_else(|| name.as_ref().map(by_name))
            .or_else(|| default_domain_id.as_ref().map(by_id))
            .or_else(|| default_domain_name.as_ref().map(by_name))
            .ok_or_else(|| self.fault(option, "expected the domain of the name, such as Default"))
    }
}

/// Files and switches of a connection over TLS.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tls {
    pub authorities: Option<PathBuf>,
    pub certificate: Option<PathBuf>,
    pub key: Option<PathBuf>,
    pub unchecked: bool,
}

impl Tls {
    pub fn of(login: &Login) -> Self {
        Self {
            authorities: login.cafile.clone(),
            certificate: login.certfile.clone(),
            key: login.keyfile.clone(),
            unchecked: login.insecure,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use stowplan_config::{Settings, Sources};

    fn account(options: &[&str]) -> Result<Account, String> {
        let mut sources = Sources::new();
        for option in options {
            sources = sources.set(format!("keystone_authtoken.{option}"));
        }
        let settings = Settings::load(&sources).unwrap().settings;
        Account::of(&settings.keystone_authtoken.login()).map_err(|fault| fault.to_string())
    }

    #[test]
    fn what_a_login_says() {
        let plain = account(&[
            "auth_url=http://k:5000/",
            "username=placement",
            "password=s3cret",
            "user_domain_name=Default",
            "project_name=service",
            "default_domain_id=default",
        ])
        .unwrap();
        assert_eq!(plain.url, "http://k:5000/v3");
        assert_eq!(
            plain.login,
            json!({ "auth": {
                "identity": { "methods": ["password"], "password": { "user": {
                    "name": "placement", "domain": { "name": "Default" }, "password": "s3cret",
                } } },
                "scope": { "project": { "name": "service", "domain": { "id": "default" } } },
            } })
        );
        assert!(!format!("{plain:?}").contains("s3cret"));
        let credential = account(&[
            "auth_url=https://k/identity/v3",
            "auth_type=v3applicationcredential",
            "application_credential_id=i",
            "application_credential_secret=s",
        ])
        .unwrap();
        assert_eq!(credential.url, "https://k/identity/v3");
        assert!(credential.login["auth"].get("scope").is_none());
    }

    #[test]
    fn what_is_missing_is_named() {
        let url = "auth_url=http://k";
        for (options, told) in [
            (&[][..], "auth_url: expected the address of Keystone"),
            (&["auth_url=k:5000"], "auth_url: \"k:5000\": expected an address such as"),
            (&["auth_url=http://k/v2.0"], "expected version 3"),
            (&[url], "password: expected the password"),
            (&[url, "password=p"], "username: expected the name"),
            (&[url, "password=p", "username=u"], "user_domain_name: expected the domain"),
            (
                &[url, "password=p", "user_id=u", "system_scope=some"],
                "system_scope: \"some\": expected \"all\"",
            ),
            (
                &[url, "password=p", "user_id=u", "system_scope=all", "project_id=x"],
                "system_scope: expected it or a project",
            ),
            (
                &[url, "auth_type=v3applicationcredential"],
                "application_credential_secret: expected the secret",
            ),
        ] {
            let fault = account(options).unwrap_err();
            assert!(fault.starts_with("[keystone_authtoken] ") && fault.contains(told), "{fault}");
        }
    }
}
