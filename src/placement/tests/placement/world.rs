//! A small cloud for tests, made by the proposals themselves.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use stowplan_ledger::{Change, Image, Record, image::providers::At};
use stowplan_model::{Inventory, Micros, Uuid};
use stowplan_placement::{
    PlacementError,
    claims::{ConsumerClaim, ConsumerGeneration, ProviderClaim, replace_allocations},
    inventories::{Reserving, set_inventories},
    membership::{set_aggregates, set_traits},
    names::{ensure_class, ensure_trait, seed},
    providers::{NewProvider, create_provider},
};

/// An image with the standard names in it.
pub struct World {
    /// The image.
    pub image: Image,
}

/// The time of everything in tests.
pub const NOW: Micros = Micros(1_000_000);

/// The uuid of the provider with this name.
pub fn id(name: &str) -> Uuid {
    let mut bytes = [0; 16];
    for (place, byte) in name.bytes().enumerate() {
        bytes[place % 16] ^= byte;
        bytes[(place + 5) % 16] = bytes[(place + 5) % 16].wrapping_add(byte);
    }
    Uuid::from_bytes(bytes)
}

/// An inventory of this total and nothing special.
pub fn total(total: i64) -> Inventory {
    Inventory {
        total,
        reserved: 0,
        min_unit: 1,
        max_unit: i64::from(i32::MAX),
        step_size: 1,
        allocation_ratio: 1.0,
    }
}

impl World {
    pub fn new() -> Self {
        let mut image = Image::default();
        image.apply(&seed(&image, NOW).0);
        Self { image }
    }

    /// Applies a proposal and gives its output.
    pub fn run<T>(&mut self, proposal: Result<(Change, T), PlacementError>) -> T {
        let (change, output) = proposal.expect("the proposal holds");
        self.image.apply(&change);
        output
    }

    /// A provider under a parent with inventories of these classes.
    pub fn provider(&mut self, name: &str, parent: Option<&str>, has: &[(&str, i64)]) -> At {
        let new = NewProvider { uuid: id(name), name: name.into(), parent: parent.map(id) };
        let proposal = create_provider(&self.image, &new, NOW);
        self.run(proposal);
        let has: Vec<_> = has.iter().map(|(class, units)| (*class, total(*units))).collect();
        self.inventories(name, &has);
        self.at(name)
    }

    pub fn inventories(&mut self, name: &str, has: &[(&str, Inventory)]) {
        for (class, _) in has {
            let (change, _) = ensure_class(&self.image, class, NOW);
            self.image.apply(&change);
        }
        let has: Vec<_> = has.iter().map(|(class, i)| ((*class).to_owned(), *i)).collect();
        let generation = self.generation(name);
        let reserving = Reserving::UpToTotal;
        let proposal = set_inventories(&self.image, id(name), generation, &has, reserving);
        self.run(proposal);
    }

    pub fn traits(&mut self, name: &str, traits: &[&str]) {
        for name in traits {
            let (change, _) = ensure_trait(&self.image, name, NOW);
            self.image.apply(&change);
        }
        let traits: Vec<String> = traits.iter().map(|name| (*name).to_owned()).collect();
        let proposal = set_traits(&self.image, id(name), self.generation(name), &traits);
        self.run(proposal);
    }

    pub fn aggregates(&mut self, name: &str, aggregates: &[&str]) {
        let aggregates: Vec<Uuid> = aggregates.iter().map(|name| id(name)).collect();
        let proposal = set_aggregates(&self.image, id(name), None, &aggregates);
        self.run(proposal);
    }

    pub fn claim(&mut self, consumer: &str, takes: &[(&str, &[(&str, i64)])]) {
        let proposal = replace_allocations(&self.image, &claim(consumer, takes), NOW);
        self.run(proposal);
    }

    pub fn at(&self, name: &str) -> At {
        self.image.providers.find(id(name)).expect("the provider exists")
    }

    pub fn generation(&self, name: &str) -> i64 {
        self.image.providers.generation(self.at(name))
    }

    /// The name of a provider.
    pub fn name(&self, at: At) -> &str {
        &self.image.providers.get(at).expect("a provider").name
    }
}

/// A claim without conditions.
pub fn claim(consumer: &str, takes: &[(&str, &[(&str, i64)])]) -> ConsumerClaim {
    let part = |(provider, resources): &(&str, &[(&str, i64)])| ProviderClaim {
        provider: id(provider),
        resources: resources.iter().map(|(class, units)| ((*class).to_owned(), *units)).collect(),
    };
    ConsumerClaim {
        consumer: id(consumer),
        generation: ConsumerGeneration::Unchecked,
        project: "project".into(),
        user: "user".into(),
        consumer_type: None,
        allocations: takes.iter().map(part).collect(),
        origin: None,
    }
}

/// The records of a change by kind of record, for messages and short checks.
pub fn kinds(change: &Change) -> Vec<&'static str> {
    let kind = |record: &Record| match record {
        Record::Consumer(_) => "consumer",
        Record::ConsumerGone(_) => "consumer gone",
        Record::Generation { .. } => "generation",
        Record::Inventories { .. } => "inventories",
        Record::Traits { .. } => "traits",
        Record::Provider(_) => "provider",
        Record::Class(_) => "class",
        Record::ClassGone(_) => "class gone",
        _ => "other",
    };
    change.records.iter().map(kind).collect()
}

/// A refusal by status, code (its last words) and text.
pub fn refused<T>(proposal: Result<T, PlacementError>, status: u16, code: &str, text: &str) {
    let error = proposal.err().expect("the proposal is refused");
    assert!(error.to_string().contains(text), "{error}");
    assert!(error.code().ends_with(code), "{}", error.code());
    assert_eq!(error.status(), status);
}

/// A refusal without a code of its own.
pub const PLAIN: &str = "undefined_code";
/// A generation that moved on.
pub const CONFLICT: &str = "concurrent_update";

/// One host with CPUs and a disk.
pub fn host() -> World {
    let mut world = World::new();
    world.provider("host", None, &[("VCPU", 8), ("DISK_GB", 100)]);
    world
}

/// The image says the same of itself after a round through its rows.
pub fn assert_same_after_dump(image: &Image) {
    let mut again = Image::default();
    again.apply(&Change { kind: String::new(), records: image.dump() });
    assert_eq!(again.dump(), image.dump());
}
