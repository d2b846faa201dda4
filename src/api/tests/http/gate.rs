//! What every request meets before its handler, and every answer after it.

use crate::server::Server;

#[test]
fn errors_have_the_form_of_their_surface_and_the_id_of_the_request() {
    let server = Server::start(|_| ());
    let placement = server.latest("GET", "/barnabas", "");
    let error = &placement.json()["errors"][0];
    assert_eq!((placement.status, &error["title"]), (404, &"Not Found".into()));
    assert_eq!(error["code"], "placement.undefined_code");
    let id = placement.header("x-openstack-request-id").unwrap();
    assert!(id.starts_with("req-") && id.len() == 40, "{id}");
    assert_eq!(error["request_id"], id);
    let native = server.latest("GET", "/v1/no-such-thing", "");
    assert_eq!(native.status, 404);
    assert_eq!(native.header("content-type").unwrap(), "application/problem+json");
    assert_eq!(native.json()["type"], "/docs/errors#not-found");
    assert_eq!(native.json()["request_id"], native.header("x-openstack-request-id").unwrap());
    let compute = server.latest("GET", "/v2.1/no-such-thing", "");
    assert_eq!(compute.json()["itemNotFound"]["code"], 404);
}

#[test]
fn a_token_is_asked_for_before_anything_else() {
    let server = Server::start(|_| ());
    let bare = |path: &str| {
        server.raw(format!("GET {path} HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n"))
    };
    for path in ["/resource_providers", "/barnabas"] {
        let answer = bare(path);
        assert_eq!(answer.status, 401, "{path}");
        let body = answer.json();
        assert_eq!(
            (&body["title"], &body["code"]),
            (&"Unauthorized".into(), &"401 Unauthorized".into())
        );
        assert!(body["message"].is_string());
        assert_eq!(answer.header("openstack-api-version"), None);
    }
    assert_eq!(bare("/v1/hosts").json()["status"], 401);
    for path in ["/", "/healthz", "/readyz", "/openapi.json", "/docs/"] {
        assert_eq!(bare(path).status, 200, "{path}");
    }
    let redirect = bare("/docs");
    assert_eq!((redirect.status, redirect.header("location")), (308, Some("/docs/".to_owned())));
}

#[test]
fn the_microversion_is_answered_and_varied_by() {
    let server = Server::start(|_| ());
    let at = |version: &str| {
        server.send("GET", "/traits", &[&format!("OpenStack-API-Version: {version}")], "")
    };
    let answer = at("compute 2.1, placement 1.15");
    assert_eq!(answer.header("openstack-api-version").unwrap(), "placement 1.15");
    assert_eq!(answer.header("vary").unwrap(), "openstack-api-version");
    assert_eq!(answer.header("cache-control").unwrap(), "no-cache");
    assert!(answer.header("last-modified").unwrap().ends_with(" GMT"));
    let old = at("placement 1.6");
    assert_eq!((old.status, old.header("last-modified")), (200, None));
    assert_eq!(at("placement 1.5").status, 404);
    let unacceptable = at("placement 1.40");
    assert_eq!(unacceptable.status, 406);
    let error = &unacceptable.json()["errors"][0];
    assert_eq!((&error["min_version"], &error["max_version"]), (&"1.0".into(), &"1.39".into()));
    assert_eq!(unacceptable.header("openstack-api-version"), None);
    assert_eq!(at("placement one.two").status, 400);
}

#[test]
fn a_method_that_a_path_has_not_is_told_the_others() {
    let server = Server::start(|_| ());
    for method in ["DELETE", "OPTIONS", "PROPFIND"] {
        let answer = server.latest(method, "/resource_providers", "");
        assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, POST".to_owned())));
    }
    let head = server.latest("HEAD", "/", "");
    assert_eq!((head.status, head.header("allow")), (405, Some("GET".to_owned())));
}

#[test]
fn lengths_and_types_of_bodies_are_looked_at_first() {
    let server = Server::start(|settings| settings.api.max_request_body_size = 2000);
    let post = |headers: &str, body: &str| {
        server.raw(format!(
            "POST /resource_providers HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\
             X-Auth-Token: admin\r\n{headers}\r\n\r\n{body}"
        ))
    };
    let detail = |answer: &crate::server::Answer| answer.json()["errors"][0]["detail"].to_string();
    let bad = post("Content-Type: application/json\r\nContent-Length: hi mom", "{}");
    assert_eq!(bad.status, 400);
    assert!(detail(&bad).contains("content-length header must be an integer"), "{bad:?}");
    let untyped = post("Content-Length: 2", "{}");
    assert_eq!(untyped.status, 400);
    assert!(detail(&untyped).contains("content-type header required"));
    let empty = post("Content-Length: 0", "");
    assert_eq!(empty.status, 415);
    assert!(detail(&empty).contains("The media type None is not supported"));
    let text = post("Content-Type: text/plain\r\nContent-Length: 2", "{}");
    assert_eq!(text.status, 415);
    let large = " ".repeat(2001);
    let announced = post("Content-Type: application/json\r\nContent-Length: 2001", &large);
    assert_eq!(announced.status, 413);
    assert!(detail(&announced).contains("max_request_body_size"));
    let chunked = post(
        "Content-Type: application/json\r\nTransfer-Encoding: chunked",
        &format!("7d1\r\n{large}\r\n0\r\n\r\n"),
    );
    assert_eq!(chunked.status, 413);
}

#[test]
fn who_accepts_no_json_gets_text() {
    let server = Server::start(|_| ());
    let accepting = |kind: &str| server.send("GET", "/moo", &[&format!("Accept: {kind}")], "");
    let page = accepting("text/html");
    assert!(page.header("content-type").unwrap().starts_with("text/html"));
    assert!(page.body.contains("<h1>404 Not Found</h1>"));
    let plain = accepting("text/plain");
    assert!(plain.header("content-type").unwrap().starts_with("text/plain"));
    assert!(plain.body.starts_with("404 Not Found\n\nThe resource could not be found."));
    let refused = server.send(
        "GET",
        "/traits",
        &["Accept: text/plain", "OpenStack-API-Version: placement 1.6"],
        "",
    );
    assert_eq!(refused.status, 406);
}

#[test]
fn a_prefix_is_part_of_every_link() {
    let server = Server::start(|settings| settings.api.placement_prefix = "/placement".to_owned());
    let body = r#"{"name": "a"}"#;
    let created = server.latest("POST", "/placement/resource_providers", body);
    let address = created.header("location").unwrap();
    let location = address.strip_prefix("http://t").unwrap();
    assert!(location.starts_with("/placement/resource_providers/"), "{location}");
    let shown = server.latest("GET", location, "");
    assert_eq!(shown.json()["links"][0]["href"], location);
    let at_root = server.latest("GET", &location["/placement".len()..], "");
    assert_eq!(at_root.json()["links"][0]["href"], location["/placement".len()..]);
    for path in ["/placement", "/placement/", "/"] {
        assert_eq!(server.latest("GET", path, "").status, 200, "{path}");
    }
    assert_eq!(server.latest("GET", "/placement/moo", "").status, 404);
}

#[test]
fn a_ledger_that_cannot_write_is_503_and_reads_go_on() {
    let server = Server::start(|_| ());
    server.close_ledger();
    let answer = server.latest("POST", "/resource_providers", r#"{"name": "a"}"#);
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1".to_owned())));
    assert_eq!(answer.json()["errors"][0]["title"], "Service Unavailable");
    assert_eq!(server.latest("GET", "/resource_providers", "").status, 200);
}

#[test]
fn scopes_and_roles() {
    let server = Server::start(|_| ());
    let status = |headers: &[&str], path: &str| {
        let mut all = vec!["OpenStack-API-Version: placement latest"];
        all.extend_from_slice(headers);
        let answer = server.send("GET", path, &all, "");
        (answer.status, answer.body)
    };
    for (headers, path, expected) in [
        (&["X-Roles: service"][..], "/traits", 200),
        (&["X-Roles: member,reader"], "/traits", 403),
        (&["X-Roles: reader", "X-Project-Id: p"], "/usages?project_id=p", 200),
        (&["X-Roles: reader", "X-Project-Id: p"], "/usages?project_id=q", 403),
        (&["X-Roles: reader", "X-Project-Id: p"], "/usages", 403),
        (&["X-Roles: admin"], "/usages", 400),
        (&["X-Roles: admin", "OpenStack-System-Scope: all"], "/traits", 403),
        (&["X-Roles: admin", "X-Domain-Id: d"], "/traits", 403),
    ] {
        let (status, body) = status(headers, path);
        assert_eq!(status, expected, "{headers:?} {path}: {body}");
    }
    let (_, body) = status(&["X-Roles: member"], "/traits");
    assert!(body.contains("Policy does not allow placement:traits:list to be performed."));
}

#[test]
fn every_problem_points_into_the_page_of_errors() {
    let server = Server::start(|_| ());
    let page = server.raw("GET /docs/errors HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
    assert_eq!(page.status, 200);
    assert!(page.header("content-type").unwrap().starts_with("text/html"));
    let problem = server.latest("GET", "/v1/no-such-thing", "").json();
    let (path, anchor) = problem["type"].as_str().unwrap().split_once('#').unwrap();
    assert_eq!(path, "/docs/errors");
    assert!(page.body.contains(&format!("<tr id=\"{anchor}\">")), "{}", page.body);
    for code in stowplan_api::Code::ALL {
        assert!(page.body.contains(&format!("<tr id=\"{}\">", code.anchor())), "{code:?}");
    }
}

#[test]
fn locations_are_where_the_caller_reached_us() {
    for (proxied, location) in
        [(false, "http://t/resource_providers"), (true, "https://out:1/api/resource_providers")]
    {
        let server = Server::start(|settings| {
            settings.oslo_middleware.enable_proxy_headers_parsing = proxied;
        });
        let headers =
            ["X-Forwarded-Proto: https", "X-Forwarded-Host: out:1", "X-Forwarded-Prefix: /api"];
        let made = server.send("POST", "/resource_providers", &headers, r#"{"name": "a"}"#);
        let found = made.header("location").unwrap();
        assert!(found.starts_with(location), "{found}");
    }
}
