//! Which groups of hosts a queue may use.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Groups of hosts that a queue must, would rather, must not and would rather
/// not use. A host is in the group that its label `volcano.sh/nodegroup-name`
/// names. Only plugin nodegroup looks at them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NodeGroups {
    /// Groups that may be used, and that score best.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub node_group_required: Vec<String>,
    /// Groups that may be used, the best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub node_group_preferred: Vec<String>,
    /// Groups that may not be used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub node_group_anti_required: Vec<String>,
    /// Groups that may be used when nothing else is left.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub node_group_anti_preferred: Vec<String>,
}

impl NodeGroups {
    /// The four lists with their names.
    #[must_use]
    pub fn lists(&self) -> [(&'static str, &[String]); 4] {
        [
            ("node_group_required", &self.node_group_required),
            ("node_group_preferred", &self.node_group_preferred),
            ("node_group_anti_required", &self.node_group_anti_required),
            ("node_group_anti_preferred", &self.node_group_anti_preferred),
        ]
    }

    /// Whether no group is named: as good as no affinity.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lists().iter().all(|(_, groups)| groups.is_empty())
    }
}
