//! Keeps passwords out of what is shown.

use crate::spec::OptionSpec;
use crate::value::Kind;

const HIDDEN: &str = "***";

/// The value of an option as it may be shown. Of an address only the password is
/// hidden, of any other secret all.
pub(crate) fn shown(spec: &OptionSpec, text: &str) -> String {
    let is_address = matches!(spec.kind, Kind::Url | Kind::DatabaseUrl) && text.contains("://");
    if spec.meta.is_secret && !text.is_empty() && !is_address {
        return HIDDEN.to_owned();
    }
    url_passwords(text)
}

/// The value of a free key as it may be shown.
pub(crate) fn shown_free(key: &str, text: &str) -> String {
    if is_secret_key(key) { HIDDEN.to_owned() } else { url_passwords(text) }
}

/// Whether a free key is called like one that holds a secret.
pub(crate) fn is_secret_key(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ["password", "secret", "token"].iter().any(|word| key.contains(word))
}

/// Hides passwords in addresses: `scheme://user:***@host`, in lists of hosts
/// too, and the parameter `password`.
pub(crate) fn url_passwords(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else {
        return text.to_owned();
    };
    let mut out = format!("{scheme}://");
    let mut parts = rest.split('@').peekable();
    let mut first = true;
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            out.push_str(&query_passwords(part));
            break;
        }
        // Before the first @ stands the user alone; before a later one the
        // host before it too, which holds no comma.
        let start = if first { 0 } else { part.find(',').map_or(0, |comma| comma + 1) };
        let (host, user) = part.split_at(start);
        out.push_str(host);
        match user.split_once(':') {
            Some((name, _)) => out.push_str(&format!("{name}:{HIDDEN}")),
            None => out.push_str(user),
        }
        out.push('@');
        first = false;
    }
    out
}

fn query_passwords(text: &str) -> String {
    let Some((path, query)) = text.split_once('?') else {
        return text.to_owned();
    };
    let parameters: Vec<String> = query
        .split('&')
        .map(|parameter| match parameter.split_once('=') {
            Some((name, _)) if name.contains("passw") => format!("{name}={HIDDEN}"),
            _ => parameter.to_owned(),
        })
        .collect();
    format!("{path}?{}", parameters.join("&"))
}
