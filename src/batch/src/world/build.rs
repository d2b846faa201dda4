//! The world as the ledger's image has it.

use super::{HostState, News, Source, Sources, TraitSet, World};
use crate::amounts::{DimIx, Dims};
use foldhash::{HashMap, HashMapExt};
use std::sync::Arc;
use stowplan_engine::table::Figures;
use stowplan_engine::{Figure, HostIx, HostView};
use stowplan_ledger::Image;
use stowplan_ledger::image::names::Ix;
use stowplan_model::Uuid;

impl World {
    /// All hosts of an image: what providers of their trees may give in the
    /// mapped classes, less all that anybody holds there, virtual machines and
    /// tasks alike.
    #[must_use]
    pub fn from_image(image: &Image, dims: Arc<Dims>) -> Self {
        let order: Vec<HostIx> = image.hosts.by_name().map(|host| host.ix).collect();
        let mut world = Self::new(dims.clone(), image.hosts.table().clone(), order);
        let classes = Classes::of(image, &dims);
        let mut known = TraitSets::new();
        for host in image.hosts.by_name() {
            let sources = sources(image, &classes, host.row.uuid, &mut known);
            let figures = figures(image, host.ix);
            world.load(host.ix, HostState { sources, figures });
        }
        world
    }
}

impl News for Image {
    fn host(&self, uuid: Uuid, dims: &Dims) -> Option<HostState> {
        let host = self.hosts.get(uuid)?;
        let sources = sources(self, &Classes::of(self, dims), uuid, &mut TraitSets::new());
        Some(HostState { sources, figures: figures(self, host.ix) })
    }

    fn counts(&self, task: Uuid) -> bool {
        self.consumers.get(task).is_some()
    }
}

/// The dimensions of an image's classes.
struct Classes(Vec<(Ix, DimIx)>);

impl Classes {
    fn of(image: &Image, dims: &Dims) -> Self {
        let mapped = dims.iter().filter_map(|(at, dim)| {
            let class = image.classes.ix(dim.class.as_deref()?)?;
            Some((class, at))
        });
        Self(mapped.collect())
    }

    fn dim(&self, class: Ix) -> Option<DimIx> {
        self.0.iter().find(|(ix, _)| *ix == class).map(|(_, dim)| *dim)
    }
}

/// Sets of traits by their numbers in one image: most providers have those of
/// others.
type TraitSets<'a> = HashMap<&'a [Ix], Arc<TraitSet>>;

fn trait_set<'a>(image: &'a Image, traits: &'a [Ix], known: &mut TraitSets<'a>) -> Arc<TraitSet> {
    let names = || traits.iter().map(|ix| image.traits.name(*ix));
    known.entry(traits).or_insert_with(|| Arc::new(TraitSet::new(names()))).clone()
}

fn sources<'a>(
    image: &'a Image,
    classes: &Classes,
    host: Uuid,
    known: &mut TraitSets<'a>,
) -> Sources {
    let mut sources = Sources::default();
    let Some(root) = image.providers.find(host) else { return sources };
    for &at in image.providers.tree_of(root) {
        let Some(provider) = image.providers.get(at) else { continue };
        for &class in provider.classes.iter() {
            let Some(dim) = classes.dim(class) else { continue };
            let Some(inventory) = image.providers.inventory(at, class) else { continue };
            sources.push(Source {
                dim,
                traits: trait_set(image, &provider.traits, known),
                used: image.providers.used(at, class),
                min_unit: inventory.min_unit,
                max_unit: inventory.max_unit,
                step_size: inventory.step_size,
                ..Source::plain(dim, provider.uuid, inventory.capacity().max(0))
            });
        }
    }
    sources
}

fn figures(image: &Image, host: HostIx) -> Figures {
    let mut figures = Figures::default();
    for figure in Figure::ALL {
        figures.set(figure, image.hosts.table().figure(figure, host));
    }
    figures
}
