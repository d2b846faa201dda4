//! Our own surface, `/v1`.
//!
//! Handlers take a [`Caller`] and, for a body, `Body`; they return
//! `Result<HttpResponse, Failure>`, and the gate renders a failure as problem
//! details. Routes are added in [`routes`] (paths relative to `/v1`), their
//! descriptions in [`openapi`] (paths in full).

mod aggregates;
mod batch;
mod caller;
mod decisions;
mod events;
mod explain;
mod groups;
mod hosts;
mod jobs;
mod objects;
mod params;
mod queue_jobs;
mod queues;
mod refusals;
mod select;
mod shadow;
mod snapshot;
mod tasks;
mod topology;

pub use caller::Caller;

use crate::app::resource;
use actix_web::{
    http::Method,
    web::{self, ServiceConfig},
};
use utoipa::OpenApi;

#[derive(OpenApi)]
#[openapi(
    paths(
        select::select,
        snapshot::show,
        decisions::list,
        decisions::show,
        decisions::confirm,
        shadow::show,
        explain::explain_candidates,
        hosts::list,
        hosts::show,
        hosts::report,
        hosts::delete,
        hosts::heartbeat,
        aggregates::list,
        aggregates::create,
        aggregates::show,
        aggregates::update,
        aggregates::delete,
        aggregates::add_host,
        aggregates::remove_host,
        groups::list,
        groups::create,
        groups::show,
        groups::delete,
        groups::remove_member,
    ),
    tags(
        (name = "scheduling", description = "Destinations of servers."),
        (name = "decisions", description = "Why this host and not that one."),
        (name = "explain", description = "Why a query of the Placement API has no answers."),
        (name = "hosts", description = "Hosts and what they report."),
        (name = "aggregates", description = "Host aggregates, mirrored into Placement."),
        (name = "groups", description = "Servers that stay together or apart."),
    ),
)]
struct Document;

/// The descriptions of the calls of this surface.
#[must_use]
pub fn openapi() -> utoipa::openapi::OpenApi {
    [
        jobs::openapi(),
        tasks::openapi(),
        queues::openapi(),
        queue_jobs::openapi(),
        objects::openapi(),
        topology::openapi(),
        events::openapi(),
    ]
    .into_iter()
    .fold(Document::openapi(), |whole, part| whole.merge_from(part))
}

/// Adds the calls of this surface to a scope that is mounted at `/v1`.
pub fn routes(config: &mut ServiceConfig) {
    config
        .configure(jobs::routes)
        .configure(tasks::routes)
        .configure(objects::routes)
        .configure(topology::routes)
        .configure(events::routes)
        // Before the queues, whose names would take the rest of the path.
        .configure(queue_jobs::routes)
        .configure(queues::routes)
        .service(resource("/select_destinations", [(Method::POST, web::to(select::select))]))
        .service(resource("/shadow", [(Method::GET, web::to(shadow::show))]))
        .service(resource("/snapshot", [(Method::GET, web::to(snapshot::show))]))
        .service(resource("/hosts", [(Method::GET, web::to(hosts::list))]))
        .service(resource("/hosts/heartbeat", [(Method::POST, web::to(hosts::heartbeat))]))
        .service(resource(
            "/hosts/{host}",
            [
                (Method::GET, web::to(hosts::show)),
                (Method::PUT, web::to(hosts::report)),
                (Method::DELETE, web::to(hosts::delete)),
            ],
        ))
        .service(resource("/decisions", [(Method::GET, web::to(decisions::list))]))
        .service(resource("/decisions/{decision}", [(Method::GET, web::to(decisions::show))]))
        .service(resource(
            "/decisions/{decision}/confirm",
            [(Method::POST, web::to(decisions::confirm))],
        ))
        .service(resource(
            "/explain/candidates",
            [(Method::GET, web::to(explain::explain_candidates))],
        ))
        .service(resource(
            "/aggregates",
            [(Method::GET, web::to(aggregates::list)), (Method::POST, web::to(aggregates::create))],
        ))
        .service(resource(
            "/aggregates/{aggregate}",
            [
                (Method::GET, web::to(aggregates::show)),
                (Method::PATCH, web::to(aggregates::update)),
                (Method::DELETE, web::to(aggregates::delete)),
            ],
        ))
        .service(resource(
            "/aggregates/{aggregate}/hosts/{host}",
            [
                (Method::PUT, web::to(aggregates::add_host)),
                (Method::DELETE, web::to(aggregates::remove_host)),
            ],
        ))
        .service(resource(
            "/server-groups",
            [(Method::GET, web::to(groups::list)), (Method::POST, web::to(groups::create))],
        ))
        .service(resource(
            "/server-groups/{group}",
            [(Method::GET, web::to(groups::show)), (Method::DELETE, web::to(groups::delete))],
        ))
        .service(resource(
            "/server-groups/{group}/members/{server}",
            [(Method::DELETE, web::to(groups::remove_member))],
        ));
}
