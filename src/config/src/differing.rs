//! Options that are not at their defaults, in the form in which a scenario
//! sets them.

use serde_json::{Map, Value as Json};

use crate::options::{Settings, options};

impl Settings {
    /// The options of some sections that differ from their defaults, by the keys
    /// and with the values that [`Settings::set_json`] takes. Secrets are left
    /// out.
    #[must_use]
    pub fn differing(&self, sections: &[&str]) -> Map<String, Json> {
        let defaults = Self::default();
        let mut differing = Map::new();
        let asked = options().filter(|spec| sections.contains(&spec.section));
        for spec in asked.filter(|spec| !spec.meta.is_secret) {
            let mut texts = (spec.texts)(self, &spec.meta);
            if texts == (spec.texts)(&defaults, &spec.meta) {
                continue;
            }
            let value = if spec.meta.is_multi || texts.len() > 1 {
                texts.into()
            } else {
                texts.pop().map_or(Json::Null, Json::String)
            };
            let key = match spec.section {
                "DEFAULT" => spec.name.to_owned(),
                section => format!("{section}.{}", spec.name),
            };
            differing.insert(key, value);
        }
        differing
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use serde_json::json;

    const SECTIONS: [&str; 4] = ["DEFAULT", "scheduler", "filter_scheduler", "metrics"];

    #[test]
    fn what_differs_sets_the_same_again() {
        let mut settings = Settings::default();
        assert!(settings.differing(&SECTIONS).is_empty());
        for (key, value) in [
            ("service_down_time", json!(90)),
            ("scheduler.max_placement_results", json!(7)),
            ("filter_scheduler.enabled_filters", json!(["ComputeFilter", "NUMATopologyFilter"])),
            ("filter_scheduler.available_filters", json!(["ComputeFilter", "AllHostsFilter"])),
            ("filter_scheduler.ram_weight_multiplier", json!(-0.5)),
            ("filter_scheduler.shuffle_best_same_weighed_hosts", json!(true)),
            ("filter_scheduler.isolated_hosts", json!(["a", "b"])),
            ("filter_scheduler.weight_normalization", json!("nova")),
            ("placement_database.connection", json!("mysql://stowplan:secret@db/stowplan")),
        ] {
            settings.set_json(key, &value).unwrap();
        }
        let differing = settings.differing(&SECTIONS);
        assert_eq!(differing.len(), 8);
        assert!(!format!("{differing:?}").contains("secret"));
        let mut again = Settings::default();
        for (key, value) in &differing {
            again.set_json(key, value).unwrap();
        }
        assert_eq!(again.filter_scheduler, settings.filter_scheduler);
        assert_eq!(again.scheduler, settings.scheduler);
        assert_eq!(again.default, settings.default);
    }
}
