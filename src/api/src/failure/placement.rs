//! Errors of the Placement API: its envelope, or a page or plain text for who
//! accepts nothing else.

use super::{Asked, Code, Failure, json, title};
use crate::{
    media::{self, Accept},
    version::{Feature, Spoken, Version},
};
use actix_web::{
    HttpResponse, HttpResponseBuilder,
    http::{StatusCode, header},
};
use serde::Serialize;

#[derive(Serialize)]
struct Envelope<'a> {
    errors: [Entry<'a>; 1],
}

#[derive(Serialize)]
struct Entry<'a> {
    status: u16,
    title: &'static str,
    detail: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    request_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_version: Option<String>,
}

/// The answer to a missing token is not in the envelope.
#[derive(Serialize)]
struct Bare<'a> {
    message: &'a str,
    code: String,
    title: &'static str,
}

pub(super) fn body(
    mut response: HttpResponseBuilder,
    failure: &Failure,
    asked: &Asked,
) -> HttpResponse {
    let status = failure.code.status();
    let detail = detail(failure, asked);
    let line = format!("{} {}", status.as_u16(), title(status));
    match Accept::of(asked.accept.as_ref()).best(&[media::HTML, media::JSON]) {
        Some(media::JSON) if failure.code == Code::Unauthorized => {
            let bare = Bare { message: &detail, code: line, title: title(status) };
            json(response, media::JSON, &bare)
        }
        Some(media::JSON) => json(response, media::JSON, &envelope(failure, asked, &detail)),
        Some(_) => {
            response.insert_header((header::CONTENT_TYPE, "text/html; charset=UTF-8"));
            response.body(page(&line, &detail))
        }
        None => {
            response.insert_header((header::CONTENT_TYPE, "text/plain; charset=UTF-8"));
            response.body(format!("{line}\n\n{detail}"))
        }
    }
}

fn envelope<'a>(failure: &Failure, asked: &'a Asked, detail: &'a str) -> Envelope<'a> {
    let status = failure.code.status();
    let coded = match asked.version {
        Some(Spoken::Placement(version)) => version.has(Feature::ErrorCodes),
        _ => false,
    };
    let bad_version = failure.without_version && status == StatusCode::NOT_ACCEPTABLE;
    Envelope {
        errors: [Entry {
            status: status.as_u16(),
            title: title(status),
            detail,
            code: coded.then(|| failure.code.placement()),
            request_id: &asked.request_id,
            max_version: bad_version.then(|| Version::MAX.to_string()),
            min_version: bad_version.then(|| Version::MIN.to_string()),
        }],
    }
}

/// The general sentence of the status and then the particulars, on the two
/// lines on which clients expect them.
fn detail(failure: &Failure, asked: &Asked) -> String {
    let text = |value: Option<&header::HeaderValue>| {
        value.map_or_else(String::new, |v| String::from_utf8_lossy(v.as_bytes()).into_owned())
    };
    let particulars = failure.detail.replace('\n', " ");
    match failure.code.status() {
        StatusCode::METHOD_NOT_ALLOWED => {
            let method = &asked.method;
            format!("The method {method} is not allowed for this resource. \n\n {particulars}")
        }
        StatusCode::NOT_ACCEPTABLE => format!(
            "The resource could not be generated that was acceptable to your browser (content \
             of type {}. \n\n {particulars}",
            text(asked.accept.as_ref()),
        ),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            let kind = text(asked.content_type.as_ref());
            let kind = if kind.is_empty() { "None" } else { &kind };
            format!(
                "The request media type {kind} is not supported by this server. \n\n {particulars}"
            )
        }
        status => format!("{}\n\n {particulars}  ", explanation(status)),
    }
}

fn explanation(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => {
            "This server could not verify that you are authorized to access the document you \
             requested. Either you supplied the wrong credentials (e.g., bad password), or your \
             browser does not understand how to supply the credentials required."
        }
        StatusCode::FORBIDDEN => "Access was denied to this resource.",
        StatusCode::NOT_FOUND => "The resource could not be found.",
        StatusCode::CONFLICT => "There was a conflict when trying to complete your request.",
        StatusCode::PAYLOAD_TOO_LARGE => "The body of your request was too large for this server.",
        StatusCode::SERVICE_UNAVAILABLE => {
            "The server is currently unavailable. Please try again at a later time."
        }
        status if status.is_client_error() => {
            "The server could not comply with the request since it is either malformed or \
             otherwise incorrect."
        }
        _ => "The server has either erred or is incapable of performing the requested operation.",
    }
}

fn page(line: &str, detail: &str) -> String {
    let detail = detail.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!(
        "<html>\n <head>\n  <title>{line}</title>\n </head>\n <body>\n  <h1>{line}</h1>\n  \
         {detail}\n </body>\n</html>"
    )
}
