//! What is no body of its type is refused where it is wrong, at any depth.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::{read, read_list};
use crate::groups::NewGroup;
use crate::select::{GroupRef, SelectRequest};
use serde::de::DeserializeOwned;
use stowplan_model::host::{HostReport, Taint};

fn told<T: DeserializeOwned>(body: &str) -> String {
    match read::<T>(body.as_bytes()) {
        Ok(_) => format!("{body} was taken"),
        Err(errors) => errors.to_string(),
    }
}

/// How a body is read, the body, and what is told of it.
type Case = (fn(&str) -> String, &'static str, &'static str);

#[test]
fn lists_are_no_objects() {
    let cases: [Case; 10] = [
        (told::<SelectRequest>, r#"{"flavor":["x",7,512]}"#, r#"flavor is ["x",7,512]"#),
        (told::<SelectRequest>, r#"{"flavor":[]}"#, "flavor is []"),
        (told::<SelectRequest>, r#"{"hint":[["h1"]]}"#, r#"hint is [["h1"]]"#),
        (told::<SelectRequest>, r#"{"requested_destination":["h"]}"#, "requested_destination is"),
        (told::<SelectRequest>, r#"{"group":{"rules":[3]}}"#, "group.rules is [3]"),
        (
            told::<SelectRequest>,
            r#"{"numa_topology":{"cells":[[1]]}}"#,
            "numa_topology.cells[0] is",
        ),
        (told::<NewGroup>, r#"{"rules":[3]}"#, "rules is [3]"),
        (told::<HostReport>, r#"{"numa_cells":[[]]}"#, "numa_cells[0] is []"),
        (told::<HostReport>, r#"{"service":[]}"#, "service is []"),
        (told::<HostReport>, r#"{"inventory":{"VCPU":[8]}}"#, "inventory.VCPU is [8]"),
    ];
    for (told, body, expected) in cases {
        let told = told(body);
        assert!(told.starts_with(expected), "{body}: {told}");
        assert!(told.ends_with(": expected an object"), "{body}: {told}");
    }
}

#[test]
fn unknown_fields_are_named_at_any_depth() {
    let cases: [Case; 11] = [
        (told::<SelectRequest>, r#"{"flavour":{}}"#, "flavour is {}|flavor"),
        (told::<SelectRequest>, r#"{"flavor":{"vcpu":64}}"#, "flavor.vcpu is 64|vcpus"),
        (told::<SelectRequest>, r#"{"group":{"polcy":"x"}}"#, r#"group.polcy is "x"|policy"#),
        (
            told::<SelectRequest>,
            r#"{"group":{"rules":{"max_servers_per_host":1}}}"#,
            "group.rules.max_servers_per_host is 1|max_server_per_host",
        ),
        (
            told::<SelectRequest>,
            r#"{"network_metadata":{"physnet":[]}}"#,
            "network_metadata.physnet is []|physnets",
        ),
        (
            told::<HostReport>,
            r#"{"taints":[{"key":"a","effect":"NoSchedule","val":"x"}]}"#,
            r#"taints[0].val is "x"|value"#,
        ),
        (told::<HostReport>, r#"{"devices":[{"nam":"x"}]}"#, r#"devices[0].nam is "x"|name"#),
        (
            told::<HostReport>,
            r#"{"metrics":[{"name":"a","values":1}]}"#,
            "metrics[0].values is 1|value",
        ),
        (told::<HostReport>, r#"{"service":{"disable":true}}"#, "service.disable is true|disabled"),
        (
            told::<HostReport>,
            r#"{"numa_cells":[{"cpusets":[]}]}"#,
            "numa_cells[0].cpusets is []|cpuset",
        ),
        (
            told::<HostReport>,
            r#"{"instances":{"6b1c0c3e-3e0f-5a53-9a0e-51b152b93a4d":{"names":1}}}"#,
            "instances.6b1c0c3e-3e0f-5a53-9a0e-51b152b93a4d.names is 1|name",
        ),
    ];
    for (told, body, expected) in cases {
        let (field, near) = expected.split_once('|').unwrap();
        let expected = format!("{field}: expected no field of this name (is {near} meant?)");
        assert_eq!(told(body), expected, "{body}");
    }
    let both = told::<SelectRequest>(r#"{"zzz":1,"count":"x","flavor":{"yyy":2}}"#);
    assert_eq!(
        both,
        "zzz is 1: expected no field of this name; count is \"x\": expected a whole number; \
         flavor.yyy is 2: expected no field of this name"
    );
}

#[test]
fn numbers_out_of_range_name_their_field() {
    for (body, expected) in [
        (r#"{"count":1e999}"#, "count is too large: expected a number of at most 64 bits"),
        (
            r#"{"seed":18446744073709551616}"#,
            "seed is 1.8446744073709552e19: expected a whole number from 0 to 18446744073709551615",
        ),
        (
            r#"{"flavor":{"vcpus":9223372036854775808}}"#,
            "flavor.vcpus is 9223372036854775808: expected a whole number from \
             -9223372036854775808 to 9223372036854775807",
        ),
        (r#"{"count":1.5}"#, "count is 1.5: expected a whole number"),
    ] {
        assert_eq!(told::<SelectRequest>(body).replace("e+", "e"), expected, "{body}");
    }
}

#[test]
fn what_is_right_is_read() {
    let request: SelectRequest = read(
        br#"{"flavor":{"vcpus":2,"extra_specs":{"any:thing":1}},"group":{"policy":"affinity",
            "members":[],"rules":{"max_server_per_host":"2"}},"scheduler_hints":{"any":"x"},
            "image":{"properties":{"free":[1]}},"hint":{"nodeNames":["a"]},"project_id":null}"#,
    )
    .unwrap();
    assert_eq!(request.flavor.unwrap().vcpus, 2);
    let Some(GroupRef::Inline(group)) = request.group else { panic!("{:?}", request.group) };
    assert_eq!(group.rules.unwrap().max_server_per_host, Some(2));
    let report: HostReport = read(
        br#"{"pci_pools":[{"vendor_id":"8086","product_id":"1515","count":1,"tag":"x"}],
            "stats":{"free":{}},"labels":{"a":"b"}}"#,
    )
    .unwrap();
    assert_eq!(report.pci_pools.unwrap()[0].tags["tag"], "x");
}

#[test]
fn lists_are_read_item_by_item() {
    let told = |body: &str| match read_list::<Taint>(body.as_bytes(), "taints") {
        Ok(_) => "taken".to_owned(),
        Err(errors) => errors.to_string(),
    };
    assert_eq!(told(r#"[{"key":"a","effect":"NoSchedule"}]"#), "taken");
    assert_eq!(
        told(r#"[["a","","NoSchedule"],{"key":"a","effect":"NoSchedule"},{"key":"a","effekt":1}]"#),
        "taints[0] is [\"a\",\"\",\"NoSchedule\"]: expected an object; \
         taints[2].effekt is 1: expected no field of this name (is effect meant?)"
    );
    assert_eq!(told("{}"), "body is {}: expected a list");
    assert_eq!(told(r#"[{"key":"a"}]"#), r#"taints[0] is {"key":"a"}: expected a field effect"#);
}
