//! A server's cells on different cells of one host.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use stowplan_model::request::NetworkMetadata;

use super::cell::{Ratios, fit};
use super::network::reachable;
use super::{CellMisfit, CpuPolicy, HostCell, NumaNeeds};
use crate::offers::Mappings;
use crate::pci::{self, Near, PciNeeds, Shortage};
use crate::table::{HostIx, HostNuma, PciPools, Ratio};
use crate::view::HostView;

/// Pairs of cells tried on one host at most, for all its candidates together.
/// Requests of a few cells need a few dozens; many cells that fit in each place
/// but not together would need more than anybody waits for.
const MOST_TRIES: usize = 100_000;

/// What a server asks of hosts beside its cells.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    /// The cells.
    pub needs: &'a NumaNeeds,
    /// PCI devices, to be near them.
    pub pci: &'a PciNeeds,
    /// Networks, to be reached from them; null when they do not matter.
    pub network: Option<&'a NetworkMetadata>,
    /// Cells are filled one after the other rather than evenly.
    pub pack: bool,
}

/// A host as its cells and devices are.
#[derive(Clone, Copy)]
pub struct HostSide<'a> {
    numa: &'a HostNuma,
    pools: Option<&'a PciPools>,
    ratios: Option<Ratios>,
}

/// Where a server's cells go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fit {
    /// For each, the place of the host's cell.
    pub cells: Vec<usize>,
    /// For each, the size of its pages, KiB; 0 for the smallest there are.
    pub pages: Vec<i64>,
}

/// Why the cells do not fit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "misfit", rename_all = "snake_case")]
pub enum Misfit {
    /// The host has fewer cells.
    TooFew {
        /// Cells asked for.
        wanted: usize,
        /// Cells there are.
        has: usize,
    },
    /// One cell fits nowhere.
    Cell {
        /// Number of the server's cell.
        cell: i64,
        /// Number of the host's cell that would come first.
        on: i64,
        /// What that runs short of.
        why: CellMisfit,
    },
    /// Each cell fits somewhere, but not all on different cells with PCI
    /// devices and networks near them.
    Together {
        /// The PCI request that was not met in the last place tried.
        pci: Option<Shortage>,
    },
    /// The search was given up.
    GivenUp {
        /// Pairs of cells tried.
        tries: usize,
    },
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew { wanted, has } => {
                write!(f, "it has {has} NUMA cells, the server asks for {wanted}")
            }
            Self::Cell { cell, on, why } => {
                write!(f, "NUMA cell {cell} of the server fits nowhere: on cell {on}, {why}")
            }
            Self::Together { pci: None } => {
                f.write_str("the server's NUMA cells do not fit onto different cells together")
            }
            Self::Together { pci: Some(short) } => {
                write!(f, "the server's NUMA cells do not fit with its devices: {short}")
            }
            Self::GivenUp { tries } => write!(
                f,
                "no place for the server's NUMA cells was found in {tries} tries, the most that \
                 are made"
            ),
        }
    }
}

impl<'a> HostSide<'a> {
    /// The cells of a host; `None` when its topology is not known. `limited`:
    /// shared CPUs and memory stay within its allocation ratios.
    #[must_use]
    pub fn of(view: &'a dyn HostView, host: HostIx, limited: bool) -> Option<Self> {
        let ratios =
            Ratios { cpu: view.ratio(Ratio::Cpu, host), ram: view.ratio(Ratio::Ram, host) };
        Some(Self {
            numa: view.numa(host)?,
            pools: view.pci_pools(host),
            ratios: limited.then_some(ratios),
        })
    }

    /// Searches places for a server's cells, for one allocation candidate after
    /// the other.
    #[must_use]
    pub fn search(self, terms: Terms<'a>) -> Search<'a> {
        let cells: Vec<HostCell<'a>> = self.numa.cells.iter().map(HostCell::new).collect();
        let needs = &terms.needs.cells;
        Search {
            order: order(&cells, self.pools, &terms),
            known: vec![None; cells.len() * needs.len()],
            pages: needs.iter().map(|need| need.page).collect(),
            cells,
            side: self,
            terms,
            tries: 0,
        }
    }
}

/// The cells of a host in the order in which they are tried: by free memory,
/// then, counting more, by free CPUs, then by devices. With as many cells asked
/// for as there are, all are used and their order is left alone.
fn order(cells: &[HostCell<'_>], pools: Option<&PciPools>, terms: &Terms<'_>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..cells.len()).collect();
    if cells.len() <= terms.needs.cells.len() {
        return order;
    }
    let mut by = |descending: bool, key: &dyn Fn(&HostCell<'_>) -> i64| {
        order.sort_by(|a, b| {
            let (a, b) = (key(&cells[*a]), key(&cells[*b]));
            if descending { b.cmp(&a) } else { a.cmp(&b) }
        });
    };
    by(!terms.pack, &|cell| cell.free_memory());
    match terms.needs.cells.first().map(|need| need.policy) {
        None | Some(CpuPolicy::Shared) => by(terms.pack, &|cell| cell.cell.cpu_usage),
        Some(_) => by(!terms.pack, &|cell| cell.free as i64),
    }
    if let Some(pools) = pools {
        // Cells with devices are for those who ask for some, packed or not.
        by(!terms.pci.is_empty(), &|cell| {
            let here = pools.pools().iter().filter(|pool| pool.numa_node == Some(cell.cell.id));
            here.fold(0_i64, |sum, pool| sum.saturating_add(pool.count))
        });
    }
    order
}

/// A search on one host.
pub struct Search<'a> {
    side: HostSide<'a>,
    terms: Terms<'a>,
    cells: Vec<HostCell<'a>>,
    /// Places of cells in the order in which they are tried.
    order: Vec<usize>,
    /// Whether a cell of the server fits onto one of the host, as far as it was
    /// tried; the host's cells of one server's cell stand together.
    known: Vec<Option<bool>>,
    /// Page sizes in force: once one is chosen it stays.
    pages: Vec<i64>,
    tries: usize,
}

/// What came of a branch of the search.
enum Branch {
    Found,
    Nothing,
    GivenUp,
}

/// What the end of a branch remembers.
#[derive(Default)]
struct Ends {
    /// Sets of cells that lead nowhere, in whatever order they are chosen: devices
    /// and networks look at the set alone, and what comes after it is the same.
    dead: BTreeSet<Vec<usize>>,
    shortage: Option<Shortage>,
}

fn sorted(chosen: &[usize]) -> Vec<usize> {
    let mut set = chosen.to_vec();
    set.sort_unstable();
    set
}

impl Search<'_> {
    /// The first places, in the order in which cells are tried, that hold all
    /// cells with the candidate's devices and the networks near them.
    ///
    /// # Errors
    /// There are none, or none were found in time.
    pub fn fit(&mut self, mappings: &Mappings) -> Result<Fit, Misfit> {
        let (wanted, has) = (self.terms.needs.cells.len(), self.cells.len());
        if has < wanted || wanted == 0 {
            return Err(Misfit::TooFew { wanted, has });
        }
        let (mut chosen, mut ends) = (Vec::with_capacity(wanted), Ends::default());
        match self.descend(&mut chosen, mappings, &mut ends) {
            Branch::Found => Ok(Fit { cells: chosen, pages: self.pages.clone() }),
            Branch::GivenUp => Err(Misfit::GivenUp { tries: self.tries }),
            Branch::Nothing => {
                Err(self.nowhere().unwrap_or(Misfit::Together { pci: ends.shortage }))
            }
        }
    }

    fn descend(&mut self, chosen: &mut Vec<usize>, mappings: &Mappings, ends: &mut Ends) -> Branch {
        let need = chosen.len();
        if need == self.terms.needs.cells.len() {
            return if self.does(chosen, mappings, ends) { Branch::Found } else { Branch::Nothing };
        }
        if ends.dead.contains(&sorted(chosen)) {
            return Branch::Nothing;
        }
        for at in 0..self.order.len() {
            let place = self.order[at];
            if chosen.contains(&place) {
                continue;
            }
            if self.tries == MOST_TRIES {
                return Branch::GivenUp;
            }
            self.tries += 1;
            if !self.fits(place, need) {
                continue;
            }
            chosen.push(place);
            match self.descend(chosen, mappings, ends) {
                Branch::Nothing => chosen.pop(),
                other => return other,
            };
        }
        ends.dead.insert(sorted(chosen));
        Branch::Nothing
    }

    /// Whether one cell fits onto one of the host's, remembered.
    fn fits(&mut self, place: usize, need: usize) -> bool {
        let at = need * self.cells.len() + place;
        if let Some(known) = self.known[at] {
            return known;
        }
        let reserved = self.terms.needs.reserved(need);
        let cell = &self.terms.needs.cells[need];
        let host = &self.cells[place];
        let fits = fit(host, cell, &mut self.pages[need], reserved, self.side.ratios).is_ok();
        self.known[at] = Some(fits);
        fits
    }

    /// Whether devices and networks are near the chosen cells.
    fn does(&self, chosen: &[usize], mappings: &Mappings, ends: &mut Ends) -> bool {
        let set = sorted(chosen);
        if ends.dead.contains(&set) {
            return false;
        }
        let numbers: Vec<i64> = chosen.iter().map(|place| self.cells[*place].cell.id).collect();
        let host = self.side.numa.cells.as_slice();
        if let Some(pools) = self.side.pools.filter(|_| !self.terms.pci.is_empty()) {
            let near = Near { cells: &numbers, host };
            if let Err(short) = pci::supports(pools, self.terms.pci, mappings, Some(near)) {
                ends.shortage = Some(short);
                ends.dead.insert(set);
                return false;
            }
        }
        let reached = self.terms.network.is_none_or(|wanted| reachable(host, chosen, wanted));
        if !reached {
            ends.dead.insert(set);
        }
        reached
    }

    /// The first cell of the server that fits nowhere, and why not on the cell
    /// that would come first.
    fn nowhere(&self) -> Option<Misfit> {
        let needs = self.terms.needs.cells.iter().enumerate();
        needs.into_iter().find_map(|(place, need)| {
            let reserved = self.terms.needs.reserved(place);
            let mut first = None;
            for at in &self.order {
                let (host, mut page) = (&self.cells[*at], self.pages[place]);
                let why = fit(host, need, &mut page, reserved, self.side.ratios).err()?;
                first.get_or_insert(Misfit::Cell { cell: need.id, on: host.cell.id, why });
            }
            first
        })
    }
}
