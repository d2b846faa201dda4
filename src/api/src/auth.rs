//! Who calls: the token of a request.

use actix_web::http::header::{HeaderMap, HeaderValue};
use std::sync::Arc;
use stowplan_cloud::{Person, Reach};

/// What a token is good for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// One project, or nothing in particular.
    #[default]
    Project,
    /// A domain.
    Domain,
    /// The whole deployment.
    System,
}

/// A caller, as its token says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Token {
    /// The user.
    pub user: String,
    /// The project; none for a system token.
    pub project: Option<String>,
    /// Roles, in lower case.
    pub roles: Vec<String>,
    /// What it is good for.
    pub scope: Scope,
    /// What Keystone says besides; nothing where tokens are believed.
    pub vouched: Option<Vouched>,
}

/// What a token is known by to Keystone alone. Ids all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vouched {
    /// The user's domain.
    pub user_domain: Option<String>,
    /// The project's domain.
    pub project_domain: Option<String>,
    /// The domain that the token is good for.
    pub domain: Option<String>,
    /// Whether the project is the one of admins, or there is none such.
    pub is_admin_project: bool,
    /// The service that acts for the user.
    pub service: Option<Arc<Person>>,
}

/// What a policy rule may ask of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute<'a> {
    /// A text; `None` where the caller has none.
    One(&'a str),
    /// Any of several texts.
    Any(&'a [String]),
}

impl Token {
    /// An attribute by the name that policy rules know it by; nothing if no
    /// caller has such a one.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<Attribute<'_>> {
        let vouched = self.vouched.as_ref();
        let service = vouched.and_then(|vouched| vouched.service.as_deref());
        let text = match name {
            "roles" => return Some(Attribute::Any(&self.roles)),
            "service_roles" => {
                return Some(Attribute::Any(service.map_or(&[], |service| &service.roles)));
            }
            "user_id" => Some(self.user.as_str()),
            "project_id" => self.project.as_deref(),
            "user_domain_id" => vouched.and_then(|vouched| vouched.user_domain.as_deref()),
            "project_domain_id" => vouched.and_then(|vouched| vouched.project_domain.as_deref()),
            "domain_id" => vouched.and_then(|vouched| vouched.domain.as_deref()),
            "system_scope" => vouched.filter(|_| self.scope == Scope::System).map(|_| "all"),
            "is_admin_project" => {
                let is_so = vouched.is_none_or(|vouched| vouched.is_admin_project);
                Some(if is_so { "True" } else { "False" })
            }
            "service_user_id" => service.map(|service| service.user.as_str()),
            "service_user_domain_id" => service.and_then(|service| service.user_domain.as_deref()),
            "service_project_id" => service.and_then(|service| service.reach.project()),
            "service_project_domain_id" => {
                service.and_then(|service| service.reach.project_domain())
            }
            _ => return None,
        };
        Some(Attribute::One(text.unwrap_or("None")))
    }

    /// What a call about the caller's own is about, for policy rules.
    #[must_use]
    pub fn own(&self) -> [(&'static str, Option<&str>); 2] {
        [("project_id", self.project.as_deref()), ("user_id", Some(&self.user))]
    }

    /// Whether the caller has a role, whatever its letter case.
    #[must_use]
    pub fn has_role(&self, role: &str) -> bool {
        self.roles.iter().any(|have| have.eq_ignore_ascii_case(role))
    }

    /// Takes the headers of a request at their word (`auth_strategy =
    /// noauth2`): `X-Auth-Token: user:project`, `X-Roles`, `X-Project-Id`,
    /// `X-Domain-Id`, `OpenStack-System-Scope`. None without a token; an
    /// empty token is one.
    #[must_use]
    pub fn believed(headers: &HeaderMap) -> Option<Self> {
        let token = text(headers.get("x-auth-token")?);
        let (user, project) = token.split_once(':').unwrap_or((&token, ""));
        let project = if project.is_empty() { user } else { project };
        let roles = match headers.get("x-roles") {
            Some(listed) => {
                text(listed).split(',').map(|role| role.trim().to_lowercase()).collect()
            }
            None if user == "admin" => vec!["admin".to_owned()],
            None => Vec::new(),
        };
        let filled = |name: &str| headers.get(name).is_some_and(|value| !value.is_empty());
        let scope = if filled("openstack-system-scope") {
            Scope::System
        } else if filled("x-domain-id") {
            Scope::Domain
        } else {
            Scope::Project
        };
        let project = match headers.get("x-project-id") {
            Some(sent) => Some(text(sent)),
            None => (scope != Scope::System).then(|| project.to_owned()),
        };
        Some(Self { user: user.to_owned(), project, roles, scope, vouched: None })
    }

    /// Who came to the door by Keystone's word: the user, and the service that acts
    /// for it.
    #[must_use]
    pub fn vouched((user, service): (Arc<Person>, Option<Arc<Person>>)) -> Self {
        let (scope, domain) = match &user.reach {
            Reach::Project { .. } | Reach::Nothing => (Scope::Project, None),
            Reach::Domain(domain) => (Scope::Domain, Some(domain.clone())),
            Reach::System => (Scope::System, None),
        };
        Self {
            user: user.user.clone(),
            project: user.reach.project().map(str::to_owned),
            roles: user.roles.iter().map(|role| role.to_lowercase()).collect(),
            scope,
            vouched: Some(Vouched {
                user_domain: user.user_domain.clone(),
                project_domain: user.reach.project_domain().map(str::to_owned),
                domain,
                is_admin_project: user.is_admin_project,
                service,
            }),
        }
    }
}

fn text(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use actix_web::http::header::HeaderName;

    fn token(headers: &[(&'static str, &'static str)]) -> Option<Token> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        Token::believed(&map)
    }

    #[test]
    fn no_token_is_nobody_but_an_empty_one_is_somebody() {
        assert_eq!(token(&[("x-roles", "admin")]), None);
        let anyone = token(&[("x-auth-token", "")]).unwrap();
        assert_eq!((anyone.user.as_str(), anyone.project.as_deref()), ("", Some("")));
        assert!(anyone.roles.is_empty());
    }

    #[test]
    fn admin_by_name_unless_roles_are_listed() {
        assert!(token(&[("x-auth-token", "admin")]).unwrap().has_role("Admin"));
        assert!(!token(&[("x-auth-token", "admin"), ("x-roles", "")]).unwrap().has_role("admin"));
        let listed = token(&[("x-auth-token", "u:p"), ("x-roles", " Reader, member")]).unwrap();
        assert!(listed.has_role("reader") && listed.has_role("member"));
        assert_eq!(listed.project.as_deref(), Some("p"));
    }

    #[test]
    fn scopes() {
        let with = |more| token(&[("x-auth-token", "admin"), more]).unwrap();
        let system = with(("openstack-system-scope", "all"));
        assert_eq!((system.scope, system.project), (Scope::System, None));
        assert_eq!(with(("x-domain-id", "d")).scope, Scope::Domain);
        assert_eq!(with(("openstack-system-scope", "")).scope, Scope::Project);
        assert_eq!(with(("x-project-id", "q")).project.as_deref(), Some("q"));
    }
}
