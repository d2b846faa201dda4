//! Options of the database that depend on one another.

use crate::error::{ConfigError, Warning};
use crate::load::Loaded;

const SECTION: &str = "placement_database";
const PARAMETERS: &str = "connection_parameters";

/// Adds `connection_parameters` to the address of the database.
pub(crate) fn add_parameters(loaded: &mut Loaded, errors: &mut Vec<ConfigError>) {
    let options = &loaded.settings.placement_database;
    let parameters = options.connection_parameters.trim().to_owned();
    if parameters.is_empty() {
        return;
    }
    let origin = loaded.origin(SECTION, PARAMETERS).clone();
    let mut notes = Vec::new();
    match options.connection.with_parameters(&parameters, &mut notes) {
        Ok(url) => loaded.settings.placement_database.connection = url,
        Err(problem) => errors.push(ConfigError {
            origin: origin.clone(),
            option: Some((SECTION.to_owned(), PARAMETERS.to_owned())),
            value: Some(format!("\"{parameters}\"")),
            problem: problem.to_string(),
        }),
    }
    loaded.warnings.extend(notes.into_iter().map(|how| Warning::Adjusted {
        origin: origin.clone(),
        option: (SECTION, PARAMETERS),
        how,
    }));
}
