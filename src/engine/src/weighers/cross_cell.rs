//! `CrossCellWeigher`: a move stays in its cell if it can.

use stowplan_config::WeightNormalization;
use stowplan_model::Uuid;

use crate::config::EngineConfig;
use crate::fault::Fault;
use crate::multiplier::Multipliers;
use crate::request::RequestCx;
use crate::table::HostIx;
use crate::view::HostView;
use crate::weigher::{Bounds, Constant, MultiplierRule, RawScore, Weigher};

/// 1 for hosts of the cell that a move comes from, -1 for others, if it may
/// leave the cell; else 0 for all.
#[derive(Clone, Copy, Debug, Default)]
pub struct CrossCellWeigher;

impl Weigher for CrossCellWeigher {
    fn name(&self) -> &'static str {
        "CrossCellWeigher"
    }

    fn multiplier(&self, config: &EngineConfig) -> MultiplierRule {
        MultiplierRule {
            option: "filter_scheduler.cross_cell_move_weight_multiplier",
            key: "cross_cell_move_weight_multiplier",
            configured: config.scheduler.cross_cell_move_weight_multiplier,
            negated: false,
        }
    }

    fn bounds(&self, _normalisation: WeightNormalization) -> Bounds {
        Bounds::NONE
    }

    fn prepare(
        &self,
        cx: &RequestCx<'_>,
        _multipliers: &Multipliers,
    ) -> Result<Box<dyn RawScore>, Fault> {
        let destination = cx.request.request().requested_destination.as_ref();
        let cell = destination.filter(|destination| destination.allow_cross_cell_move);
        Ok(match cell.and_then(|destination| destination.cell) {
            None => Box::new(Constant(0.0)),
            Some(cell) => Box::new(InCell(cell)),
        })
    }
}

struct InCell(Uuid);

impl RawScore for InCell {
    fn one(&self, view: &dyn HostView, host: HostIx) -> Result<f64, Fault> {
        let is_home = view.facts(host).cell_uuid == Some(self.0);
        Ok(if is_home { 1.0 } else { -1.0 })
    }
}
