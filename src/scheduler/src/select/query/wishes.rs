//! What a flavor and an image ask for together.

use stowplan_model::flavor::Flavor;
use stowplan_model::image_props::{ImageProps, PropValue};
use stowplan_model::pytext;

use crate::error::SchedulerError;

/// A flavor and an image. Either may ask for a feature; both may, if they
/// agree.
#[derive(Clone, Copy)]
pub(super) struct Wishes<'a> {
    pub flavor: &'a Flavor,
    pub image: Option<&'a ImageProps>,
}

impl<'a> Wishes<'a> {
    /// What the flavor says under a key.
    pub fn spec(&self, key: &str) -> Option<&'a str> {
        self.flavor.extra_specs.get(key)
    }

    /// What the image says under a name.
    pub fn prop(&self, name: &str) -> Option<&'a str> {
        self.image.and_then(|image| image.text(name))
    }

    /// A text that either says.
    ///
    /// # Errors
    /// They say different things.
    pub fn text(&self, key: &str, name: &str) -> Result<Option<&'a str>, SchedulerError> {
        match (self.spec(key), self.prop(name)) {
            (Some(spec), Some(prop)) if spec != prop => Err(conflict(key, &spec, name, &prop)),
            (spec, prop) => Ok(spec.or(prop)),
        }
    }

    /// Whether either asks for a feature.
    ///
    /// # Errors
    /// One does and the other says no.
    pub fn flag(&self, key: &str, name: &str) -> Result<bool, SchedulerError> {
        let spec = self.spec(key).map(pytext::flag);
        let prop = match self.image.and_then(|image| image.get(name)) {
            Some(PropValue::Flag(flag)) => Some(*flag),
            _ => None,
        };
        match (spec, prop) {
            (Some(spec), Some(prop)) if spec != prop => Err(conflict(key, &spec, name, &prop)),
            (spec, prop) => Ok(spec.or(prop) == Some(true)),
        }
    }
}

fn conflict(
    key: &str,
    spec: &dyn std::fmt::Display,
    name: &str,
    prop: &dyn std::fmt::Display,
) -> SchedulerError {
    SchedulerError::Request(format!(
        "extra spec {key} is \"{spec}\" and image property {name} is \"{prop}\": expected the \
         same, or only one of them"
    ))
}
