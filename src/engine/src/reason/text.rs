//! Reasons as sentences.

use std::fmt;

use super::Reason;
use crate::overrides::Source;
use crate::table::Figure;

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ignored => f.write_str("the request says to ignore this host"),
            Self::NotForced => f.write_str("the request is bound to other hosts or nodes"),
            Self::NotInHint => f.write_str("the scheduling hint does not name it"),
            Self::NothingLeft => f.write_str("nothing is left after the servers before"),
            Self::NotPlanned => f.write_str("the plan for the whole job gives another host"),
            Self::AmountShort { resource, wanted, free } => {
                write!(f, "{wanted} of {resource} are asked for, {free} are free")
            }
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
            Self::ImagePropertyDiffers { property, image, allowed } => write!(
                f,
                "image property {property} is \"{image}\", its host aggregates allow {}",
                Quoted(allowed)
            ),
            Self::MetadataMissing { spec } => {
                write!(f, "its host aggregates have nothing for extra spec {spec}")
            }
            Self::MetadataDiffers { spec, wanted, has } => write!(
                f,
                "extra spec {spec} wants \"{wanted}\", its host aggregates have {}",
                Quoted(has)
            ),
            Self::ProjectNotAdmitted { project, admitted } => write!(
                f,
                "its host aggregates admit projects {}, the request is of {}",
                Quoted(admitted),
                project.as_deref().unwrap_or("none")
            ),
            Self::FlavorNotAdmitted { flavor, admitted } => write!(
                f,
                "its host aggregates admit flavors {}, the request has \"{flavor}\"",
                Quoted(admitted)
            ),
            Self::LimitReached { figure, has, limit, source } => write!(
                f,
                "it has {has} {}, it must have fewer than {limit} ({})",
                match figure {
                    Figure::NumIoOps => "IO operations under way",
                    Figure::NumInstances => "servers",
                    _ => "of them",
                },
                Origin(source)
            ),
            Self::Isolated => f.write_str("it is kept for isolated images"),
            Self::NotIsolated { image } => {
                write!(f, "image {image} is isolated, the host is not among isolated_hosts")
            }
            Self::ServersHere { hint, servers } => {
                let servers: Vec<String> = servers.iter().map(ToString::to_string).collect();
                write!(f, "hint {hint} keeps away from {}, here", servers.join(", "))
            }
            Self::NoneOfServersHere { hint, wanted } => {
                write!(f, "none of the {wanted} servers of hint {hint} is here")
            }
            Self::AddressOutside { address, network } => {
                write!(f, "its address {address} is not in {network}")
            }
            Self::QueryFails { query, has } => {
                let has: Vec<String> =
                    has.iter().map(|(name, v)| format!("{name} is {v}")).collect();
                write!(f, "query {query} does not hold")?;
                if has.is_empty() { Ok(()) } else { write!(f, ": {}", has.join(", ")) }
            }
            Self::MetricsMissing { missing } => {
                write!(f, "it does not report metrics {}", missing.join(", "))
            }
            Self::NoPciDevices => f.write_str("it has no PCI devices for servers"),
            Self::PciDevicesShort(shortage) => shortage.fmt(f),
            Self::NoCandidateLeft => f.write_str("none of its allocation candidates is left"),
            Self::NoThreads => {
                f.write_str("its cores have no second threads, the server's CPUs must share cores")
            }
            Self::NumaUnknown => f.write_str("its NUMA topology is not known"),
            Self::NumaMisfit(misfit) => misfit.fmt(f),
        }
    }
}

/// Texts in quotes between commas.
struct Quoted<'a>(&'a [String]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, text) in self.0.iter().enumerate() {
            let comma = if n == 0 { "" } else { ", " };
            write!(f, "{comma}\"{text}\"")?;
        }
        Ok(())
    }
}

/// Where a limit comes from.
struct Origin<'a>(&'a Source);

impl fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Source::Option { option } => f.write_str(option),
            Source::Aggregate { id, name, key } => {
                write!(f, "{key} of host aggregate {id}, {name}")
            }
            Source::Cancelled { option, .. } => f.write_str(option),
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
        let limit = Reason::LimitReached {
            figure: Figure::NumIoOps,
            has: 9,
            limit: 8,
            source: Source::Option { option: "filter_scheduler.max_io_ops_per_host" },
        };
        assert_eq!(
            limit.to_string(),
            "it has 9 IO operations under way, it must have fewer than 8 \
             (filter_scheduler.max_io_ops_per_host)"
        );
        let flavor = Reason::FlavorNotAdmitted {
            flavor: "m1".to_owned(),
            admitted: vec!["m2".to_owned(), String::new()],
        };
        assert_eq!(
            flavor.to_string(),
            "its host aggregates admit flavors \"m2\", \"\", the request has \"m1\""
        );
        let version = Reason::HypervisorVersion { wanted: ">=8".to_owned(), has: 6_002_001 };
        assert_eq!(version.to_string(), "its hypervisor is version 6.2.1, the image wants >=8");
    }
}
