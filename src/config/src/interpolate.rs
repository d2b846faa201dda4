//! References to other options in values: `$name`, `${name}`, `${section.name}`;
//! `$$` and `\$` are a dollar sign.

use crate::options::{Settings, options};
use crate::sources::{Collected, section_name};

/// Deepest chain of references; a longer one is a circle.
const MAX_DEPTH: usize = 32;

/// What references are looked up in.
pub(crate) struct References<'a> {
    written: &'a Collected,
    defaults: &'a Settings,
}

impl<'a> References<'a> {
    pub(crate) fn new(written: &'a Collected, defaults: &'a Settings) -> Self {
        Self { written, defaults }
    }

    /// The text with its references replaced; `section` is where it stands.
    pub(crate) fn resolve(&self, section: &str, text: &str) -> Result<String, String> {
        self.expand(section, text, 0)
    }

    fn expand(&self, section: &str, text: &str, depth: usize) -> Result<String, String> {
        if depth > MAX_DEPTH {
            return Err("expected no circle of references".to_owned());
        }
        let text = text.replace("\\$", "$$");
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            rest = match reference(after) {
                Reference::Dollar => {
                    out.push('$');
                    after.get(1..).unwrap_or_default()
                }
                Reference::None => {
                    out.push('$');
                    after
                }
                Reference::Name { name, length } => {
                    out.push_str(&self.value(section, name, depth)?);
                    after.get(length..).unwrap_or_default()
                }
            };
        }
        out.push_str(rest);
        Ok(out)
    }

    fn value(&self, section: &str, name: &str, depth: usize) -> Result<String, String> {
        let found = match name.split_once('.') {
            Some((group, option)) => self.look_up(&section_name(group), option, depth),
            None => {
                self.look_up(section, name, depth).or_else(|| self.look_up("DEFAULT", name, depth))
            }
        };
        found.unwrap_or_else(|| {
            Err(format!(
                "expected the name of an option after $, not {name} (a dollar sign itself is $$)"
            ))
        })
    }

    fn look_up(&self, section: &str, name: &str, depth: usize) -> Option<Result<String, String>> {
        if let Some(written) = self.written.find(section, name) {
            let text = written.texts.last().map_or("", String::as_str);
            return Some(self.expand(section, text, depth + 1));
        }
        let spec = options().find(|spec| spec.section == section && spec.name == name)?;
        if let Some(template) = spec.meta.template {
            return Some(self.expand(section, template, depth + 1));
        }
        Some(Ok((spec.texts)(self.defaults, &spec.meta).join(",")))
    }
}

enum Reference<'a> {
    /// The second sign of `$$`.
    Dollar,
    /// A name, and how much of the text it takes.
    Name { name: &'a str, length: usize },
    /// Nothing: the sign stands for itself.
    None,
}

fn reference(after: &str) -> Reference<'_> {
    if after.starts_with('$') {
        return Reference::Dollar;
    }
    let (name, extra) = match after.strip_prefix('{') {
        Some(inner) => match inner.split_once('}') {
            Some((name, _)) => (name, 2),
            None => return Reference::None,
        },
        None => {
            let end = after.find(|c| !is_name(c)).unwrap_or(after.len());
            (after.get(..end).unwrap_or_default(), 0)
        }
    };
    let valid = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(is_name);
    if valid { Reference::Name { name, length: name.len() + extra } } else { Reference::None }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}
