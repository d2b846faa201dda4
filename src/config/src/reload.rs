//! What a running service takes up when it reads its configuration again.

use std::fmt;

use crate::load::PLUGIN_PREFIX;
use crate::options::{Settings, options};
use crate::redact::{shown, shown_free};
use crate::spec::OptionSpec;

/// An option that has another value than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Section it belongs to.
    pub section: String,
    /// Its name.
    pub option: String,
    /// Its value so far, passwords hidden; empty when it was unset.
    pub before: String,
    /// Its new value, passwords hidden; empty when it is unset.
    pub after: String,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { section, option, before, after } = self;
        write!(f, "[{section}] {option}: \"{before}\" -> \"{after}\"")
    }
}

/// What comes of reading a configuration again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reload {
    /// The snapshot with every new value that may be taken up.
    pub settings: Settings,
    /// What was taken up.
    pub taken: Vec<Change>,
    /// What has changed too, and counts from the next start on.
    pub waiting: Vec<Change>,
}

impl Settings {
    /// Takes up what another snapshot says of the options that may change at a
    /// reload, and leaves all others as they are.
    pub fn reload(&self, newer: &Self) -> Reload {
        let mut reload = Reload { settings: self.clone(), ..Reload::default() };
        for spec in options() {
            let mut settings = reload.settings.clone();
            if !(spec.take)(&mut settings, newer) {
                continue;
            }
            let change = Change {
                section: spec.section.to_owned(),
                option: spec.name.to_owned(),
                before: text(self, spec),
                after: text(newer, spec),
            };
            if spec.meta.is_mutable {
                reload.settings = settings;
                reload.taken.push(change);
            } else {
                reload.waiting.push(change);
            }
        }
        reload.taken.extend(self.changed_plugins(newer));
        reload.settings.batch_plugins.clone_from(&newer.batch_plugins);
        reload
    }

    /// The free keys of plugins that have another value.
    fn changed_plugins(&self, newer: &Self) -> Vec<Change> {
        let keys = |settings: &Self| -> Vec<(String, String)> {
            let plugins = settings.batch_plugins.iter();
            plugins
                .flat_map(|(plugin, keys)| keys.keys().map(|key| (plugin.clone(), key.clone())))
                .collect()
        };
        let value = |settings: &Self, plugin: &str, key: &str| {
            let value = settings.batch_plugins.get(plugin).and_then(|keys| keys.get(key));
            value.cloned()
        };
        let mut all = keys(self);
        all.extend(keys(newer));
        all.sort();
        all.dedup();
        all.into_iter()
            .filter_map(|(plugin, key)| {
                let before = value(self, &plugin, &key);
                let after = value(newer, &plugin, &key);
                (before != after).then(|| Change {
                    section: format!("{PLUGIN_PREFIX}{plugin}"),
                    before: shown_free(&key, &before.unwrap_or_default()),
                    after: shown_free(&key, &after.unwrap_or_default()),
                    option: key,
                })
            })
            .collect()
    }
}

fn text(settings: &Settings, spec: &OptionSpec) -> String {
    let texts = (spec.texts)(settings, &spec.meta);
    texts.iter().map(|text| shown(spec, text)).collect::<Vec<_>>().join("; ")
}
