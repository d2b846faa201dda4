//! Placement's microversions: how one is asked for, and what each brought.

use crate::compute::version::{self as compute, Microversion};
use actix_web::http::header::HeaderMap;
use std::fmt;

/// The header that asks for a microversion and names the one that answered.
pub const HEADER: &str = "openstack-api-version";
const SERVICE: &str = "placement";

/// A microversion 1.N of the Placement API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(u8);

/// Why the header cannot be honoured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionFault {
    /// Not two numbers with a point between them.
    Malformed(String),
    /// A version that this service does not speak.
    Unacceptable(String),
}

macro_rules! features {
    ($($(#[doc = $about:literal])+ $name:ident = $minor:literal,)+) => {
        /// What changed with a microversion: every difference between two
        /// versions that this surface makes is a row here.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Feature {
            /// What was there from the start.
            Always = 0,
            $($(#[doc = $about])+ $name = $minor,)+
        }

        /// Every feature with the microversion that brought it.
        pub const FEATURES: &[(Feature, &str)] = &[$((Feature::$name, concat!($($about),+)),)+];
    };
}

pub(crate) use features;

features! {
    /// Aggregates of a provider.
    Aggregates = 1,
    /// Resource classes of one's own.
    ResourceClasses = 2,
    /// `member_of` in the list of providers.
    ProvidersByAggregate = 3,
    /// `resources` in the list of providers.
    ProvidersByResources = 4,
    /// All inventories of a provider deleted in one call.
    DeleteInventories = 5,
    /// Traits.
    Traits = 6,
    /// A resource class made by a PUT without a body.
    BodilessClass = 7,
    /// Project and user of a consumer, required.
    ConsumerOwner = 8,
    /// Usages of a project.
    Usages = 9,
    /// Allocation candidates.
    Candidates = 10,
    /// The link `allocations` of a provider.
    AllocationsLink = 11,
    /// Allocations as objects keyed by provider, in and out.
    AllocationsByProvider = 12,
    /// Allocations of many consumers in one call.
    PostAllocations = 13,
    /// Trees of providers.
    NestedProviders = 14,
    /// Last-Modified and Cache-Control.
    CacheHeaders = 15,
    /// `limit` of allocation candidates.
    CandidatesLimit = 16,
    /// `required` of allocation candidates; traits in the summaries.
    CandidatesTraits = 17,
    /// `required` in the list of providers.
    ProvidersByTraits = 18,
    /// Generations with aggregates.
    AggregatesGeneration = 19,
    /// A created provider is answered with its body.
    CreatedProviderBody = 20,
    /// `member_of` of allocation candidates.
    CandidatesByAggregate = 21,
    /// Forbidden traits.
    ForbiddenTraits = 22,
    /// Codes in errors.
    ErrorCodes = 23,
    /// `member_of` more than once.
    RepeatedMemberOf = 24,
    /// Numbered request groups.
    NumberedGroups = 25,
    /// All of an inventory may be reserved.
    ReservedEqualsTotal = 26,
    /// All classes of a provider in the summaries.
    AllSummaryClasses = 27,
    /// Generations of consumers.
    ConsumerGeneration = 28,
    /// Candidates made of several providers of a tree.
    NestedCandidates = 29,
    /// The reshaper.
    Reshaper = 30,
    /// `in_tree` of allocation candidates.
    CandidatesInTree = 31,
    /// Forbidden aggregates.
    ForbiddenAggregates = 32,
    /// Suffixes of request groups that are words.
    WordSuffixes = 33,
    /// Which provider serves which request group.
    Mappings = 34,
    /// `root_required`.
    RootRequired = 35,
    /// `same_subtree`, and request groups without resources.
    SameSubtree = 36,
    /// A provider may change its parent.
    Reparenting = 37,
    /// Consumer types.
    ConsumerTypes = 38,
    /// Any of several traits.
    AnyTraits = 39,
}

impl Version {
    /// The oldest, which is what a request without the header gets.
    pub const MIN: Self = Self(0);
    /// The newest.
    pub const MAX: Self = Self(39);

    /// Whether this version has a feature.
    #[must_use]
    pub const fn has(self, feature: Feature) -> bool {
        self.0 >= feature as u8
    }

    /// N of 1.N.
    #[must_use]
    pub const fn minor(self) -> u8 {
        self.0
    }

    /// The version that a request asks for; without the header the oldest.
    ///
    /// # Errors
    /// When the header names no version, or one that is not spoken here.
    pub fn negotiate(headers: &HeaderMap) -> Result<Self, VersionFault> {
        Ok(Self::asked(headers)?.unwrap_or(Self::MIN))
    }

    /// The version that the header names, if it names one.
    ///
    /// # Errors
    /// When the header names no version, or one that is not spoken here.
    pub fn asked(headers: &HeaderMap) -> Result<Option<Self>, VersionFault> {
        match said_of(headers, SERVICE) {
            None | Some("") => Ok(None),
            Some("latest") => Ok(Some(Self::MAX)),
            Some(text) => Self::parse(text).map(Some),
        }
    }

    fn parse(text: &str) -> Result<Self, VersionFault> {
        let numbers =
            text.split_once('.').and_then(|(major, minor)| Some((whole(major)?, whole(minor)?)));
        match numbers {
            None => Err(VersionFault::Malformed(text.to_owned())),
            Some((1, minor)) if (0..=i64::from(Self::MAX.0)).contains(&minor) => {
                u8::try_from(minor).map(Self).map_err(|_| VersionFault::Malformed(text.to_owned()))
            }
            Some(_) => Err(VersionFault::Unacceptable(text.to_owned())),
        }
    }

    /// The version in the form of the header: `placement 1.N`.
    #[must_use]
    pub fn header_value(self) -> String {
        format!("{SERVICE} {self}")
    }
}

/// What the header says last of a service.
#[must_use]
pub fn said_of<'h>(headers: &'h HeaderMap, service: &str) -> Option<&'h str> {
    let said = headers.get_all(HEADER).filter_map(|value| value.to_str().ok());
    let mut found = None;
    for part in said.flat_map(|value| value.split(',')) {
        let Some((of, version)) = part.trim().split_once(char::is_whitespace) else { continue };
        if of.eq_ignore_ascii_case(service) {
            found = Some(version.trim());
        }
    }
    found
}

/// The version in which a request is answered, whichever API it asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spoken {
    /// The Placement API.
    Placement(Version),
    /// The compute API.
    Compute(Microversion),
}

impl Spoken {
    /// The headers that name it.
    #[must_use]
    pub fn headers(self) -> Vec<(&'static str, String)> {
        match self {
            Self::Placement(version) => vec![(HEADER, version.header_value())],
            Self::Compute(version) => vec![
                (HEADER, format!("{} {version}", compute::SERVICE)),
                (compute::LEGACY_HEADER, version.to_string()),
            ],
        }
    }
}

/// A whole number, however long.
fn whole(text: &str) -> Option<i64> {
    let text = text.trim();
    let is_long = text.len() > 18 && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_long { Some(i64::MAX) } else { text.parse().ok() }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use actix_web::http::header::{HeaderName, HeaderValue};

    fn asked(values: &[&'static str]) -> Result<Version, VersionFault> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(HeaderName::from_static(HEADER), HeaderValue::from_static(value));
        }
        Version::negotiate(&headers)
    }

    #[test]
    fn the_last_word_about_placement_counts() {
        for (values, version) in [
            (&[][..], Version::MIN),
            (&["compute 2.90"], Version::MIN),
            (&["placement 1.10"], Version(10)),
            (&["Placement  1.10 "], Version(10)),
            (&["placement latest"], Version::MAX),
            (&["placement 1.3, compute 2.1", "placement 1.4"], Version(4)),
            (&["placement"], Version::MIN),
        ] {
            assert_eq!(asked(values), Ok(version), "{values:?}");
        }
    }

    #[test]
    fn what_is_not_spoken_is_told_apart_from_what_is_no_version() {
        for text in ["pony.horse", "1.2.3", "1", "1."] {
            let value: &'static str = Box::leak(format!("placement {text}").into_boxed_str());
            assert_eq!(asked(&[value]), Err(VersionFault::Malformed(text.to_owned())));
        }
        for text in ["0.5", "1.40", "2.0", "1.-1", "1.99999999999999999999"] {
            let value: &'static str = Box::leak(format!("placement {text}").into_boxed_str());
            assert_eq!(asked(&[value]), Err(VersionFault::Unacceptable(text.to_owned())));
        }
    }

    #[test]
    fn every_version_after_the_first_has_a_row() {
        let minors: Vec<u8> = FEATURES.iter().map(|(feature, _)| *feature as u8).collect();
        assert_eq!(minors, (1..=Version::MAX.0).collect::<Vec<_>>());
    }
}
