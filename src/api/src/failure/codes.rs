//! The one table of error codes.

use actix_web::http::StatusCode;

macro_rules! codes {
    ($($(#[doc = $about:literal])+ $name:ident = $status:literal, $placement:literal, $anchor:literal;)+) => {
        /// What kind of error an answer is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code {
            $($(#[doc = $about])+ $name,)+
        }

        impl Code {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The HTTP status.
            #[must_use]
            pub fn status(self) -> StatusCode {
                let number = match self { $(Self::$name => $status,)+ };
                StatusCode::from_u16(number).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
            }

            /// Placement's code string.
            #[must_use]
            pub fn placement(self) -> &'static str {
                match self { $(Self::$name => $placement,)+ }
            }

            /// The code with this status and Placement's code string. A pair
            /// that is in no row is a fault of ours.
            #[must_use]
            pub fn of_placement(status: u16, placement: &str) -> Self {
                match (status, placement) {
                    $(($status, $placement) => Self::$name,)+
                    _ => Self::Internal,
                }
            }

            /// What it means.
            #[must_use]
            pub fn about(self) -> &'static str {
                match self { $(Self::$name => concat!($($about),+).trim_ascii(),)+ }
            }

            /// The anchor in the documentation of errors, which is also the
            /// last part of a problem's type.
            #[must_use]
            pub fn anchor(self) -> &'static str {
                match self { $(Self::$name => $anchor,)+ }
            }
        }
    };
}

codes! {
    /// The request cannot be understood or is not valid.
    BadRequest = 400, "placement.undefined_code", "bad-request";
    /// A query parameter has a value that does not go with the others.
    BadQueryValue = 400, "placement.query.bad_value", "bad-query-value";
    /// A query parameter is missing.
    MissingQueryValue = 400, "placement.query.missing_value", "missing-query-value";
    /// A query parameter may stand only once.
    RepeatedQueryKey = 400, "placement.query.duplicate_key", "repeated-query-key";
    /// A provider named in the body does not exist.
    UnknownProvider = 400, "placement.resource_provider.not_found", "unknown-provider";
    /// No token.
    Unauthorized = 401, "placement.undefined_code", "unauthorized";
    /// The token is none of Keystone's, or has run out.
    TokenRefused = 401, "stowplan.token_refused", "token-refused";
    /// The caller may not do this.
    Forbidden = 403, "placement.undefined_code", "forbidden";
    /// There is nothing of that name here.
    NotFound = 404, "placement.undefined_code", "not-found";
    /// The path exists, the method does not.
    MethodNotAllowed = 405, "placement.undefined_code", "method-not-allowed";
    /// No media type or version that the caller accepts.
    NotAcceptable = 406, "placement.undefined_code", "not-acceptable";
    /// The body did not come in time.
    RequestTimeout = 408, "placement.undefined_code", "request-timeout";
    /// What is asked does not go with what is there.
    Conflict = 409, "placement.undefined_code", "conflict";
    /// There is no host for a server; the decision says why.
    NoValidHost = 409, "stowplan.no_valid_host", "no-valid-host";
    /// Somebody else has changed it since it was read.
    ConcurrentUpdate = 409, "placement.concurrent_update", "concurrent-update";
    /// The name is taken.
    DuplicateName = 409, "placement.duplicate_name", "duplicate-name";
    /// Somebody holds some of the inventory.
    InventoryInUse = 409, "placement.inventory.inuse", "inventory-in-use";
    /// Somebody holds something of the provider.
    ProviderInUse = 409, "placement.resource_provider.inuse", "provider-in-use";
    /// The provider has children.
    ProviderHasChildren = 409, "placement.resource_provider.cannot_delete_parent",
        "provider-has-children";
    /// What was asked for is not kept any more.
    Gone = 410, "placement.undefined_code", "gone";
    /// It is of another generation than the caller knows.
    PreconditionFailed = 412, "placement.undefined_code", "precondition-failed";
    /// The body is larger than `[api] max_request_body_size`.
    TooLarge = 413, "placement.undefined_code", "too-large";
    /// The body is of another media type than is read here.
    UnsupportedMedia = 415, "placement.undefined_code", "unsupported-media";
    /// The request's key was used for another request.
    KeyReused = 422, "stowplan.key_reused", "key-reused";
    /// A fault of the service; its log has the details under the request's id.
    Internal = 500, "placement.undefined_code", "internal";
    /// The peer serves this, and this service does not.
    NotImplemented = 501, "placement.undefined_code", "not-implemented";
    /// The database is away, or too much is asked at once: try again.
    Unavailable = 503, "placement.undefined_code", "unavailable";
}

/// The title of a status, as the peers write it.
#[must_use]
pub fn title(status: StatusCode) -> &'static str {
    match status {
        StatusCode::PAYLOAD_TOO_LARGE => "Request Entity Too Large",
        other => other.canonical_reason().unwrap_or("Error"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_code_is_an_error_with_an_anchor_of_its_own() {
        let anchors: BTreeSet<_> = Code::ALL.iter().map(|code| code.anchor()).collect();
        assert_eq!(anchors.len(), Code::ALL.len());
        for code in Code::ALL {
            let status = code.status();
            assert!(status.is_client_error() || status.is_server_error(), "{code:?}");
        }
    }
}
