//! Finds what a wrong name was meant to be.

use crate::known;
use crate::options::{SECTIONS, options};

/// Similarity (0 to 1) from which a name is offered.
const NEAR: f64 = 0.6;

/// The name most like the given one, if any is near.
pub(crate) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut best: Option<(&str, f64)> = None;
    for candidate in names {
        let likeness = strsim::normalized_damerau_levenshtein(name, candidate);
        if likeness >= NEAR && best.is_none_or(|(_, most)| likeness > most) {
            best = Some((candidate, likeness));
        }
    }
    best.map(|(name, _)| name)
}

/// The section that a wrong name was meant to be.
pub(crate) fn nearest_section(name: &str) -> Option<&'static str> {
    nearest(
        &name.to_lowercase(),
        SECTIONS.iter().map(|section| section.name).chain(known::sections()),
    )
    .or_else(|| (name == "default").then_some("DEFAULT"))
}

/// The option that a wrong name was meant to be: the same name in another
/// section, else the most like one of its own.
pub(crate) fn nearest_option(section: &str, name: &str) -> Option<String> {
    if let Some(spec) = options().find(|spec| spec.name == name) {
        return Some(format!("[{}] {name}", spec.section));
    }
    let of_section = options().filter(|spec| spec.section == section).map(|spec| spec.name);
    nearest(name, of_section.chain(known::options(section))).map(str::to_owned)
}
