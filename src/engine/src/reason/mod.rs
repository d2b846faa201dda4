//! Why a host was left out, with the numbers that decided.

use std::fmt;

use serde::Serialize;

/// Why a host was left out. Serialises with its numbers and reads as a
/// sentence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reason {
    /// Named in the request's hosts to ignore.
    Ignored,
    /// Not among the hosts or nodes the request is bound to.
    NotForced,
    /// Not the destination the request names.
    NotTheDestination,
    /// The service takes no new servers.
    ServiceDisabled {
        /// What its operator gave as reason.
        reason: Option<String>,
    },
    /// An operator declared the service down.
    ServiceForcedDown,
    /// The service was not heard of in time.
    ServiceSilent {
        /// Microseconds since it was heard of, negative when the time lies
        /// ahead; null when it never was.
        age_us: Option<i64>,
        /// Microseconds it may be silent.
        limit_us: i64,
    },
    /// The host does not say what guests it runs.
    GuestsUnknown,
    /// No guest that the host runs is what the image needs.
    GuestUnsupported {
        /// Architecture, hypervisor type and VM mode of the image.
        wanted: Vec<String>,
    },
    /// The hypervisor's version does not meet the image's conditions.
    HypervisorVersion {
        /// Conditions.
        wanted: String,
        /// The version: major x 1,000,000 + minor x 1,000 + patch.
        has: i64,
    },
    /// The host has no such capability.
    CapabilityMissing {
        /// The extra spec's key.
        spec: String,
    },
    /// The host's capability is not what the flavor needs.
    CapabilityDiffers {
        /// The extra spec's key.
        spec: String,
        /// Its value.
        wanted: String,
        /// What the host has.
        has: String,
    },
    /// Enough servers of the group are here already.
    GroupMembersHere {
        /// Members on the host.
        members: usize,
        /// The host takes fewer than this.
        limit: i64,
    },
    /// The group's servers are elsewhere.
    GroupElsewhere {
        /// Hosts of the group, the first few.
        hosts: Vec<String>,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ignored => f.write_str("the request says to ignore this host"),
            Self::NotForced => f.write_str("the request is bound to other hosts or nodes"),
            Self::NotTheDestination => f.write_str("the request names another destination"),
            Self::ServiceDisabled { reason: None } => f.write_str("its service is disabled"),
            Self::ServiceDisabled { reason: Some(reason) } => {
                write!(f, "its service is disabled: {reason}")
            }
            Self::ServiceForcedDown => f.write_str("its service was declared down"),
            Self::ServiceSilent { age_us: None, .. } => {
                f.write_str("its service was never heard of")
            }
            Self::ServiceSilent { age_us: Some(age), limit_us } => {
                let (age, limit) = (Seconds(*age), Seconds(*limit_us));
                if age.0 < 0 {
                    write!(
                        f,
                        "its service was last heard of {} ahead of now, {limit} is the limit",
                        Seconds(age.0.saturating_neg())
                    )
                } else {
                    write!(f, "its service was last heard of {age} ago, {limit} is the limit")
                }
            }
            Self::GuestsUnknown => f.write_str("it does not say what guests it runs"),
            Self::GuestUnsupported { wanted } => {
                write!(f, "it runs no guest of {}", wanted.join(", "))
            }
            Self::HypervisorVersion { wanted, has } => write!(
                f,
                "its hypervisor is version {}.{}.{}, the image wants {wanted}",
                has / 1_000_000,
                has / 1_000 % 1_000,
                has % 1_000
            ),
            Self::CapabilityMissing { spec } => write!(f, "it has nothing for extra spec {spec}"),
            Self::CapabilityDiffers { spec, wanted, has } => {
                write!(f, "extra spec {spec} wants \"{wanted}\", it has \"{has}\"")
            }
            Self::GroupMembersHere { members, limit } => {
                write!(f, "{members} of the group's servers are here, it takes fewer than {limit}")
            }
            Self::GroupElsewhere { hosts } => {
                write!(f, "the group's servers are on {}", hosts.join(", "))
            }
        }
    }
}

/// Microseconds, read as seconds.
struct Seconds(i64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = self.0 / 100_000;
        match tenths % 10 {
            0 => write!(f, "{} s", tenths / 10),
            rest => write!(f, "{}.{rest} s", tenths / 10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_sentences_with_numbers() {
        let silent = |age_us| Reason::ServiceSilent { age_us, limit_us: 60_000_000 };
        assert_eq!(
            silent(Some(61_500_000)).to_string(),
            "its service was last heard of 61.5 s ago, 60 s is the limit"
        );
        assert_eq!(
            silent(Some(-90_000_000)).to_string(),
            "its service was last heard of 90 s ahead of now, 60 s is the limit"
        );
        let version = Reason::HypervisorVersion { wanted: ">=8".to_owned(), has: 6_002_001 };
        assert_eq!(version.to_string(), "its hypervisor is version 6.2.1, the image wants >=8");
    }
}
