//! Reader of INI files in the manner of oslo.config, which keeps line numbers.
//!
//! A line is a `[section]`, a comment (`#` or `;` in its first column), or
//! `key = value` or `key: value`, whichever sign comes first. An indented line
//! continues the value above it until a blank line. Quotes around a whole value
//! are dropped, backslashes and comment signs inside it are kept. Repeated keys
//! and sections are all given, in order.

/// One `key = value` of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Section as written.
    pub section: String,
    /// Key as written.
    pub key: String,
    /// Value; lines of a continued one are joined by newlines.
    pub value: String,
    /// Line of the key, counted from 1.
    pub line: u32,
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadLine {
    /// Counted from 1.
    pub line: u32,
    /// The line, without blanks at its end.
    pub text: String,
    /// What is wrong and what was expected.
    pub problem: &'static str,
}

/// All that a file says: its entries in order, and every line that is wrong.
pub(crate) fn parse(text: &str) -> (Vec<Entry>, Vec<BadLine>) {
    let mut reader = Reader::default();
    for (line, text) in (1..).zip(text.lines()) {
        reader.line(line, text.trim_end());
    }
    (reader.entries, reader.bad)
}

/// Where indented lines belong to.
#[derive(Clone, Copy, Default, PartialEq)]
enum Open {
    /// To nothing: they are errors.
    #[default]
    Nothing,
    /// To the last entry.
    Entry,
    /// To a line that was refused: they are passed over with it.
    Refused,
}

#[derive(Default)]
struct Reader {
    section: Option<String>,
    open: Open,
    entries: Vec<Entry>,
    bad: Vec<BadLine>,
}

impl Reader {
    fn line(&mut self, line: u32, text: &str) {
        let indented = text.starts_with([' ', '\t', '\u{b}', '\u{c}']);
        match text.chars().next() {
            None => self.open = Open::Nothing,
            Some(_) if indented => self.continuation(line, text),
            Some('#' | ';') => self.open = Open::Nothing,
            Some('[') => self.section(line, text),
            Some('\u{feff}') => self.refuse(line, text, "expected no byte order mark"),
            Some(_) => self.assignment(line, text),
        }
    }

    fn refuse(&mut self, line: u32, text: &str, problem: &'static str) {
        self.bad.push(BadLine { line, text: text.to_owned(), problem });
        self.open = Open::Refused;
    }

    fn continuation(&mut self, line: u32, text: &str) {
        match self.open {
            Open::Refused => {}
            Open::Nothing => self.refuse(
                line,
                text,
                "expected an option in the first column; an indented line continues the value \
                 directly above it",
            ),
            Open::Entry => {
                if let Some(entry) = self.entries.last_mut() {
                    entry.value.push('\n');
                    entry.value.push_str(text.trim_start());
                }
            }
        }
    }

    fn section(&mut self, line: u32, text: &str) {
        match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            None => self.refuse(line, text, "expected ] at the end of the section's name"),
            Some("") => self.refuse(line, text, "expected the name of a section"),
            Some(name) => {
                self.section = Some(name.to_owned());
                self.open = Open::Nothing;
            }
        }
    }

    fn assignment(&mut self, line: u32, text: &str) {
        let Some((key, value)) = text.split_once(['=', ':']) else {
            return self.refuse(line, text, "expected option = value");
        };
        let key = key.trim();
        if key.is_empty() {
            return self.refuse(line, text, "expected the name of an option before the sign");
        }
        let Some(section) = &self.section else {
            return self.refuse(line, text, "expected a [section] before the first option");
        };
        self.entries.push(Entry {
            section: section.clone(),
            key: key.to_owned(),
            value: unquoted(value.trim()).to_owned(),
            line,
        });
        self.open = Open::Entry;
    }
}

/// Drops a pair of like quotes around the whole value; a lone quote is an empty
/// value, as in oslo.config.
fn unquoted(value: &str) -> &str {
    for quote in ['"', '\''] {
        if value.len() == 1 && value.starts_with(quote) {
            return "";
        }
        if let Some(inner) = value.strip_prefix(quote).and_then(|value| value.strip_suffix(quote)) {
            return inner;
        }
    }
    value
}
