//! What is said about a file that is wrong or odd.

use super::{load, warnings};

#[test]
fn all_errors_of_a_file_are_told_at_once() {
    let errors = load(
        "[scheduler]\n\
         max_attempts = none\n\
         novalue\n\
         [placement_database]\n\
         connection = mysql+pymysql://u:secret@h:port/d\n\
         [filter_scheduler]\n\
         pci_weight_multiplier = -1\n\
         weight_normalization = zscore\n",
    )
    .unwrap_err();
    let expected = "\
s.conf:2: [scheduler] max_attempts = \"none\": expected an integer of at least 1
s.conf:3: \"novalue\": expected option = value
s.conf:5: [placement_database] connection = \"mysql+pymysql://u:***@h:port/d\": expected a port from 0 to 65535 after the host, not port
s.conf:7: [filter_scheduler] pci_weight_multiplier = \"-1\": expected a number of at least 0
s.conf:8: [filter_scheduler] weight_normalization = \"zscore\": expected one of min_max, nova";
    assert_eq!(errors.to_string(), expected);
}

#[test]
fn unknown_names_are_warned_of_with_the_nearest() {
    let cases = [
        (
            "[scheduler]\nmax_atempts = 3",
            "s.conf:2: [scheduler] max_atempts: there is no such option, did you mean max_attempts?",
        ),
        (
            "[scheduler]\nhost_subset_size = 3",
            "s.conf:2: [scheduler] host_subset_size: there is no such option, did you mean \
             [filter_scheduler] host_subset_size?",
        ),
        ("[scheduler]\nxyz = 3", "s.conf:2: [scheduler] xyz: there is no such option"),
        (
            "[filter_schedler]\na = 3\nb = 4",
            "s.conf:2: [filter_schedler]: there is no such section, did you mean [filter_scheduler]?",
        ),
        (
            "[default]\ndebug = true",
            "s.conf:2: [default]: there is no such section, did you mean [DEFAULT]?",
        ),
        ("[a.b]\nk = 1", "s.conf:2: [a.b]: there is no such section"),
        (
            "[api]]\nbind_port = 1",
            "s.conf:2: [api]]: there is no such section, did you mean [api]?",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(warnings(&load(text).unwrap()), [expected], "{text}");
    }
}

#[test]
fn files_of_the_peers_are_taken_without_a_word() {
    let loaded = load(
        "[DEFAULT]\nmy_ip = 10.0.0.1\ncompute_driver = libvirt.LibvirtDriver\nlog_dir = /var/log\n\
         [keystone_authtoken]\nauth_url = http://k:5000\npassword = pa$$word\n\
         [oslo_messaging_rabbit]\nrabbit_quorum_queue = true\n\
         [placement]\nauth_type = password\nregion_name = one\n\
         [placement_database]\nslave_connection =\n[glance]\napi_servers = http://g\n",
    )
    .unwrap();
    assert_eq!(warnings(&loaded), [""; 0]);
    assert_eq!(loaded.unused.len(), 7);
}

#[test]
fn older_names_still_count() {
    let loaded = load("[DEFAULT]\nscheduler_default_filters = ComputeFilter\n").unwrap();
    assert_eq!(loaded.settings.filter_scheduler.enabled_filters, ["ComputeFilter"]);
    assert_eq!(
        warnings(&loaded),
        ["s.conf:2: [DEFAULT] scheduler_default_filters is now [filter_scheduler] enabled_filters"]
    );
    let loaded = load("[DEFAULT]\nlogfile = /a\nlog_file = /b\n").unwrap();
    assert_eq!(loaded.settings.default.log_file, Some("/b".into()));
    assert_eq!(
        warnings(&loaded),
        ["s.conf:2: [DEFAULT] logfile is ignored, as the newer name [DEFAULT] log_file is set too"]
    );
}

#[test]
fn options_that_do_not_go_together() {
    let refused = [
        (
            "[api]\nbind_host = 0.0.0.0",
            "s.conf:2: [api] bind_host = \"0.0.0.0\": expected a loopback",
        ),
        ("[api]\nbind_host = example.org", "s.conf:2: [api] bind_host"),
        (
            "[api]\nplacement_prefix = placement",
            "s.conf:2: [api] placement_prefix = \"placement\": expected a path such as /name",
        ),
        ("[api]\ncompute_prefix = /", "s.conf:2: [api] compute_prefix = \"/\": expected a path"),
        (
            "[batch]\ntiers = capacity\ntiers = proportion",
            "s.conf:3: [batch] tiers: expected proportion or capacity, not both",
        ),
        (
            "[batch]\ntiers = drf,proportion\n[batch:drf]\nenableHierarchy = true",
            "s.conf:2: [batch] tiers: expected proportion or drf with enableHierarchy, not both",
        ),
    ];
    for (text, expected) in refused {
        let errors = load(text).unwrap_err().to_string();
        assert!(errors.starts_with(expected), "{text}: {errors}");
    }
    for text in [
        "[api]\nbind_host = 0.0.0.0\nallow_insecure_noauth = true",
        "[api]\nbind_host = ::1",
        "[api]\nbind_host = localhost",
    ] {
        assert_eq!(warnings(&load(text).unwrap()), [""; 0], "{text}");
    }
    let warned = [
        (
            "[batch]\ntiers = gang\ntiers = capacity",
            "[batch] tiers: capacity is not in the first tier",
        ),
        (
            "[batch]\nactions = allocate,reclaim\ntiers = gang,overcommit",
            "[batch] tiers: overcommit together with action reclaim",
        ),
        (
            "[batch:overcommit]\novercommit-factor = 0.5",
            "[batch:overcommit] overcommit-factor is below 1: 1.2 is used",
        ),
        (
            "[DEFAULT]\nservice_down_time = 10",
            "[DEFAULT] service_down_time: 10 is not above report_interval 10 and is read as 25",
        ),
    ];
    for (text, expected) in warned {
        let warnings = warnings(&load(text).unwrap()).join("\n");
        assert!(warnings.contains(expected), "{text}: {warnings}");
    }
}
