//! Addresses of cells that refer to another address, as cell mappings may:
//! `{scheme}://{username}:{password}@{hostname}:{port}/nova_cell1?{query}`.

/// Fills a template in with the parts of an address. A text without braces stays as
/// it is.
///
/// # Errors
/// A name between braces that stands for nothing, or a brace without its partner.
pub fn filled(template: &str, address: &str) -> Result<String, String> {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        let (brace, after) = rest[at..].split_at(1);
        if let Some(after) = after.strip_prefix(brace) {
            text.push_str(brace);
            rest = after;
            continue;
        }
        let end = after.find('}').filter(|_| brace == "{");
        let end = end.ok_or_else(|| format!("a {brace} without its partner"))?;
        let name = &after[..end];
        let part = part(address, name).ok_or_else(|| {
            format!(
                "{{{name}}}: expected scheme, username, password, hostname, port, path, query \
                 or fragment between braces"
            )
        })?;
        text.push_str(part);
        rest = &after[end + 1..];
    }
    text.push_str(rest);
    Ok(text)
}

/// A part of an address by its name, as it stands there; empty if it is missing.
fn part<'a>(address: &'a str, name: &str) -> Option<&'a str> {
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (server, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (user, server) = server.rsplit_once('@').unwrap_or(("", server));
    let (username, password) = user.split_once(':').unwrap_or((user, ""));
    let (hostname, port) = match server.strip_prefix('[').and_then(|it| it.split_once(']')) {
        Some((hostname, port)) => (hostname, port.trim_start_matches(':')),
        None => server.split_once(':').unwrap_or((server, "")),
    };
    Some(match name {
        "scheme" => scheme,
        "username" => username,
        "password" => password,
        "hostname" => hostname,
        "port" => port,
        "path" => path.trim_start_matches('/'),
        "query" => query,
        "fragment" => fragment,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    const ADDRESS: &str = "mysql+pymysql://nova:s%40x:y@db.example:3307/nova?charset=utf8#f";

    #[test]
    fn parts_stand_for_themselves() {
        for (template, expected) in [
            (ADDRESS, ADDRESS),
            (
                "{scheme}://{username}:{password}@{hostname}:{port}/{path}?{query}#{fragment}",
                ADDRESS,
            ),
            ("mysql://{hostname}/cell1", "mysql://db.example/cell1"),
            ("{{{scheme}}}", "{mysql+pymysql}"),
            ("", ""),
        ] {
            assert_eq!(filled(template, ADDRESS).unwrap(), expected, "{template}");
        }
        assert_eq!(filled("{hostname}|{port}", "mysql://u@[::1]:5/d").unwrap(), "::1|5");
        assert_eq!(filled("{password}|{port}", "mysql://h/d").unwrap(), "|");
        assert_eq!(
            filled("{scheme}:///{path}", "sqlite:////var/nova").unwrap(),
            "sqlite:///var/nova"
        );
    }

    #[test]
    fn what_stands_for_nothing_is_named() {
        for (template, expected) in [
            ("{host}", "{host}: expected scheme"),
            ("{}", "{}: expected scheme"),
            ("{scheme", "a { without"),
            ("x}y", "a } without"),
        ] {
            assert!(filled(template, ADDRESS).unwrap_err().starts_with(expected), "{template}");
        }
    }
}
