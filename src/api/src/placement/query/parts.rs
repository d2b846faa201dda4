//! The values of query parameters that the list of providers and allocation
//! candidates have in common. The words of the errors are those that clients
//! of the peer know.

use crate::{
    failure::Failure,
    query::Query,
    schema::lenient_uuid,
    version::{Feature, Version},
};
use std::collections::HashMap;
use stowplan_model::{Uuid, pytext};

const INVALID: &str = "Invalid query string parameters:";

/// Traits: one of each set is wanted, and none of the forbidden ones.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// Sets of which one is wanted.
    pub required: Vec<Vec<String>>,
    /// Traits that may not be there.
    pub forbidden: Vec<String>,
}

/// Aggregates: membership in one of each set, and in none of the others.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Membership {
    /// Sets of which one is wanted.
    pub member_of: Vec<Vec<Uuid>>,
    /// Aggregates that may not be.
    pub forbidden: Vec<Uuid>,
}

/// `resources=CLASS:AMOUNT,...`; of a class named twice the last amount counts.
pub fn resources(text: &str) -> Result<Vec<(String, i64)>, Failure> {
    const FORM: &str = "Badly formed resources parameter. Expected resources query string \
                        parameter in form: ?resources=VCPU:2,MEMORY_MB:1024. Got:";
    if text.trim().is_empty() {
        return Err(Failure::bad_request(format!("{FORM} empty string.")));
    }
    let mut found: Vec<(String, i64)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for item in text.split(',') {
        let (class, amount) = item
            .split_once(':')
            .filter(|(_, amount)| !amount.contains(':'))
            .ok_or_else(|| Failure::bad_request(format!("{FORM} {item}.")))?;
        let number = pytext::int(amount).ok_or_else(|| {
            Failure::bad_request(format!(
                "Requested resource {class} expected positive integer amount. Got: {amount}."
            ))
        })?;
        if number < 1 {
            return Err(Failure::bad_request(format!(
                "Requested resource {class} requires amount >= 1. Got: {number}."
            )));
        }
        match places.get(class).and_then(|&place| found.get_mut(place)) {
            Some(entry) => entry.1 = number,
            None => {
                places.insert(class, found.len());
                found.push((class.to_owned(), number));
            }
        }
    }
    Ok(found)
}

/// All `required` parameters with a suffix. Before 1.39 the last one counts.
pub fn traits(query: &Query, suffix: &str, version: Version) -> Result<Traits, Failure> {
    let key = format!("required{suffix}");
    let values: Vec<&str> = query.all(&key).collect();
    let from = if version.has(Feature::AnyTraits) { 0 } else { values.len().saturating_sub(1) };
    let mut traits = Traits::default();
    for value in values.iter().skip(from) {
        add_traits(value, version, &mut traits)?;
    }
    traits.forbidden.sort_unstable();
    traits.forbidden.dedup();
    Ok(traits)
}

fn add_traits(text: &str, version: Version, traits: &mut Traits) -> Result<(), Failure> {
    const ANY_FORM: &str = "in:HW_CPU_X86_VMX,CUSTOM_MAGIC";
    let Some(listed) = text.strip_prefix("in:") else {
        return flat_traits(text, version.has(Feature::ForbiddenTraits), traits);
    };
    let fault = |problem: String| Err(Failure::bad_request(format!("{INVALID} {problem}: {text}")));
    if !version.has(Feature::AnyTraits) {
        return fault(format!(
            "The format '{ANY_FORM}' only supported since microversion 1.39. Got"
        ));
    }
    let mut any: Vec<String> = listed.split(',').map(|name| name.trim().to_owned()).collect();
    if any.iter().any(String::is_empty) {
        return fault(format!(
            "Expected 'required' parameter value of the form: {ANY_FORM}. Got an empty trait in"
        ));
    }
    if any.iter().any(|name| name.starts_with('!')) {
        return fault(format!("The format '{ANY_FORM}' does not support forbidden traits. Got"));
    }
    any.sort_unstable();
    any.dedup();
    traits.required.push(any);
    Ok(())
}

/// A list of traits without alternatives; those after `!` are forbidden.
pub fn flat_traits(text: &str, forbidding: bool, traits: &mut Traits) -> Result<(), Failure> {
    let form =
        if forbidding { "HW_CPU_X86_VMX,!CUSTOM_MAGIC" } else { "HW_CPU_X86_VMX,CUSTOM_MAGIC" };
    let expected = || format!("{INVALID} Expected 'required' parameter value of the form: {form}.");
    let mut forbidden = Vec::new();
    let mut required = Vec::new();
    for name in text.split(',').map(str::trim) {
        let bare = name.trim_start_matches('!');
        if bare.is_empty() {
            let detail = format!("{} Got an empty trait in: {text}", expected());
            return Err(Failure::bad_request(detail));
        }
        if bare.len() < name.len() {
            forbidden.push(bare.to_owned());
        } else {
            required.push(vec![name.to_owned()]);
        }
    }
    if !forbidden.is_empty() && !forbidding {
        return Err(Failure::bad_request(format!("{} Got: {text}", expected())));
    }
    traits.required.append(&mut required);
    traits.forbidden.append(&mut forbidden);
    Ok(())
}

/// All `member_of` parameters with a suffix.
pub fn membership(query: &Query, suffix: &str, version: Version) -> Result<Membership, Failure> {
    let key = format!("member_of{suffix}");
    let values: Vec<&str> = query.all(&key).collect();
    if values.len() > 1 && !version.has(Feature::RepeatedMemberOf) {
        let detail = format!("Multiple member_of{suffix} parameters are not supported");
        return Err(Failure::bad_request(detail));
    }
    let mut membership = Membership::default();
    for value in values {
        let (forbids, mut uuids) = one_membership(value)?;
        if !forbids {
            membership.member_of.push(uuids);
        } else if version.has(Feature::ForbiddenAggregates) {
            membership.forbidden.append(&mut uuids);
        } else {
            return Err(Failure::bad_request(format!(
                "Forbidden member_of{suffix} parameters are not supported in the specified \
                 microversion"
            )));
        }
    }
    Ok(membership)
}

fn one_membership(text: &str) -> Result<(bool, Vec<Uuid>), Failure> {
    let (forbids, rest) = match text.strip_prefix('!') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let listed = rest.strip_prefix("in:");
    if text.contains(',') && listed.is_none() {
        return Err(Failure::bad_request(format!(
            "Multiple values for 'member_of' must be prefixed with the 'in:' or '!in:' keyword \
             using the valid microversion. Got: {text}"
        )));
    }
    let uuids = listed.unwrap_or(rest).split(',').map(|uuid| {
        lenient_uuid(uuid).ok_or_else(|| {
            Failure::bad_request(format!(
                "{INVALID} Expected 'member_of' parameter to contain valid UUID(s). Got: {uuid}"
            ))
        })
    });
    Ok((forbids, uuids.collect::<Result<_, _>>()?))
}

/// The value of `in_tree`.
pub fn in_tree(text: &str) -> Result<Uuid, Failure> {
    lenient_uuid(text.trim()).ok_or_else(|| {
        Failure::bad_request(format!(
            "{INVALID} Expected 'in_tree' parameter to be a format of uuid. Got: {text}"
        ))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    const UUID: &str = "2290d4af-9e6e-400b-9d65-1ee01376f71a";

    fn text<T: std::fmt::Debug>(result: Result<T, Failure>) -> String {
        result.unwrap_err().detail().to_owned()
    }

    #[test]
    fn amounts() {
        let found = resources("VCPU:1,DISK_GB:5,VCPU: 2").unwrap();
        assert_eq!(found, [("VCPU".to_owned(), 2), ("DISK_GB".to_owned(), 5)]);
        for (value, fault) in [
            ("", "Got: empty string."),
            ("VCPU", "Got: VCPU."),
            ("VCPU:1:2", "Got: VCPU:1:2."),
            ("VCPU:fred", "positive integer amount. Got: fred."),
            ("VCPU:-2", "requires amount >= 1. Got: -2."),
            ("VCPU:1,", "Got: ."),
        ] {
            assert!(text(resources(value)).ends_with(fault), "{value}");
        }
    }

    #[test]
    fn alternatives_and_what_is_forbidden() {
        let query = Query::parse("required=A,!!B&required=in:D,C&required1=E").unwrap();
        let newest = traits(&query, "", Version::MAX).unwrap();
        assert_eq!(newest.required, [vec!["A".to_owned()], vec!["C".to_owned(), "D".to_owned()]]);
        assert_eq!(newest.forbidden, ["B"]);
        assert_eq!(traits(&query, "1", Version::MIN).unwrap().required, [["E"]]);
        assert!(text(traits(&query, "", Version::MIN)).contains("since microversion 1.39"));
        let forbids = Query::parse("required=!A").unwrap();
        assert!(text(traits(&forbids, "", Version::MIN)).ends_with("Got: !A"));
        let empty = Query::parse("required=in:A,!B&required=").unwrap();
        assert!(text(traits(&empty, "", Version::MAX)).contains("does not support forbidden"));
    }

    #[test]
    fn memberships() {
        let query = Query::parse(&format!("member_of=in:{UUID},{UUID}&member_of=!{UUID}")).unwrap();
        let found = membership(&query, "", Version::MAX).unwrap();
        assert_eq!((found.member_of[0].len(), found.forbidden.len()), (2, 1));
        assert!(text(membership(&query, "", Version::MIN)).starts_with("Multiple member_of"));
        let one = |value: &str| {
            let query = Query::parse(&format!("member_of={value}")).unwrap();
            membership(&query, "", Version::MIN)
        };
        assert!(text(one(&format!("!in:{UUID}"))).starts_with("Forbidden member_of"));
        assert!(text(one(&format!("{UUID},{UUID}"))).starts_with("Multiple values for"));
        assert!(text(one("in:nope")).ends_with("Got: nope"));
        assert!(text(in_tree("nope")).ends_with("Got: nope"));
    }
}
