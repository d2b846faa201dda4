//! `/reshaper`.

use super::{
    call::{Answer, Call, parse},
    claims::{consumer_claims, reshaped},
    document::ReshapeBody,
    fields::{int_of, inventories, object_of},
    operations::Reshape,
    schemas,
};
use crate::body::Body;
use stowplan_placement::reshape::{ReshapedProvider, reshape as propose};

/// Moves inventories and allocations between providers, all or nothing.
#[utoipa::path(post, path = "/reshaper", tag = "reshaper",
    extensions(("x-openstack" = json!({"min-ver": "1.30"}))),
    request_body(content = ReshapeBody),
    responses(
        (status = 204, description = "Everything is as asked."),
        (status = 409, description = "It does not fit, is in use, or a generation has moved on."),
    ))]
pub async fn reshape(call: Call<Reshape>, Body(body): Body) -> Answer {
    let data = parse(&body, schemas::reshape(call.version))?;
    let options = &call.settings().placement;
    let providers: Vec<ReshapedProvider> = reshaped(&data)?
        .into_iter()
        .map(|(provider, value)| ReshapedProvider {
            provider,
            generation: int_of(value, "resource_provider_generation").unwrap_or_default(),
            inventories: inventories(value),
        })
        .collect();
    let claims = consumer_claims(object_of(&data, "allocations"), call.version, options)?;
    let limit = usize::try_from(options.max_reshape_rows).unwrap_or(usize::MAX);
    call.write(move |image, now| propose(image, &providers, &claims, limit, now)).await?;
    call.done()
}
