//! What depends on several options at once.

use std::net::IpAddr;
use std::path::Path;

use crate::database;
use crate::error::{ConfigError, Warning};
use crate::load::Loaded;
use crate::messaging;
use crate::options::AuthStrategy;
use crate::origin::Origin;

/// Brings options into line with one another, or says that they do not go
/// together. `folder` is that of the configuration file.
pub(crate) fn settle(loaded: &mut Loaded, folder: Option<&Path>, errors: &mut Vec<ConfigError>) {
    raise_service_down_time(loaded);
    locate_policy(loaded, folder);
    refuse_open_door(loaded, errors);
    check_prefixes(loaded, errors);
    check_tiers(loaded, errors);
    database::add_parameters(loaded, errors);
    messaging::take_from_url(loaded, errors);
    messaging::check(loaded, errors);
    loaded.warnings.sort_by(|a, b| origin_of(a).cmp(origin_of(b)));
}

fn origin_of(warning: &Warning) -> &Origin {
    match warning {
        Warning::UnknownOption { origin, .. }
        | Warning::UnknownSection { origin, .. }
        | Warning::OlderName { origin, .. }
        | Warning::GoingAway { origin, .. }
        | Warning::Adjusted { origin, .. } => origin,
    }
}

/// A host is not down before it could have reported: the peer raises the limit
/// in the same way.
fn raise_service_down_time(loaded: &mut Loaded) {
    let interval = loaded.settings.default.report_interval;
    let limit = loaded.settings.default.service_down_time;
    if limit > interval {
        return;
    }
    let raised = interval.saturating_mul(5) / 2;
    loaded.settings.default.service_down_time = raised;
    loaded.warnings.push(Warning::Adjusted {
        origin: loaded.origin("DEFAULT", "service_down_time").clone(),
        option: ("DEFAULT", "service_down_time"),
        how: format!("{limit} is not above report_interval {interval} and is read as {raised}"),
    });
}

/// A relative policy file or folder lies beside the file that names it, or
/// beside the configuration file.
fn locate_policy(loaded: &mut Loaded, folder: Option<&Path>) {
    let beside = |option| match loaded.origin("oslo_policy", option) {
        Origin::File { path, .. } => path.parent(),
        Origin::Default => folder,
        Origin::Environment(_) | Origin::Override => None,
    };
    let (file, dirs) = (beside("policy_file"), beside("policy_dirs"));
    let policy = &loaded.settings.oslo_policy;
    let file = file.map(|folder| folder.join(&policy.policy_file));
    let dirs: Option<Vec<String>> = dirs.map(|folder| {
        policy.policy_dirs.iter().map(|dir| folder.join(dir).display().to_string()).collect()
    });
    let policy = &mut loaded.settings.oslo_policy;
    if let Some(file) = file {
        policy.policy_file = file;
    }
    if let Some(dirs) = dirs {
        policy.policy_dirs = dirs;
    }
}

/// noauth2 believes any token, so it listens to this machine alone unless the
/// operator insists.
fn refuse_open_door(loaded: &Loaded, errors: &mut Vec<ConfigError>) {
    let api = &loaded.settings.api;
    let is_local = api.bind_host == "localhost"
        || api
            .bind_host
            .trim_start_matches('[')
            .trim_end_matches(']')
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback());
    if api.auth_strategy == AuthStrategy::Keystone || is_local || api.allow_insecure_noauth {
        return;
    }
    errors.push(ConfigError {
        origin: loaded.origin("api", "bind_host").clone(),
        option: Some(("api".to_owned(), "bind_host".to_owned())),
        value: Some(format!("\"{}\"", api.bind_host)),
        problem: "expected a loopback address, because auth_strategy is noauth2, which believes \
                  any token (allow_insecure_noauth = true lifts this)"
            .to_owned(),
    });
}

/// A path under which a surface is served begins with a slash and does not end
/// with one.
fn check_prefixes(loaded: &Loaded, errors: &mut Vec<ConfigError>) {
    let api = &loaded.settings.api;
    for (option, prefix) in
        [("placement_prefix", &api.placement_prefix), ("compute_prefix", &api.compute_prefix)]
    {
        if prefix.is_empty() || (prefix.starts_with('/') && !prefix.ends_with('/')) {
            continue;
        }
        errors.push(ConfigError {
            origin: loaded.origin("api", option).clone(),
            option: Some(("api".to_owned(), option.to_owned())),
            value: Some(format!("\"{prefix}\"")),
            problem: "expected a path such as /name, or nothing".to_owned(),
        });
    }
}

/// Plugins that contradict each other are refused, orders that silence one are
/// warned of.
fn check_tiers(loaded: &mut Loaded, errors: &mut Vec<ConfigError>) {
    let origin = loaded.origin("batch", "tiers").clone();
    let batch = &loaded.settings.batch;
    let tier_of =
        |name: &str| batch.tiers.iter().position(|tier| tier.iter().any(|plugin| plugin == name));
    let arguments = &loaded.settings.batch_plugins;
    let argument = |plugin: &str, name: &str| arguments.get(plugin).and_then(|own| own.get(name));
    let is_tree = argument("drf", "enableHierarchy").is_some_and(|on| on.parse() == Ok(true));
    let trees = tier_of("drf").is_some() && is_tree;
    let rivals = [(tier_of("capacity").is_some(), "capacity"), (trees, "drf with enableHierarchy")];
    for (_, other) in rivals.into_iter().filter(|(is_there, _)| *is_there) {
        if tier_of("proportion").is_some() {
            errors.push(ConfigError {
                origin: origin.clone(),
                option: Some(("batch".to_owned(), "tiers".to_owned())),
                value: None,
                problem: format!(
                    "expected proportion or {other}, not both: each divides the cluster"
                ),
            });
        }
    }
    let mut oddities = Vec::new();
    for name in ["capacity", "proportion"] {
        if tier_of(name).is_some_and(|tier| tier > 0) {
            oddities.push(format!(
                "{name} is not in the first tier, whose vote on victims is final: what queues \
                 deserve or are guaranteed may protect nobody"
            ));
        }
    }
    if tier_of("overcommit").is_some() && batch.actions.iter().any(|name| name == "reclaim") {
        oddities.push(
            "overcommit together with action reclaim: a queue below what it deserves may wait \
             for ever while others borrow"
                .to_owned(),
        );
    }
    let acts = |action: &str| batch.actions.iter().any(|name| name == action);
    for (gang, single) in [("gangpreempt", "preempt"), ("gangreclaim", "reclaim")] {
        if acts(gang) && acts(single) {
            oddities.push(format!(
                "action {gang} together with {single}: each evicts for the same jobs in its own \
                 way"
            ));
        }
    }
    let factor = argument("overcommit", "overcommit-factor");
    if factor.and_then(|text| text.trim().parse::<f64>().ok()).is_some_and(|factor| factor < 1.0) {
        oddities.push("[batch:overcommit] overcommit-factor is below 1: 1.2 is used".to_owned());
    }
    loaded.warnings.extend(oddities.into_iter().map(|how| Warning::Adjusted {
        origin: origin.clone(),
        option: ("batch", "tiers"),
        how,
    }));
}
