//! Whose a token is, as Keystone says.

use serde::Deserialize;
use stowplan_model::Micros;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// What a token is good for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Nothing in particular.
    Nothing,
    /// One project, by its id, with the id of its domain.
    Project {
        /// The project.
        id: String,
        /// Its domain.
        domain: Option<String>,
    },
    /// A domain, by its id.
    Domain(String),
    /// The whole deployment.
    System,
}

impl Reach {
    /// The id of the project.
    #[must_use]
    pub fn project(&self) -> Option<&str> {
        match self {
            Self::Project { id, .. } => Some(id),
            _ => None,
        }
    }

    /// The id of the project's domain.
    #[must_use]
    pub fn project_domain(&self) -> Option<&str> {
        match self {
            Self::Project { domain, .. } => domain.as_deref(),
            _ => None,
        }
    }
}

/// Whose a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// Id of the user.
    pub user: String,
    /// Id of the user's domain.
    pub user_domain: Option<String>,
    /// What the token is good for.
    pub reach: Reach,
    /// Names of the roles.
    pub roles: Vec<String>,
    /// Whether the project is the one of admins; so where there is none such.
    pub is_admin_project: bool,
    /// When the token runs out.
    pub expires: Micros,
}

#[derive(Deserialize)]
pub(crate) struct Answer {
    pub token: Written,
}

#[derive(Deserialize)]
pub(crate) struct Written {
    user: Named,
    #[serde(default)]
    project: Option<Named>,
    #[serde(default)]
    domain: Option<Named>,
    #[serde(default)]
    system: Option<serde_json::Value>,
    #[serde(default)]
    roles: Vec<Role>,
    #[serde(default)]
    is_admin_project: Option<bool>,
    expires_at: String,
    #[serde(default)]
    pub catalog: Vec<crate::catalog::Service>,
}

#[derive(Deserialize)]
struct Named {
    id: String,
    #[serde(default)]
    domain: Option<Id>,
}

#[derive(Deserialize)]
struct Id {
    #[serde(default)]
    id: Option<String>,
}

#[derive(Deserialize)]
struct Role {
    name: String,
}

impl Written {
    /// When the token runs out.
    ///
    /// # Errors
    /// The text that is no time.
    pub fn expires(&self) -> Result<Micros, String> {
        let time = OffsetDateTime::parse(&self.expires_at, &Rfc3339)
            .map_err(|_| format!("expires_at is {:?}, not a time", self.expires_at))?;
        Ok(Micros(i64::try_from(time.unix_timestamp_nanos() / 1000).unwrap_or(i64::MAX)))
    }

    /// Whose it is.
    ///
    /// # Errors
    /// What of it is not as the API has it.
    pub fn person(self) -> Result<Person, String> {
        let expires = self.expires()?;
        let domain_of = |named: &Named| named.domain.as_ref().and_then(|domain| domain.id.clone());
        let reach = match (self.project, self.domain, self.system) {
            (Some(project), ..) => Reach::Project { domain: domain_of(&project), id: project.id },
            (None, Some(domain), _) => Reach::Domain(domain.id),
            (None, None, Some(_)) => Reach::System,
            (None, None, None) => Reach::Nothing,
        };
        Ok(Person {
            user_domain: domain_of(&self.user),
            user: self.user.id,
            reach,
            roles: self.roles.into_iter().map(|role| role.name).collect(),
            is_admin_project: self.is_admin_project.unwrap_or(true),
            expires,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use serde_json::json;

    fn person(mut token: serde_json::Value) -> Result<Person, String> {
        token["user"] = json!({ "id": "u", "name": "n", "domain": { "id": "d", "name": "D" } });
        serde_json::from_value::<Written>(token).unwrap().person()
    }

    #[test]
    fn scopes() {
        let expires = "2026-12-01T10:00:00.000000Z";
        let project = json!({ "expires_at": expires, "roles": [{ "id": "1", "name": "Reader" }],
            "project": { "id": "p", "name": "P", "domain": { "id": "pd", "name": "PD" } } });
        let project = person(project).unwrap();
        assert_eq!(project.reach, Reach::Project { id: "p".into(), domain: Some("pd".into()) });
        assert_eq!((project.roles, project.is_admin_project), (vec!["Reader".to_owned()], true));
        assert_eq!(project.expires.seconds(), 1_796_119_200);
        let system = json!({ "expires_at": expires, "system": { "all": true } });
        assert_eq!(person(system).unwrap().reach, Reach::System);
        let domain = json!({ "expires_at": expires, "domain": { "id": "d", "name": "D" } });
        assert_eq!(person(domain).unwrap().reach, Reach::Domain("d".into()));
        assert_eq!(person(json!({ "expires_at": expires })).unwrap().reach, Reach::Nothing);
        assert!(person(json!({ "expires_at": "soon" })).unwrap_err().contains("\"soon\""));
    }
}
