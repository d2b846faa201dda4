//! The application: all surfaces behind one gate.

use crate::{
    compute, docs, failure::Failure, gate, metrics, native, placement, probes, server::RequestSpan,
    state::Shared, surface,
};
use actix_web::{
    App, Error, HttpResponse, Resource, Route,
    body::MessageBody,
    dev::{ServiceFactory, ServiceRequest, ServiceResponse},
    http::Method,
    middleware::from_fn,
    web::{self, Data},
};
use tracing_actix_web::TracingLogger;

/// The application of one worker.
pub fn app(
    shared: Data<Shared>,
) -> App<
    impl ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<impl MessageBody>,
        Error = Error,
        InitError = (),
    >,
> {
    let settings = shared.api.settings.load_full();
    let prefix = surface::mount(&settings.api.placement_prefix);
    let compute_prefix = surface::mount(&settings.api.compute_prefix);
    App::new()
        .app_data(shared)
        .wrap(from_fn(gate::gate))
        .wrap(TracingLogger::<RequestSpan>::new())
        .configure(probes::routes)
        .configure(metrics::routes)
        .configure(docs::routes)
        .service(web::scope("/v1").configure(native::routes).default_service(web::to(no_route)))
        .service(compute::scope())
        .configure(|config| {
            if !compute_prefix.is_empty() {
                let scope = web::scope(&compute_prefix).configure(compute::versions);
                config.service(scope.default_service(web::to(no_route)));
            }
        })
        .configure(|config| {
            if !prefix.is_empty() {
                let scope = web::scope(&prefix).configure(placement::routes);
                config.service(scope.default_service(web::to(no_route)));
            }
        })
        .configure(placement::routes)
        .default_service(web::to(no_route))
}

/// A path with the methods that it has; any other method is answered 405 and
/// told so.
#[must_use]
pub fn resource<const N: usize>(path: &str, routes: [(Method, Route); N]) -> Resource {
    let allow = routes.iter().map(|(method, _)| method.as_str()).collect::<Vec<_>>().join(", ");
    let mut resource = web::resource(path);
    for (method, route) in routes {
        resource = resource.route(route.method(method));
    }
    resource.default_service(web::to(move || {
        let failure = Failure::method_not_allowed(allow.clone());
        async move { Err::<HttpResponse, _>(failure) }
    }))
}

/// Says that there is no such path.
///
/// # Errors
/// Always, 404.
pub async fn no_route() -> Result<HttpResponse, Failure> {
    Err(Failure::no_route())
}
