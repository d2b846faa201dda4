//! `[keystone_authtoken]` and `[neutron]`: other services of the cloud that are
//! asked, and as whom.

use std::path::PathBuf;

use super::list;
use crate::macros::{choice, section};
use crate::value::Secret;

choice! {
    /// How the service proves to Keystone who it is.
    AuthType {
        /// By a user and a password.
        Password = "password",
        /// The same under the name that says the version.
        V3Password = "v3password",
        /// By an application credential.
        ApplicationCredential = "v3applicationcredential",
    }
}

/// Declares a section with what all clients of Keystone have: who the service is
/// and how it connects. Names are those of keystoneauth1.
macro_rules! client_section {
    (
        $(#[doc = $about:literal])+
        $field:ident: $section:ident = $name:literal { $($own:tt)* }
    ) => {
        section! {
            $(#[doc = $about])+
            $field: $section = $name {
                $($own)*
                /// How the service proves to Keystone who it is.
                auth_type: AuthType = AuthType::Password, older(&[($name, "auth_plugin")]);
                /// Address of Keystone, such as http://controller:5000.
                auth_url: String = String::new(), older(&[($name, "auth-url")]);
                /// Name of the service's user.
                username: Option<String> = None,
                    older(&[($name, "user_name"), ($name, "user-name")]);
                /// Id of the service's user, instead of its name.
                user_id: Option<String> = None, older(&[($name, "user-id")]);
                /// Password of the service's user.
                password: Option<Secret> = None, secret;
                /// Name of the domain of the user.
                user_domain_name: Option<String> = None, older(&[($name, "user-domain-name")]);
                /// Id of the domain of the user.
                user_domain_id: Option<String> = None, older(&[($name, "user-domain-id")]);
                /// Name of the service's project.
                project_name: Option<String> = None,
                    older(&[($name, "project-name"), ($name, "tenant_name"), ($name, "tenant-name")]);
                /// Id of the service's project, instead of its name.
                project_id: Option<String> = None,
                    older(&[($name, "project-id"), ($name, "tenant_id"), ($name, "tenant-id")]);
                /// Name of the domain of the project.
                project_domain_name: Option<String> = None,
                    older(&[($name, "project-domain-name")]);
                /// Id of the domain of the project.
                project_domain_id: Option<String> = None, older(&[($name, "project-domain-id")]);
                /// Name of the domain of user and project where these have none.
                default_domain_name: Option<String> = None,
                    older(&[($name, "default-domain-name")]);
                /// Id of the domain of user and project where these have none.
                default_domain_id: Option<String> = None, older(&[($name, "default-domain-id")]);
                /// What the service's token is good for where that is no project: all.
                system_scope: Option<String> = None, older(&[($name, "system-scope")]);
                /// Id of the application credential.
                application_credential_id: Option<String> = None;
                /// Name of the application credential, with its user.
                application_credential_name: Option<String> = None;
                /// Secret of the application credential.
                application_credential_secret: Option<Secret> = None, secret;
                /// Certificates (PEM) that servers' are checked against, beside those of the
                /// system.
                cafile: Option<PathBuf> = None;
                /// Certificate (PEM) that the service shows.
                certfile: Option<PathBuf> = None;
                /// Key (PEM) of certfile.
                keyfile: Option<PathBuf> = None;
                /// Do not check the certificates of servers. For tests.
                insecure: bool = false;
            }
        }

        impl $section {
            /// Who the service is to Keystone, and how it connects.
            #[must_use]
            pub fn login(&self) -> Login {
                Login {
                    section: $name,
                    auth_type: self.auth_type,
                    auth_url: self.auth_url.clone(),
                    username: self.username.clone(),
                    user_id: self.user_id.clone(),
                    password: self.password.clone(),
                    user_domain_name: self.user_domain_name.clone(),
                    user_domain_id: self.user_domain_id.clone(),
                    project_name: self.project_name.clone(),
                    project_id: self.project_id.clone(),
                    project_domain_name: self.project_domain_name.clone(),
                    project_domain_id: self.project_domain_id.clone(),
                    default_domain_name: self.default_domain_name.clone(),
                    default_domain_id: self.default_domain_id.clone(),
                    system_scope: self.system_scope.clone(),
                    application_credential_id: self.application_credential_id.clone(),
                    application_credential_name: self.application_credential_name.clone(),
                    application_credential_secret: self.application_credential_secret.clone(),
                    cafile: self.cafile.clone(),
                    certfile: self.certfile.clone(),
                    keyfile: self.keyfile.clone(),
                    insecure: self.insecure,
                }
            }
        }
    };
}

/// What sections of clients have in common; each field is the option of its name.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Login {
    /// The section.
    pub section: &'static str,
    pub auth_type: AuthType,
    pub auth_url: String,
    pub username: Option<String>,
    pub user_id: Option<String>,
    pub password: Option<Secret>,
    pub user_domain_name: Option<String>,
    pub user_domain_id: Option<String>,
    pub project_name: Option<String>,
    pub project_id: Option<String>,
    pub project_domain_name: Option<String>,
    pub project_domain_id: Option<String>,
    pub default_domain_name: Option<String>,
    pub default_domain_id: Option<String>,
    pub system_scope: Option<String>,
    pub application_credential_id: Option<String>,
    pub application_credential_name: Option<String>,
    pub application_credential_secret: Option<Secret>,
    pub cafile: Option<PathBuf>,
    pub certfile: Option<PathBuf>,
    pub keyfile: Option<PathBuf>,
    pub insecure: bool,
}

client_section! {
    /// Keystone, which says whose a token is ([api] auth_strategy = keystone).
    keystone_authtoken: KeystoneAuthtoken = "keystone_authtoken" {
        /// Address of Keystone that callers without a token are told; unset: auth_url.
        www_authenticate_uri: Option<String> = None,
            older(&[("keystone_authtoken", "auth_uri")]);
        /// Seconds for which a token that Keystone has accepted or refused is not asked
        /// about again; -1: every token is, each time.
        token_cache_time: i64 = 300, min(-1.0), max(31_536_000.0);
        /// Tokens that are remembered at most.
        token_cache_size: u32 = 10_000, min(1.0);
        /// Roles of which a service must have one to stand in for a user whose token
        /// has run out meanwhile (X-Service-Token).
        service_token_roles: Vec<String> = list(&["service"]);
        /// Refuse service tokens without one of service_token_roles. Without it they
        /// pass, but cannot stand in for a user whose token has run out.
        service_token_roles_required: bool = false;
        /// Seconds to wait for an answer of Keystone.
        http_connect_timeout: u32 = 10, min(1.0), max(300.0);
        /// How often a call that Keystone did not answer is made again.
        http_request_max_retries: u32 = 3, max(10.0);
    }
}

client_section! {
    /// Neutron, which says what is special of requested networks and ports. Without
    /// auth_url and endpoint_override nobody is asked.
    neutron: Neutron = "neutron" {
        /// Address of Neutron; unset: as Keystone's catalogue has it.
        endpoint_override: Option<String> = None, older(&[("neutron", "endpoint-override")]);
        /// Region of the endpoint in the catalogue; unset: any.
        region_name: Option<String> = None;
        /// Type of the service in the catalogue.
        service_type: String = "network".to_owned();
        /// Interfaces of the endpoint in the catalogue; the first that is there is taken.
        valid_interfaces: Vec<String> = list(&["internal", "public"]);
        /// Seconds to wait for an answer.
        timeout: u32 = 10, min(1.0), max(300.0);
        /// How often a call that was not answered is made again.
        connect_retries: u32 = 3, max(10.0), older(&[("neutron", "http_retries")]);
    }
}
