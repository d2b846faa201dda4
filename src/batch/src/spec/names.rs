//! Names that users give.

use stowplan_scheduler::fields::FieldErrors;

/// The longest name.
const MAX_NAME: usize = 200;

/// Checks the name of a job, namespace, role, queue or project.
pub(crate) fn check_name(errors: &mut FieldErrors, field: &str, name: &str) {
    let fits = (1..=MAX_NAME).contains(&name.chars().count());
    let plain = name.trim() == name && !name.chars().any(|c| c.is_control() || c == '/');
    errors.require(
        fits && plain,
        field,
        name,
        format!("1 to {MAX_NAME} characters without /, control characters or blanks at the ends"),
    );
}
