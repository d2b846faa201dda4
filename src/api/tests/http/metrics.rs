//! What Prometheus reads.

use crate::server::Server;
use std::collections::BTreeSet;
use stowplan_api::METRICS;

/// Metrics of the message bus, which this server has not.
const OF_THE_BUS: [&str; 3] =
    ["stowplan_bus_calls_in_flight", "stowplan_bus_events", "stowplan_bus_kept_answers"];

fn scrape(server: &Server) -> String {
    // Without a token.
    let answer = server.raw("GET /metrics HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
    assert_eq!(answer.status, 200);
    let kind = answer.header("content-type").unwrap();
    assert!(kind.starts_with("application/openmetrics-text; version=1.0.0"), "{kind}");
    answer.body
}

fn value(text: &str, sample: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    line.map(|value| value.parse().unwrap())
}

#[test]
fn every_metric_of_the_list_is_told_and_no_other() {
    let server = Server::start(|_| ());
    let text = scrape(&server);
    let told: BTreeSet<&str> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    let listed = METRICS.iter().map(|metric| metric.name);
    let expected: BTreeSet<&str> = listed.filter(|name| !OF_THE_BUS.contains(name)).collect();
    assert_eq!(told, expected);
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn every_metric_stands_in_the_reference() {
    let reference = include_str!("../../../../api-ref/metrics.md");
    for metric in METRICS {
        assert!(reference.contains(&format!("| `{}` |", metric.name)), "{}", metric.name);
    }
}

#[test]
fn counters_and_gauges_follow_what_is_done() {
    let server = Server::start(|_| ());
    let report = r#"{"vcpus": 4, "memory_mb": 4096, "local_gb": 100}"#;
    assert_eq!(server.latest("PUT", "/v1/hosts/h1", report).status, 201);
    let flavor = r#"{"flavor": {"name": "m", "vcpus": 3, "memory_mb": 512, "root_gb": 1}}"#;
    for status in [200, 409] {
        assert_eq!(server.latest("POST", "/v1/select_destinations", flavor).status, status);
    }
    let text = scrape(&server);
    for (sample, expected) in [
        ("stowplan_http_requests_total{surface=\"native\",method=\"PUT\",status=\"2xx\"}", 1.0),
        ("stowplan_http_requests_total{surface=\"native\",method=\"POST\",status=\"4xx\"}", 1.0),
        ("stowplan_http_request_duration_seconds_count{surface=\"native\"}", 3.0),
        ("stowplan_decisions_total{outcome=\"placed\"}", 1.0),
        ("stowplan_decisions_total{outcome=\"no_valid_host\"}", 1.0),
        ("stowplan_hosts{state=\"up\"}", 1.0),
        ("stowplan_resource_used{resource_class=\"VCPU\"}", 3.0),
        ("stowplan_resource_capacity{resource_class=\"VCPU\"}", 4.0),
        ("stowplan_consumers", 1.0),
        ("stowplan_ledger_writable", 1.0),
        ("stowplan_bus_state{state=\"off\"}", 1.0),
    ] {
        assert_eq!(value(&text, sample), Some(expected), "{sample}\n{text}");
    }
    assert!(value(&text, "stowplan_ledger_mutations_total").unwrap() >= 3.0);
}
