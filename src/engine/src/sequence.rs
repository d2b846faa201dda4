//! The servers of one request, placed one after the other, each on what those
//! before it have left.

use std::collections::BTreeSet;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stowplan_model::{Micros, Uuid};

use crate::consume::{Claimed, consume};
use crate::engine::{Ask, Engine};
use crate::explain::{Detail, Explanation};
use crate::fault::StageFault;
use crate::hint::{Guide, Hint};
use crate::offers::{Kept, Mappings, Offers, Survivors};
use crate::request::CheckedRequest;
use crate::rounds::{Order, Rounds};
use crate::table::{HostIx, HostTable, Undo};
use crate::view::HostView;

/// Whoever gives servers what they take of their hosts.
pub trait Supply {
    /// What a server takes of its host.
    type Claim;
    /// What an alternate would give.
    type Offer: Clone;
    /// Why the whole request fails.
    type Error: From<StageFault>;

    /// Claims a host for the server in turn; none when the host has nothing for
    /// it any more, and the next one is to be asked. `kept` is what filters left
    /// of the host's candidates, where they looked at them.
    ///
    /// # Errors
    /// Whatever fails the request.
    fn claim(
        &mut self,
        table: &HostTable,
        host: HostIx,
        instance: Uuid,
        kept: Option<&Kept>,
    ) -> Result<Option<Self::Claim>, Self::Error>;

    /// Whether a host would still have something for the server in turn, as far
    /// as that is known beforehand.
    fn has_room(&self, _host: HostIx) -> bool {
        true
    }

    /// The providers that a claim's candidate chose for request groups.
    fn mappings(claim: &Self::Claim) -> Mappings;

    /// What a host would give after all claims; none when it has nothing.
    ///
    /// # Errors
    /// Whatever fails the request.
    fn offer(
        &mut self,
        table: &HostTable,
        host: HostIx,
        kept: Option<&Kept>,
    ) -> Result<Option<Self::Offer>, Self::Error>;
}

/// The state between the servers of one request.
pub struct Sequence<'a> {
    engine: &'a Engine,
    now: Micros,
    offers: &'a Offers,
    hint: Option<&'a Hint>,
    /// Whether the order of all hosts matters beyond the one that is taken: for
    /// further servers, or for alternates.
    ranks_again: bool,
    /// The hosts left by the servers before, in the order they were ranked.
    order: Order,
    /// So many of them had nothing left for the last server.
    tried: usize,
    request: CheckedRequest,
    /// The hosts as the servers before left them, by their flavor's amounts.
    table: HostTable,
    undo: Undo,
    /// What filters left of the hosts when they were last ranked.
    left: Survivors,
    rng: ChaCha8Rng,
}

/// What a sequence begins with.
#[derive(Clone, Copy)]
pub struct Start<'a> {
    /// The hosts as they are.
    pub table: &'a HostTable,
    /// The present.
    pub now: Micros,
    /// Those to choose from, in the order in which equal weights keep them.
    pub hosts: &'a [HostIx],
    /// Their candidates, as far as filters look at them.
    pub offers: &'a Offers,
    /// Seed of every draw.
    pub seed: u64,
    /// How many servers there are.
    pub servers: usize,
    /// How many alternates each gets.
    pub alternates: usize,
    /// A hint where they should go.
    pub hint: Option<&'a Hint>,
}

/// What became of one server.
pub struct Turn<C> {
    /// Its host and what it takes there; none when no host was left.
    pub placed: Option<(HostIx, C)>,
    /// Hosts that were asked before and had nothing left, in their order.
    pub exhausted: Vec<HostIx>,
    /// What filters and weighers said.
    pub explanation: Explanation,
}

impl<'a> Sequence<'a> {
    /// Before the first server.
    #[must_use]
    pub fn new(engine: &'a Engine, request: CheckedRequest, start: Start<'a>) -> Self {
        Self {
            engine,
            now: start.now,
            offers: start.offers,
            hint: start.hint,
            ranks_again: start.servers > 1 || start.alternates > 0,
            order: Order::Given(start.hosts.to_vec()),
            tried: 0,
            request,
            table: start.table.clone(),
            undo: Undo::new(),
            left: Survivors::default(),
            rng: ChaCha8Rng::seed_from_u64(start.seed),
        }
    }

    /// The hosts as the servers so far leave them.
    #[must_use]
    pub const fn table(&self) -> &HostTable {
        &self.table
    }

    /// The request as the servers so far leave it: its group has their hosts.
    #[must_use]
    pub const fn request(&self) -> &CheckedRequest {
        &self.request
    }

    /// Places the next server: the best host that still has something for it.
    ///
    /// # Errors
    /// A filter or weigher that cannot judge, or what `supply` says.
    pub fn place<S: Supply>(
        &mut self,
        index: usize,
        instance: Uuid,
        detail: Detail,
        supply: &mut S,
    ) -> Result<Turn<S::Claim>, S::Error> {
        self.request.turn_to(instance);
        let mut explanation = self.rank(index, detail, supply)?;
        let mut exhausted = Vec::new();
        let mut placed = None;
        while let Some(host) = self.order.after(exhausted.len()) {
            match supply.claim(&self.table, host, instance, self.left.kept(host))? {
                Some(claim) => {
                    placed = Some((host, claim));
                    break;
                }
                None => exhausted.push(host),
            }
        }
        if let Some((host, claim)) = &placed {
            let mappings = S::mappings(claim);
            let claimed = Claimed::of(&mappings, self.left.kept(*host));
            let (table, undo) = (&mut self.table, &mut self.undo);
            let findings =
                consume(table, undo, &mut self.request, *host, self.engine.config(), claimed);
            explanation.findings.extend(findings.into_iter().map(Into::into));
        }
        self.tried = exhausted.len();
        Ok(Turn { placed, exhausted, explanation })
    }

    /// Names other hosts for each placed server, at most `wanted`: in the same
    /// cell, none that was chosen, and with something left after all servers.
    /// With several servers the hosts are ranked once more, as the last of them
    /// left them. The same host may be named for several servers.
    ///
    /// # Errors
    /// A filter or weigher that cannot judge, or what `supply` says.
    pub fn alternates<S: Supply>(
        mut self,
        placed: &[HostIx],
        wanted: usize,
        supply: &mut S,
    ) -> Result<Vec<Vec<S::Offer>>, S::Error> {
        if wanted == 0 {
            return Ok(vec![Vec::new(); placed.len()]);
        }
        if placed.len() > 1 {
            self.rank(placed.len(), Detail::NONE, supply)?;
        }
        let taken: BTreeSet<HostIx> = placed.iter().copied().collect();
        // What was asked of the hosts so far, in their order.
        let mut offers: Vec<(HostIx, Option<S::Offer>)> = Vec::new();
        let mut of_all = Vec::with_capacity(placed.len());
        for server in placed {
            let mut alternates = Vec::new();
            for tried in 0.. {
                if alternates.len() == wanted {
                    break;
                }
                if tried == offers.len() {
                    let Some(host) = self.order.after(tried) else { break };
                    offers.push((host, None));
                }
                let (host, offer) = &mut offers[tried];
                if taken.contains(host) || self.cell(*host) != self.cell(*server) {
                    continue;
                }
                if offer.is_none() {
                    *offer = supply.offer(&self.table, *host, self.left.kept(*host))?;
                }
                alternates.extend(offer.clone());
            }
            of_all.push(alternates);
        }
        Ok(of_all)
    }

    fn cell(&self, host: HostIx) -> Option<Uuid> {
        self.table.facts(host).cell_uuid
    }

    /// Filters, weighs and orders the hosts for the server in turn.
    fn rank<S: Supply>(
        &mut self,
        index: usize,
        detail: Detail,
        supply: &S,
    ) -> Result<Explanation, StageFault> {
        let hosts = match self.order_again()? {
            Order::Kept(rounds) => {
                let explanation =
                    rounds.explain(self.engine, &self.ask(index, rounds.hosts()), detail);
                self.order = Order::Kept(rounds);
                return Ok(explanation);
            }
            order => order.into_hosts(),
        };
        let ask = self.ask(index, &hosts);
        let has_room = |host| supply.has_room(host);
        let guide = self.hint.map(|hint| Guide {
            others: self.ranks_again,
            has_room: Some(&has_room),
            ..Guide::of(hint)
        });
        let mut evaluation = self.engine.evaluate_hinted(&ask, guide)?;
        let mut explanation = self.engine.explain(&ask, &evaluation, detail);
        let chosen = self.engine.choose(&evaluation, &mut self.rng);
        explanation.draw = (!chosen.is_empty()).then_some(chosen.draw);
        self.left = std::mem::take(&mut evaluation.filters.left);
        let keeps = self.ranks_again
            && self.hint.is_none()
            && Rounds::suit(self.engine, &self.request, self.offers);
        self.order = if keeps {
            Order::Kept(Box::new(Rounds::new(&self.table, evaluation)))
        } else {
            Order::Chosen(chosen)
        };
        Ok(explanation)
    }

    /// The order that the last server left, turned to the next one where it is
    /// kept and can be.
    fn order_again(&mut self) -> Result<Order, StageFault> {
        let mut order = std::mem::replace(&mut self.order, Order::Given(Vec::new()));
        if let Order::Kept(rounds) = &mut order {
            let (view, left) = (&self.table, &mut self.left);
            if !rounds.turn(self.engine, view, self.offers, left, self.tried)? {
                return Ok(Order::Given(order.into_hosts()));
            }
        }
        Ok(order)
    }

    fn ask<'b>(&'b self, index: usize, hosts: &'b [HostIx]) -> Ask<'b> {
        Ask {
            view: &self.table,
            request: &self.request,
            now: self.now,
            index,
            hosts,
            offers: self.offers,
        }
    }
}
