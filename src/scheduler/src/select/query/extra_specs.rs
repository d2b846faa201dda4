//! What a flavor's extra specs ask of resource providers by name:
//! `resources[S]:CLASS`, `trait[S]:NAME`, `group_policy`.

use stowplan_model::flavor::ExtraSpecs;
use stowplan_model::names::{is_custom, standard_classes};
use stowplan_model::pytext;
use stowplan_placement::candidates::GroupPolicy;

use super::groups::Groups;
use crate::select::check::is_suffix;

/// Reads extra specs into groups. Gives the policy, if the flavor has one.
/// What cannot be read is passed over with a warning, as at the peer.
pub(super) fn read(
    specs: &ExtraSpecs,
    groups: &mut Groups,
    warnings: &mut Vec<String>,
) -> Option<GroupPolicy> {
    let mut policy = None;
    for (key, value) in specs.iter() {
        if key == "group_policy" {
            match value {
                "none" => policy = Some(GroupPolicy::None),
                "isolate" => policy = Some(GroupPolicy::Isolate),
                _ => warnings.push(format!(
                    "extra spec group_policy is \"{value}\": expected none or isolate; passed over"
                )),
            }
        } else if let Some((suffix, class)) = scoped(key, "resources") {
            let known = standard_classes().any(|name| name == class) || is_custom(class);
            match pytext::int(value).filter(|amount| known && *amount >= 0) {
                Some(amount) => groups.set(suffix, class, amount),
                None => warnings.push(format!(
                    "extra spec {key} is \"{value}\": expected a resource class and a whole \
                     number of at least 0; passed over"
                )),
            }
        } else if let Some((suffix, name)) = scoped(key, "trait") {
            match value {
                "required" => groups.require(suffix, name),
                "forbidden" => groups.forbid(suffix, name),
                _ => warnings.push(format!(
                    "extra spec {key} is \"{value}\": expected required or forbidden; passed over"
                )),
            }
        }
    }
    policy
}

/// Suffix and name of a key such as `resources_PORT1:VCPU`.
fn scoped<'a>(key: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    let (suffix, name) = key.strip_prefix(word)?.split_once(':')?;
    (suffix.is_empty() || is_suffix(suffix)).then_some((suffix, name))
}
