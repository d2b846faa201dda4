//! Destinations of single requests.

use serde_json::json;
use stowplan_scheduler::SchedulerError;

use crate::cloud::{Cloud, NOW, host, small, small_with, uuid};

#[tokio::test]
async fn a_server_goes_where_there_is_most_room() {
    let cloud = Cloud::new().await;
    cloud.report("small", host(4)).await;
    cloud.report("large", host(16)).await;
    let answer = cloud.select(small_with(json!({"instance_uuids": [uuid(7)]}))).await;
    let selection = &answer.selections[0];
    assert_eq!(selection.instance_uuid, uuid(7));
    assert_eq!(selection.destination.host, "large");
    let image = cloud.image();
    let consumer = image.consumers.get(uuid(7)).unwrap();
    assert_eq!((&*consumer.project, &*consumer.user), ("project", "user"));
    assert_eq!(consumer.consumer_type.as_deref(), Some("INSTANCE"));
    let origin = consumer.origin.as_ref().unwrap();
    assert_eq!(
        (origin.host, origin.decision),
        (selection.destination.compute_node_uuid, answer.decision_id)
    );
    for (class, used) in [("VCPU", 1), ("MEMORY_MB", 1024), ("DISK_GB", 1)] {
        assert_eq!(cloud.used("large", class), used, "{class}");
    }
    let text = serde_json::to_value(selection).unwrap();
    let node = selection.destination.compute_node_uuid.to_string();
    assert_eq!(
        text["allocation_request"],
        json!({
            "allocations": {&node: {"resources": {"DISK_GB": 1, "MEMORY_MB": 1024, "VCPU": 1}}},
            "mappings": {"": [&node]},
        })
    );
}

#[tokio::test]
async fn the_same_server_twice_is_a_conflict_only_where_it_cannot_be_moved() {
    let cloud = Cloud::new().await;
    cloud.report("h1", host(4)).await;
    let asked = small_with(json!({"instance_uuids": [uuid(7)]}));
    cloud.select(asked.clone()).await;
    cloud.report("h2", host(8)).await;
    // It holds h1 already: as in an evacuation, the new host comes beside it, and
    // what it holds is no alternate.
    let mut moving = asked.clone();
    moving["alternates"] = json!(2);
    let moved = cloud.select(moving).await;
    assert_eq!(moved.selections[0].alternates, []);
    assert_eq!(moved.selections[0].destination.host, "h2");
    assert_eq!((cloud.used("h1", "VCPU"), cloud.used("h2", "VCPU")), (1, 1));
    assert_eq!(cloud.image().consumers.len(), 1);
    // Now there is no host that it does not hold.
    let refusal = cloud.no_host(asked).await;
    assert!(refusal.reasons[0].contains("of 2 hosts"), "{refusal}");
    assert_eq!((cloud.used("h1", "VCPU"), cloud.used("h2", "VCPU")), (1, 1));
}

#[tokio::test]
async fn what_is_no_server_of_the_project_is_not_moved() {
    let cloud = Cloud::new().await;
    cloud.hosts("h", 2, 8).await;
    let asked =
        |project: &str| small_with(json!({"instance_uuids": [uuid(7)], "project_id": project}));
    cloud.select(asked("mine")).await;
    let refused = cloud.try_select(asked("other")).await.unwrap_err();
    assert_eq!(refused.status(), 409);
    assert!(refused.to_string().contains("a server of project mine"), "{refused}");
    assert_eq!(cloud.used("h0", "VCPU") + cloud.used("h1", "VCPU"), 1);
}

#[tokio::test]
async fn several_servers_are_all_placed_or_none() {
    let cloud = Cloud::new().await;
    cloud.hosts("h", 3, 2).await;
    let refusal = cloud.no_host(small_with(json!({"count": 7}))).await;
    assert!(refusal.reasons[0].contains("6 of the servers"), "{refusal}");
    assert!(cloud.image().consumers.is_empty());
    let answer = cloud.select(small_with(json!({"count": 6}))).await;
    assert_eq!(answer.selections.len(), 6);
    for name in ["h0", "h1", "h2"] {
        assert_eq!(cloud.used(name, "VCPU"), 2);
    }
}

#[tokio::test]
async fn several_servers_take_one_device_each() {
    let cloud = Cloud::new().await;
    let mut report = host(16);
    report["devices"] = json!([
        {"name": "gpu0", "resource_class": "PGPU"},
        {"name": "gpu1", "resource_class": "PGPU"},
        {"name": "gpu2", "resource_class": "PGPU"},
    ]);
    cloud.report("h1", report).await;
    let flavor = json!({"vcpus": 1, "memory_mb": 1, "extra_specs": {"resources_G:PGPU": "1"}});
    let asked = json!({"flavor": flavor, "count": 3});
    let answer = cloud.select(asked.clone()).await;
    let mut devices: Vec<_> = answer
        .selections
        .iter()
        .map(|s| {
            let mappings = &s.destination.allocation_request.mappings;
            mappings.iter().find(|(suffix, _)| suffix == "_G").unwrap().1[0]
        })
        .collect();
    devices.sort();
    devices.dedup();
    assert_eq!(devices.len(), 3);
    let refusal = cloud.no_host(asked).await;
    assert!(refusal.reasons[0].contains("1 PGPU (group _G)"), "{refusal}");
}

#[tokio::test]
async fn a_claim_is_of_the_device_that_filters_have_left() {
    let cloud = Cloud::with(|settings| {
        settings.filter_scheduler.pci_in_placement = true;
        settings.filter_scheduler.enabled_filters.push("PciPassthroughFilter".to_owned());
    })
    .await;
    let mut report = host(16);
    report["devices"] = json!([
        {"name": "gpu0", "resource_class": "CUSTOM_GPU"},
        {"name": "gpu1", "resource_class": "CUSTOM_GPU"},
    ]);
    cloud.report("h1", report.clone()).await;
    let image = cloud.image();
    let device = |name: &str| {
        let at = image.providers.find_name(&format!("h1_{name}")).unwrap();
        image.providers.uuid(at)
    };
    let pool = |name: &str, vendor: &str| {
        json!({
            "vendor_id": vendor, "product_id": "1db6", "count": 1,
            "rp_uuid": device(name).to_string(), "resource_class": "CUSTOM_GPU",
        })
    };
    report["pci_pools"] = json!([pool("gpu0", "10de"), pool("gpu1", "1002")]);
    cloud.report("h1", report).await;
    let asked = |count: i64| {
        let spec = json!({"resource_class": "gpu", "vendor_id": "1002"});
        let requests = json!([{"request_id": "r1", "count": count, "spec": [spec]}]);
        small_with(json!({"pci_requests": requests}))
    };
    // Two devices are free, but only one of them is of that vendor.
    let refusal = cloud.no_host(asked(2)).await;
    assert!(refusal.reasons[0].contains("PciPassthroughFilter"), "{refusal}");
    let answer = cloud.select(asked(1)).await;
    let taken = &answer.selections[0].destination.allocation_request.mappings;
    let of_request = taken.iter().find(|(suffix, _)| suffix == "r1-0").unwrap();
    assert_eq!(of_request.1[..], [device("gpu1")]);
    let refusal = cloud.no_host(asked(1)).await;
    assert!(!refusal.reasons.is_empty());
}

#[tokio::test]
async fn several_servers_take_devices_of_their_own_though_no_filter_looks_at_them() {
    let cloud = Cloud::with(|settings| settings.filter_scheduler.pci_in_placement = true).await;
    let mut report = host(16);
    report["devices"] = json!([
        {"name": "gpu0", "resource_class": "CUSTOM_GPU"},
        {"name": "gpu1", "resource_class": "CUSTOM_GPU"},
    ]);
    cloud.report("h1", report).await;
    let request = json!({"request_id": "r1", "count": 1, "spec": [{"resource_class": "gpu"}]});
    let asked = |count: i64| small_with(json!({"pci_requests": [request], "count": count}));
    let _ = cloud.no_host(asked(3)).await;
    let answer = cloud.select(asked(2)).await;
    assert_eq!(answer.selections.len(), 2);
    assert_eq!(cloud.used("h1", "CUSTOM_GPU"), 2);
}

#[tokio::test]
async fn alternates_are_other_hosts_with_room_in_the_same_cell() {
    let cloud = Cloud::new().await;
    for (name, vcpus, cell) in [("a", 8, 1), ("b", 7, 1), ("c", 6, 2), ("d", 5, 1), ("e", 2, 1)] {
        let mut report = host(vcpus);
        report["cell_uuid"] = json!(uuid(cell));
        cloud.report(name, report).await;
    }
    let names = |selection: &stowplan_scheduler::select::Selection| -> Vec<String> {
        selection.alternates.iter().map(|alternate| alternate.host.clone()).collect()
    };
    let answer = cloud.select(small_with(json!({"alternates": 2, "dry_run": true}))).await;
    assert_eq!(answer.selections[0].destination.host, "a");
    assert_eq!(names(&answer.selections[0]), ["b", "d"]);

    let large = json!({"flavor": {"vcpus": 5, "memory_mb": 1}, "alternates": 5, "count": 2});
    let answer = cloud.select(large).await;
    assert_eq!(
        answer.selections.iter().map(|s| s.destination.host.as_str()).collect::<Vec<_>>(),
        ["a", "b"]
    );
    for selection in &answer.selections {
        assert_eq!(names(selection), ["d"], "c is in another cell, e has no room");
    }
}

#[tokio::test]
async fn a_dry_run_changes_nothing_but_is_recorded() {
    let cloud = Cloud::new().await;
    cloud.report("h1", host(4)).await;
    let answer = cloud.select(small_with(json!({"dry_run": true, "count": 4}))).await;
    assert_eq!(answer.selections.len(), 4);
    assert!(cloud.image().consumers.is_empty());
    let decision =
        cloud.scheduler.decision(&answer.decision_id.unwrap().to_string()).await.unwrap();
    assert_eq!(decision.outcome, "dry_run");
}

#[tokio::test]
async fn a_dry_run_may_count_allocations_as_released() {
    let cloud = Cloud::new().await;
    cloud.report("h1", host(4)).await;
    let large = json!({"vcpus": 4, "memory_mb": 1024, "root_gb": 1});
    let _ = cloud.select(json!({"flavor": large, "instance_uuids": [uuid(7)]})).await;
    let asked = |released: &[u128]| {
        let released: Vec<_> = released.iter().map(|number| uuid(*number)).collect();
        json!({"flavor": large, "dry_run": true, "as_if_released": released})
    };
    let _ = cloud.no_host(asked(&[])).await;
    let _ = cloud.no_host(asked(&[8])).await;
    let answer = cloud.select(asked(&[7, 8])).await;
    assert_eq!(answer.selections[0].destination.host, "h1");
    // Nothing was released in truth.
    assert_eq!(cloud.used("h1", "VCPU"), 4);
    let mut claimed = asked(&[7]);
    claimed["dry_run"] = json!(false);
    let SchedulerError::Fields(errors) = cloud.try_select(claimed).await.unwrap_err() else {
        panic!("expected errors of fields");
    };
    assert_eq!(errors.all()[0].field, "as_if_released");
}

#[tokio::test]
async fn targets_are_looked_at_alone() {
    let cloud = Cloud::with(|settings| settings.scheduler.max_placement_results = Some(1)).await;
    cloud.hosts("h", 4, 4).await;
    for (asked, expected) in [
        (json!({"force_hosts": ["H3"]}), "h3"),
        (json!({"force_nodes": ["h2"]}), "h2"),
        (json!({"requested_destination": {"host": "h1"}}), "h1"),
    ] {
        let answer = cloud.select(small_with(asked)).await;
        assert_eq!(answer.selections[0].destination.host, expected);
    }
    let unknown = cloud.no_host(small_with(json!({"requested_destination": {"host": "h9"}}))).await;
    assert_eq!(unknown.reasons, ["No such host - host: h9 node:  "]);
    let limited = cloud.select(small_with(json!({"dry_run": true}))).await;
    let id = limited.decision_id.unwrap().to_string();
    cloud.scheduler.drain().await;
    assert_eq!(cloud.scheduler.decision(&id).await.unwrap().body.unwrap()["candidates"], 1);
}

#[tokio::test]
async fn traits_resources_and_groups_of_extra_specs() {
    let cloud = Cloud::new().await;
    let mut fast = host(4);
    fast["traits"] = json!(["CUSTOM_FAST"]);
    cloud.report("fast", fast).await;
    cloud.report("slow", host(64)).await;
    let with = |specs: serde_json::Value| json!({"flavor": {"vcpus": 1, "memory_mb": 1, "extra_specs": specs}});
    for (specs, expected) in [
        (json!({"trait:CUSTOM_FAST": "required"}), "fast"),
        (json!({"trait:CUSTOM_FAST": "forbidden"}), "slow"),
        (json!({"resources:VCPU": "5"}), "slow"),
        (json!({"resources:DISK_GB": "many"}), "slow"),
    ] {
        let answer = cloud.select(with(specs.clone())).await;
        assert_eq!(answer.selections[0].destination.host, expected, "{specs}");
        assert_eq!(answer.warnings.len(), usize::from(specs["resources:DISK_GB"].is_string()));
    }
    assert_eq!(cloud.used("slow", "VCPU"), 7, "an amount named replaces the flavor's own");
    let error = cloud.try_select(with(json!({"trait:CUSTOM_NONE": "required"}))).await.unwrap_err();
    assert_eq!(error.to_string(), "No such trait(s): CUSTOM_NONE.");
}

#[tokio::test]
async fn dedicated_cpus_come_from_shared_ones_only_where_that_is_allowed() {
    let asked = json!({"flavor": {"vcpus": 2, "memory_mb": 1, "extra_specs": {
        "hw:cpu_policy": "dedicated", "hw:emulator_threads_policy": "isolate",
    }}});
    let both = json!({"inventory": {"VCPU": {"total": 4}, "PCPU": {"total": 4},
        "MEMORY_MB": {"total": 64}}});
    for (fallback, places) in [(true, 3), (false, 1)] {
        let cloud = Cloud::with(|settings| {
            settings.workarounds.disable_fallback_pcpu_query = !fallback;
        })
        .await;
        cloud.report("h1", both.clone()).await;
        for _ in 0..places {
            cloud.select(asked.clone()).await;
        }
        cloud.no_host(asked.clone()).await;
        let used = (cloud.used("h1", "PCPU"), cloud.used("h1", "VCPU"));
        assert_eq!(used, (3, if fallback { 4 } else { 0 }));
    }
}

#[tokio::test]
async fn ports_ask_for_groups_of_their_own() {
    let cloud = Cloud::new().await;
    let mut report = host(4);
    report["devices"] = json!([{"name": "nic", "resource_class": "NET_BW_EGR_KILOBIT_PER_SEC", "total": 10000,
                "traits": ["CUSTOM_PHYSNET_1"]}]);
    cloud.report("h1", report).await;
    let port = |kbit: i64| {
        small_with(json!({"requested_resources": [{
            "requester_id": "port-1", "resources": {"NET_BW_EGR_KILOBIT_PER_SEC": kbit},
            "required_traits": ["CUSTOM_PHYSNET_1"],
        }]}))
    };
    let answer = cloud.select(port(8000)).await;
    let mappings = &answer.selections[0].destination.allocation_request.mappings;
    assert_eq!(mappings.iter().map(|(s, _)| s.as_str()).collect::<Vec<_>>(), ["", "port-1"]);
    let refusal = cloud.no_host(port(8000)).await;
    assert_eq!(
        refusal.reasons[0],
        "8000 NET_BW_EGR_KILOBIT_PER_SEC (group port-1): none of 1 has it, the most that can be \
         taken is 2000 NET_BW_EGR_KILOBIT_PER_SEC at h1_nic"
    );
}

#[tokio::test]
async fn requested_groups_and_roots_may_say_where_they_are() {
    let cloud = Cloud::new().await;
    for name in ["h1", "h2"] {
        let mut report = host(4);
        report["devices"] = json!([{"name": "nic", "resource_class": "NET_BW_EGR_KILOBIT_PER_SEC",
            "total": 10000}]);
        cloud.report(name, report).await;
    }
    let image = cloud.scheduler.ledger().image();
    let root = |name: &str| image.hosts.find(name, name).unwrap().row.uuid;
    let asked = |more: serde_json::Value| {
        let mut group = json!({"requester_id": "port-1",
            "resources": {"NET_BW_EGR_KILOBIT_PER_SEC": 10}});
        let more = more.as_object().unwrap().clone();
        group.as_object_mut().unwrap().extend(more);
        small_with(json!({"dry_run": true, "requested_resources": [group]}))
    };
    for name in ["h1", "h2"] {
        let answer = cloud.select(asked(json!({"in_tree": root(name)}))).await;
        assert_eq!(answer.selections[0].destination.host, name);
    }
    cloud.select(asked(json!({"forbidden_aggregates": [uuid(5)]}))).await;
    cloud.no_host(asked(json!({"aggregates": [[uuid(5), uuid(6)]]}))).await;
    let rooted = |field: &str| {
        let mut asked = small_with(json!({"dry_run": true}));
        asked[field] = json!(["HW_CPU_X86_AVX2"]);
        asked
    };
    cloud.select(rooted("root_forbidden")).await;
    cloud.no_host(rooted("root_required")).await;
}

#[tokio::test]
async fn hosts_that_are_down_or_disabled_take_nothing() {
    let cloud = Cloud::new().await;
    let mut silent = host(64);
    silent["service"] = json!({"last_seen_up": NOW.0 - 120_000_000});
    cloud.report("silent", silent).await;
    let mut disabled = host(64);
    disabled["service"] = json!({"disabled": true});
    cloud.report("disabled", disabled).await;
    let refusal = cloud.no_host(small()).await;
    assert_eq!(
        refusal.reasons[0],
        "ComputeFilter left out 1 of 1 hosts, such as silent: its service was last heard of 120 s \
         ago, 60 s is the limit"
    );
    assert_eq!(
        SchedulerError::NoValidHost(Box::new(refusal.clone())).to_string(),
        format!("No valid host was found. {}; {}", refusal.reasons[0], refusal.reasons[1])
    );
    let forced = cloud.select(small_with(json!({"force_hosts": ["silent"]}))).await;
    assert_eq!(forced.selections[0].destination.host, "silent");
}

#[tokio::test]
async fn the_nearest_miss_of_each_requirement() {
    let cloud = Cloud::new().await;
    cloud.hosts("h", 2, 4).await;
    let refusal = cloud.no_host(json!({"flavor": {"vcpus": 9, "memory_mb": 512}})).await;
    assert_eq!(
        refusal.reasons[0],
        "9 VCPU: none of 2 has it, the most that can be taken is 4 VCPU at h0"
    );
    let nobody = Cloud::new().await.no_host(small()).await;
    assert_eq!(nobody.reasons, ["there are no hosts"]);
}

#[tokio::test]
async fn all_bad_fields_of_a_request_are_named_at_once() {
    let cloud = Cloud::new().await;
    let asked = json!({
        "flavour": {}, "count": 0, "alternates": -1, "group": "g1", "seed": "x",
    });
    let SchedulerError::Fields(errors) = cloud.try_select(asked).await.unwrap_err() else {
        panic!("expected errors of fields");
    };
    let fields: Vec<&str> = errors.all().iter().map(|error| error.field.as_str()).collect();
    assert_eq!(fields, ["flavour", "group", "seed"]);
    let asked = json!({
        "count": 0, "alternates": -1, "instance_uuids": [uuid(1), uuid(1)],
        "requested_resources": [{"requester_id": "a b", "resources": {"GPU": 0}}],
    });
    let SchedulerError::Fields(errors) = cloud.try_select(asked).await.unwrap_err() else {
        panic!("expected errors of fields");
    };
    let fields: Vec<&str> = errors.all().iter().map(|error| error.field.as_str()).collect();
    assert_eq!(
        fields,
        [
            "count",
            "count",
            "instance_uuids[1]",
            "flavor",
            "requested_resources[0].requester_id",
            "requested_resources[0].resources.GPU",
            "requested_resources[0].resources.GPU",
            "alternates",
        ]
    );
}

#[tokio::test]
async fn a_seed_decides_the_same_way_again() {
    let cloud = Cloud::with(|settings| {
        settings.filter_scheduler.host_subset_size = 9;
    })
    .await;
    cloud.hosts("h", 9, 4).await;
    let places = |answer: stowplan_scheduler::select::Destinations| -> Vec<String> {
        answer.selections.into_iter().map(|s| s.destination.host).collect()
    };
    let dry = |seed: u64| small_with(json!({"dry_run": true, "count": 5, "seed": seed}));
    let first = places(cloud.select(dry(42)).await);
    assert_eq!(places(cloud.select(dry(42)).await), first);
    let mut others = Vec::new();
    for seed in 0..8 {
        others.push(places(cloud.select(dry(seed)).await));
    }
    assert!(others.iter().any(|other| *other != first));
}

#[tokio::test]
async fn a_server_that_cannot_keep_what_it_holds_is_refused_with_the_cause() {
    for more in [json!({}), json!({"alternates": 1})] {
        let cloud = Cloud::new().await;
        for name in ["h1", "h2", "h3"] {
            cloud.report(name, host(8)).await;
        }
        let server = uuid(1);
        let asked = json!({
            "flavor": {"vcpus": 8, "memory_mb": 1024}, "instance_uuids": [server],
            "requested_destination": {"host": "h1"},
        });
        cloud.select(asked).await;
        // What it holds there is more than one claim may now be.
        cloud.report("h1", host(4)).await;
        let mut asked = json!({
            "flavor": {"vcpus": 8, "memory_mb": 1024}, "instance_uuids": [server],
            "ignore_hosts": ["h1"],
        });
        for (name, value) in more.as_object().unwrap() {
            asked[name] = value.clone();
        }
        let refused = cloud.try_select(asked).await.unwrap_err().to_string();
        assert!(refused.contains("would violate inventory constraints"), "{refused}");
        assert_eq!((cloud.used("h1", "VCPU"), cloud.used("h2", "VCPU")), (8, 0));
    }
}
