//! `ImagePropertiesFilter`: the host runs guests of the image's kind.

use stowplan_model::image_props::{ImageProps, PropValue};
use stowplan_model::image_props_version::VersionConditions;

use crate::fault::{Fault, FaultKind};
use crate::filter::{Filter, Predicate, Runs, Verdict};
use crate::offers::{Offers, Survivors};
use crate::reason::Reason;
use crate::request::RequestCx;
use crate::table::{Class, Figure, GuestSupport, HostIx};
use crate::view::HostView;

/// Fails hosts that do not run guests of the image's architecture, hypervisor
/// type and VM mode, or whose hypervisor's version the image rules out. An
/// image that sets none of the three passes everywhere, whatever its version.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImagePropertiesFilter;

impl Filter for ImagePropertiesFilter {
    fn name(&self) -> &'static str {
        "ImagePropertiesFilter"
    }

    fn runs(&self) -> Runs {
        Runs { once_per_request: true, on_rebuild: true }
    }

    fn prepare(&self, cx: &RequestCx<'_>) -> Result<Option<Box<dyn Predicate>>, Fault> {
        let image = cx.request.image();
        let text = |name: &str| image.and_then(|props| props.text(name)).map(str::to_owned);
        let default = &cx.config.scheduler.image_properties_default_architecture;
        let wanted: Vec<String> = [
            text("hw_architecture").or_else(|| default.clone()),
            text("img_hv_type"),
            text("hw_vm_mode"),
        ]
        .into_iter()
        .flatten()
        .collect();
        if wanted.is_empty() {
            return Ok(None);
        }
        let runs: Vec<bool> = (0..cx.view.guests().len())
            .map(|id| {
                let support = cx.view.guests().get(id as u32);
                support.is_some_and(|support| is_supported(&wanted, support))
            })
            .collect();
        Ok(Some(Box::new(Guest {
            wanted,
            runs,
            versions: image.and_then(ImageProps::hypervisor_versions).cloned(),
            address_bits: image
                .and_then(|props| props.get("hw_maxphysaddr_bits"))
                .map(PropValue::to_string),
        })))
    }
}

/// Whether some triple has every wanted value, in any place.
fn is_supported(wanted: &[String], support: &GuestSupport) -> bool {
    support.iter().any(|triple| wanted.iter().all(|value| triple.contains(value)))
}

struct Guest {
    /// Architecture, hypervisor type and VM mode, as far as set.
    wanted: Vec<String>,
    /// By the number of the host's guest support.
    runs: Vec<bool>,
    versions: Option<VersionConditions>,
    address_bits: Option<String>,
}

impl Guest {
    fn runs(&self, view: &dyn HostView, host: HostIx) -> bool {
        let id = view.classes(Class::Guests).value(host);
        match self.runs.get(id as usize) {
            Some(runs) => *runs,
            None => view.guests_of(host).is_some_and(|support| is_supported(&self.wanted, support)),
        }
    }

    fn version_holds(&self, version: i64) -> bool {
        match &self.versions {
            Some(versions) if version != 0 => versions.hold_for(version),
            _ => true,
        }
    }

    /// The address width is asked of a host that would pass otherwise, and
    /// hosts do not carry theirs in a form that the peer can compare: it fails
    /// the request there. `ComputeCapabilitiesFilter` is the one to ask, by
    /// the flavor's `hw:maxphysaddr_bits`.
    fn address_width(&self) -> Result<(), Fault> {
        match &self.address_bits {
            None => Ok(()),
            Some(bits) => Err(Fault::new(
                FaultKind::Unsupported,
                format!(
                    "image property hw_maxphysaddr_bits is {bits}: it cannot be compared with \
                     the hosts' CPU description; set the flavor's hw:maxphysaddr_bits instead"
                ),
            )),
        }
    }
}

impl Predicate for Guest {
    fn judge(
        &self,
        view: &dyn HostView,
        host: HostIx,
        _offers: &Offers,
        _left: &Survivors,
    ) -> Result<Verdict, Fault> {
        if view.guests_of(host).is_none_or(Vec::is_empty) {
            return Ok(Verdict::Fail(Reason::GuestsUnknown));
        }
        if !self.runs(view, host) {
            return Ok(Verdict::Fail(Reason::GuestUnsupported { wanted: self.wanted.clone() }));
        }
        let version = view.figure(Figure::HypervisorVersion, host);
        if !self.version_holds(version) {
            return Ok(Verdict::Fail(Reason::HypervisorVersion {
                wanted: self.versions.as_ref().map_or_else(String::new, ToString::to_string),
                has: version,
            }));
        }
        self.address_width()?;
        Ok(Verdict::Pass)
    }

    fn narrow(
        &self,
        view: &dyn HostView,
        _offers: &Offers,
        left: &mut Survivors,
    ) -> Result<(), Fault> {
        left.hosts.retain(|host| self.runs(view, host));
        if self.versions.is_some() {
            let column = view.column(Figure::HypervisorVersion);
            // Hosts of one version mostly stand together.
            let mut last = (0, true);
            left.hosts.retain(|host| {
                let version = column.value(host);
                if version != last.0 {
                    last = (version, self.version_holds(version));
                }
                last.1
            });
        }
        if left.hosts.is_empty() {
            return Ok(());
        }
        self.address_width()
    }
}
