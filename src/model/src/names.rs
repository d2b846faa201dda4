//! Names of resource classes and traits: the standard ones and the rule for
//! custom ones.

/// The longest name of a resource class, trait or consumer type.
pub const MAX_NAME: usize = 255;

/// The longest name of a resource provider, in characters.
pub const MAX_PROVIDER_NAME: usize = 200;

/// The standard resource classes (os-resource-classes 1.1.0), in its order.
pub fn standard_classes() -> impl Iterator<Item = &'static str> {
    include_str!("names/standard_classes.txt").lines()
}

/// The standard traits (os-traits 3.9.0), sorted.
pub fn standard_traits() -> impl Iterator<Item = &'static str> {
    include_str!("names/standard_traits.txt").lines()
}

/// Whether `name` may be given to a resource class or trait by a client:
/// `CUSTOM_` and then capital letters, digits and underscores, at most
/// [`MAX_NAME`] long.
#[must_use]
pub fn is_custom(name: &str) -> bool {
    name.strip_prefix("CUSTOM_").is_some_and(|rest| !rest.is_empty()) && is_plain(name)
}

/// Whether `name` has the form of any resource class, trait or consumer type:
/// capital letters, digits and underscores, 1 to [`MAX_NAME`] of them.
#[must_use]
pub fn is_plain(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_names_have_the_form_of_names() {
        assert_eq!(standard_classes().next(), Some("VCPU"));
        assert!(standard_classes().chain(standard_traits()).all(is_plain));
    }

    #[test]
    fn custom_names() {
        let long = format!("CUSTOM_{}", "X".repeat(MAX_NAME - 7));
        for (name, custom) in [
            ("CUSTOM_GOLD", true),
            ("CUSTOM_1_", true),
            ("CUSTOM_", false),
            ("CUSTOM_gold", false),
            ("GOLD", false),
            (long.as_str(), true),
            (&format!("{long}X"), false),
        ] {
            assert_eq!(is_custom(name), custom, "{name}");
        }
    }
}
