//! What changes hosts: every step is a sum, and can be taken back.

use super::source::Book;
use super::{Ask, HostState, Kind, Pick, Picks, Room, World, view};
use crate::amounts::Amounts;
use stowplan_engine::{Figure, HostIx, HostView};

impl World {
    /// Takes a request from what is left on a host; none when it does not fit.
    pub fn take(&mut self, host: HostIx, ask: Ask<'_>) -> Option<Picks> {
        if !ask.amounts.fits(|dim| self.columns.idle(dim, host)) {
            return None;
        }
        let picks = self.sources_of(host).pick(ask, Room::Now)?;
        self.hold(host, ask.amounts, &picks, 1);
        Some(picks)
    }

    /// Gives back what [`World::take`] took.
    pub fn give_back(&mut self, host: HostIx, request: &Amounts, picks: &[Pick]) {
        self.hold(host, request, picks, -1);
    }

    /// Promises a request what will be left on a host, and tells of which of
    /// its devices; of none where they will not do.
    pub fn promise(&mut self, host: HostIx, ask: Ask<'_>) -> Picks {
        let picks = match self.has_devices(host) {
            true => self.sources_of(host).pick(ask, Room::Later).unwrap_or_default(),
            false => Picks::new(),
        };
        self.plan(host, ask.amounts, &picks, 1);
        picks
    }

    /// Takes back what [`World::promise`] promised.
    pub fn withdraw(&mut self, host: HostIx, request: &Amounts, picks: &[Pick]) {
        self.plan(host, request, picks, -1);
    }

    fn plan(&mut self, host: HostIx, request: &Amounts, picks: &[Pick], sign: i64) {
        self.columns.add(Kind::Pipelined, host, request, sign);
        self.enter(host, Book::Promised, picks, sign);
        self.touched.push(host);
    }

    /// Notes that what a task holds, counted as used already, is being given
    /// back. `picks` are the devices among it.
    pub fn release(&mut self, host: HostIx, held: &Amounts, picks: &[Pick]) {
        self.columns.add(Kind::Releasing, host, held, 1);
        self.enter(host, Book::Releasing, picks, 1);
        self.releasing += 1;
        self.touched.push(host);
    }

    /// Takes what a task holds away from it, or lets it keep it after all
    /// (`sign` -1): it is being given back.
    pub fn evict(&mut self, host: HostIx, held: &Amounts, picks: &[Pick], sign: i64) {
        self.columns.add(Kind::Releasing, host, held, sign);
        self.enter(host, Book::Releasing, picks, sign);
        self.columns.add(Kind::Evicted, host, held, sign);
        self.releasing = self.releasing.saturating_add_signed(sign as isize);
        self.touched.push(host);
    }

    /// Counts what a task holds that was there before this session, even where
    /// that is more than the host has.
    pub fn occupy(&mut self, host: HostIx, held: &Amounts) {
        self.columns.add(Kind::Used, host, held, 1);
        self.touched.push(host);
    }

    /// Counts the padding of a task that stays on a host, or that no longer
    /// does (`sign` -1).
    pub fn pad(&mut self, host: HostIx, padding: &Amounts, sign: i64) {
        self.columns.add(Kind::Padding, host, padding, sign);
        self.touched.push(host);
    }

    /// Puts in what a host has, as read from where the world comes from. What
    /// was taken before has to be held again.
    pub fn load(&mut self, host: HostIx, state: HostState) {
        for (dim, _) in self.dims.iter() {
            let sources = state.sources.of(dim);
            // What one source holds above its capacity takes nothing from the
            // others.
            let used = match sources {
                [one] => one.used,
                many => many.iter().map(|source| source.used.min(source.capacity)).sum(),
            };
            let capacity = sources.iter().map(|source| source.capacity).sum();
            self.columns.set(Kind::Allocatable, dim, host, capacity);
            self.columns.set(Kind::Used, dim, host, used);
        }
        for figure in Figure::ALL {
            self.table.set_figure(host, figure, state.figures.get(figure));
        }
        if state.sources.are_plain() {
            self.plain.insert(host);
        } else {
            self.plain.remove(host);
        }
        if let Some(sources) = self.sources.get_mut(host.index()) {
            let before = std::mem::replace(sources, state.sources);
            sources.keep_plans(&before);
        }
        self.touched.push(host);
    }

    /// Holds what was taken once more, after [`World::load`].
    pub fn hold_again(&mut self, host: HostIx, request: &Amounts, picks: &[Pick]) {
        self.hold(host, request, picks, 1);
    }

    fn hold(&mut self, host: HostIx, request: &Amounts, picks: &[Pick], sign: i64) {
        self.columns.add(Kind::Used, host, request, sign);
        self.enter(host, Book::Used, picks, sign);
        for (figure, change) in view::figures(&self.dims, request) {
            let value = self.table.figure(figure, host);
            self.table.set_figure(host, figure, value + sign * change);
        }
        self.touched.push(host);
    }

    fn enter(&mut self, host: HostIx, book: Book, picks: &[Pick], sign: i64) {
        if let Some(sources) = self.sources.get_mut(host.index()) {
            sources.enter(book, picks, sign);
        }
    }
}
