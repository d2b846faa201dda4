//! The hosts that can meet a request, and what each of them would give.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};

use stowplan_engine::table::HostIx;
use stowplan_engine::{HostSet, HostTable, HostView, Kept, Offers};
use stowplan_ledger::Image;
use stowplan_ledger::image::{memo::RootHost, providers::At};
use stowplan_model::Uuid;
use stowplan_model::request::ScheduleRequest;
use stowplan_placement::candidates::{CandidateQuery, Finder, Search};

use super::answer::AllocationRequest;
use super::offered;
use super::query::Queries;
use crate::error::SchedulerError;

/// A host that can meet the request, as of one image.
#[derive(Clone, Copy, Debug)]
struct Viable {
    host: HostIx,
    root: At,
    /// Id of the root provider.
    id: i64,
    /// The query that it meets.
    query: usize,
}

/// The hosts that can meet the request.
pub(crate) struct Pool<'a> {
    searches: Vec<(&'a CandidateQuery, Search<'a>)>,
    viable: Vec<Viable>,
    /// The same, in the order in which equal weights keep them: that of the
    /// creation of their root providers.
    pub hosts: Vec<HostIx>,
    /// What each host offers, where filters look at it.
    offered: BTreeMap<HostIx, Vec<AllocationRequest>>,
    /// Hosts with more candidates than filters look at.
    cut: usize,
    /// The queries on the ledger as the servers so far leave it, as far as they
    /// were asked.
    later: RefCell<Vec<Finder>>,
    /// Hosts with nothing left there: servers only take.
    full: RefCell<HostSet>,
}

impl<'a> Pool<'a> {
    /// Searches the image. Hosts that a request is bound to are asked one by
    /// one, so that no limit cuts them off.
    ///
    /// # Errors
    /// A trait or resource class that does not exist.
    pub fn search(
        image: &'a Image,
        queries: &'a Queries,
        request: &ScheduleRequest,
    ) -> Result<Self, SchedulerError> {
        let table = image.hosts.table();
        let targets = targets(table, request);
        let mut searches = Vec::with_capacity(queries.queries.len());
        let mut viable: Vec<Viable> = Vec::new();
        let mut seen = HostSet::with_room(table.slots());
        let mut cells = Cells::new(image, request);
        let hosts = image.root_hosts();
        let host_of = |At(place): At| hosts.get(place as usize).copied().flatten();
        for (number, query) in queries.queries.iter().enumerate() {
            let mut search = Search::new(image, query)?;
            let mut found = |RootHost { host, id }: RootHost, root: At| {
                if !seen.contains(host) && cells.takes(|| table.facts(host).cell_uuid) {
                    seen.insert(host);
                    viable.push(Viable { host, root, id, query: number });
                }
            };
            match &targets {
                Some(targets) => {
                    for host in targets {
                        let root = image.providers.find(table.facts(*host).uuid);
                        if let Some(root) = root.filter(|root| search.is_viable(*root))
                            && let Some(host) = host_of(root)
                        {
                            found(host, root);
                        }
                    }
                }
                None => {
                    let mut left = query.limit.unwrap_or(usize::MAX);
                    while left > 0
                        && let Some(root) = search.next_viable()
                    {
                        if let Some(host) = host_of(root) {
                            found(host, root);
                            left -= 1;
                        }
                    }
                }
            }
            searches.push((query, search));
        }
        viable.sort_unstable_by_key(|v| (v.query, v.id));
        let hosts = viable.iter().map(|v| v.host).collect();
        viable.sort_unstable_by_key(|v| v.host);
        Ok(Self {
            searches,
            viable,
            hosts,
            offered: BTreeMap::new(),
            cut: 0,
            later: RefCell::default(),
            full: RefCell::new(HostSet::with_room(table.slots())),
        })
    }

    /// Makes the candidates of all hosts, for filters that look at them: those of
    /// PCI devices and NUMA cells.
    pub fn offers(&mut self, image: &Image) -> Offers {
        let mut offers = Offers::default();
        for viable in &self.viable {
            let Some((query, search)) = self.searches.get_mut(viable.query) else { continue };
            let (found, cut) = offered::sample(image, viable.host, viable.root, search);
            self.cut += usize::from(cut);
            let found: Vec<AllocationRequest> = found
                .iter()
                .map(|candidate| AllocationRequest::of(image, query, candidate))
                .collect();
            offers.list(viable.host, found.iter().map(AllocationRequest::groups).collect());
            self.offered.insert(viable.host, found);
        }
        offers
    }

    /// That filters have not looked at all candidates of some hosts, if so.
    pub fn cut(&self) -> Option<String> {
        (self.cut > 0).then(|| {
            format!(
                "{} hosts have more ways to choose their devices than the filters looked at: the \
                 first {}, and some that begin with each of the devices",
                self.cut,
                offered::FIRST
            )
        })
    }

    /// The candidates that a host offered and filters have left; none where no
    /// filter looked at them.
    pub fn offered<'s>(
        &'s self,
        host: HostIx,
        kept: Option<&'s Kept>,
    ) -> Option<impl Iterator<Item = &'s AllocationRequest>> {
        let (offered, kept) = (self.offered.get(&host)?, kept?);
        Some(kept.candidates.iter().filter_map(|number| offered.get(*number as usize)))
    }

    /// What a viable host gives, by the image that was searched.
    pub fn first(&mut self, image: &Image, host: HostIx) -> Option<AllocationRequest> {
        let at = self.viable.binary_search_by_key(&host, |v| v.host).ok()?;
        let viable = self.viable[at];
        let (query, search) = self.searches.get_mut(viable.query)?;
        let candidate = search.of_root(viable.root).next()?;
        Some(AllocationRequest::of(image, query, &candidate))
    }

    /// What a viable host gives by a later image, in which the servers before
    /// this one have taken theirs.
    ///
    /// # Errors
    /// A trait or resource class that does not exist.
    pub fn first_in(
        &self,
        later: &Image,
        host: HostIx,
    ) -> Result<Option<AllocationRequest>, SchedulerError> {
        let Ok(at) = self.viable.binary_search_by_key(&host, |v| v.host) else { return Ok(None) };
        if self.full.borrow().contains(host) {
            return Ok(None);
        }
        let viable = self.viable[at];
        let mut finders = self.later.borrow_mut();
        for (number, (query, _)) in self.searches.iter().enumerate() {
            if finders.len() == number {
                finders.push(Finder::new(later, query)?);
            }
            if number < viable.query {
                continue;
            }
            if let Some(candidate) = finders[number].first_of_root(later, viable.root) {
                return Ok(Some(AllocationRequest::of(later, query, &candidate)));
            }
        }
        self.full.borrow_mut().insert(host);
        Ok(None)
    }

    /// A server has taken something: the later image is another one now.
    pub fn later_changed(&mut self) {
        self.later.get_mut().clear();
    }
}

/// The hosts that a request is bound to; none when it is not.
pub(super) fn targets(table: &HostTable, request: &ScheduleRequest) -> Option<Vec<HostIx>> {
    let named = |name: &str| table.hosts_named(&name.to_lowercase()).to_vec();
    let destination = request.requested_destination.as_ref();
    let mut targets = if let Some(host) = destination.and_then(|d| d.host.as_ref()) {
        named(host)
    } else if let Some(hosts) = &request.force_hosts {
        hosts.iter().flat_map(|host| named(host)).collect()
    } else if let Some(nodes) = &request.force_nodes {
        let nodes: HashSet<&String> = nodes.iter().collect();
        table.live().iter().filter(|host| nodes.contains(&table.facts(*host).node)).collect()
    } else {
        return None;
    };
    targets.sort_unstable();
    targets.dedup();
    Some(targets)
}

/// The cells that a request may go to.
pub(super) struct Cells<'a> {
    image: &'a Image,
    /// The cell that it may not leave.
    bound: Option<Uuid>,
    /// Whether it may go to all.
    all: bool,
    /// What was said last, since most hosts are in the cell of the one before.
    last: Option<(Option<Uuid>, bool)>,
}

impl<'a> Cells<'a> {
    pub fn new(image: &'a Image, request: &ScheduleRequest) -> Self {
        let destination = request.requested_destination.as_ref();
        let bound = destination.filter(|d| !d.allow_cross_cell_move).and_then(|d| d.cell);
        let all = bound.is_none() && image.cells.iter().all(|row| !row.disabled);
        Self { image, bound, all, last: None }
    }

    /// Whether a cell takes part and the request may go there.
    pub fn takes(&mut self, cell: impl FnOnce() -> Option<Uuid>) -> bool {
        if self.all {
            return true;
        }
        let cell = cell();
        if let Some((asked, takes)) = self.last
            && asked == cell
        {
            return takes;
        }
        let cells = &self.image.cells;
        let open = cell.is_none_or(|cell| cells.get(cell).is_none_or(|row| !row.disabled));
        let takes = open && self.bound.is_none_or(|wanted| cell == Some(wanted));
        self.last = Some((cell, takes));
        takes
    }
}
