//! `stowplan config`.

use super::{folder, stowplan};
use serde_json::Value;
use std::fs;
use stowplan_tests::{Cli, workspace};

#[test]
fn the_sample_is_the_file_in_etc_and_holds() {
    let folder = folder(&[]);
    let sample = stowplan(&folder, &["config", "sample"]);
    assert_eq!(sample.code, 0);
    let file = fs::read_to_string(workspace().join("etc/scheduler.conf")).unwrap();
    assert_eq!(sample.stdout.trim_end(), file.trim_end());
    fs::write(folder.path().join("scheduler.conf"), &sample.stdout).unwrap();
    let check = stowplan(&folder, &["config", "check", "scheduler.conf"]);
    assert_eq!((check.code, check.stdout.as_str()), (0, "0 set, 0 warned of, nothing wrong\n"));
}

#[test]
fn all_errors_come_at_once_with_their_places() {
    let text = "[api]\nbind_port = many\n[scheduler]\nmax_attempts = 0\n[filter_scheduler]\n\
                ram_weight_multiplier = heavy\n";
    let folder = folder(&[("bad.conf", text)]);
    for arguments in [&["config", "check", "bad.conf"][..], &["serve", "--config", "bad.conf"]] {
        let output = stowplan(&folder, arguments);
        assert_eq!(output.code, 2, "{arguments:?}");
        for place in
            ["bad.conf:2: [api] bind_port", "bad.conf:4: [scheduler] max_attempts", "bad.conf:6: "]
        {
            assert!(output.stderr.contains(place), "{place}: {}", output.stderr);
        }
    }
}

#[test]
fn the_check_refuses_what_serve_refuses() {
    let cases = [
        ("[batch]\ntiers = zzz\n", "bad.conf:2: [batch] tiers: "),
        ("[filter_scheduler]\nenabled_filters = Nope\n", "bad.conf:2: filter_scheduler."),
        ("[metrics]\nweight_setting = a=1.0,c=x\n", "bad.conf:2: [metrics] weight_setting"),
        ("[metrics]\nweight_setting = a=nan\n", "bad.conf:2: [metrics] weight_setting"),
        (
            "[filter_scheduler]\nram_weight_multiplier = 1e999\n",
            "bad.conf:2: [filter_scheduler] ram_weight_multiplier = \"1e999\": expected a finite number",
        ),
        ("[filter_scheduler]\nram_weight_multiplier = nan\n", "bad.conf:2: "),
        ("[oslo_policy]\npolicy_file = gone.yaml\n", "bad.conf:2: [oslo_policy] policy_file = "),
        ("[oslo_policy]\npolicy_file = bad.conf\n", "bad.conf:2: policy file "),
    ];
    for (text, told) in cases {
        let folder = folder(&[("bad.conf", text)]);
        for arguments in [&["config", "check", "bad.conf"][..], &["serve", "--config", "bad.conf"]]
        {
            let output = stowplan(&folder, arguments);
            assert_eq!(output.code, 2, "{text} {arguments:?}: {}", output.stderr);
            assert!(output.stderr.contains(told), "{text} {arguments:?}: {}", output.stderr);
            assert!(!output.stdout.contains("listens"), "{text}: {}", output.stdout);
            let cause = output.stderr.trim().rsplit(": ").next().unwrap();
            assert_eq!(output.stderr.matches(cause).count(), 1, "{text}: {}", output.stderr);
        }
    }
    let both = "[api]\nbind_port = many\n[batch]\ntiers = zzz\n";
    let folder = folder(&[("bad.conf", both)]);
    let output = stowplan(&folder, &["config", "check", "bad.conf"]);
    for line in ["bad.conf:2: ", "bad.conf:4: ", "2 wrong"] {
        assert!(output.stderr.contains(line), "{line}: {}", output.stderr);
    }
}

#[test]
fn what_the_command_line_sets_must_exist() {
    let folder = folder(&[("odd.conf", "[nope]\nx = 1\n")]);
    for (set, told) in [
        ("nope.x=1", "[nope] x: there is no such option"),
        ("api.bind_prt=1", "did you mean bind_port?"),
        ("=", "expected section.option=value"),
        ("=1", "expected section.option=value"),
    ] {
        let output = stowplan(&folder, &["config", "check", "odd.conf", "--set", set]);
        assert_eq!(output.code, 2, "{set}: {}", output.stdout);
        assert!(output.stderr.contains(told), "{set}: {}", output.stderr);
    }
    // In a file it may be another version's.
    let output = stowplan(&folder, &["config", "check", "odd.conf"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(output.stdout.contains("there is no such section"), "{}", output.stdout);
}

#[test]
fn a_file_without_end_is_no_configuration() {
    let output = stowplan(&folder(&[]), &["config", "check", "/dev/zero"]);
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("expected at most 16777216 bytes"), "{}", output.stderr);
}

#[test]
fn show_says_where_each_value_comes_from() {
    let folder = folder(&[("s.conf", "[api]\nbind_port = 1234\nmax_limit = 5\n")]);
    let output =
        Cli::new(["config", "show", "s.conf", "--format", "json", "--set", "api.max_limit=7"])
            .inside(folder.path())
            .env("OS_SCHEDULER__MAX_ATTEMPTS", "9")
            .run();
    assert_eq!(output.code, 0, "{}", output.stderr);
    let shown: Value = serde_json::from_str(&output.stdout).unwrap();
    for (section, option, value, origin) in [
        ("api", "bind_port", "1234", "s.conf:2"),
        ("api", "max_limit", "7", "command line"),
        ("scheduler", "max_attempts", "9", "environment OS_SCHEDULER__MAX_ATTEMPTS"),
        ("api", "bind_host", "127.0.0.1", "default"),
    ] {
        let shown = &shown[section][option];
        assert_eq!(
            (shown["value"].as_str(), shown["origin"].as_str()),
            (Some(value), Some(origin))
        );
    }
}
