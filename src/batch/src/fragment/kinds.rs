//! A session's hosts as kinds with rooms, its shapes as what they need there.

use super::Options;
use super::experience::essence;
use crate::amounts::{DimIx, Dims, Quantity};
use crate::session::Shape;
use crate::world::{Kind as Amount, World};
use foldhash::{HashMap, HashMapExt};
use stowplan_engine::fragment::{Kind, Need, Room, SIDES};
use stowplan_engine::table::StateFlags;
use stowplan_engine::{Figure, HostIx, HostView};
use stowplan_model::host::TaintEffect;

/// What a whole device is worth.
const DEVICE: f64 = 1000.0;

/// Kinds of hosts told apart at most; others count as the first of their form.
const MOST_KINDS: usize = 32;

/// Ways of choosing hosts told apart at most, those of the first shapes.
const MOST_CHOICES: usize = 64;

/// What a host gives its tasks: devices of a dimension, or its cpu.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Form {
    device: Option<DimIx>,
    /// What an untouched device has; for cpu a power of two that holds it.
    size: i64,
}

/// Hosts in kinds: those of one form that the same shapes may go to.
#[derive(Clone, Debug, Default)]
pub(super) struct Grouping {
    /// The dimensions that come as devices.
    devices: Vec<DimIx>,
    /// Shapes that tell hosts apart, without what they ask for.
    choices: Vec<Shape>,
    /// Form and admitted choices of each kind.
    forms: Vec<(Form, u64)>,
    /// The kinds, for the engine.
    pub kinds: Vec<Kind>,
}

impl Options {
    fn devices(&self, dims: &Dims) -> Vec<DimIx> {
        let is_device = |name: &str| match &self.resources {
            Some(listed) => listed.iter().any(|one| one == name),
            // As Kubernetes names what nodes offer beside cpu, memory and storage.
            None => name.contains('/'),
        };
        let all = dims.iter().filter(|(_, dim)| is_device(&dim.name)).map(|(at, _)| at);
        all.filter(|at| !matches!(*at, DimIx::CPU | DimIx::MEMORY | DimIx::PODS)).collect()
    }
}

/// How many cores a quantum of cpu is.
fn cores(quantum: Quantity) -> f64 {
    const MANY: u32 = 1_000_000;
    f64::from(MANY) / Quantity::units(MANY).whole_quanta(quantum).max(1) as f64
}

/// A shape without what it asks for.
fn choice(shape: &Shape) -> Shape {
    Shape { request: Default::default(), ..shape.clone() }
}

fn admits(world: &World, devices: &[DimIx], host: HostIx, choice: &Shape) -> bool {
    let facts = world.facts(host);
    let has_model = |dim: &DimIx| {
        let sources = world.devices(host, *dim);
        sources.is_empty() || sources.iter().any(|one| choice.traits.allow(*dim, &one.traits))
    };
    let keeps_off = |effect| effect != TaintEffect::PreferNoSchedule;
    choice.selects(&facts.labels)
        && devices.iter().all(has_model)
        && facts.taints.iter().all(|t| !keeps_off(t.effect) || choice.tolerates(t))
}

impl Grouping {
    /// The hosts of a session, as far as shapes tell them apart.
    pub fn new<'a>(
        world: &World,
        options: &Options,
        shapes: impl Iterator<Item = &'a Shape>,
    ) -> Self {
        let mut grouping = Self { devices: options.devices(world.dims()), ..Self::default() };
        for choice in shapes.map(choice) {
            let full = grouping.choices.len() == MOST_CHOICES;
            if !full && !grouping.choices.contains(&choice) {
                grouping.choices.push(choice);
            }
        }
        let mut largest: HashMap<DimIx, i64> = HashMap::new();
        for &host in world.order() {
            let (form, bits) = (grouping.form(world, host), grouping.admitted(world, host));
            if form.size <= 0 {
                continue;
            }
            if let Some(device) = form.device {
                let most = largest.entry(device).or_default();
                *most = form.size.max(*most);
            }
            let kind = match grouping.kind(form, bits) {
                Some(kind) => kind,
                None => {
                    let market = grouping.market(form);
                    let kind =
                        Kind { size: form.size, worth: 0.0, market, devices: 0, sides: [0; SIDES] };
                    grouping.forms.push((form, bits));
                    grouping.kinds.push(kind);
                    grouping.kinds.len() - 1
                }
            };
            let kind = &mut grouping.kinds[kind];
            let amount = |dim| world.amount(Amount::Allocatable, dim, host);
            match form.device {
                Some(device) => {
                    kind.devices += amount(device) / form.size;
                    kind.sides[0] += amount(DimIx::CPU);
                }
                None => kind.devices += 1,
            }
            kind.sides[1] += amount(DimIx::MEMORY);
        }
        let core = options.core * cores(world.dims().quantum(DimIx::CPU));
        for ((form, _), kind) in grouping.forms.iter().zip(&mut grouping.kinds) {
            kind.worth = match form.device.and_then(|device| largest.get(&device)) {
                Some(largest) => DEVICE * form.size as f64 / *largest as f64,
                None => core * form.size as f64,
            };
        }
        grouping
    }

    fn form(&self, world: &World, host: HostIx) -> Form {
        for &device in &self.devices {
            let sizes = world.devices(host, device).iter().map(|source| source.capacity);
            let size = sizes.max().unwrap_or_default();
            if size > 0 {
                return Form { device: Some(device), size };
            }
        }
        let cpu = world.amount(Amount::Allocatable, DimIx::CPU, host).max(0);
        let size = u64::try_from(cpu).ok().and_then(u64::checked_next_power_of_two);
        let size = size.and_then(|size| i64::try_from(size).ok()).unwrap_or(cpu);
        Form { device: None, size: if cpu > 0 { size } else { 0 } }
    }

    /// The choices that may go to a host, as bits.
    fn admitted(&self, world: &World, host: HostIx) -> u64 {
        if world.figure(Figure::StateFlags, host) & StateFlags::UNSCHEDULABLE != 0 {
            return 0;
        }
        let bits = self.choices.iter().enumerate();
        let bits = bits.filter(|(_, choice)| admits(world, &self.devices, host, choice));
        bits.fold(0, |sum, (at, _)| sum | 1 << at)
    }

    /// The kind of a host, if there is one. When there are very many, the first
    /// of its form will do.
    fn kind(&self, form: Form, bits: u64) -> Option<usize> {
        let same = self.forms.iter().position(|one| *one == (form, bits));
        let is_full = self.forms.len() >= MOST_KINDS;
        same.or_else(|| self.forms.iter().position(|one| is_full && one.0 == form))
    }

    /// Hosts that the same requests fill are one market.
    fn market(&self, form: Form) -> usize {
        let at = form.device.and_then(|dim| self.devices.iter().position(|one| *one == dim));
        at.map_or(0, |at| at + 1)
    }

    /// What is left of all hosts.
    pub fn rooms(&self, world: &World) -> Vec<Room> {
        let hosts = world.order().iter();
        hosts.filter_map(|host| self.room(world, *host, self.kind_of(world, *host)?)).collect()
    }

    /// The kind that a host counts as.
    pub fn kind_of(&self, world: &World, host: HostIx) -> Option<usize> {
        let form = self.form(world, host);
        let kind = self.kind(form, self.admitted(world, host));
        kind.or_else(|| self.forms.iter().position(|one| one.0 == form))
    }

    /// What is left of a host.
    pub fn room(&self, world: &World, host: HostIx, kind: usize) -> Option<Room> {
        let (form, _) = self.forms.get(kind)?;
        let cpu = world.idle(DimIx::CPU, host);
        let (free, cpu) = match form.device {
            Some(dim) => {
                (world.devices(host, dim).iter().map(|one| one.capacity - one.used).collect(), cpu)
            }
            None => (std::iter::once(cpu).collect(), 0),
        };
        Some(Room { kind, free, sides: [cpu, world.idle(DimIx::MEMORY, host)] })
    }

    /// What a shape takes of hosts of a kind; none where it may not go.
    pub fn need(&self, shape: &Shape, kind: usize) -> Option<Need> {
        let (form, bits) = self.forms.get(kind)?;
        let choice = choice(&essence(shape));
        let place = self.choices.iter().position(|one| *one == choice);
        if place.is_some_and(|place| bits >> place & 1 == 0) {
            return None;
        }
        self.taken(shape, *form)
    }

    /// What a shape takes of hosts of a form.
    fn taken(&self, shape: &Shape, form: Form) -> Option<Need> {
        let request = |dim| shape.request.get(dim).max(0);
        let mut others = self.devices.iter().filter(|dim| Some(**dim) != form.device);
        if others.any(|dim| request(*dim) > 0) {
            return None;
        }
        let (amount, cpu) = match form.device {
            Some(device) => (request(device), request(DimIx::CPU)),
            None => (request(DimIx::CPU), 0),
        };
        let devices = (amount + form.size - 1) / form.size;
        let share = amount.min(form.size);
        let sides = [cpu, request(DimIx::MEMORY)];
        Some(Need { devices: u16::try_from(devices).ok()?, share, sides })
    }
}

impl Grouping {
    /// What a shape takes of a host.
    pub fn need_on(&self, shape: &Shape, kind: usize) -> Option<Need> {
        self.taken(shape, self.forms.get(kind)?.0)
    }

    /// What a shape takes is worth where that is most.
    pub fn worth(&self, shape: &Shape) -> f64 {
        let worth = |((form, _), kind): (&(Form, u64), &Kind)| {
            Some(kind.worth_of(&self.taken(shape, *form)?))
        };
        let worths = self.forms.iter().zip(&self.kinds).filter_map(worth);
        let most = worths.fold(0.0, f64::max);
        if most > 0.0 { most } else { DEVICE }
    }
}
