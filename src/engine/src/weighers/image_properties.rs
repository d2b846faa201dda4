//! `ImagePropertiesWeigher`: servers on the host whose images are like the
//! request's.

use stowplan_config::WeightNormalization;
use stowplan_model::image_props::ImageProps;

use crate::config::EngineConfig;
use crate::fault::Fault;
use crate::finding::Finding;
use crate::multiplier::Multipliers;
use crate::request::RequestCx;
use crate::table::{HostIx, InstanceProps, PoolId};
use crate::view::HostView;
use crate::weigher::{Bounds, Constant, MultiplierRule, RawScore, Weigher};
use crate::weighted_names::WeightedNames;

const OPTION: &str = "filter_scheduler.image_props_weight_multiplier";
const SETTING: &str = "filter_scheduler.image_props_weight_setting";

/// For each property of the request's image, the servers on the host whose
/// image has it with the same value: all such pairs, or as weighed by
/// `image_props_weight_setting`. With the option at 0 every host gets 0,
/// whatever its aggregates say.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImagePropertiesWeigher;

impl Weigher for ImagePropertiesWeigher {
    fn name(&self) -> &'static str {
        "ImagePropertiesWeigher"
    }

    fn multiplier(&self, config: &EngineConfig) -> MultiplierRule {
        MultiplierRule {
            option: OPTION,
            key: "image_props_weight_multiplier",
            configured: config.scheduler.image_props_weight_multiplier,
            negated: false,
        }
    }

    fn bounds(&self, _normalisation: WeightNormalization) -> Bounds {
        Bounds::NONE
    }

    fn prepare(
        &self,
        cx: &RequestCx<'_>,
        multipliers: &Multipliers,
    ) -> Result<Box<dyn RawScore>, Fault> {
        let Some(image) = cx.request.image() else {
            return Ok(Box::new(Constant(0.0)));
        };
        if multipliers.configured() == 0.0 {
            return Ok(Box::new(Constant(0.0)));
        }
        let setting = WeightedNames::read(SETTING, &cx.config.scheduler.image_props_weight_setting);
        // Of several items for one property the last counts.
        let weight = |property: &str| {
            let found = setting.items.iter().rev().find(|(name, _)| name == property);
            match found {
                Some((_, weight)) => *weight,
                None if setting.items.is_empty() => 1.0,
                None => 0.0,
            }
        };
        let wanted: Vec<Wanted> = image
            .iter()
            .map(|(property, value)| Wanted {
                property,
                value: value.to_string(),
                weight: weight(property),
            })
            .collect();
        let pool = cx.view.props();
        let mut shared = vec![Vec::new(); pool.len()];
        for (id, props) in pool.iter() {
            shared[id as usize] = in_common(&wanted, props);
        }
        Ok(Box::new(Alike { wanted, shared, findings: setting.findings }))
    }
}

/// One property of the request's image.
struct Wanted {
    property: &'static str,
    value: String,
    weight: f64,
}

/// Places of the wanted properties that a server's image shares. Older names
/// and spellings count as what they stand for; an image that cannot be read so
/// is compared as it is.
fn in_common(wanted: &[Wanted], props: &InstanceProps) -> Vec<u32> {
    let raw = props.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
    let typed = ImageProps::typed(&raw).ok();
    let shares = |wanted: &Wanted| match &typed {
        Some(typed) => typed.get(wanted.property).is_some_and(|v| v.to_string() == wanted.value),
        None => props.get(wanted.property) == Some(&wanted.value),
    };
    (0..).zip(wanted).filter(|(_, wanted)| shares(wanted)).map(|(place, _)| place).collect()
}

struct Alike {
    wanted: Vec<Wanted>,
    /// Places of the wanted properties, by the number of a server's properties.
    shared: Vec<Vec<u32>>,
    findings: Vec<Finding>,
}

impl Alike {
    /// The raw value from counts, in one order for all hosts: equal counts are
    /// equal to the last bit.
    fn score(&self, counts: &[u32]) -> f64 {
        let weighed = self.wanted.iter().zip(counts).filter(|(_, count)| **count > 0);
        weighed.map(|(wanted, count)| wanted.weight * f64::from(*count)).fold(0.0, |a, b| a + b)
    }

    fn count(&self, view: &dyn HostView, host: HostIx, counts: &mut [u32]) {
        counts.fill(0);
        for (_, props) in view.instances(host).as_slice() {
            match self.shared.get(*props as usize) {
                Some(places) => add(counts, places),
                // A server that came after the request was read.
                None => add(counts, &self.read(view, *props)),
            }
        }
    }

    fn read(&self, view: &dyn HostView, props: PoolId) -> Vec<u32> {
        view.props().get(props).map_or_else(Vec::new, |props| in_common(&self.wanted, props))
    }
}

fn add(counts: &mut [u32], places: &[u32]) {
    for place in places {
        if let Some(count) = counts.get_mut(*place as usize) {
            *count += 1;
        }
    }
}

impl RawScore for Alike {
    fn one(&self, view: &dyn HostView, host: HostIx) -> Result<f64, Fault> {
        let mut counts = vec![0; self.wanted.len()];
        self.count(view, host, &mut counts);
        Ok(self.score(&counts))
    }

    fn fill(&self, view: &dyn HostView, hosts: &[HostIx], out: &mut [f64]) -> Result<(), Fault> {
        let mut counts = vec![0; self.wanted.len()];
        for (host, slot) in hosts.iter().zip(out) {
            self.count(view, *host, &mut counts);
            *slot = self.score(&counts);
        }
        Ok(())
    }

    fn constant(&self) -> Option<f64> {
        self.wanted.is_empty().then_some(0.0)
    }

    fn findings(&self) -> Vec<Finding> {
        self.findings.clone()
    }
}
