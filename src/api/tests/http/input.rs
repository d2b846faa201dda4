//! Input that no client of good will sends.

use crate::server::Server;

const UUID: &str = "2290d4af-9e6e-400b-9d65-1ee01376f71a";

#[test]
fn a_nul_character_is_refused_with_its_field() {
    let server = Server::start(|_| ());
    let claim = format!(
        r#"{{"allocations": {{"{UUID}": {{"resources": {{"VCPU": 1}}}}}}, "project_id": "p",
            "user_id": "u\u0000", "consumer_generation": null, "consumer_type": "INSTANCE"}}"#
    );
    for (method, path, body, told) in [
        ("POST", "/resource_providers", r#"{"name": "a\u0000b"}"#, r#"name is "a\u0000b""#),
        ("PUT", &format!("/allocations/{UUID}"), &claim, r#"user_id is "u\u0000""#),
        ("POST", "/resource_classes", r#"{"name": "CUSTOM_\u0000"}"#, r#"name is "CUSTOM_\u0000""#),
        ("PUT", "/v1/hosts/h", r#"{"labels": {"\u0000": "b"}}"#, r#"labels.\u0000 is "\u0000""#),
        ("POST", "/v1/aggregates", r#"{"name": "a", "metadata": {"k": "\u0000"}}"#, "metadata.k"),
        ("POST", "/v1/jobs", r#"{"annotations": {"a": "\u0000"}, "tasks": [{}]}"#, "annotations.a"),
        (
            "POST",
            "/v2.1/os-aggregates",
            r#"{"aggregate": {"name": "a\u0000b"}}"#,
            r#"aggregate.name is "a\u0000b""#,
        ),
        ("POST", "/v1/task-reports", r#"[{"message": "\u0000"}]"#, "[0].message"),
    ] {
        let answer = server.latest(method, path, body);
        assert_eq!(answer.status, 400, "{path}: {answer:?}");
        let body = answer.json();
        let places = ["/errors/0/detail", "/detail", "/badRequest/message"];
        let detail = places.iter().find_map(|place| body.pointer(place)?.as_str()).unwrap();
        assert!(detail.contains(told), "{path}: {detail}");
        assert!(detail.contains("expected a text without NUL characters"), "{detail}");
    }
}

#[test]
fn a_path_or_query_that_is_no_utf8_is_refused() {
    let server = Server::start(|_| ());
    for (method, path) in [
        ("PUT", "/v1/hosts/%ff"),
        ("GET", "/v1/hosts/%C3%28"),
        ("PUT", "/traits/CUSTOM_%ED%A0%80"),
        ("GET", "/v1/jobs?name=%ff"),
        ("GET", "/usages?project_id=%ff"),
    ] {
        let body = if method == "PUT" { "{}" } else { "" };
        let answer = server.latest(method, path, body);
        assert_eq!(answer.status, 400, "{path}: {answer:?}");
        assert!(answer.body.contains("UTF-8"), "{path}: {answer:?}");
    }
    assert_eq!(server.latest("GET", "/traits/CUSTOM_%C3%BC", "").status, 404);
}

/// What takes a moment when each parameter or item is looked at once took
/// minutes when each was held against all others.
#[test]
fn many_parameters_and_items_are_taken_up_to_a_bound() {
    let server = Server::start(|_| ());
    let many = |part: &str, count: usize| vec![part; count].join("&");
    let numbered: Vec<String> = (1..4000).map(|at| format!("required{at}=CUSTOM_A")).collect();
    for (path, status) in [
        (format!("resources=VCPU:1&{}", many("required=HW_CPU_X86_AVX", 2500)), 200),
        (format!("resources=VCPU:1&{}", many(&format!("member_of={UUID}"), 1200)), 200),
        (format!("resources=VCPU:1&group_policy=none&{}", numbered.join("&")), 400),
    ] {
        let answer = server.latest("GET", &format!("/allocation_candidates?{path}"), "");
        assert_eq!(answer.status, status, "{}", answer.head);
    }
    let made = format!(r#"{{"name": "a", "uuid": "{UUID}"}}"#);
    assert_eq!(server.latest("POST", "/resource_providers", &made).status, 200);
    let uuids: Vec<String> =
        (0..=10_000_u128).map(|number| format!("\"{}\"", uuid_of(number))).collect();
    let path = format!("/resource_providers/{UUID}/aggregates");
    let put = |uuids: &[&[String]]| {
        let listed = format!("[{}]", uuids.concat().join(","));
        server.send("PUT", &path, &["OpenStack-API-Version: placement 1.1"], &listed)
    };
    for (uuids, part) in [
        (&[&uuids[..9_999], &uuids[..1]][..], "non-unique"),
        (&[&uuids[..]][..], "a list of 10001 is too long: expected at most 10000 items"),
    ] {
        let answer = put(uuids);
        assert_eq!(answer.status, 400, "{}", answer.head);
        assert!(answer.body.contains(part), "{}", answer.body);
    }
    assert_eq!(put(&[&uuids[..10_000]]).status, 200);
}

fn uuid_of(number: u128) -> String {
    let digits = format!("{number:032x}");
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

#[test]
fn names_fit_the_tables_of_every_database() {
    let server = Server::start(|_| ());
    let long = "x".repeat(256);
    let host = "h".repeat(195);
    let device = format!(
        r#"{{"devices": [{{"name": "{}", "resource_class": "VGPU", "total": 1}}]}}"#,
        "d".repeat(100)
    );
    for (method, path, headers, body, field) in [
        ("PUT", format!("/v1/hosts/{host}"), String::new(), "{}", "node"),
        ("PUT", format!("/v1/hosts/{}", &host[..150]), String::new(), &device, "devices[0].name"),
        (
            "POST",
            "/v1/server-groups".to_owned(),
            String::new(),
            &format!(r#"{{"name": "g", "policy": "affinity", "project_id": "{long}"}}"#),
            "project_id",
        ),
        (
            "POST",
            "/v1/jobs".to_owned(),
            format!("X-Project-Id: {long}"),
            r#"{"tasks": [{}]}"#,
            "namespace",
        ),
    ] {
        let headers: Vec<&str> =
            Some(headers.as_str()).filter(|it| !it.is_empty()).into_iter().collect();
        let answer = server.send(method, &path, &headers, body);
        assert_eq!(answer.status, 400, "{path}: {answer:?}");
        assert!(answer.body.contains(&format!("\"field\":\"{field}\"")), "{answer:?}");
    }
}

#[test]
fn messages_in_all_their_forms() {
    let server = Server::start(|_| ());
    let token = "Host: t\r\nX-Auth-Token: admin\r\nConnection: close\r\n";
    let json = "Content-Type: application/json\r\n";
    let chunked = format!(
        "POST /resource_providers HTTP/1.1\r\n{token}{json}Transfer-Encoding: chunked\r\n\r\n"
    );
    let get =
        format!("GET /resource_providers HTTP/1.1\r\n{}\r\n", token.replace("close", "keep-alive"));
    for (request, status) in [
        (format!("{chunked}5\r\n{{\"nam\r\n8\r\ne\": \"a\"}}\r\n0\r\n\r\n"), 201),
        (format!("{chunked}zz\r\n"), 400),
        (format!("GET /resource_providers HTTP/1.0\r\n{token}\r\n"), 200),
        (format!("GET http://other/resource_providers HTTP/1.1\r\n{token}\r\n"), 200),
        (format!("{get}{get}GET /barnabas HTTP/1.1\r\n{token}\r\n"), 200),
        (format!("HEAD /resource_providers HTTP/1.1\r\n{token}\r\n"), 405),
        (format!("get /resource_providers HTTP/1.1\r\n{token}\r\n"), 405),
        (format!("GET /resource_providers/ HTTP/1.1\r\n{token}\r\n"), 404),
        (format!("GET //resource_providers HTTP/1.1\r\n{token}\r\n"), 404),
        (chunked.replace("chunked", "chunked\r\nContent-Length: 3"), 400),
    ] {
        let answer = server.raw(&request);
        assert_eq!(answer.status, status, "{request}: {answer:?}");
    }
}
