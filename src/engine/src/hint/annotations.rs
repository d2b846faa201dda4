//! Hints in the annotations of a task.

use std::collections::BTreeMap;

use super::Hint;

/// The annotation that holds a hint as JSON text.
pub const KEY: &str = "internal.scheduling.koordinator.sh/scheduling-hint";
/// Its name before; read only where the other is missing or empty.
pub const DEPRECATED_KEY: &str = "scheduling.koordinator.sh/scheduling-hint";

/// A hint found in annotations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FromAnnotations {
    /// The annotation that it stands in.
    pub key: &'static str,
    /// The hint.
    pub hint: Hint,
}

impl FromAnnotations {
    /// What whoever wrote the annotation should know.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        (self.key == DEPRECATED_KEY)
            .then(|| format!("annotation {DEPRECATED_KEY} is deprecated: use {KEY}"))
    }
}

/// An annotation that holds no hint. The request fails: it is not scheduled
/// as if it had none.
#[derive(Debug, thiserror::Error)]
#[error("annotation {key} is {value:?}: expected a scheduling hint as a JSON object ({error})")]
pub struct HintError {
    /// The annotation.
    pub key: &'static str,
    /// Its text.
    pub value: String,
    /// What is wrong with it.
    pub error: serde_json::Error,
}

/// The hint in annotations; `None` where there is none, or an empty text.
///
/// # Errors
/// A text that is not JSON, or not of a hint's form.
pub fn from_annotations(
    annotations: &BTreeMap<String, String>,
) -> Result<Option<FromAnnotations>, HintError> {
    let written = [KEY, DEPRECATED_KEY].into_iter().find_map(|key| {
        let text = annotations.get(key).filter(|text| !text.is_empty())?;
        Some((key, text))
    });
    let Some((key, text)) = written else { return Ok(None) };
    // A struct is read from a list, too; a hint is an object (or null, empty).
    let read = serde_json::from_str::<Option<serde_json::Map<_, _>>>(text).and_then(|object| {
        serde_json::from_value(serde_json::Value::Object(object.unwrap_or_default()))
    });
    match read {
        Ok(hint) => Ok(Some(FromAnnotations { key, hint })),
        Err(error) => Err(HintError { key, value: text.clone(), error }),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn read(annotations: &[(&str, &str)]) -> Result<Option<FromAnnotations>, HintError> {
        let annotations =
            annotations.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned()));
        from_annotations(&annotations.collect())
    }

    fn names(found: &FromAnnotations) -> Vec<&str> {
        found.hint.node_names.iter().map(String::as_str).collect()
    }

    #[test]
    fn the_new_key_goes_before_the_old_one_and_nothing_is_merged() {
        let old = (DEPRECATED_KEY, r#"{"nodeNames": ["old"], "preferredNodeNames": ["p"]}"#);
        let both = read(&[(KEY, r#"{"nodeNames": ["new"]}"#), old]).unwrap().unwrap();
        assert_eq!(names(&both), ["new"]);
        assert!(both.hint.preferred_node_names.is_empty() && both.warning().is_none());
        let empty = read(&[(KEY, ""), old]).unwrap().unwrap();
        assert_eq!(names(&empty), ["old"]);
        assert!(empty.warning().unwrap().contains(KEY));
        // A wrong text is not empty: the old one does not stand in for it.
        assert!(read(&[(KEY, "{"), old]).is_err());
        assert!(read(&[(DEPRECATED_KEY, "")]).unwrap().is_none());
    }

    #[test]
    fn unknown_keys_pass_and_wrong_values_do_not() {
        let text = r#"{"nodeNames": null, "colour": 1, "extensions": {"a": {"b": [1]}}}"#;
        let found = read(&[(KEY, text)]).unwrap().unwrap();
        assert_eq!(found.hint.required(), None);
        assert_eq!(found.hint.extensions["a"]["b"][0], 1);
        for wrong in [r#"["n"]"#, "7", r#"{"nodeNames": "n"}"#, r#"{"extensions": []}"#] {
            let error = read(&[(KEY, wrong)]).unwrap_err().to_string();
            assert!(error.contains(KEY) && error.contains("expected"), "{error}");
        }
        assert_eq!(read(&[(KEY, "null")]).unwrap().unwrap().hint, Hint::default());
    }
}
