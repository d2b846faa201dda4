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
