//! A checked request, and what filters and weighers are prepared with.

use stowplan_model::Micros;
use stowplan_model::image_props::ImageProps;
use stowplan_model::request::ScheduleRequest;

use crate::config::EngineConfig;
use crate::fault::{Fault, StageFault};
use crate::view::HostView;

/// A request whose image properties are typed.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedRequest {
    request: ScheduleRequest,
    image: Option<ImageProps>,
}

impl CheckedRequest {
    /// Types the image properties of a request.
    ///
    /// # Errors
    /// An image property whose value cannot be read (stage `request`).
    pub fn check(request: ScheduleRequest) -> Result<Self, StageFault> {
        let image = match &request.image {
            None => None,
            Some(image) => Some(
                ImageProps::typed(&image.properties)
                    .map_err(|error| StageFault::request(Fault::value(error.to_string())))?,
            ),
        };
        Ok(Self { request, image })
    }

    /// The request as it stands now.
    #[must_use]
    pub fn request(&self) -> &ScheduleRequest {
        &self.request
    }

    /// The image's properties; `None` for a request without an image object.
    #[must_use]
    pub fn image(&self) -> Option<&ImageProps> {
        self.image.as_ref()
    }

    /// Turns to another server of the same request: filters and [`crate::consume()`]
    /// use its uuid from now on.
    pub fn turn_to(&mut self, instance: stowplan_model::Uuid) {
        self.request.instance_uuid = instance;
    }

    /// Notes the host of a placed member of the request's server group, if it
    /// has one. Duplicates are kept.
    pub(crate) fn group_takes(&mut self, host: &str) {
        if let Some(group) = &mut self.request.instance_group {
            group.hosts.push(host.to_owned());
        }
    }
}

/// What a filter or weigher is prepared with.
#[derive(Clone, Copy)]
pub struct RequestCx<'a> {
    /// The request, its instance being the one to place now.
    pub request: &'a CheckedRequest,
    /// The validated settings.
    pub config: &'a EngineConfig,
    /// The present, as the caller sees it.
    pub now: Micros,
    /// The hosts: for tables by pool number. What a predicate says of a host
    /// is asked on the view it is then given.
    pub view: &'a dyn HostView,
}
