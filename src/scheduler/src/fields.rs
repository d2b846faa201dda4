//! What is wrong with the fields of a request: all of it at once.

use std::borrow::Cow;
use std::fmt::{self, Display};

use serde::Serialize;

/// Characters of a client's own text that an error repeats.
const MAX_SHOWN: usize = 100;
/// Characters of what was expected: it may hold several texts of the client's.
const MAX_EXPECTED: usize = 500;
/// Errors of one request that are told one by one.
const MAX_ERRORS: usize = 100;

/// A client's text as errors repeat it: cut when it is long.
#[must_use]
pub fn cut(text: &str) -> Cow<'_, str> {
    cut_to(text, MAX_SHOWN)
}

fn cut_to(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end]).into(),
        None => text.into(),
    }
}

/// The longest text that the database keeps as a name: a program, project or user.
pub const MAX_TEXT: usize = 255;

/// One field that is not as it must be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldError {
    /// Its place, such as `inventory.VCPU.total` or `devices[1].name`.
    pub field: String,
    /// Its value as JSON text, cut when it is long.
    pub value: String,
    /// What was expected.
    pub expected: String,
}

impl Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}: expected {}", self.field, self.value, self.expected)
    }
}

/// All that is wrong with a request; of very much, the first hundred.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FieldErrors(Vec<FieldError>);

impl FieldErrors {
    /// Adds an error.
    pub fn add(
        &mut self,
        field: impl Into<String>,
        value: &(impl Serialize + ?Sized),
        expected: impl Into<String>,
    ) {
        let value = serde_json::to_string(value).unwrap_or_else(|_| "unreadable".to_owned());
        self.add_text(field, &value, expected);
    }

    /// Adds an error whose value is shown as it stands.
    pub fn add_text(&mut self, field: impl Into<String>, value: &str, expected: impl Into<String>) {
        if self.0.len() >= MAX_ERRORS {
            return;
        }
        self.0.push(FieldError {
            field: cut(&field.into()).into_owned(),
            value: cut(value).into_owned(),
            expected: cut_to(&expected.into(), MAX_EXPECTED).into_owned(),
        });
    }

    /// Adds an error unless `holds`.
    pub fn require(
        &mut self,
        holds: bool,
        field: impl Into<String>,
        value: &(impl Serialize + ?Sized),
        expected: impl Into<String>,
    ) {
        if !holds {
            self.add(field, value, expected);
        }
    }

    /// Requires a name: 1 to `most` characters, without control characters or
    /// blanks at the ends.
    pub fn require_name(&mut self, field: impl Into<String>, name: &str, most: usize) {
        let fits = (1..=most).contains(&name.chars().count());
        self.require(
            fits && name.trim() == name && !name.chars().any(char::is_control),
            field,
            name,
            format!("1 to {most} characters without control characters or blanks at the ends"),
        );
    }

    /// Requires a text that the database takes: at most `most` characters, none of
    /// them NUL.
    pub fn require_text(&mut self, field: impl Into<String>, text: &str, most: usize) {
        self.require(
            text.chars().count() <= most && !text.contains('\0'),
            field,
            text,
            format!("at most {most} characters, none of them NUL"),
        );
    }

    /// Requires a list of at most `most` items. Its length is shown, not the list.
    pub fn require_few(&mut self, field: impl Into<String>, len: usize, most: usize) {
        self.require(len <= most, field, &len, format!("at most {most} items"));
    }

    /// The errors, in the order found.
    #[must_use]
    pub fn all(&self) -> &[FieldError] {
        &self.0
    }

    /// `value` if nothing is wrong.
    ///
    /// # Errors
    /// These, if there are any.
    pub fn into_result<T>(self, value: T) -> Result<T, Self> {
        if self.0.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl Display for FieldErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, error) in self.0.iter().enumerate() {
            if place > 0 {
                f.write_str("; ")?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for FieldErrors {}
