//! Where tasks may not go for the sake of other tasks.

use super::{Tally, anyone, domain, is_meant, residents, stays, wishes};
use crate::session::{HostVerdict, NodePredicate, Shape, Spread, State, TaskTerm, Wishes};
use crate::world::World;
use std::cell::RefCell;
use stowplan_engine::fault::Fault;
use stowplan_engine::{HostIx, HostSet, HostView};

/// Which kinds of wishes are looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kinds {
    pub(crate) affinity: bool,
    pub(crate) spread: bool,
}

/// Required affinity and anti-affinity between tasks, both ways, and hard
/// spreading over domains.
pub(crate) struct TaskCheck {
    shape: Shape,
    kinds: Kinds,
    counted: RefCell<Option<(usize, Counts)>>,
}

/// What was counted at one moment of the session.
#[derive(Default)]
struct Counts {
    /// Per term that wants tasks near: how many match all such terms, by domain.
    near: Vec<Tally>,
    /// Per term that wants them apart: how many match, by domain.
    apart: Vec<Tally>,
    /// Keys and domains that tasks there keep this one away from.
    kept_away: Vec<(String, String)>,
    /// Per hard spread: how many match, by domain that counts.
    spread: Vec<Tally>,
}

impl TaskCheck {
    /// For a shape; none when nobody wishes anything that could matter to it.
    pub(crate) fn new(state: &State, shape: &Shape, kinds: Kinds) -> Option<Self> {
        let own = wishes(shape)?;
        let asks = kinds.affinity && !(own.near.is_empty() && own.apart.is_empty());
        let spreads = kinds.spread && hard(own).next().is_some();
        let kept_away = kinds.affinity && anyone(state, |wishes| !wishes.apart.is_empty());
        (asks || spreads || kept_away).then(|| Self {
            shape: shape.clone(),
            kinds,
            counted: RefCell::new(None),
        })
    }

    /// What there is to know, counted anew when something has changed.
    fn with<T>(&self, state: &State, read: impl FnOnce(&Wishes, &Counts) -> T) -> Option<T> {
        let own = wishes(&self.shape)?;
        let mut counted = self.counted.borrow_mut();
        let now = state.world.changes();
        if counted.as_ref().is_none_or(|(then, _)| *then != now) {
            *counted = Some((now, self.count(state, own)));
        }
        counted.as_ref().map(|(_, counts)| read(own, counts))
    }

    fn count(&self, state: &State, own: &Wishes) -> Counts {
        let mut counts = Counts::default();
        if self.kinds.affinity {
            counts.near = own.near.iter().map(|term| tally_near(state, own, term)).collect();
            counts.apart = own.apart.iter().map(|term| tally_term(state, own, term)).collect();
            counts.kept_away = kept_away(state, own);
        }
        if self.kinds.spread {
            counts.spread =
                hard(own).map(|spread| tally_spread(state, &self.shape, own, spread)).collect();
        }
        counts
    }

    fn find(&self, state: &State, host: HostIx) -> (HostVerdict, &'static str) {
        use HostVerdict::{Passes, Unresolvable, Unschedulable};
        let judged = self.with(state, |own, counts| {
            if !is_near(state, own, counts, host) {
                return (Unresolvable, "have no task near that has to be");
            }
            let meets = own.apart.iter().zip(&counts.apart).any(|(term, tally)| {
                domain(state, host, &term.topology_key)
                    .is_some_and(|at| tally.get(at).is_some_and(|count| *count > 0))
            });
            if self.kinds.affinity && meets {
                return (Unschedulable, "have a task near that must not be");
            }
            let kept_away = counts
                .kept_away
                .iter()
                .any(|(key, value)| domain(state, host, key).is_some_and(|at| at == value));
            if kept_away {
                return (Unschedulable, "have a task that keeps this one away");
            }
            let hard: Vec<&Spread> = hard(own).collect();
            let skewed = hard.iter().zip(&counts.spread).any(|(spread, tally)| {
                domain(state, host, &spread.topology_key)
                    .is_some_and(|at| is_skewed(own, spread, tally, at))
            });
            if skewed {
                (Unschedulable, "have too many tasks of the kind near")
            } else {
                (Passes, "")
            }
        });
        judged.unwrap_or((Passes, ""))
    }
}

fn hard(wishes: &Wishes) -> impl Iterator<Item = &Spread> {
    wishes.spread.iter().filter(|spread| spread.hard)
}

/// Tasks that a term means, by domain.
fn tally_term(state: &State, own: &Wishes, term: &TaskTerm) -> Tally {
    tally(state, &term.topology_key, |task| {
        stays(state, task) && is_meant(state, task, &own.namespace, &term.selector)
    })
}

/// Tasks that match all terms that want tasks near, by the domain of one term.
fn tally_near(state: &State, own: &Wishes, term: &TaskTerm) -> Tally {
    tally(state, &term.topology_key, |task| {
        let matches = |term: &TaskTerm| is_meant(state, task, &own.namespace, &term.selector);
        stays(state, task) && own.near.iter().all(matches)
    })
}

fn tally(state: &State, key: &str, counts: impl Fn(crate::session::TaskIx) -> bool) -> Tally {
    let mut tally = Tally::new();
    for (host, task) in residents(state) {
        if counts(task)
            && let Some(at) = domain(state, host, key)
        {
            *tally.entry(at.clone()).or_default() += 1;
        }
    }
    tally
}

fn kept_away(state: &State, own: &Wishes) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (host, task) in residents(state).filter(|(_, task)| stays(state, *task)) {
        let Some(other) = wishes(state.shape_of(task)) else { continue };
        if other.namespace != own.namespace {
            continue;
        }
        for term in other.apart.iter().filter(|term| term.selector.matches(&own.labels)) {
            if let Some(at) = domain(state, host, &term.topology_key) {
                let pair = (term.topology_key.clone(), at.clone());
                if !all.contains(&pair) {
                    all.push(pair);
                }
            }
        }
    }
    all
}

/// Tasks that a spread counts, by the domains of hosts that the shape may go
/// to; the empty ones too.
fn tally_spread(state: &State, shape: &Shape, own: &Wishes, spread: &Spread) -> Tally {
    let mut tally = Tally::new();
    for &host in state.world.order() {
        let labels = &state.world.facts(host).labels;
        let has_all = hard(own).all(|spread| labels.contains_key(&spread.topology_key));
        let Some(at) = labels.get(&spread.topology_key) else { continue };
        if has_all && shape.selects(labels) {
            let meant = |task: &&crate::session::TaskIx| {
                stays(state, **task) && is_meant(state, **task, &own.namespace, &spread.selector)
            };
            let count = state.residents(host).iter().filter(meant).count() as i64;
            *tally.entry(at.clone()).or_default() += count;
        }
    }
    tally
}

fn is_skewed(own: &Wishes, spread: &Spread, tally: &Tally, at: &String) -> bool {
    let here = tally.get(at).copied().unwrap_or_default();
    let least = tally.values().min().copied().unwrap_or_default();
    let itself = i64::from(spread.selector.matches(&own.labels));
    here + itself - least > spread.max_skew
}

/// Whether every term finds its task near; where no task anywhere matches, the
/// first of its kind may go wherever the keys are.
fn is_near(state: &State, own: &Wishes, counts: &Counts, host: HostIx) -> bool {
    if counts.near.is_empty() {
        return true;
    }
    let mut finds = true;
    for (term, tally) in own.near.iter().zip(&counts.near) {
        let Some(at) = domain(state, host, &term.topology_key) else { return false };
        finds &= tally.get(at).is_some_and(|count| *count > 0);
    }
    let nobody = counts.near.iter().all(Tally::is_empty);
    finds || (nobody && own.near.iter().all(|term| term.selector.matches(&own.labels)))
}

impl NodePredicate for TaskCheck {
    fn narrow(&self, world: &World, hosts: &mut HostSet) -> Result<(), Fault> {
        let Some(own) = wishes(&self.shape).filter(|_| self.kinds.spread) else { return Ok(()) };
        let has = |host: HostIx, spread: &Spread| {
            world.facts(host).labels.contains_key(&spread.topology_key)
        };
        hosts.retain(|host| hard(own).all(|spread| has(host, spread)));
        Ok(())
    }

    fn judge(&self, state: &State, host: HostIx) -> Result<HostVerdict, Fault> {
        Ok(self.find(state, host).0)
    }

    fn is_local(&self) -> bool {
        false
    }

    fn objection(&self, state: &State, host: HostIx) -> Result<Option<String>, Fault> {
        let (verdict, why) = self.find(state, host);
        Ok((verdict != HostVerdict::Passes).then(|| why.to_owned()))
    }
}
