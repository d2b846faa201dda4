//! Lists of providers: `GET /resource_providers`.

use crate::{error::PlacementError, places::parts};
use std::sync::Arc;
use stowplan_ledger::{
    Image,
    image::{block::Block, mask::Mask, names::Ix, providers::At},
};
use stowplan_model::Uuid;

/// Which providers are wanted; nothing set: all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderFilter {
    /// The provider with this uuid.
    pub uuid: Option<Uuid>,
    /// The provider with this name.
    pub name: Option<String>,
    /// Those in the tree of this provider (any of the tree).
    pub in_tree: Option<Uuid>,
    /// Those in one aggregate of each set.
    pub member_of: Vec<Vec<Uuid>>,
    /// Those in none of these aggregates.
    pub forbidden_aggregates: Vec<Uuid>,
    /// Those with one trait of each set.
    pub required: Vec<Vec<String>>,
    /// Those with none of these traits.
    pub forbidden: Vec<String>,
    /// Those where each amount of a class fits.
    pub resources: Vec<(String, i64)>,
}

/// The providers that a filter leaves, in order of their ids.
///
/// # Errors
/// A class or trait that does not exist; but, as with the peer, only if the
/// parts of the filter before it (tree, required traits, aggregates) have left
/// anything at all.
pub fn list_providers(image: &Image, filter: &ProviderFilter) -> Result<Vec<At>, PlacementError> {
    if *filter == ProviderFilter::default() {
        return Ok(image.providers.iter().collect());
    }
    let Some(masks) = Masks::of(image, filter)? else { return Ok(Vec::new()) };
    let providers = &image.providers;
    let named: Option<Vec<At>> = if let Some(uuid) = filter.uuid {
        Some(providers.find(uuid).into_iter().collect())
    } else if let Some(name) = &filter.name {
        Some(providers.find_name(name).into_iter().collect())
    } else {
        masks.tree.map(|root| providers.tree_of(root).to_vec())
    };
    let mut found =
        named.map_or_else(|| masks.scan(image), |named| masks.among(image, filter, named));
    found.sort_unstable_by_key(|at| providers.get(*at).map(|provider| provider.id));
    Ok(found)
}

/// The parts of a filter that are tests of bits, resolved.
struct Masks {
    tree: Option<At>,
    member_of: Vec<Vec<Ix>>,
    forbidden_aggregates: Vec<Ix>,
    required: Vec<Vec<Ix>>,
    forbidden: Vec<Ix>,
    resources: Vec<(Ix, i64)>,
}

impl Masks {
    /// Nothing if a part of the filter leaves no provider by itself.
    fn of(image: &Image, filter: &ProviderFilter) -> Result<Option<Self>, PlacementError> {
        let tree = match filter.in_tree {
            None => None,
            Some(uuid) => match image.providers.find(uuid).and_then(|at| image.providers.get(at)) {
                None => return Ok(None),
                Some(provider) => Some(provider.root),
            },
        };
        let mut masks = Self {
            tree,
            member_of: Vec::new(),
            forbidden_aggregates: known(image, &filter.forbidden_aggregates),
            required: Vec::new(),
            forbidden: Vec::new(),
            resources: Vec::new(),
        };
        for set in &filter.required {
            masks.required.push(traits(image, set)?);
        }
        if !masks.required.is_empty() && !any(image, |block| masks.with_required(block)) {
            return Ok(None);
        }
        masks.forbidden = traits(image, &filter.forbidden)?;
        masks.member_of = filter.member_of.iter().map(|set| known(image, set)).collect();
        if !masks.member_of.is_empty() && !any(image, |block| masks.in_aggregates(block)) {
            return Ok(None);
        }
        for (name, amount) in &filter.resources {
            let class = image.classes.ix(name);
            let class = class.ok_or_else(|| PlacementError::QueryClass { class: name.clone() })?;
            masks.resources.push((class, *amount));
        }
        Ok(Some(masks))
    }

    /// All places that meet the filter.
    fn scan(&self, image: &Image) -> Vec<At> {
        let blocks = image.providers.blocks().iter().enumerate();
        let places = |(number, block): (usize, &Arc<Block>)| {
            self.places(block).iter().map(move |inside| At::of(number, inside))
        };
        blocks.flat_map(places).collect()
    }

    /// Those of some places that meet the filter.
    fn among(&self, image: &Image, filter: &ProviderFilter, mut places: Vec<At>) -> Vec<At> {
        places.retain(|at| {
            let Some(provider) = image.providers.get(*at) else { return false };
            let (block, inside) = parts(*at);
            filter.uuid.is_none_or(|uuid| uuid == provider.uuid)
                && filter.name.as_deref().is_none_or(|name| *name == *provider.name)
                && self.tree.is_none_or(|root| root == provider.root)
                && self.places(&image.providers.blocks()[block]).has(inside)
        });
        places
    }

    fn with_required(&self, block: &Block) -> Mask {
        self.required.iter().fold(block.live(), |left, set| {
            left.and(set.iter().fold(Mask::NONE, |any, name| any.or(block.with_trait(*name))))
        })
    }

    fn in_aggregates(&self, block: &Block) -> Mask {
        self.member_of.iter().fold(block.live(), |left, set| {
            left.and(set.iter().fold(Mask::NONE, |any, one| any.or(block.in_aggregate(*one))))
        })
    }

    fn places(&self, block: &Block) -> Mask {
        let mut left = self.with_required(block).and(self.in_aggregates(block));
        for name in &self.forbidden {
            left = left.minus(block.with_trait(*name));
        }
        for aggregate in &self.forbidden_aggregates {
            left = left.minus(block.in_aggregate(*aggregate));
        }
        for (class, amount) in &self.resources {
            if left.is_empty() {
                break;
            }
            let fit = block.class(*class).map_or(Mask::NONE, |column| column.fitting(*amount));
            left = left.and(fit);
        }
        left
    }
}

fn any(image: &Image, mask: impl Fn(&Block) -> Mask) -> bool {
    image.providers.blocks().iter().any(|block| !mask(block).is_empty())
}

fn known(image: &Image, uuids: &[Uuid]) -> Vec<Ix> {
    uuids.iter().filter_map(|uuid| image.aggregates.ix(*uuid)).collect()
}

fn traits(image: &Image, names: &[String]) -> Result<Vec<Ix>, PlacementError> {
    let find = |name: &String| {
        let unknown = || PlacementError::QueryTraits { names: name.clone() };
        image.traits.ix(name).ok_or_else(unknown)
    };
    names.iter().map(find).collect()
}
