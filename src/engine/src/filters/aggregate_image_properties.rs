//! `AggregateImagePropertiesIsolation`: the image has what the metadata of the
//! host's aggregates says of its properties.

use stowplan_model::image_props::{ImageProps, PropValue};

use super::by_aggregates::{ByAggregates, SetRule};
use crate::fault::Fault;
use crate::filter::{Filter, Predicate, Runs};
use crate::reason::Reason;
use crate::request::RequestCx;
use crate::table::AggregateSet;

/// Fails hosts whose aggregates have metadata under the name of an image
/// property that the image sets to another value. Metadata under other names
/// says nothing, and neither does a property that is unset, empty, 0 or false.
#[derive(Clone, Copy, Debug, Default)]
pub struct AggregateImagePropertiesIsolation;

impl Filter for AggregateImagePropertiesIsolation {
    fn name(&self) -> &'static str {
        "AggregateImagePropertiesIsolation"
    }

    fn runs(&self) -> Runs {
        Runs { once_per_request: true, on_rebuild: true }
    }

    fn prepare(&self, cx: &RequestCx<'_>) -> Result<Option<Box<dyn Predicate>>, Fault> {
        let Some(image) = cx.request.image() else {
            return Ok(None);
        };
        let scheduler = &cx.config.scheduler;
        let namespace = scheduler
            .aggregate_image_properties_isolation_namespace
            .as_ref()
            .filter(|namespace| !namespace.is_empty());
        let separator = &scheduler.aggregate_image_properties_isolation_separator;
        let prefix = namespace.map_or_else(String::new, |name| format!("{name}{separator}"));
        Ok(Some(ByAggregates::prepare(cx.view, Isolation { image: image.clone(), prefix })))
    }
}

struct Isolation {
    image: ImageProps,
    /// Keys that begin otherwise are not looked at; the whole key names the
    /// property all the same.
    prefix: String,
}

impl SetRule for Isolation {
    fn objection(&self, set: &AggregateSet) -> Result<Option<Reason>, Fault> {
        for (key, values) in set.merged() {
            if !key.starts_with(&self.prefix) {
                continue;
            }
            let Some(value) = self.image.get(key).filter(|value| counts(value)) else {
                continue;
            };
            let wanted = value.to_string();
            if !values.contains(wanted.as_str()) {
                return Ok(Some(Reason::ImagePropertyDiffers {
                    property: key.to_owned(),
                    image: wanted,
                    allowed: values.into_iter().map(str::to_owned).collect(),
                }));
            }
        }
        Ok(None)
    }
}

/// Whether a property counts as set.
fn counts(value: &PropValue) -> bool {
    match value {
        PropValue::Text(text) => !text.is_empty(),
        PropValue::Flag(flag) => *flag,
        PropValue::Int(number) => *number != 0,
        PropValue::Versions(_) => true,
    }
}
