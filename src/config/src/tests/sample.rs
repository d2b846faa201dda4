//! The sample file, the listing and the check.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::load;
use crate::{
    SECTIONS, Settings, ShowFormat, Sources, check, options, render_reference, render_sample,
    render_show, show,
};

/// `UPDATE=1 cargo test -p stowplan-config sample` writes the file anew.
#[test]
fn the_sample_file_is_the_generated_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../etc/scheduler.conf");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, render_sample()).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), render_sample(), "run with UPDATE=1");
}

#[test]
fn the_sample_uncommented_gives_the_defaults() {
    let text: Vec<String> = render_sample()
        .lines()
        .filter(|line| !line.contains(" = <"))
        .map(|line| match line.strip_prefix('#') {
            Some(option) if !option.starts_with(' ') => option.to_owned(),
            _ => line.to_owned(),
        })
        .collect();
    let loaded = load(&text.join("\n")).unwrap();
    let expected = Settings {
        // Beside the file that names it, which is named without a folder.
        oslo_policy: loaded.settings.oslo_policy.clone(),
        ..Settings::default()
    };
    assert_eq!(loaded.settings, expected);
    let unset = options().filter(|spec| (spec.texts)(&Settings::default(), &spec.meta).is_empty());
    assert_eq!(loaded.origins.len(), options().count() - unset.count());
    for line in render_sample().lines().filter(|line| line.starts_with("# ")) {
        assert!(line.chars().count() <= 79, "{line}");
    }
}

#[test]
fn every_option_is_named_once_and_explained() {
    let mut names = HashSet::new();
    let reference = render_reference();
    for spec in options() {
        assert!(names.insert((spec.section, spec.name)), "{} twice", spec.name);
        assert!(SECTIONS.iter().any(|section| section.name == spec.section));
        assert!(spec.help.concat().trim().ends_with('.'), "{}", spec.name);
        assert!(reference.contains(&format!("| {} |", spec.name)));
        for older in spec.meta.older_names {
            assert!(!options().any(|other| (other.section, other.name) == *older));
        }
    }
}

#[test]
fn shown_values_have_an_origin_and_no_password() {
    let sources = Sources::new().text(
        "s.conf",
        "[DEFAULT]\ntransport_url = rabbit://u:hush-hush@h/\n[batch:extender]\napi_token = hush-hush\n\
         [neutron]\npassword = hush://hush-hush\n",
    );
    let loaded = Settings::load(&sources).unwrap();
    let text = render_show(&loaded, ShowFormat::Text);
    assert!(text.contains("# s.conf:2\ntransport_url = rabbit://u:***@h/\n"), "{text}");
    assert!(text.contains("[batch:extender]\n# s.conf:4\napi_token = ***\n"), "{text}");
    assert!(
        text.contains("# default\nmax_attempts = 3\n#max_placement_results is unset\n"),
        "{text}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&render_show(&loaded, ShowFormat::Json)).unwrap();
    assert_eq!(json["DEFAULT"]["transport_url"]["origin"], "s.conf:2");
    assert_eq!(json["DEFAULT"]["transport_url"]["value"], "rabbit://u:***@h/");
    assert_eq!(json["scheduler"]["max_placement_results"]["value"], serde_json::Value::Null);
    assert!(!text.contains("hush-hush") && !json.to_string().contains("hush-hush"));
    let held = (&loaded.settings.default, &loaded.settings.neutron);
    assert!(!format!("{held:?}").contains("hush-hush"));
}

#[test]
fn a_check_tells_errors_or_warnings() {
    let good = check(Settings::load(
        &Sources::new().text("s.conf", "[api]\nmax_limit = 5\nmax_limt = 5\n[vnc]\na = 1\n"),
    ));
    assert!(good.is_ok);
    assert_eq!(
        good.text,
        "warning: s.conf:3: [api] max_limt: there is no such option, did you mean max_limit?\n\
         accepted without effect, as they are for other services: [vnc] a\n\
         1 set, 1 warned of, nothing wrong\n"
    );
    let wrong = Sources::new().text("s.conf", "[api]\nmax_limit = x\nbind_port = y\n");
    let bad = check(Settings::load(&wrong));
    assert!(!bad.is_ok);
    assert!(bad.text.ends_with("2 wrong\n"), "{}", bad.text);
    assert!(!show(&wrong, ShowFormat::Text).is_ok);
}

/// All Rust sources below a folder but the table of options and these tests.
fn sources_below(folder: &Path, into: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_table = ["config/src/options", "config/src/tests"];
        if is_table.iter().any(|part| path.ends_with(part)) {
            continue;
        }
        if path.is_dir() {
            sources_below(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn every_option_is_read_or_says_that_it_changes_nothing() {
    let mut code = String::new();
    sources_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut code);
    let words = code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let read: HashSet<&str> = words.collect();
    for spec in options() {
        let in_template = format!("${}", spec.name);
        let is_part =
            options().any(|other| other.meta.template.is_some_and(|it| it.contains(&in_template)));
        let help = spec.help.concat();
        let words: Vec<&str> = help.split_whitespace().collect();
        let says = words.join(" ").contains("changes nothing");
        assert!(
            read.contains(spec.name) || is_part || says,
            "[{}] {} is read by nobody, and does not say so",
            spec.section,
            spec.name
        );
    }
}
