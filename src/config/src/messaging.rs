//! Options of the message bus that depend on one another.

use crate::error::{ConfigError, Warning};
use crate::load::Loaded;
use crate::options::options;
use crate::origin::Origin;
use crate::value::Input;

const RABBIT: &str = "oslo_messaging_rabbit";

/// Takes the options in the query of `[DEFAULT] transport_url`, which win over
/// those of the section.
pub(crate) fn take_from_url(loaded: &mut Loaded, errors: &mut Vec<ConfigError>) {
    let Some(url) = loaded.settings.default.transport_url.clone() else { return };
    let origin = loaded.origin("DEFAULT", "transport_url").clone();
    for (name, value) in &url.options {
        let is_meant = |spec: &&crate::OptionSpec| {
            spec.section == RABBIT
                && (spec.name == name || spec.meta.older_names.contains(&(RABBIT, name.as_str())))
        };
        let Some(spec) = options().find(is_meant) else {
            loaded.warnings.push(Warning::UnknownOption {
                origin: origin.clone(),
                section: RABBIT.to_owned(),
                option: name.clone(),
                meant: crate::names::nearest_option(RABBIT, name),
            });
            continue;
        };
        let texts = [value.clone()];
        let read =
            (spec.write)(&mut loaded.settings, Input::Texts(&texts), &spec.meta, &mut Vec::new());
        if let Err(problem) = read {
            errors.push(refusal(&origin, spec.name, Some(value), problem.to_string()));
        }
    }
}

fn refusal(origin: &Origin, option: &str, value: Option<&str>, problem: String) -> ConfigError {
    ConfigError {
        origin: origin.clone(),
        option: Some((RABBIT.to_owned(), option.to_owned())),
        value: value.map(|value| format!("\"{value}\"")),
        problem,
    }
}

/// Refuses what the peers refuse at their start, and a second bus.
pub(crate) fn check(loaded: &Loaded, errors: &mut Vec<ConfigError>) {
    let rabbit = &loaded.settings.oslo_messaging_rabbit;
    let mut refuse = |option: &str, wrong: bool, problem: &str| {
        if wrong {
            let origin = loaded.origin(RABBIT, option);
            errors.push(refusal(origin, option, Some("true"), problem.to_owned()));
        }
    };
    refuse(
        "rabbit_stream_fanout",
        rabbit.rabbit_stream_fanout
            && !(rabbit.rabbit_transient_quorum_queue && rabbit.rabbit_qos_prefetch_count > 0),
        "expected false, or rabbit_transient_quorum_queue = true and rabbit_qos_prefetch_count \
         above 0 with it",
    );
    refuse(
        "rabbit_ha_queues",
        rabbit.rabbit_ha_queues && rabbit.rabbit_quorum_queue,
        "expected false together with rabbit_quorum_queue",
    );
    refuse(
        "ssl",
        rabbit.ssl && rabbit.ssl_cert_file.is_some() != rabbit.ssl_key_file.is_some(),
        "expected ssl_cert_file and ssl_key_file together, or neither",
    );
    let notifications = &loaded.settings.oslo_messaging_notifications.transport_url;
    let bus = loaded.settings.default.transport_url.as_ref();
    if let Some(other) = notifications
        && bus.is_none_or(|bus| bus.reveal() != other.reveal())
    {
        errors.push(ConfigError {
            origin: loaded.origin("oslo_messaging_notifications", "transport_url").clone(),
            option: Some(("oslo_messaging_notifications".to_owned(), "transport_url".to_owned())),
            value: Some(format!("\"{other}\"")),
            problem: "expected nothing, or the value of [DEFAULT] transport_url".to_owned(),
        });
    }
}
