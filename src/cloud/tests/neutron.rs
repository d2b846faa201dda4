//! The client of Neutron, on what a test says in its place.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    sync::{Arc, Mutex},
};
use stowplan_cloud::{CloudError, Neutron, Port};
use stowplan_config::{Settings, Sources};
use stowplan_model::Micros;

/// Answers: the beginning of a request line, the status, the body.
type Script = &'static [(&'static str, &'static str, &'static str)];

/// Serves a script; gives the address and the heads of what was asked.
fn play(script: Script) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let heads = Arc::new(Mutex::new(Vec::new()));
    let (own, said) = (url.clone(), heads.clone());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = String::new();
            let mut reader = BufReader::new(&stream);
            while reader.read_line(&mut head).unwrap() > 2 {}
            let length = head.to_lowercase().lines().find_map(|line| {
                line.strip_prefix("content-length: ").and_then(|number| number.parse().ok())
            });
            let mut body = vec![0; length.unwrap_or(0)];
            std::io::Read::read_exact(&mut reader, &mut body).unwrap();
            let found = script.iter().find(|(line, ..)| head.starts_with(line));
            let (_, status, body) = found.unwrap_or(&("", "404 Not Found", "{}"));
            let body = body.replace("{url}", &own);
            said.lock().unwrap().push(head);
            write!(
                stream,
                "HTTP/1.1 {status}\r\nX-Subject-Token: ours\r\nConnection: close\r\n\
                 Content-Length: {}\r\n\r\n{body}",
                body.len()
            )
            .unwrap();
        }
    });
    (url, heads)
}

fn neutron(options: &[String]) -> Neutron {
    let mut sources = Sources::new();
    for option in options {
        sources = sources.set(format!("neutron.{option}"));
    }
    let settings = Settings::load(&sources).unwrap().settings;
    Neutron::new(&settings.neutron, Arc::new(|| Micros(0))).unwrap().expect("a client")
}

const SUBNETS: &str = r#"{"subnets": [{"segment_id": "b"}, {"segment_id": null},
    {"segment_id": "a"}, {"segment_id": "b"}, {}]}"#;

#[tokio::test]
async fn neutron_is_found_in_the_catalogue_and_asked_with_a_token() {
    let (url, heads) = play(&[
        (
            "POST /v3/auth/tokens",
            "201 Created",
            r#"{"token": {"user": {"id": "nova"}, "expires_at": "2100-01-01T00:00:00Z",
                "catalog": [{"type": "network", "endpoints": [
                    {"interface": "internal", "url": "{url}/", "region_id": "one"}]}]}}"#,
        ),
        ("GET /v2.0/subnets?network_id=n&fields=segment_id ", "200 OK", SUBNETS),
        ("GET /v2.0/subnets/s ", "200 OK", r#"{"subnet": {"segment_id": "a"}}"#),
        (
            "GET /v2.0/ports/p ",
            "200 OK",
            r#"{"port": {"network_id": "n", "binding:vnic_type": "remote-managed",
                "fixed_ips": [{"subnet_id": "s", "ip_address": "10.0.0.4"}]}}"#,
        ),
    ]);
    let options = ["username=nova", "password=p", "user_domain_id=d", "region_name=one"];
    let mut options: Vec<String> = options.map(str::to_owned).to_vec();
    options.push(format!("auth_url={url}"));
    let neutron = neutron(&options);
    assert_eq!(neutron.segments_of_network("n").await.unwrap(), ["a", "b"]);
    assert_eq!(neutron.segment_of_subnet("s").await.unwrap().as_deref(), Some("a"));
    let port = neutron.port("p").await.unwrap();
    let expected = Port {
        network: "n".to_owned(),
        subnet: Some("s".to_owned()),
        vnic_type: Some("remote-managed".to_owned()),
    };
    assert_eq!(port, expected);
    assert!(neutron.port("other").await.unwrap_err().is_not_found());
    let heads = heads.lock().unwrap();
    assert_eq!(heads.iter().filter(|head| head.starts_with("POST")).count(), 1, "one login");
    let asked = heads.iter().filter(|head| head.starts_with("GET"));
    assert!(asked.clone().all(|head| head.to_lowercase().contains("x-auth-token: ours")));
    assert_eq!(asked.count(), 4);
}

#[tokio::test]
async fn without_an_account_a_named_neutron_is_asked_as_it_is() {
    let (url, _) = play(&[("GET /v2.0/subnets?network_id=n", "200 OK", SUBNETS)]);
    let open = neutron(&[format!("endpoint_override={url}/v2.0")]);
    assert_eq!(open.segments_of_network("n").await.unwrap(), ["a", "b"]);
}

#[tokio::test]
async fn a_neutron_that_is_away_is_tried_again() {
    let (url, heads) = play(&[("GET", "503 Service Unavailable", "")]);
    let options = [format!("endpoint_override={url}"), "connect_retries=2".to_owned()];
    let error = neutron(&options).port("p").await.unwrap_err();
    assert!(matches!(error, CloudError::Away { .. }), "{error}");
    assert_eq!(heads.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn who_waits_for_a_login_that_fails_shares_what_came_of_it() {
    let (url, heads) = play(&[("POST /v3/auth/tokens", "503 Service Unavailable", "")]);
    let options = ["username=nova", "password=p", "user_domain_id=d", "connect_retries=1"];
    let mut options: Vec<String> = options.map(str::to_owned).to_vec();
    options.push(format!("auth_url={url}"));
    let neutron = Arc::new(neutron(&options));
    let asked = (0..16).map(|_| {
        let neutron = neutron.clone();
        tokio::spawn(async move { neutron.port("p").await })
    });
    for task in asked.collect::<Vec<_>>() {
        assert!(matches!(task.await.unwrap(), Err(CloudError::Away { .. })));
    }
    let tries = heads.lock().unwrap().len();
    assert!(tries <= 4, "one or two logins of two tries each, not {tries} tries");
}
