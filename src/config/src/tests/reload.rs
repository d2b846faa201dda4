//! What a reload takes up.

use super::load;
use crate::Settings;

fn settings(text: &str) -> Settings {
    load(text).unwrap().settings
}

#[test]
fn mutable_options_are_taken_up_and_others_wait() {
    let before =
        settings("[DEFAULT]\ndebug = false\n[api]\nbind_port = 1\n[batch:binpack]\nweight = 1\n");
    let newer = settings(
        "[DEFAULT]\ndebug = true\n[api]\nbind_port = 2\nmax_limit = 7\n[batch:gang]\nx = y\n",
    );
    let reload = before.reload(&newer);
    let told = |changes: &[crate::Change]| -> Vec<String> {
        changes.iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        told(&reload.taken),
        [
            "[DEFAULT] debug: \"false\" -> \"true\"",
            "[api] max_limit: \"1000\" -> \"7\"",
            "[batch:binpack] weight: \"1\" -> \"\"",
            "[batch:gang] x: \"\" -> \"y\"",
        ]
    );
    assert_eq!(told(&reload.waiting), ["[api] bind_port: \"1\" -> \"2\""]);
    assert!(reload.settings.default.debug);
    assert_eq!((reload.settings.api.max_limit, reload.settings.api.bind_port), (7, 1));
    assert_eq!(reload.settings.batch_plugins, newer.batch_plugins);
}

#[test]
fn the_same_configuration_changes_nothing() {
    let text = "[DEFAULT]\ndebug = true\n[scheduler]\nmax_placement_results = 5\n";
    let reload = settings(text).reload(&settings(text));
    assert_eq!((reload.taken, reload.waiting), (vec![], vec![]));
    assert_eq!(reload.settings, settings(text));
}

#[test]
fn passwords_stay_hidden() {
    let url = |password: &str| {
        settings(&format!("[placement_database]\nconnection = mysql://u:{password}@h/d\n"))
    };
    let reload = url("one").reload(&url("two"));
    let told = reload.waiting.iter().map(ToString::to_string).collect::<String>();
    assert!(told.contains("mysql://u:***@h/d") && !told.contains("two"), "{told}");
}
