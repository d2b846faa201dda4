//! The trait by which Placement's clients know that a host's service takes no
//! new servers. It changes in the mutation that disables or enables the service.

use std::collections::BTreeSet;

use stowplan_model::Uuid;

use crate::draft::{Draft, Shape, traits_of};
use crate::error::SchedulerError;

const STATUS_DISABLED: &str = "COMPUTE_STATUS_DISABLED";

/// Adds the trait to those of a root provider, or takes it out.
pub(super) fn toggle(traits: &mut BTreeSet<String>, disabled: bool) {
    if disabled {
        traits.insert(STATUS_DISABLED.to_owned());
    } else {
        traits.remove(STATUS_DISABLED);
    }
}

/// Does so for the nodes of a host, for the service is the host's; one of them
/// may be left out.
pub(crate) fn toggle_nodes(
    draft: &mut Draft<'_>,
    host: &str,
    except: Option<Uuid>,
    disabled: bool,
) -> Result<(), SchedulerError> {
    let image = draft.image;
    for node in image.hosts.nodes_of(host).filter(|node| Some(node.row.uuid) != except) {
        let Some(at) = image.providers.find(node.row.uuid) else { continue };
        let mut traits = traits_of(image, at);
        toggle(&mut traits, disabled);
        draft.shape(Shape {
            uuid: node.row.uuid,
            name: node.row.node.clone(),
            parent: None,
            inventories: None,
            traits: Some(traits),
            aggregates: None,
        })?;
    }
    Ok(())
}
