//! Inventories.

use serde::{Serialize, Serializer};
use stowplan_ledger::{Image, image::providers::At};
use stowplan_model::Inventory;
use utoipa::ToSchema;

/// An inventory.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Inventory)]
pub struct InventoryView {
    /// Units that exist.
    total: i64,
    /// Units kept back.
    reserved: i64,
    /// The smallest amount of one allocation.
    min_unit: i64,
    /// The largest amount of one allocation.
    max_unit: i64,
    /// Every amount is a multiple of this.
    step_size: i64,
    /// How often a unit may be promised.
    allocation_ratio: f64,
}

impl From<&Inventory> for InventoryView {
    fn from(inventory: &Inventory) -> Self {
        Self {
            total: inventory.total,
            reserved: inventory.reserved,
            min_unit: inventory.min_unit,
            max_unit: inventory.max_unit,
            step_size: inventory.step_size,
            allocation_ratio: inventory.allocation_ratio,
        }
    }
}

/// One inventory of a provider.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProviderInventory {
    /// The inventory.
    #[serde(flatten)]
    pub inventory: InventoryView,
    /// The provider's generation.
    pub resource_provider_generation: i64,
}

/// All inventories of a provider, by class.
#[derive(Serialize, ToSchema)]
pub struct ProviderInventories<'a> {
    /// The provider's generation.
    resource_provider_generation: i64,
    /// By class.
    #[schema(value_type = BTreeMap<String, InventoryView>)]
    inventories: ByClass<'a>,
}

enum ByClass<'a> {
    Image(&'a Image, At),
    Given(&'a [(String, Inventory)]),
}

impl<'a> ProviderInventories<'a> {
    /// As the image says.
    pub fn of_image(image: &'a Image, at: At) -> Self {
        Self {
            resource_provider_generation: image.providers.generation(at),
            inventories: ByClass::Image(image, at),
        }
    }

    /// As they have just been given.
    pub fn given(inventories: &'a [(String, Inventory)], generation: i64) -> Self {
        Self { resource_provider_generation: generation, inventories: ByClass::Given(inventories) }
    }
}

impl Serialize for ByClass<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Given(given) => serializer.collect_map(
                given.iter().map(|(class, inventory)| (class, InventoryView::from(inventory))),
            ),
            Self::Image(image, at) => {
                let classes = image.providers.get(*at).map(|provider| &*provider.classes);
                let pairs = classes.unwrap_or_default().iter().filter_map(|&class| {
                    let inventory = image.providers.inventory(*at, class)?;
                    Some((image.classes.name(class), InventoryView::from(inventory)))
                });
                serializer.collect_map(pairs)
            }
        }
    }
}
