//! Server groups made and deleted.

use serde::{Deserialize, Serialize};
use stowplan_ledger::rows::ServerGroupRow;
use stowplan_ledger::{Change, Image, Record};
use stowplan_model::request::GroupRules;
use stowplan_model::{Micros, Uuid};

use super::find;
use crate::error::SchedulerError;
use crate::fields::{FieldErrors, MAX_TEXT};

/// What a server group does to its members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// All on one host.
    Affinity,
    /// At most `max_server_per_host` on any host.
    #[default]
    AntiAffinity,
    /// On hosts with members, if there is room.
    SoftAffinity,
    /// On hosts with few members, if there is room.
    SoftAntiAffinity,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::Affinity, Self::AntiAffinity, Self::SoftAffinity, Self::SoftAntiAffinity];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Affinity => "affinity",
            Self::AntiAffinity => "anti-affinity",
            Self::SoftAffinity => "soft-affinity",
            Self::SoftAntiAffinity => "soft-anti-affinity",
        }
    }
}

/// Whether a text is the name of a policy.
pub(crate) fn is_policy(text: &str) -> bool {
    use Policy as P;
    let all = [P::Affinity, P::AntiAffinity, P::SoftAffinity, P::SoftAntiAffinity];
    all.iter().any(|policy| policy.as_str() == text)
}

/// A server group that is to be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct NewGroup {
    /// Its name; several groups may share one.
    pub name: String,
    /// Its policy.
    pub policy: Option<Policy>,
    /// Rules, for anti-affinity only.
    pub rules: Option<GroupRules>,
    /// Project that owns it; null means the caller's.
    pub project_id: Option<String>,
    /// User who made it; null means the caller.
    pub user_id: Option<String>,
}

/// Reads the body of a new group.
///
/// # Errors
/// Every field that is unknown or whose value is not of its kind.
pub fn read_new_group(body: &[u8]) -> Result<NewGroup, SchedulerError> {
    Ok(crate::body::read(body)?)
}

/// Makes a server group with this uuid.
///
/// # Errors
/// Fields that cannot be.
pub fn create_group(
    image: &Image,
    uuid: Uuid,
    new: &NewGroup,
    now: Micros,
) -> Result<(Change, ServerGroupRow), SchedulerError> {
    let mut errors = FieldErrors::default();
    errors.require_name("name", &new.name, MAX_TEXT);
    for (field, name) in [("project_id", &new.project_id), ("user_id", &new.user_id)] {
        errors.require_text(field, name.as_deref().unwrap_or_default(), MAX_TEXT);
    }
    errors.require(
        new.policy.is_some(),
        "policy",
        &new.policy,
        "affinity, anti-affinity, soft-affinity or soft-anti-affinity",
    );
    let policy = new.policy.unwrap_or_default();
    let limit = new.rules.and_then(|rules| rules.max_server_per_host);
    errors.require(
        limit.is_none_or(|limit| limit >= 1),
        "rules.max_server_per_host",
        &limit,
        "a whole number of at least 1",
    );
    errors.require(
        limit.is_none() || policy == Policy::AntiAffinity,
        "rules.max_server_per_host",
        &limit,
        format!("nothing, for policy {} has no rules", policy.as_str()),
    );
    errors.into_result(())?;
    let row = ServerGroupRow {
        id: image.server_groups.next_id(),
        uuid,
        name: new.name.clone(),
        policy: policy.as_str().to_owned(),
        max_server_per_host: limit,
        project: new.project_id.clone().unwrap_or_default(),
        user: new.user_id.clone().unwrap_or_default(),
        members: Vec::new(),
        created: now,
        updated: now,
    };
    let mut change = Change::new("server_group.create");
    change.push(Record::ServerGroup(row.clone()));
    Ok((change, row))
}

/// Deletes a server group. Its servers stay where they are.
///
/// # Errors
/// When there is no such group.
pub fn delete_group(image: &Image, key: &str) -> Result<(Change, ()), SchedulerError> {
    let row = find(image, key)?;
    let mut change = Change::new("server_group.delete");
    change.push(Record::ServerGroupGone(row.uuid));
    Ok((change, ()))
}
