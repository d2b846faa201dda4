//! Bodies of requests, bounded.

use crate::{
    failure::{Code, Failure},
    state::Shared,
};
use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    http::header,
    web::{Bytes, BytesMut, Data},
};
use futures_util::{StreamExt, future::LocalBoxFuture};

/// The body of a request, no larger than `[api] max_request_body_size`.
#[derive(Debug)]
pub struct Body(pub Bytes);

impl FromRequest for Body {
    type Error = Failure;
    type Future = LocalBoxFuture<'static, Result<Self, Failure>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let limit = request.app_data::<Data<Shared>>().map_or(0, |shared| {
            usize::try_from(shared.api.settings.load().api.max_request_body_size)
                .unwrap_or(usize::MAX)
        });
        let announced = request
            .headers()
            .get(header::CONTENT_LENGTH)
            .and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
        let payload = payload.take();
        Box::pin(read(payload, announced.unwrap_or(0), limit))
    }
}

async fn read(mut payload: Payload, announced: usize, limit: usize) -> Result<Body, Failure> {
    if announced > limit {
        return Err(too_large(limit));
    }
    let mut bytes = BytesMut::with_capacity(announced.min(64 * 1024));
    while let Some(chunk) = payload.next().await {
        let chunk =
            chunk.map_err(|error| Failure::bad_request(format!("The body broke off: {error}")))?;
        if bytes.len() + chunk.len() > limit {
            return Err(too_large(limit));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Body(bytes.freeze()))
}

fn too_large(limit: usize) -> Failure {
    Failure::new(
        Code::TooLarge,
        format!("The body is larger than {limit} bytes ([api] max_request_body_size)."),
    )
}
