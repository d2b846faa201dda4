//! Why a query has no candidates: what each requirement leaves.

use super::{
    Search,
    masks::{MaskCache, Trees, roots_with},
    plan::{Group, Plan},
    query::CandidateQuery,
    sharing::Sharing,
};
use crate::error::PlacementError;
use stowplan_ledger::{
    Image,
    image::{names::Ix, providers::At},
};
use stowplan_model::Uuid;
