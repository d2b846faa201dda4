//! Network affinity of NUMA cells.

use stowplan_model::host_devices::NumaCell;
use stowplan_model::request::NetworkMetadata;

/// Whether the networks of a server can be reached from the chosen cells of a
/// host: a network that hangs on some cell must hang on a chosen one. Networks
/// of which no cell says anything can be reached from everywhere.
pub(super) fn reachable(cells: &[NumaCell], chosen: &[usize], wanted: &NetworkMetadata) -> bool {
    let of = |place: usize| cells.get(place).and_then(|cell| cell.network_metadata.as_ref());
    let among = |is: &dyn Fn(&NetworkMetadata) -> bool| {
        chosen.iter().copied().any(|place| of(place).is_some_and(is))
    };
    let anywhere = |is: &dyn Fn(&NetworkMetadata) -> bool| {
        (0..cells.len()).any(|place| of(place).is_some_and(is))
    };
    let met = |is: &dyn Fn(&NetworkMetadata) -> bool| among(is) || !anywhere(is);
    wanted.physnets.iter().all(|network| met(&|there| there.physnets.contains(network)))
        && (!wanted.tunneled || met(&|there| there.tunneled))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn networks(physnets: &[&str], tunneled: bool) -> NetworkMetadata {
        NetworkMetadata { physnets: physnets.iter().map(|p| (*p).to_owned()).collect(), tunneled }
    }

    #[test]
    fn a_network_that_hangs_on_a_cell_needs_that_cell() {
        let cell = |network_metadata| NumaCell { network_metadata, ..NumaCell::default() };
        let cells =
            [cell(Some(networks(&["a"], false))), cell(Some(networks(&["b"], true))), cell(None)];
        let reach = |chosen: &[usize], wanted: NetworkMetadata| reachable(&cells, chosen, &wanted);
        assert!(reach(&[0], networks(&["a"], false)));
        assert!(!reach(&[1], networks(&["a"], false)));
        assert!(reach(&[0, 1], networks(&["a", "b"], true)));
        assert!(!reach(&[0], networks(&[], true)));
        assert!(reach(&[2], networks(&["elsewhere"], false)));
        assert!(!reach(&[2], networks(&["a"], false)));
    }
}
