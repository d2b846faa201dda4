//! Which domains come into question, and in which order.

use super::{Domains, Room};
use crate::amounts::{Amounts, Missing};
use crate::session::objects::DomainIx;

/// What a domain is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Room that is there, now or when those have left who are leaving.
    Allocate,
    /// Room that evictions would make.
    Evict,
}

/// What has to fit into a domain, and within which bounds.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The highest tier allowed.
    pub limit: i64,
    /// Where a part of it has its place already.
    pub placed: Option<DomainIx>,
    /// What it needs in all, if that is known.
    pub need: Option<&'a Amounts>,
}

impl Domains {
    /// Domains below a root, itself included, that come into question: one list
    /// per tier, the narrow ones first; in each, by name. Sums are those of
    /// when the session was opened; they are not looked at where a part has its
    /// place already.
    #[must_use]
    pub(in crate::session) fn gradients(
        &self,
        root: DomainIx,
        asked: Asked<'_>,
        purpose: Purpose,
    ) -> Vec<Vec<DomainIx>> {
        let Some(root) = self.search_root(root, asked) else { return Vec::new() };
        let mut found = Vec::new();
        let mut open = vec![root];
        while let Some(domain) = open.pop() {
            if self.get(domain).tier <= asked.limit && self.has_room(domain, asked, purpose) {
                found.push(domain);
            }
            open.extend(&self.get(domain).children);
        }
        found.sort_unstable();
        let mut lists: Vec<Vec<DomainIx>> = Vec::new();
        for domain in found {
            let tier = self.get(domain).tier;
            match lists.last_mut().filter(|list| self.get(list[0]).tier == tier) {
                Some(list) => list.push(domain),
                None => lists.push(vec![domain]),
            }
        }
        lists
    }

    /// The widest domain allowed around what has its place, as far as it is
    /// inside the root or around it.
    fn search_root(&self, root: DomainIx, asked: Asked<'_>) -> Option<DomainIx> {
        let Some(placed) = asked.placed else { return Some(root) };
        let widest = self.widest(placed, asked.limit)?;
        match self.common(root, widest) {
            common if common == widest => Some(root),
            common if common == root => Some(widest),
            _ => None,
        }
    }

    /// The widest domain around another that a limit allows.
    #[must_use]
    pub fn widest(&self, domain: DomainIx, limit: i64) -> Option<DomainIx> {
        self.up(domain).take_while(|at| self.get(*at).tier <= limit).last()
    }

    fn has_room(&self, domain: DomainIx, asked: Asked<'_>, purpose: Purpose) -> bool {
        let (Some(need), None) = (asked.need, asked.placed) else { return true };
        let Some(Room { allocatable, idle, future }) = self.rooms.get(domain.index()) else {
            return true;
        };
        let fits = |room: &Amounts| need.less_equal(room, Missing::Zero);
        match purpose {
            Purpose::Allocate => fits(idle) || fits(future),
            Purpose::Evict => fits(allocatable),
        }
    }
}
