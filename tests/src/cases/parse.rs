//! Cases as they are written; README.md says how.

use uuid::Uuid;

/// One case: requests to a fresh server, in order.
#[derive(Debug)]
pub struct Case {
    /// What it shows.
    pub title: String,
    /// Its requests.
    pub steps: Vec<Step>,
}

/// A request and the answer that must come.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// Where it is written, from 1 on.
    pub line: usize,
    /// The microversion, if it is not the newest.
    pub version: Option<String>,
    /// The method.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The body; empty for none.
    pub body: String,
    /// Headers of the request.
    pub headers: Vec<(String, String)>,
    /// The status of the answer.
    pub status: u16,
    /// What is to be in the answer: JSON, an error's code and words, or nothing.
    pub answer: String,
    /// Headers of the answer, or parts of them.
    pub answer_headers: Vec<(String, String)>,
}

/// The cases in a file.
///
/// # Panics
/// When it is not in the form of cases.
#[must_use]
pub fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut is_inside = false;
    for (line, text) in (1..).zip(text.lines()) {
        if let Some(title) = text.strip_prefix("== ") {
            cases.push(Case { title: title.to_owned(), steps: Vec::new() });
        } else if text.is_empty() {
            is_inside = false;
        } else if !text.starts_with('#') {
            let case = cases.last_mut().unwrap_or_else(|| panic!("line {line}: before a case"));
            if !is_inside {
                case.steps.push(Step { line, ..Step::default() });
            }
            let step = case.steps.last_mut().expect("it was pushed");
            if is_inside {
                step.more(&named(text));
            } else {
                step.request(&named(text));
            }
            is_inside = true;
        }
    }
    cases
}

impl Step {
    fn request(&mut self, text: &str) {
        let mut rest = text;
        if !rest.starts_with(|letter: char| letter.is_ascii_uppercase()) {
            let (version, after) = self.word(rest);
            (self.version, rest) = (Some(version.to_owned()), after);
        }
        let (method, rest) = self.word(rest);
        self.method = method.to_owned();
        let (path, body) = rest.split_once(' ').unwrap_or((rest, ""));
        (self.path, self.body) = (path.to_owned(), body.to_owned());
    }

    fn more(&mut self, text: &str) {
        if let Some(header) = text.strip_prefix("> ") {
            self.headers.push(self.header(header));
        } else if let Some(header) = text.strip_prefix("< ") {
            self.answer_headers.push(self.header(header));
        } else if text.starts_with(' ') {
            let body = if self.status == 0 { &mut self.body } else { &mut self.answer };
            body.push_str(text);
        } else {
            let (status, answer) = text.split_once(' ').unwrap_or((text, ""));
            let status = status.parse();
            self.status = status.unwrap_or_else(|_| panic!("line {}: {text}", self.line));
            self.answer = answer.to_owned();
        }
    }

    fn word<'a>(&self, text: &'a str) -> (&'a str, &'a str) {
        text.split_once(' ').unwrap_or_else(|| panic!("line {}: {text}", self.line))
    }

    fn header(&self, text: &str) -> (String, String) {
        let header = text.split_once(':').unwrap_or_else(|| panic!("line {}: {text}", self.line));
        (header.0.to_owned(), header.1.trim().to_owned())
    }
}

/// The text with each `@name` replaced by the uuid that it stands for.
fn named(text: &str) -> String {
    let mut parts = text.split('@');
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|letter: char| !letter.is_ascii_alphanumeric());
        let (name, rest) = part.split_at(end.unwrap_or(part.len()));
        whole.push_str(&Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).to_string());
        whole.push_str(rest);
    }
    whole
}
