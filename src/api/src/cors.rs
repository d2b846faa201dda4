//! Web pages of other origins: `[cors]`.

use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use stowplan_config::Cors;

/// Headers that any page may send.
const SIMPLE: [&str; 8] = [
    "Accept",
    "Accept-Language",
    "Content-Type",
    "Cache-Control",
    "Content-Language",
    "Expires",
    "Last-Modified",
    "Pragma",
];

/// Whether pages of other origins may call at all; if so, every OPTIONS is a
/// preflight.
#[must_use]
pub fn is_on(cors: &Cors) -> bool {
    !cors.allowed_origin.is_empty()
}

/// Adds to the answer to a preflight what the asking page may do; nothing if
/// its origin, the method or a header is not allowed.
pub fn allow(cors: &Cors, asked: &HeaderMap, answer: &mut HeaderMap) {
    let Some(origin) = origin(cors, asked.get(header::ORIGIN)) else { return };
    let text = |name: HeaderName| asked.get(name).and_then(|value| value.to_str().ok());
    let Some(method) = text(header::ACCESS_CONTROL_REQUEST_METHOD) else { return };
    if !cors.allow_methods.iter().any(|allowed| allowed == method) {
        return;
    }
    let listed = text(header::ACCESS_CONTROL_REQUEST_HEADERS).unwrap_or_default();
    let headers: Vec<&str> =
        listed.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let may = |name: &&str| {
        let mut allowed = cors.allow_headers.iter().map(String::as_str).chain(SIMPLE);
        allowed.any(|allowed| allowed.eq_ignore_ascii_case(name))
    };
    if !headers.iter().all(may) {
        return;
    }
    mark(cors, origin, answer);
    if cors.max_age > 0 {
        put(answer, header::ACCESS_CONTROL_MAX_AGE, &cors.max_age.to_string());
    }
    put(answer, header::ACCESS_CONTROL_ALLOW_METHODS, method);
    if !headers.is_empty() {
        put(answer, header::ACCESS_CONTROL_ALLOW_HEADERS, &headers.join(","));
    }
}

/// Adds to an ordinary answer that the page of an allowed origin may read it.
pub fn expose(cors: &Cors, asking: Option<&HeaderValue>, answer: &mut HeaderMap) {
    let Some(origin) = origin(cors, asking) else { return };
    mark(cors, origin, answer);
    if !cors.expose_headers.is_empty() {
        put(answer, header::ACCESS_CONTROL_EXPOSE_HEADERS, &cors.expose_headers.join(","));
    }
}

fn origin<'a>(cors: &'a Cors, asking: Option<&HeaderValue>) -> Option<&'a str> {
    let asking = asking?.to_str().ok()?;
    let allowed = |origin: &str| cors.allowed_origin.iter().find(|allowed| *allowed == origin);
    allowed(asking).or_else(|| allowed("*")).map(String::as_str)
}

fn mark(cors: &Cors, origin: &str, answer: &mut HeaderMap) {
    put(answer, header::VARY, "Origin");
    put(answer, header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    if cors.allow_credentials {
        put(answer, header::ACCESS_CONTROL_ALLOW_CREDENTIALS, "true");
    }
}

fn put(answer: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.append(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cors() -> Cors {
        Cors {
            allowed_origin: vec!["http://a.example".to_owned()],
            allow_headers: vec!["OpenStack-API-Version".to_owned()],
            ..Cors::default()
        }
    }

    fn asked(pairs: &[(HeaderName, &'static str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(name.clone(), HeaderValue::from_static(value));
        }
        map
    }

    #[test]
    fn a_preflight_is_allowed_whole_or_not_at_all() {
        let (origin, method) = (header::ORIGIN, header::ACCESS_CONTROL_REQUEST_METHOD);
        let headers = header::ACCESS_CONTROL_REQUEST_HEADERS;
        let ours = (origin.clone(), "http://a.example");
        for (pairs, allowed) in [
            (vec![ours.clone(), (method.clone(), "GET")], true),
            (
                vec![
                    ours.clone(),
                    (method.clone(), "PUT"),
                    (headers.clone(), "accept, openstack-api-version"),
                ],
                true,
            ),
            (vec![ours.clone(), (method.clone(), "GET"), (headers, "x-secret")], false),
            (vec![ours.clone(), (method.clone(), "TRACE")], false),
            (vec![ours], false),
            (vec![(origin, "http://b.example"), (method.clone(), "GET")], false),
            (vec![(method, "GET")], false),
        ] {
            let mut answer = HeaderMap::new();
            allow(&cors(), &asked(&pairs), &mut answer);
            let got = answer.get(header::ACCESS_CONTROL_ALLOW_ORIGIN);
            assert_eq!(got.is_some(), allowed, "{pairs:?}");
            assert_eq!(answer.get(header::ACCESS_CONTROL_MAX_AGE).is_some(), allowed);
        }
    }

    #[test]
    fn any_origin() {
        let cors = Cors { allowed_origin: vec!["*".to_owned()], ..Cors::default() };
        let mut answer = HeaderMap::new();
        expose(&cors, Some(&HeaderValue::from_static("http://c.example")), &mut answer);
        let got = answer.get(header::ACCESS_CONTROL_ALLOW_ORIGIN);
        assert_eq!(got, Some(&HeaderValue::from_static("*")));
        assert_eq!(answer.get(header::VARY), Some(&HeaderValue::from_static("Origin")));
    }
}
