//! Bodies of requests, bounded, without texts that no database holds.

use crate::{
    failure::{Code, Failure},
    state::Shared,
    storable,
};
use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    http::header,
    web::{Bytes, BytesMut, Data},
};
use futures_util::{StreamExt, future::LocalBoxFuture};
use std::time::Duration;
use tokio::time::timeout;

/// How long a body may take to come.
const PATIENCE: Patience =
    Patience { pause: Duration::from_secs(30), whole: Duration::from_secs(120) };

/// How long the next part of a body may take, and all of it: who sends a byte now
/// and then would keep a connection for ever.
#[derive(Clone, Copy, Debug)]
struct Patience {
    pause: Duration,
    whole: Duration,
}

/// The body of a request, no larger than `[api] max_request_body_size`; if it is
/// JSON, no text in it holds a NUL character.
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
        Box::pin(read(payload, announced.unwrap_or(0), limit, PATIENCE))
    }
}

async fn read(
    payload: Payload,
    announced: usize,
    limit: usize,
    patience: Patience,
) -> Result<Body, Failure> {
    let parts = read_parts(payload, announced, limit, patience.pause);
    timeout(patience.whole, parts).await.unwrap_or_else(|_| {
        let whole = patience.whole;
        Err(Failure::new(Code::RequestTimeout, format!("The body did not end within {whole:?}.")))
    })
}

async fn read_parts(
    mut payload: Payload,
    announced: usize,
    limit: usize,
    pause: Duration,
) -> Result<Body, Failure> {
    if announced > limit {
        return Err(too_large(limit));
    }
    let mut bytes = BytesMut::with_capacity(announced.min(64 * 1024));
    while let Some(chunk) = timeout(pause, payload.next()).await.map_err(|_| too_slow(pause))? {
        let chunk =
            chunk.map_err(|error| Failure::bad_request(format!("The body broke off: {error}")))?;
        if bytes.len() + chunk.len() > limit {
            return Err(too_large(limit));
        }
        bytes.extend_from_slice(&chunk);
    }
    storable::check(&bytes)?;
    Ok(Body(bytes.freeze()))
}

fn too_large(limit: usize) -> Failure {
    Failure::new(
        Code::TooLarge,
        format!("The body is larger than {limit} bytes ([api] max_request_body_size)."),
    )
}

fn too_slow(pause: Duration) -> Failure {
    Failure::new(Code::RequestTimeout, format!("Nothing of the body came for {pause:?}."))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use actix_web::{error::PayloadError, rt::System};
    use futures_util::stream;

    fn read_within(chunks: Vec<&'static str>, ends: bool) -> Result<Body, Failure> {
        let chunks = chunks.into_iter().map(|chunk| Ok::<_, PayloadError>(Bytes::from(chunk)));
        let stream = stream::iter(chunks);
        let payload: Payload = if ends {
            Payload::Stream { payload: stream.boxed_local() }
        } else {
            Payload::Stream { payload: stream.chain(stream::pending()).boxed_local() }
        };
        let moment = Duration::from_millis(20);
        System::new().block_on(read(payload, 0, 8, Patience { pause: moment, whole: moment * 50 }))
    }

    #[test]
    fn a_body_that_never_ends_is_given_up() {
        let moment = Duration::from_millis(1);
        let drip = stream::unfold((), move |()| async move {
            tokio::time::sleep(moment).await;
            Some((Ok::<_, PayloadError>(Bytes::from_static(b" ")), ()))
        });
        let payload = Payload::Stream { payload: drip.boxed_local() };
        let patience = Patience { pause: Duration::from_secs(60), whole: moment * 20 };
        let read = System::new().block_on(read(payload, 0, usize::MAX, patience));
        assert_eq!(read.unwrap_err().code(), Code::RequestTimeout);
    }

    #[test]
    fn a_body_is_read_to_its_end_or_its_bounds() {
        assert_eq!(&read_within(vec!["ab", "cd"], true).unwrap().0[..], b"abcd");
        let code = |chunks, ends| read_within(chunks, ends).unwrap_err().code();
        assert_eq!(code(vec!["12345", "6789"], true), Code::TooLarge);
        assert_eq!(code(vec!["{"], false), Code::RequestTimeout);
        assert_eq!(code(vec!["\"\\u0000\""], true), Code::BadRequest);
    }
}
