//! `/os-availability-zone`: zones and whether they are available.

use super::{
    call::{Answer, Call, json},
    operations::{DetailZones, ListZones},
    services::services,
    view::ZonesAnswer,
};

/// Lists availability zones.
#[utoipa::path(get, path = "/v2.1/os-availability-zone", tag = "compute availability zones",
    responses((status = 200, description = "The zones, without that of services that run no \
        servers.", body = ZonesAnswer)))]
pub async fn list(call: Call<ListZones>) -> Answer {
    let (image, prepared) = (call.image(), call.api().scheduler.prepared());
    json(&ZonesAnswer::of(&services(&call, &image, &prepared), false))
}

/// Lists availability zones with their services.
#[utoipa::path(get, path = "/v2.1/os-availability-zone/detail", tag = "compute availability zones",
    responses((status = 200, description = "The zones.", body = ZonesAnswer)))]
pub async fn detail(call: Call<DetailZones>) -> Answer {
    let (image, prepared) = (call.image(), call.api().scheduler.prepared());
    json(&ZonesAnswer::of(&services(&call, &image, &prepared), true))
}
