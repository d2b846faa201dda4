//! JSON text written piece by piece.
//!
//! Most answers are written by serde. Lists of candidates and of providers have
//! many thousand parts, nearly all of them uuids, numbers and names that need
//! no escaping: written by hand they cost a fraction.

use stowplan_model::Uuid;

/// What can be written as JSON text.
pub trait Write {
    /// Writes it: one whole value.
    fn write(&self, text: &mut Text);

    /// It alone.
    fn to_text(&self) -> Vec<u8> {
        let mut text = Text::default();
        self.write(&mut text);
        text.0
    }
}

/// JSON text in the making. That the pieces make a whole is up to the writer.
#[derive(Debug, Default)]
pub struct Text(Vec<u8>);

impl Text {
    /// Punctuation, or anything else that is JSON text already.
    pub fn raw(&mut self, piece: &str) {
        self.0.extend_from_slice(piece.as_bytes());
    }

    /// A uuid in its usual form.
    pub fn uuid(&mut self, uuid: Uuid) {
        self.raw("\"");
        self.inner_uuid(uuid);
        self.raw("\"");
    }

    /// A uuid, or null.
    pub fn uuid_or_null(&mut self, uuid: Option<Uuid>) {
        match uuid {
            Some(uuid) => self.uuid(uuid),
            None => self.raw("null"),
        }
    }

    /// A uuid as part of a text.
    pub fn inner_uuid(&mut self, uuid: Uuid) {
        self.raw(uuid.hyphenated().encode_lower(&mut Uuid::encode_buffer()));
    }

    /// A number.
    pub fn number(&mut self, number: i64) {
        self.raw(itoa::Buffer::new().format(number));
    }

    /// A text, escaped where it must be.
    pub fn text(&mut self, text: &str) {
        self.raw("\"");
        self.inner(text);
        self.raw("\"");
    }

    /// A text as part of another.
    pub fn inner(&mut self, text: &str) {
        let special = |byte: &u8| *byte < b' ' || *byte == b'"' || *byte == b'\\';
        // Without an early end the loop is done many bytes at a time.
        if text.as_bytes().iter().fold(false, |found, byte| found | special(byte)) {
            let quoted = serde_json::Value::from(text).to_string();
            self.raw(&quoted[1..quoted.len() - 1]);
        } else {
            self.raw(text);
        }
    }

    /// Parts with a comma between each two.
    pub fn joined<T>(
        &mut self,
        parts: impl Iterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
    ) {
        let mut first = true;
        for part in parts {
            if !first {
                self.raw(",");
            }
            first = false;
            write(self, part);
        }
    }

    /// An object: each part writes its name, a colon and its value.
    pub fn object<T>(&mut self, parts: impl Iterator<Item = T>, write: impl FnMut(&mut Self, T)) {
        self.raw("{");
        self.joined(parts, write);
        self.raw("}");
    }

    /// A list.
    pub fn list<T>(&mut self, parts: impl Iterator<Item = T>, write: impl FnMut(&mut Self, T)) {
        self.raw("[");
        self.joined(parts, write);
        self.raw("]");
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn what_is_written_is_what_is_read() {
        let texts = ["", "VCPU", "a \"b\" \\ c", "\u{1}\n\t\u{7f}", "\u{2603} \u{1f600}", "</a>"];
        let numbers = [0, -1, i64::MIN, i64::MAX];
        let uuid = Uuid::from_u128(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
        let mut text = Text::default();
        text.raw("[");
        text.list(texts.iter(), |text, each| text.text(each));
        text.raw(",");
        text.list(numbers.iter(), |text, each| text.number(*each));
        text.raw(",");
        text.object([(uuid, 1), (Uuid::nil(), 2)].iter(), |text, (uuid, number)| {
            text.uuid(*uuid);
            text.raw(":");
            text.number(*number);
        });
        text.raw("]");
        let read: Value = serde_json::from_slice(&text.0).unwrap();
        let object = json!({uuid.to_string(): 1, Uuid::nil().to_string(): 2});
        assert_eq!(read, json!([texts, numbers, object]));
    }
}
