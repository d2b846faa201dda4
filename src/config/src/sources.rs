//! The layers of a configuration, handed to the `config` crate: files, then the
//! environment, then the command line.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use config::{Map, Source, Value, ValueKind};

use crate::error::ConfigError;
use crate::ini;
use crate::options::options;
use crate::origin::Origin;
use crate::redact::url_passwords;

/// Bytes of a file at most: what is larger is no configuration, or has no end.
const MAX_FILE: u64 = 16 * 1024 * 1024;

/// Where a configuration is read from; what is added later wins over what was
/// added before only within its own layer.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<FileSource>,
    environment: Vec<(String, String)>,
    overrides: Vec<String>,
}

#[derive(Clone, Debug)]
enum FileSource {
    Path(PathBuf),
    Folder(PathBuf),
    Text { name: PathBuf, text: String },
}

impl Sources {
    /// Defaults alone.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file.
    #[must_use]
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.files.push(FileSource::Path(path.into()));
        self
    }

    /// Adds the `*.conf` files of a folder, in the order of their names.
    #[must_use]
    pub fn folder(mut self, path: impl Into<PathBuf>) -> Self {
        self.files.push(FileSource::Folder(path.into()));
        self
    }

    /// Adds the text of a file that is called `name` in messages.
    #[must_use]
    pub fn text(mut self, name: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        self.files.push(FileSource::Text { name: name.into(), text: text.into() });
        self
    }

    /// Adds variables of an environment; those of the form
    /// `OS_<SECTION>__<OPTION>` count.
    #[must_use]
    pub fn environment(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        self.environment.extend(variables);
        self
    }

    /// Adds the environment of this process, variables that are not UTF-8 left out.
    #[must_use]
    pub fn process_environment(self) -> Self {
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        self.environment(variables)
    }

    /// Adds `section.option=value` of the command line; a name without a section
    /// is one of `[DEFAULT]`.
    #[must_use]
    pub fn set(mut self, assignment: impl Into<String>) -> Self {
        self.overrides.push(assignment.into());
        self
    }

    /// Reads all layers into one table; what cannot be read goes to `errors`.
    pub(crate) fn collect(&self, errors: &mut Vec<ConfigError>) -> Collected {
        let mut files = Layer::default();
        let mut folder = None;
        for source in &self.files {
            for (name, text) in source.read(errors) {
                folder = name.parent().map(Path::to_owned);
                files.add_file(&name, &text, errors);
            }
        }
        let mut environment = Layer::default();
        for (name, value) in &self.environment {
            environment.add_variable(name, value);
        }
        let mut overrides = Layer::default();
        for assignment in &self.overrides {
            overrides.add_override(assignment, errors);
        }
        let built = config::Config::builder()
            .add_source(files)
            .add_source(environment)
            .add_source(overrides)
            .build();
        match built {
            Ok(config) => Collected::new(config.cache, folder),
            Err(error) => {
                errors.push(ConfigError {
                    origin: Origin::Default,
                    option: None,
                    value: None,
                    problem: error.to_string(),
                });
                Collected::default()
            }
        }
    }
}

impl FileSource {
    /// Names and texts; none if it cannot be read.
    fn read(&self, errors: &mut Vec<ConfigError>) -> Vec<(PathBuf, String)> {
        match self {
            Self::Text { name, text } => vec![(name.clone(), text.clone())],
            Self::Path(path) => read_file(path, errors).into_iter().collect(),
            Self::Folder(folder) => match conf_files(folder) {
                Ok(paths) => paths.iter().filter_map(|path| read_file(path, errors)).collect(),
                Err(error) => {
                    errors.push(unreadable(folder, 0, &error.to_string()));
                    Vec::new()
                }
            },
        }
    }
}

fn conf_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "conf") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn read_file(path: &Path, errors: &mut Vec<ConfigError>) -> Option<(PathBuf, String)> {
    let mut bytes = Vec::new();
    let read =
        fs::File::open(path).and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        errors.push(unreadable(path, 0, &error.to_string()));
        return None;
    }
    if bytes.len() as u64 > MAX_FILE {
        errors.push(unreadable(path, 0, &format!("expected at most {MAX_FILE} bytes")));
        return None;
    }
    match String::from_utf8(bytes) {
        Ok(text) => Some((path.to_owned(), text)),
        Err(error) => {
            let good = error.utf8_error().valid_up_to();
            let lines = error.as_bytes().iter().take(good).filter(|byte| **byte == b'\n').count();
            let line = u32::try_from(lines + 1).unwrap_or(u32::MAX);
            errors.push(unreadable(path, line, "expected text in UTF-8"));
            None
        }
    }
}

fn unreadable(path: &Path, line: u32, problem: &str) -> ConfigError {
    ConfigError {
        origin: Origin::file(path, line),
        option: None,
        value: None,
        problem: if line == 0 { format!("cannot be read: {problem}") } else { problem.to_owned() },
    }
}

/// Section names compare in lower case, but for DEFAULT, as in oslo.config.
pub(crate) fn section_name(written: &str) -> String {
    if written == "DEFAULT" { written.to_owned() } else { written.to_lowercase() }
}

/// Splits `section.option` at its first dot; without one it is of `[DEFAULT]`.
pub(crate) fn split_key(key: &str) -> (String, String) {
    match key.trim().split_once('.') {
        Some((section, option)) => (section_name(section), option.to_owned()),
        None => ("DEFAULT".to_owned(), key.trim().to_owned()),
    }
}

/// One layer: texts in the order written, by section and option.
#[derive(Clone, Debug, Default)]
struct Layer(Vec<(String, String, Value)>);

impl Layer {
    fn push(&mut self, section: String, option: &str, origin: &Origin, text: &str) {
        let value = Value::new(Some(&origin.to_string()), text);
        self.0.push((section, option.to_owned(), value));
    }

    fn add_file(&mut self, name: &Path, text: &str, errors: &mut Vec<ConfigError>) {
        let (entries, bad) = ini::parse(text);
        errors.extend(bad.into_iter().map(|bad| ConfigError {
            origin: Origin::file(name, bad.line),
            option: None,
            value: Some(url_passwords(&bad.text)),
            problem: bad.problem.to_owned(),
        }));
        for entry in entries {
            let origin = Origin::file(name, entry.line);
            self.push(section_name(&entry.section), &entry.key, &origin, &entry.value);
        }
    }

    /// The environment says nothing of case: names of the table are sought that
    /// are the same in upper case, and others are taken in lower case. Variables
    /// of sections that the table does not know belong to other programs.
    fn add_variable(&mut self, name: &str, value: &str) {
        let Some((section, option)) =
            name.strip_prefix("OS_").and_then(|name| name.split_once("__"))
        else {
            return;
        };
        let origin = Origin::Environment(name.to_owned());
        let mut of_section =
            options().filter(|spec| spec.section.eq_ignore_ascii_case(section)).peekable();
        let Some(first) = of_section.peek().map(|spec| spec.section) else {
            return;
        };
        let option = of_section
            .find(|spec| spec.name.eq_ignore_ascii_case(option))
            .map_or_else(|| option.to_ascii_lowercase(), |spec| spec.name.to_owned());
        self.push(first.to_owned(), &option, &origin, value);
    }

    fn add_override(&mut self, assignment: &str, errors: &mut Vec<ConfigError>) {
        match assignment.split_once('=').filter(|(key, _)| !key.trim().is_empty()) {
            Some((key, value)) => {
                let (section, option) = split_key(key);
                self.push(section, &option, &Origin::Override, value.trim());
            }
            None => errors.push(ConfigError {
                origin: Origin::Override,
                option: None,
                value: Some(assignment.to_owned()),
                problem: "expected section.option=value".to_owned(),
            }),
        }
    }
}

/// Sections stand in brackets, so that a dot in a name is not taken for a path.
impl Source for Layer {
    fn clone_into_box(&self) -> Box<dyn Source + Send + Sync> {
        Box::new(self.clone())
    }

    fn collect(&self) -> Result<Map<String, Value>, config::ConfigError> {
        let mut sections: Map<String, Map<String, Vec<Value>>> = Map::new();
        for (section, option, value) in &self.0 {
            sections
                .entry(format!("[{section}]"))
                .or_default()
                .entry(option.clone())
                .or_default()
                .push(value.clone());
        }
        Ok(sections
            .into_iter()
            .map(|(section, options)| {
                let options: Map<String, Value> = options
                    .into_iter()
                    .map(|(option, values)| (option, Value::new(None, ValueKind::Array(values))))
                    .collect();
                (section, Value::new(None, ValueKind::Table(options)))
            })
            .collect())
    }
}

/// What was written for one option in the layer that wins.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub section: String,
    pub option: String,
    /// In order; never empty.
    pub texts: Vec<String>,
    /// Of the last text.
    pub origin: Origin,
}

/// All layers in one, in the order of files and lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Collected {
    pub written: Vec<Written>,
    /// Folder of the last file.
    pub folder: Option<PathBuf>,
}

impl Collected {
    fn new(root: Value, folder: Option<PathBuf>) -> Self {
        let mut written = Vec::new();
        for (section, options) in table(root) {
            let section = section.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
            let section = section.unwrap_or_default();
            for (option, value) in table(options) {
                let ValueKind::Array(values) = value.kind else { continue };
                let origin = values.last().and_then(Value::origin).unwrap_or_default();
                let Ok(origin) = origin.parse();
                written.push(Written {
                    section: section.to_owned(),
                    option,
                    origin,
                    texts: values.into_iter().filter_map(|v| v.into_string().ok()).collect(),
                });
            }
        }
        written.sort_by(|a, b| {
            (&a.origin, &a.section, &a.option).cmp(&(&b.origin, &b.section, &b.option))
        });
        Self { written, folder }
    }

    pub(crate) fn find(&self, section: &str, option: &str) -> Option<&Written> {
        self.written.iter().find(|written| written.section == section && written.option == option)
    }
}

fn table(value: Value) -> Map<String, Value> {
    match value.kind {
        ValueKind::Table(table) => table,
        _ => Map::new(),
    }
}
