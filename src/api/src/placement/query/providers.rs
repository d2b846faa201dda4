//! The query of a list of providers.

use super::parts;
use crate::{
    failure::Failure, placement::schemas, query::Query, schema::lenient_uuid, version::Version,
};
use stowplan_placement::queries::ProviderFilter;

/// Checks the query of `GET /resource_providers` and gives the filter that it
/// stands for.
///
/// # Errors
/// 400 naming the parameter, its value and what was expected.
pub fn provider_filter(text: &str, version: Version) -> Result<ProviderFilter, Failure> {
    if text.is_empty() {
        return Ok(ProviderFilter::default());
    }
    let query = Query::parse(text)?;
    query.check(schemas::provider_query(version))?;
    let membership = parts::membership(&query, "", version)?;
    let traits = parts::traits(&query, "", version)?;
    Ok(ProviderFilter {
        uuid: query.last("uuid").and_then(lenient_uuid),
        name: query.last("name").map(str::to_owned),
        in_tree: query.last("in_tree").and_then(lenient_uuid),
        member_of: membership.member_of,
        forbidden_aggregates: membership.forbidden,
        required: traits.required,
        forbidden: traits.forbidden,
        resources: query.last("resources").map_or(Ok(Vec::new()), parts::resources)?,
    })
}
