//! `[api]`, `[oslo_middleware]` and `[oslo_policy]`: the HTTP door and who may
//! pass it.

use std::path::PathBuf;
use std::time::Duration;

use super::list;
use crate::macros::{choice, section};

choice! {
    /// How a caller proves who it is.
    AuthStrategy {
        /// The token is taken at its word: `user:project`, roles from X-Roles.
        Noauth2 = "noauth2",
        /// Keystone is asked whose the token is ([keystone_authtoken]).
        Keystone = "keystone",
    }
}

section! {
    /// The HTTP service.
    api: Api = "api" {
        /// How a caller proves who it is. noauth2 believes any token and is for
        /// tests and closed networks.
        auth_strategy: AuthStrategy = AuthStrategy::Noauth2,
            older(&[("DEFAULT", "auth_strategy")]);
        /// Allow noauth2 on an address that other machines can reach.
        allow_insecure_noauth: bool = false;
        /// Address to listen on.
        bind_host: String = "127.0.0.1".to_owned();
        /// TCP port to listen on; 0: any free one.
        bind_port: u16 = 8778;
        /// Threads that serve requests; unset: one per CPU.
        workers: Option<u32> = None, min(1.0), max(512.0), sample("<number of CPUs>");
        /// Path under which the Placement API is served besides the root, such as
        /// /placement; empty: at the root alone.
        placement_prefix: String = String::new();
        /// Path under which the compute API's calls are served besides /v2.1, such
        /// as /compute; empty: at /v2.1 alone.
        compute_prefix: String = String::new();
        /// Time for which the answer of a request with an Idempotency-Key is kept; the
        /// key may be used for another request afterwards.
        idempotency_key_lifetime: Duration = Duration::from_secs(3600), min(1.0), mutable;
        /// Largest body of a request, in bytes.
        max_request_body_size: u64 = 16_777_216, min(1024.0), mutable;
        /// Largest list of allocation candidates, in MiB of memory, roughly: a
        /// query without a limit whose groups multiply beyond it is refused, lest
        /// one answer takes all memory there is.
        max_candidates_mb: u64 = 512, min(1.0), mutable;
        /// Most items in one page of a list.
        max_limit: u32 = 1000, min(1.0), mutable, older(&[("DEFAULT", "osapi_max_limit")]);
    }
}

section! {
    /// What stands before the service.
    oslo_middleware: OsloMiddleware = "oslo_middleware" {
        /// Believe the headers Forwarded and X-Forwarded-* about the address by which
        /// callers reach the service, for the links and Locations of answers. Only
        /// behind a proxy that sets or removes them.
        enable_proxy_headers_parsing: bool = false, mutable;
    }
}

section! {
    /// Who may do what.
    oslo_policy: OsloPolicy = "oslo_policy" {
        /// Refuse tokens of another scope than a rule asks for. Scope is always
        /// enforced; false is accepted and changes nothing.
        enforce_scope: bool = true;
        /// Use the new defaults of rules alone; false: what the older ones allow is
        /// allowed too.
        enforce_new_defaults: bool = true;
        /// YAML file of rules that replace the defaults; a relative path starts at
        /// the folder of the configuration file. The file need not exist, and is
        /// read again when it changes.
        policy_file: PathBuf = PathBuf::from("policy.yaml");
        /// Folders of further such files, read after it in the order of their names;
        /// a relative path starts at the folder of the configuration file.
        policy_dirs: Vec<String> = list(&["policy.d"]), multi;
        /// Rule that stands in for one that another rule refers to and that is not
        /// there.
        policy_default_rule: String = "default".to_owned();
    }
}
