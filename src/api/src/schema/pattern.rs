//! The forms that names and keys may have.

use stowplan_model::Uuid;

/// A form of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// A resource class, trait or consumer type.
    Name,
    /// A resource class or trait of one's own.
    CustomName,
    /// A consumer type to ask for, `all` or `unknown`.
    ConsumerType,
    /// A key that looks like a uuid.
    UuidKey,
    /// The suffix of a request group, a key of mappings.
    Suffix,
    /// A decimal number from 1.
    Limit,
    /// Digits.
    Digits,
    /// A name that people give: printable, without blanks at its ends.
    Printable,
    /// The same with blanks at its ends, which are cut off.
    Spaced,
    /// The name of an availability zone.
    Zone,
    /// The name of a host.
    HostName,
    /// A key of metadata.
    MetadataKey,
    /// A query parameter of a request group with a number as its suffix.
    NumberedGroup(&'static str),
    /// A query parameter of a request group with a word as its suffix.
    WordGroup(&'static str),
}

impl Pattern {
    /// Whether a text has the form.
    #[must_use]
    pub fn fits(self, text: &str) -> bool {
        match self {
            Self::Name => is_name(text),
            Self::CustomName => text.strip_prefix("CUSTOM_").is_some_and(is_name),
            Self::ConsumerType => is_name(text) || text.starts_with("all") || text == "unknown",
            Self::UuidKey => {
                text.len() == 36 && text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
            }
            // An unanchored form: some part of the text has it.
            Self::Suffix => text.bytes().any(is_suffix_byte),
            Self::Limit => is_number(text),
            Self::Digits => text.bytes().all(|byte| byte.is_ascii_digit()),
            Self::Printable => is_printable(text) && !has_blank_ends(text),
            Self::Spaced => is_printable(text) && !text.trim().is_empty(),
            Self::Zone => is_printable(text) && !has_blank_ends(text) && !text.contains(':'),
            Self::HostName => {
                text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b))
            }
            Self::MetadataKey => {
                (1..=255).contains(&text.len())
                    && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_:. ".contains(&b))
            }
            Self::NumberedGroup(key) => {
                text.strip_prefix(key).is_some_and(|rest| rest.is_empty() || is_number(rest))
            }
            Self::WordGroup(key) => {
                text.strip_prefix(key).is_some_and(|rest| rest.is_empty() || is_suffix(rest))
            }
        }
    }

    /// The form in words, where the regular expression is hard to read.
    #[must_use]
    pub fn words(self) -> Option<&'static str> {
        Some(match self {
            Self::Printable => "printable characters, without blanks at the ends",
            Self::Spaced => "printable characters, not all of them blanks",
            Self::Zone => "printable characters but colons, without blanks at the ends",
            Self::HostName => "letters, digits, hyphens, points and underscores",
            _ => return None,
        })
    }

    /// The form as a regular expression, for messages.
    #[must_use]
    pub fn regex(self) -> String {
        match self {
            Self::Name => "^[A-Z0-9_]+$".to_owned(),
            Self::CustomName => "^CUSTOM_[A-Z0-9_]+$".to_owned(),
            Self::ConsumerType => "^[A-Z0-9_]+$|^all|^unknown$".to_owned(),
            Self::UuidKey => "^[0-9a-fA-F-]{36}$".to_owned(),
            Self::Suffix => "[a-zA-Z0-9_-]{1,64}".to_owned(),
            Self::Limit => "^[1-9][0-9]*$".to_owned(),
            Self::Digits => "^[0-9]*$".to_owned(),
            Self::Printable => r"^(?!\s)[^\x00-\x1f\x7f]*(?<!\s)$".to_owned(),
            Self::Spaced => r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$".to_owned(),
            Self::Zone => r"^(?!\s)[^:\x00-\x1f\x7f]*(?<!\s)$".to_owned(),
            Self::HostName => "^[a-zA-Z0-9-._]*$".to_owned(),
            Self::MetadataKey => "^[a-zA-Z0-9-_:. ]{1,255}$".to_owned(),
            Self::NumberedGroup(key) => format!("^{key}([1-9][0-9]*)?$"),
            Self::WordGroup(key) => format!("^{key}([a-zA-Z0-9_-]{{1,64}})?$"),
        }
    }
}

fn is_printable(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

fn has_blank_ends(text: &str) -> bool {
    text.trim() != text
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

fn is_number(text: &str) -> bool {
    !text.starts_with('0') && !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a text may be the suffix of a request group.
#[must_use]
pub fn is_suffix(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(is_suffix_byte)
}

fn is_suffix_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// A uuid in any notation that the peer takes: capital letters, no hyphens or
/// odd ones, braces, `urn:uuid:` before it.
#[must_use]
pub fn lenient_uuid(text: &str) -> Option<Uuid> {
    let bare = text.replace("urn:", "").replace("uuid:", "");
    let digits = bare.trim_matches(['{', '}']).replace('-', "");
    if digits.len() != 32 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    Uuid::try_parse(&digits).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        let long = format!("resources{}", "x".repeat(65));
        for (pattern, text, fits) in [
            (Pattern::Name, "VCPU", true),
            (Pattern::Name, "vcpu", false),
            (Pattern::Name, "", false),
            (Pattern::CustomName, "CUSTOM_A1", true),
            (Pattern::CustomName, "CUSTOM_", false),
            (Pattern::ConsumerType, "unknown", true),
            (Pattern::ConsumerType, "unknowns", false),
            (Pattern::UuidKey, "2290d4af-9e6e-400b-9d65-1ee01376f71a", true),
            (Pattern::UuidKey, "2290d4af9e6e400b9d651ee01376f71a", false),
            (Pattern::Suffix, "", false),
            (Pattern::Suffix, "_COMPUTE", true),
            (Pattern::Limit, "0", false),
            (Pattern::Limit, "10", true),
            (Pattern::Digits, "0123", true),
            (Pattern::Digits, "-1", false),
            (Pattern::Printable, "fast disks", true),
            (Pattern::Printable, " fast", false),
            (Pattern::Printable, "a\tb", false),
            (Pattern::Spaced, " fast ", true),
            (Pattern::Spaced, "  ", false),
            (Pattern::Zone, "east:1", false),
            (Pattern::HostName, "compute-1.rack_2", true),
            (Pattern::HostName, "compute 1", false),
            (Pattern::MetadataKey, "trait:CUSTOM_A", true),
            (Pattern::MetadataKey, "a/b", false),
            (Pattern::NumberedGroup("resources"), "resources", true),
            (Pattern::NumberedGroup("resources"), "resources12", true),
            (Pattern::NumberedGroup("resources"), "resources01", false),
            (Pattern::WordGroup("resources"), "resources01", true),
            (Pattern::WordGroup("resources"), "resources1@", false),
            (Pattern::WordGroup("resources"), &long, false),
        ] {
            assert_eq!(pattern.fits(text), fits, "{pattern:?} {text}");
        }
    }

    #[test]
    fn uuids_in_many_notations() {
        let uuid = lenient_uuid("2290d4af-9e6e-400b-9d65-1ee01376f71a");
        assert!(uuid.is_some());
        for text in [
            "2290D4AF9E6E400B9D651EE01376F71A",
            "{2290d4af-9e6e-400b-9d65-1ee01376f71a}",
            "urn:uuid:2290d4af-9e6e-400b-9d65-1ee01376f71a",
            "2290-d4af9e6e400b9d651ee01376f71a",
        ] {
            assert_eq!(lenient_uuid(text), uuid, "{text}");
        }
        for text in ["", "2290d4af", "2290d4af-9e6e-400b-9d65-1ee01376f71g"] {
            assert_eq!(lenient_uuid(text), None, "{text}");
        }
    }
}
