//! What the peer's API has and this one has not: answered so that nobody takes
//! it for a mistake in the address.

use super::call::Answer;
use crate::failure::{Code, Failure};
use actix_web::HttpRequest;

/// First parts of paths of the peer's API that are not served here.
pub const NAMES: &[&str] = &[
    "extensions",
    "flavors",
    "images",
    "limits",
    "servers",
    "os-agents",
    "os-assisted-volume-snapshots",
    "os-availability-zones",
    "os-baremetal-nodes",
    "os-cells",
    "os-certificates",
    "os-cloudpipe",
    "os-console-auth-tokens",
    "os-fixed-ips",
    "os-floating-ip-dns",
    "os-floating-ip-pools",
    "os-floating-ips",
    "os-floating-ips-bulk",
    "os-fping",
    "os-hosts",
    "os-instance-actions",
    "os-instance_usage_audit_log",
    "os-keypairs",
    "os-migrations",
    "os-networks",
    "os-quota-class-sets",
    "os-quota-sets",
    "os-security-group-default-rules",
    "os-security-group-rules",
    "os-security-groups",
    "os-server-external-events",
    "os-simple-tenant-usage",
    "os-snapshots",
    "os-tenant-networks",
    "os-virtual-interfaces",
    "os-volumes",
    "os-volumes_boot",
];

/// The paths, as the router has them: such a part alone, or with more behind it.
pub fn paths() -> Vec<String> {
    let name = format!("/{{name:{}}}", NAMES.join("|"));
    vec![format!("{name}/{{rest:.*}}"), name]
}

/// Says that this is the compute service's to answer.
pub async fn refuse(request: HttpRequest) -> Answer {
    let name = request.match_info().get("name").unwrap_or_default();
    Err(Failure::new(
        Code::NotImplemented,
        format!(
            "/{name} is not served here: stowplan answers for os-aggregates, os-server-groups, \
             os-availability-zone, os-hypervisors and os-services alone."
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_stand_once_and_are_no_patterns() {
        assert_eq!(NAMES.iter().collect::<BTreeSet<_>>().len(), NAMES.len());
        let plain = |name: &&&str| {
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        assert_eq!(NAMES.iter().filter(plain).count(), NAMES.len());
    }
}
