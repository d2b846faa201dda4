//! The configuration, with what the rooms themselves say of it: what passes here
//! is what `serve` starts with.

use crate::follow;
use stowplan_api::PolicySource;
use stowplan_batch::driver::{Plant, PlantFault};
use stowplan_cloud::{Doorkeeper, Neutron};
use stowplan_config::{AuthStrategy, ConfigError, ConfigErrors, Loaded, Origin, Settings, Sources};
use stowplan_engine::{Engine, registry::RegistryError};

/// Reads a configuration for a service.
///
/// # Errors
/// Everything that is wrong with it.
pub fn load(sources: &Sources) -> Result<Loaded, ConfigErrors> {
    Settings::load_checked(sources, faults)
}

/// Names, arguments and files that a service cannot use.
fn faults(loaded: &Loaded) -> Vec<ConfigError> {
    let settings = &loaded.settings;
    let mut errors = Vec::new();
    let mut add = |section: &str, option: &str, problem: String| {
        let origin = loaded.origin(section, option).clone();
        errors.push(ConfigError { origin, option: None, value: None, problem });
    };
    if let Err(error) = Engine::new(settings) {
        let (section, option) = match &error {
            RegistryError::Unknown { option, .. } => option.split_once('.').unwrap_or_default(),
            RegistryError::NotAvailable { .. } => ("filter_scheduler", "enabled_filters"),
        };
        add(section, option, error.to_string());
    }
    if let Err(fault) = Plant::new(settings) {
        let option = match &fault {
            PlantFault::Dims(_) => "resource_map",
            PlantFault::Action(_) => "actions",
            PlantFault::Plugin(_) => "tiers",
        };
        add("batch", option, fault.to_string());
    }
    let clock: stowplan_cloud::Clock = std::sync::Arc::new(crate::clock::now);
    let keystone = match settings.api.auth_strategy {
        AuthStrategy::Keystone => {
            Doorkeeper::new(&settings.keystone_authtoken, clock.clone()).err()
        }
        AuthStrategy::Noauth2 => None,
    };
    let neutron = Neutron::new(&settings.neutron, clock);
    if settings.scheduler.query_placement_for_routed_network_aggregates
        && matches!(neutron, Ok(None))
    {
        let option = "query_placement_for_routed_network_aggregates";
        let problem = "true: expected [neutron] auth_url or endpoint_override with it";
        add("scheduler", option, format!("[scheduler] {option} is {problem}"));
    }
    for fault in keystone.into_iter().chain(neutron.err()) {
        add(fault.section, fault.option, fault.to_string());
    }
    let nova = &settings.nova;
    let cells = nova.cell_databases.iter().map(|cell| ("cell_databases", &cell.url));
    for (option, url) in nova.api_database.iter().map(|url| ("api_database", url)).chain(cells) {
        if !follow::has_file(url) {
            add("nova", option, format!("[nova] {option} = \"{url}\": {}", follow::NO_FILE));
        }
    }
    let policy = &settings.oslo_policy;
    if let Err(fault) = PolicySource::open(policy) {
        add("oslo_policy", "policy_file", fault.to_string());
    }
    // The default file need not be there; one that somebody names must.
    let is_named = *loaded.origin("oslo_policy", "policy_file") != Origin::Default;
    if is_named && !policy.policy_file.exists() {
        let file = policy.policy_file.display();
        let problem = format!("[oslo_policy] policy_file = \"{file}\": there is no such file");
        add("oslo_policy", "policy_file", problem);
    }
    errors
}
