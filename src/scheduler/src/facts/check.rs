//! Whether a fact can be kept: what is told comes from outside, too.

use super::{AggregateFact, Fact, GroupFact};
use crate::aggregates::check as check_aggregate;
use crate::fields::{FieldErrors, MAX_TEXT};
use crate::groups::is_policy;
use crate::hosts::check_name;

/// Every field that cannot be.
pub(super) fn check(fact: &Fact) -> Result<(), FieldErrors> {
    let mut errors = FieldErrors::default();
    match fact {
        Fact::Aggregate(it) => aggregate(&mut errors, it),
        Fact::Group(it) => group(&mut errors, it),
        _ => {}
    }
    errors.into_result(())
}

fn aggregate(errors: &mut FieldErrors, fact: &AggregateFact) {
    check_aggregate(errors, &fact.name, &fact.metadata);
    for (place, host) in fact.hosts.iter().enumerate() {
        check_name(errors, &format!("hosts[{place}]"), host);
    }
}

fn group(errors: &mut FieldErrors, fact: &GroupFact) {
    let texts = [("name", &fact.name), ("project_id", &fact.project), ("user_id", &fact.user)];
    for (field, text) in texts {
        errors.require_text(field, text, MAX_TEXT);
    }
    let expected = "affinity, anti-affinity, soft-affinity or soft-anti-affinity";
    errors.require(is_policy(&fact.policy), "policy", &fact.policy, expected);
}
