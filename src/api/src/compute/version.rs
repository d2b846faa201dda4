//! Microversions of the compute API: how one is asked for, and what each
//! brought that this surface shows.

use crate::version::{features, said_of};
use actix_web::http::header::HeaderMap;
use std::fmt;

/// The name of the API in the header of versions.
pub const SERVICE: &str = "compute";
/// The header that asks for a microversion besides that of all services; it is
/// the older one, and the other one goes before it.
pub const LEGACY_HEADER: &str = "x-openstack-nova-api-version";

/// A microversion 2.N of the compute API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Microversion(u8);

/// Why a header cannot be honoured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MicroversionFault {
    /// Not two numbers with a point between them.
    Malformed(String),
    /// A version that this service does not speak.
    Unacceptable(String),
}

features! {
    /// Services can be declared down.
    ForcedDown = 11,
    /// Project and user of a server group.
    GroupOwner = 13,
    /// The policies soft-affinity and soft-anti-affinity.
    SoftPolicies = 15,
    /// The CPU of a hypervisor as an object.
    CpuObject = 28,
    /// Pages of hypervisors.
    HypervisorPages = 33,
    /// Uuids of aggregates.
    AggregateUuid = 41,
    /// Uuids of hypervisors and services for their ids; queries instead of
    /// paths of their own.
    Uuids = 53,
    /// One policy of a server group, with rules.
    GroupPolicy = 64,
    /// Parameters that lists of groups and services do not know are refused;
    /// hypervisors without servers say so.
    StrictLists = 75,
    /// Images cached on the hosts of an aggregate.
    CachedImages = 81,
    /// Hypervisors without figures, with their uptime.
    Uptime = 88,
    /// Parameters that no call knows are refused.
    StrictQueries = 102,
}

impl Microversion {
    /// The oldest, which is what a request without a header gets.
    pub const MIN: Self = Self(1);
    /// The newest.
    pub const MAX: Self = Self(102);

    /// Whether this version has a feature.
    #[must_use]
    pub const fn has(self, feature: Feature) -> bool {
        self.0 >= feature as u8
    }

    /// The version that a request asks for; without a header the oldest.
    ///
    /// # Errors
    /// When the header names no version, or one that is not spoken here.
    pub fn negotiate(headers: &HeaderMap) -> Result<Self, MicroversionFault> {
        let legacy = || headers.get(LEGACY_HEADER).and_then(|value| value.to_str().ok());
        match said_of(headers, SERVICE).or_else(legacy).map(str::trim) {
            None | Some("") => Ok(Self::MIN),
            Some("latest") => Ok(Self::MAX),
            Some(text) => Self::parse(text),
        }
    }

    fn parse(text: &str) -> Result<Self, MicroversionFault> {
        let numbers = text
            .split_once('.')
            .filter(|(major, minor)| is_number(major) && (is_number(minor) || *minor == "0"));
        let (major, minor) =
            numbers.ok_or_else(|| MicroversionFault::Malformed(text.to_owned()))?;
        let spoken = (Self::MIN.0..=Self::MAX.0).find(|number| minor == number.to_string());
        match spoken {
            Some(minor) if major == "2" => Ok(Self(minor)),
            _ => Err(MicroversionFault::Unacceptable(text.to_owned())),
        }
    }
}

/// Whether a text is a whole number from 1 without zeros before it.
fn is_number(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl fmt::Display for Microversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "2.{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use crate::version::HEADER;
    use actix_web::http::header::{HeaderName, HeaderValue};

    fn asked(lines: &[(&'static str, &str)]) -> Result<Microversion, MicroversionFault> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        }
        Microversion::negotiate(&headers)
    }

    #[test]
    fn the_newer_header_goes_before_the_older() {
        for (lines, version) in [
            (&[][..], Microversion::MIN),
            (&[(HEADER, "compute 2.15")], Microversion(15)),
            (&[(HEADER, "placement 1.39")], Microversion::MIN),
            (&[(LEGACY_HEADER, "2.64")], Microversion(64)),
            (&[(LEGACY_HEADER, "latest")], Microversion::MAX),
            (&[(LEGACY_HEADER, "2.64"), (HEADER, "compute 2.2")], Microversion(2)),
            (&[(LEGACY_HEADER, "2.64"), (HEADER, "placement 1.2")], Microversion(64)),
            (&[(HEADER, "placement 1.2, compute 2.102")], Microversion::MAX),
        ] {
            assert_eq!(asked(lines), Ok(version), "{lines:?}");
        }
    }

    #[test]
    fn what_is_not_spoken_is_told_apart_from_what_is_no_version() {
        for text in ["2", "2.", "2.01", "2.1.1", "v2.1", "2.x", "02.1", "-2.1", "newest"] {
            let malformed = Err(MicroversionFault::Malformed(text.to_owned()));
            assert_eq!(asked(&[(LEGACY_HEADER, text)]), malformed, "{text}");
        }
        for text in ["2.0", "2.103", "1.1", "3.1", "2.99999999999999999999"] {
            let unacceptable = Err(MicroversionFault::Unacceptable(text.to_owned()));
            assert_eq!(asked(&[(LEGACY_HEADER, text)]), unacceptable, "{text}");
        }
    }

    #[test]
    fn features_stand_in_order_within_the_bounds() {
        let minors: Vec<u8> = FEATURES.iter().map(|(feature, _)| *feature as u8).collect();
        assert!(minors.is_sorted());
        assert!(minors.iter().all(|minor| (1..=Microversion::MAX.0).contains(minor)));
    }
}
