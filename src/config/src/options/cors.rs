//! `[cors]`: web pages of other origins.

use super::list;
use crate::macros::section;

section! {
    /// Web pages of other origins.
    cors: Cors = "cors" {
        /// Origins whose pages may call, such as https://dashboard.example.org; *: any.
        /// Empty: OPTIONS is an ordinary method and no header is added.
        allowed_origin: Vec<String> = Vec::new();
        /// Allow calls with credentials.
        allow_credentials: bool = true;
        /// Headers of answers that pages may read.
        expose_headers: Vec<String> = Vec::new();
        /// Seconds for which a browser may remember the answer to a preflight.
        max_age: u32 = 3600;
        /// Methods that pages may use.
        allow_methods: Vec<String> = list(&["GET", "PUT", "POST", "DELETE", "PATCH"]);
        /// Headers that pages may send.
        allow_headers: Vec<String> = Vec::new();
    }
}
