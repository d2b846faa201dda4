//! From layers of text to a validated snapshot.

use std::collections::BTreeMap;

use crate::error::{ConfigError, ConfigErrors, Warning};
use crate::interpolate::References;
use crate::known;
use crate::names::{nearest_option, nearest_section};
use crate::options::{SECTIONS, Settings, options};
use crate::origin::Origin;
use crate::redact::{is_secret_key, shown};
use crate::settle;
use crate::sources::{Collected, Sources, Written};
use crate::spec::OptionSpec;
use crate::value::Input;

/// Beginning of the sections with free keys for a plugin of batch scheduling.
pub(crate) const PLUGIN_PREFIX: &str = "batch:";

/// What is wrong with a reference in a value that is not to be shown: what
/// stands after the sign may be a part of a password.
const HIDDEN_REFERENCE: &str =
    "expected the name of an option after each $ (a dollar sign itself is $$)";

/// A configuration that holds, and what was odd about it.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// Every option with its value in force.
    pub settings: Settings,
    /// What is odd, in the order of the files.
    pub warnings: Vec<Warning>,
    /// Where each option that somebody set comes from, by section and option.
    pub origins: BTreeMap<(String, String), Origin>,
    /// Section and name of what is accepted for other services' sake and changes
    /// nothing here.
    pub unused: Vec<(String, String)>,
}

impl Loaded {
    /// Where the value of an option comes from.
    pub fn origin(&self, section: &str, option: &str) -> &Origin {
        const DEFAULT: &Origin = &Origin::Default;
        self.origins.get(&(section.to_owned(), option.to_owned())).unwrap_or(DEFAULT)
    }
}

impl Settings {
    /// Reads defaults, files, environment and command line, in this order of
    /// rising weight.
    ///
    /// # Errors
    /// Everything that is wrong, not just the first: files and lines that cannot
    /// be read, values that do not fit, options that do not go together.
    pub fn load(sources: &Sources) -> Result<Loaded, ConfigErrors> {
        Self::load_checked(sources, |_| Vec::new())
    }

    /// The same with what others know to be wrong, such as names of plugins.
    /// `check` sees the default of each option whose value could not be read.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn load_checked(
        sources: &Sources,
        check: impl FnOnce(&Loaded) -> Vec<ConfigError>,
    ) -> Result<Loaded, ConfigErrors> {
        let mut errors = Vec::new();
        let collected = sources.collect(&mut errors);
        let mut loading = Loading {
            collected: &collected,
            defaults: Self::default(),
            loaded: Loaded::default(),
            errors,
        };
        for spec in options() {
            loading.option(spec);
        }
        loading.plugins();
        loading.strangers();
        let Loading { mut loaded, mut errors, .. } = loading;
        settle::settle(&mut loaded, collected.folder.as_deref(), &mut errors);
        errors.extend(check(&loaded));
        if errors.is_empty() {
            return Ok(loaded);
        }
        errors.sort_by(|a, b| a.origin.cmp(&b.origin));
        Err(ConfigErrors(errors))
    }
}

struct Loading<'a> {
    collected: &'a Collected,
    defaults: Settings,
    loaded: Loaded,
    errors: Vec<ConfigError>,
}

impl Loading<'_> {
    /// Takes the value of an option from its name or, failing that, an older one.
    fn option(&mut self, spec: &'static OptionSpec) {
        let collected = self.collected;
        let mut found = collected.find(spec.section, spec.name);
        for (section, name) in spec.meta.older_names {
            let Some(older) = collected.find(section, name) else { continue };
            self.loaded.warnings.push(Warning::OlderName {
                origin: older.origin.clone(),
                older: ((*section).to_owned(), (*name).to_owned()),
                newer: (spec.section, spec.name),
                ignored: found.is_some(),
            });
            found = found.or(Some(older));
        }
        match (found, spec.meta.template) {
            (Some(written), _) => self.take(spec, written),
            (None, Some(template)) => {
                let origin = Origin::Default;
                self.read(spec, spec.section, &[template.to_owned()], &origin);
            }
            (None, None) => {}
        }
    }

    fn take(&mut self, spec: &'static OptionSpec, written: &Written) {
        if let Some(why) = spec.meta.removal {
            self.loaded.warnings.push(Warning::GoingAway {
                origin: written.origin.clone(),
                option: (spec.section, spec.name),
                why,
            });
        }
        self.loaded
            .origins
            .insert((spec.section.to_owned(), spec.name.to_owned()), written.origin.clone());
        self.read(spec, &written.section, &written.texts, &written.origin);
    }

    /// Replaces references and reads the texts into the snapshot.
    fn read(
        &mut self,
        spec: &'static OptionSpec,
        section: &str,
        texts: &[String],
        origin: &Origin,
    ) {
        let references = References::new(self.collected, &self.defaults);
        let resolved: Result<Vec<String>, String> =
            texts.iter().map(|text| references.resolve(section, text)).collect();
        let mut notes = Vec::new();
        let problem = match resolved {
            Err(_) if spec.meta.is_secret => HIDDEN_REFERENCE.to_owned(),
            Err(problem) => problem,
            Ok(texts) => {
                let settings = &mut self.loaded.settings;
                match (spec.write)(settings, Input::Texts(&texts), &spec.meta, &mut notes) {
                    Err(problem) => problem.to_string(),
                    Ok(()) => {
                        self.loaded.warnings.extend(notes.into_iter().map(|how| {
                            Warning::Adjusted {
                                origin: origin.clone(),
                                option: (spec.section, spec.name),
                                how,
                            }
                        }));
                        return;
                    }
                }
            }
        };
        let text = if spec.meta.is_multi { texts.join(", ") } else { last(texts) };
        self.errors.push(ConfigError {
            origin: origin.clone(),
            option: Some((spec.section.to_owned(), spec.name.to_owned())),
            value: Some(format!("\"{}\"", shown(spec, &text))),
            problem,
        });
    }

    /// Keeps the free keys of `[batch:<plugin>]` sections.
    fn plugins(&mut self) {
        let collected = self.collected;
        for written in &collected.written {
            let Some(plugin) = written.section.strip_prefix(PLUGIN_PREFIX) else { continue };
            let text = last(&written.texts);
            let references = References::new(collected, &self.defaults);
            match references.resolve(&written.section, &text) {
                Ok(text) => {
                    let keys = self.loaded.settings.batch_plugins.entry(plugin.to_owned());
                    keys.or_default().insert(written.option.clone(), text);
                    let name = (written.section.clone(), written.option.clone());
                    self.loaded.origins.insert(name, written.origin.clone());
                }
                Err(problem) => self.errors.push(ConfigError {
                    origin: written.origin.clone(),
                    option: Some((written.section.clone(), written.option.clone())),
                    value: None,
                    problem: if is_secret_key(&written.option) {
                        HIDDEN_REFERENCE.to_owned()
                    } else {
                        problem
                    },
                }),
            }
        }
    }

    /// Warns of names that nobody knows, once per unknown section.
    fn strangers(&mut self) {
        let mut unknown_sections: Vec<&str> = Vec::new();
        for written in &self.collected.written {
            let (section, option) = (written.section.as_str(), written.option.as_str());
            let is_read = section.starts_with(PLUGIN_PREFIX)
                || options().any(|spec| {
                    (spec.section, spec.name) == (section, option)
                        || spec.meta.older_names.contains(&(section, option))
                });
            if is_read {
                continue;
            }
            let is_typed = SECTIONS.iter().any(|spec| spec.name == section);
            if known::is_section(section) || known::options(section).any(|name| name == option) {
                self.loaded.unused.push((section.to_owned(), option.to_owned()));
            } else if written.origin == Origin::Override {
                // Nobody passes other services' options on the command line.
                self.errors.push(no_such_option(section, option));
            } else if is_typed {
                self.loaded.warnings.push(Warning::UnknownOption {
                    origin: written.origin.clone(),
                    section: section.to_owned(),
                    option: option.to_owned(),
                    meant: nearest_option(section, option),
                });
            } else if !unknown_sections.contains(&section) {
                unknown_sections.push(section);
                self.loaded.warnings.push(Warning::UnknownSection {
                    origin: written.origin.clone(),
                    section: section.to_owned(),
                    meant: nearest_section(section).map(str::to_owned),
                });
            }
        }
    }
}

fn last(texts: &[String]) -> String {
    texts.last().cloned().unwrap_or_default()
}

fn no_such_option(section: &str, option: &str) -> ConfigError {
    let meant = nearest_option(section, option)
        .map(|name| format!(", did you mean {name}?"))
        .or_else(|| nearest_section(section).map(|name| format!(", did you mean [{name}]?")));
    ConfigError {
        origin: Origin::Override,
        option: Some((section.to_owned(), option.to_owned())),
        value: None,
        problem: format!("there is no such option{}", meant.unwrap_or_default()),
    }
}
