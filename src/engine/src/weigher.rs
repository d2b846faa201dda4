//! The traits of weighers and of local scores.

use stowplan_config::WeightNormalization;

use crate::config::EngineConfig;
use crate::fault::Fault;
use crate::finding::Finding;
use crate::multiplier::Multipliers;
use crate::request::RequestCx;
use crate::table::HostIx;
use crate::view::HostView;

/// A weigher by name: gives hosts raw values that the runner normalises over
/// the survivors, multiplies and sums.
pub trait Weigher: Send + Sync {
    /// Its name in `[filter_scheduler] weight_classes`.
    fn name(&self) -> &'static str;

    /// Where its multiplier comes from.
    fn multiplier(&self, config: &EngineConfig) -> MultiplierRule;

    /// Fixed ends of its raw values under a normalisation.
    fn bounds(&self, normalisation: WeightNormalization) -> Bounds;

    /// Reads the request once. `multipliers` are those of this weigher on each
    /// host.
    ///
    /// # Errors
    /// A request that cannot be weighed; it fails as a whole.
    fn prepare(
        &self,
        cx: &RequestCx<'_>,
        multipliers: &Multipliers,
    ) -> Result<Box<dyn RawScore>, Fault>;
}

/// A weigher made ready for one request.
pub trait RawScore: Send + Sync {
    /// The raw value of one host.
    ///
    /// # Errors
    /// A host that cannot be weighed; the request fails.
    fn one(&self, view: &dyn HostView, host: HostIx) -> Result<f64, Fault>;

    /// The raw values of `hosts`, in their order. One after the other unless a
    /// weigher does better over whole columns; both must agree to the last bit.
    ///
    /// # Errors
    /// As [`RawScore::one`].
    fn fill(&self, view: &dyn HostView, hosts: &[HostIx], out: &mut [f64]) -> Result<(), Fault> {
        for (host, slot) in hosts.iter().zip(out) {
            *slot = self.one(view, *host)?;
        }
        Ok(())
    }

    /// The raw value of every host, where the request makes it the same for
    /// all of them.
    fn constant(&self) -> Option<f64> {
        None
    }

    /// What of the settings could not be used.
    fn findings(&self) -> Vec<Finding> {
        Vec::new()
    }
}

/// The raw value of a weigher that has nothing to say of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constant(pub f64);

impl RawScore for Constant {
    fn one(&self, _view: &dyn HostView, _host: HostIx) -> Result<f64, Fault> {
        Ok(self.0)
    }

    fn constant(&self) -> Option<f64> {
        Some(self.0)
    }
}

/// Where a weigher's multiplier comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultiplierRule {
    /// The option, as `section.name`.
    pub option: &'static str,
    /// The metadata key by which a host aggregate overrides it.
    pub key: &'static str,
    /// The option's value.
    pub configured: f64,
    /// Whether option and overrides count with their sign turned.
    pub negated: bool,
}

/// Ends that a weigher fixes for its raw values: values beyond are clamped,
/// and normalisation starts or stops there instead of at the lowest or highest
/// host.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    /// Fixed lower end.
    pub lowest: Option<f64>,
    /// Fixed upper end.
    pub highest: Option<f64>,
}

impl Bounds {
    /// No fixed end.
    pub const NONE: Self = Self { lowest: None, highest: None };

    /// What Nova really does with amounts: from 0 on. The documented rule
    /// (min_max) fixes nothing.
    #[must_use]
    pub const fn amount(normalisation: WeightNormalization) -> Self {
        match normalisation {
            WeightNormalization::Nova => Self { lowest: Some(0.0), highest: None },
            WeightNormalization::MinMax => Self::NONE,
        }
    }

    /// The value, clamped.
    #[must_use]
    pub fn clamp(&self, value: f64) -> f64 {
        match (self.lowest, self.highest) {
            (Some(lowest), _) if value < lowest => lowest,
            (_, Some(highest)) if value > highest => highest,
            _ => value,
        }
    }
}

/// A score that depends on one host and a request's shape alone, and is
/// absolute: no other host changes it. So it may be remembered per host and
/// looked up in an index, which a normalised weight may not.
///
/// `V` is the view the scorer needs (at least a [`HostView`]), `S` the shape.
pub trait LocalScore<V: ?Sized, S: ?Sized>: Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// The score of one host; higher is better.
    fn score(&self, view: &V, host: HostIx, shape: &S) -> f64;
}
