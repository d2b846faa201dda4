//! Layers, where values come from, and references between them.

use std::fs;

use super::{load, warnings};
use crate::{Origin, Settings, Sources};

fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn later_layers_win() {
    let sources = Sources::new()
        .text("a.conf", "[scheduler]\nmax_attempts = 4\n[api]\nbind_port = 1\nmax_limit = 10\n")
        .text("b.conf", "[scheduler]\nmax_attempts = 5\nmax_attempts = 6\n")
        .environment(variables(&[
            ("OS_API__BIND_PORT", "2"),
            ("OS_DEFAULT__DEBUG", "true"),
            ("OS_AUTH_URL", "http://k"),
            ("OS_OTHER__THING", "x"),
        ]))
        .set("api.bind_port=3")
        .set("report_interval = 11");
    let loaded = Settings::load(&sources).unwrap();
    let settings = &loaded.settings;
    assert_eq!(settings.scheduler.max_attempts, 6);
    assert_eq!(settings.api.bind_port, 3);
    assert_eq!(settings.api.max_limit, 10);
    assert!(settings.default.debug);
    assert_eq!(settings.default.report_interval, 11);
    assert_eq!(warnings(&loaded), [""; 0]);
    let origins = [
        ("scheduler", "max_attempts", "b.conf:3"),
        ("api", "bind_port", "command line"),
        ("api", "max_limit", "a.conf:5"),
        ("DEFAULT", "debug", "environment OS_DEFAULT__DEBUG"),
        ("DEFAULT", "host", "default"),
    ];
    for (section, option, origin) in origins {
        assert_eq!(loaded.origin(section, option).to_string(), origin, "{option}");
    }
}

#[test]
fn errors_of_layers_name_them() {
    let sources = Sources::new()
        .environment(variables(&[("OS_SCHEDULER__MAX_ATTEMPTS", "x")]))
        .set("api.bind_port")
        .set("api.max_limit=0")
        .file("no/such/file.conf");
    let errors = Settings::load(&sources).unwrap_err().to_string();
    let lines: Vec<&str> = errors.lines().collect();
    assert_eq!(lines.len(), 4, "{errors}");
    assert!(lines.iter().any(|line| line.starts_with("no/such/file.conf: cannot be read: ")));
    for line in [
        "environment OS_SCHEDULER__MAX_ATTEMPTS: [scheduler] max_attempts = \"x\": expected an \
         integer of at least 1",
        "command line: \"api.bind_port\": expected section.option=value",
        "command line: [api] max_limit = \"0\": expected an integer of at least 1",
    ] {
        assert!(lines.contains(&line), "{line} in {errors}");
    }
}

#[test]
fn an_unknown_variable_is_warned_of_and_an_override_refused() {
    let sources = Sources::new().environment(variables(&[("OS_API__BIND_PRT", "1")]));
    assert_eq!(
        warnings(&Settings::load(&sources).unwrap()),
        ["environment OS_API__BIND_PRT: [api] bind_prt: there is no such option, did you mean \
          bind_port?"]
    );
    for (set, told) in [
        ("api.bind_hst=x", "[api] bind_hst: there is no such option, did you mean bind_host?"),
        (
            "apy.bind_host=x",
            "[apy] bind_host: there is no such option, did you mean [api] bind_host?",
        ),
        ("=x", "\"=x\": expected section.option=value"),
    ] {
        let errors = Settings::load(&Sources::new().set(set)).unwrap_err().to_string();
        assert_eq!(errors, format!("command line: {told}"));
    }
    // Options of other services may stand anywhere.
    let others = Settings::load(&Sources::new().set("cinder.catalog_info=x")).unwrap();
    assert_eq!(others.unused.len(), 1);
}

#[test]
fn references_are_replaced() {
    let text = "\
[DEFAULT]
state_path = /srv
my_ip = 127.0.0.9
host = $my_ip-${placement_database.slave_connection}$$ \\$y $1 $
log_file = ${log_dir}/x
log_dir = $state_path/log
[placement_database]
slave_connection = hi
connection = sqlite:///$state_path/db
[API]
bind_host = $my_ip
[upgrade_levels]
scheduler = $scheduler.max_attempts
";
    let settings = load(text).unwrap().settings;
    assert_eq!(settings.default.host.as_deref(), Some("127.0.0.9-hi$ $y $1 $"));
    assert_eq!(settings.default.log_file, Some("/srv/log/x".into()));
    assert_eq!(settings.placement_database.connection.path, Some("/srv/db".into()));
    assert_eq!(settings.api.bind_host, "127.0.0.9");
    assert_eq!(settings.upgrade_levels.scheduler.as_deref(), Some("3"));
    // A default may refer to others as well.
    let settings = load("[DEFAULT]\nstate_path = /srv\n").unwrap().settings;
    assert_eq!(settings.placement_database.connection.path, Some("/srv/stowplan.db".into()));
    for (text, expected) in [
        ("[DEFAULT]\nhost = $nothing", "expected the name of an option after $, not nothing"),
        ("[DEFAULT]\nhost = $host", "expected no circle of references"),
    ] {
        let errors = load(text).unwrap_err().to_string();
        assert!(errors.contains(expected), "{errors}");
    }
}

#[test]
fn a_dollar_sign_in_a_password_shows_none_of_it() {
    let errors = load(
        "[placement_database]\nconnection = mysql://u:pa$secret@h/d\n\
         [batch:extender]\napi_token = x$secret\n",
    );
    let errors = errors.unwrap_err().to_string();
    assert_eq!(errors.lines().count(), 2, "{errors}");
    assert!(errors.contains("[placement_database] connection") && errors.contains("$$"));
    assert!(!errors.contains("secret"), "{errors}");
}

#[test]
fn sections_of_plugins_keep_their_keys() {
    let sources = Sources::new()
        .text("s.conf", "[batch:binpack]\nbinpack.weight = 10\nbinpack.cpu = 5\n")
        .set("batch:binpack.binpack.cpu=7");
    let loaded = Settings::load(&sources).unwrap();
    let keys = loaded.settings.batch_plugins.get("binpack").unwrap();
    assert_eq!(keys.get("binpack.weight").map(String::as_str), Some("10"));
    assert_eq!(keys.get("binpack.cpu").map(String::as_str), Some("7"));
    assert_eq!(*loaded.origin("batch:binpack", "binpack.cpu"), Origin::Override);
    assert_eq!(warnings(&loaded), [""; 0]);
}

#[test]
fn files_and_folders_are_read() {
    let folder = std::env::temp_dir().join(format!("stowplan-config-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("b.conf"), "[oslo_policy]\npolicy_file = rules.yaml\n").unwrap();
    fs::write(folder.join("a.conf"), "[api]\nmax_limit = 7\n").unwrap();
    fs::write(folder.join("c.txt"), "nonsense").unwrap();
    let loaded = Settings::load(&Sources::new().folder(&folder));
    fs::write(folder.join("d.conf"), b"[api]\nbind_host = \xff\n").unwrap();
    let broken = Settings::load(&Sources::new().file(folder.join("d.conf")));
    let default = Settings::load(&Sources::new().file(folder.join("a.conf")));
    fs::remove_dir_all(&folder).unwrap();
    let settings = loaded.unwrap().settings;
    assert_eq!(settings.api.max_limit, 7);
    assert_eq!(settings.oslo_policy.policy_file, folder.join("rules.yaml"));
    let beside = folder.join("policy.d").display().to_string();
    assert_eq!(settings.oslo_policy.policy_dirs, [beside]);
    assert_eq!(default.unwrap().settings.oslo_policy.policy_file, folder.join("policy.yaml"));
    let broken = broken.unwrap_err().to_string();
    assert!(broken.ends_with("d.conf:2: expected text in UTF-8"), "{broken}");
}

#[test]
fn origins_survive_the_layers() {
    for origin in [
        Origin::Default,
        Origin::Override,
        Origin::Environment("OS_API__WORKERS".to_owned()),
        Origin::file("a:b/c.conf".as_ref(), 7),
        Origin::file("plain".as_ref(), 0),
    ] {
        assert_eq!(origin.to_string().parse(), Ok(origin));
    }
}
