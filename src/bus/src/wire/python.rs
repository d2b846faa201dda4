//! JSON text as Python's `json.dumps` writes it, where a text travels inside
//! another.

use std::io;

use serde::Serialize;
use serde_json::ser::Formatter;

/// A blank after each comma and colon.
struct Python;

impl Formatter for Python {
    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

/// Writes a value; `null` if it cannot be written.
#[must_use]
pub fn text(value: &(impl Serialize + ?Sized)) -> String {
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Python);
    match value.serialize(&mut serializer) {
        Ok(()) => String::from_utf8(bytes).unwrap_or_default(),
        Err(_) => "null".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn blanks_stand_where_python_puts_them() {
        let value = json!({"a": {"b": 1, "c": []}, "d": [1, "x,y:z", null]});
        assert_eq!(text(&value), r#"{"a": {"b": 1, "c": []}, "d": [1, "x,y:z", null]}"#);
        assert_eq!(text(&json!({})), "{}");
    }
}
