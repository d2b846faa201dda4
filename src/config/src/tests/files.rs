//! How lines of a file are read, compared with what oslo.config's parser does
//! with the same text.

use crate::ini::parse;

/// Entries as `section|key|value|line`, or `!line problem` for a bad line.
fn read(text: &str) -> Vec<String> {
    let (entries, bad) = parse(text);
    let entries = entries
        .iter()
        .map(|entry| format!("{}|{}|{}|{}", entry.section, entry.key, entry.value, entry.line));
    entries.chain(bad.iter().map(|bad| format!("!{} {}", bad.line, bad.problem))).collect()
}

#[test]
fn lines_are_read_as_by_oslo_config() {
    let cases: &[(&str, &[&str])] = &[
        ("[a]\nk = v\n", &["a|k|v|2"]),
        ("[a]\nk: v\n", &["a|k|v|2"]),
        ("[a]\nk=v\r\nj = w\r\n", &["a|k|v|2", "a|j|w|3"]),
        // The first sign separates.
        ("[a]\nurl = mysql://h:1/d?x=y\n", &["a|url|mysql://h:1/d?x=y|2"]),
        ("[a]\nk: a=b\nj = a:b\n", &["a|k|a=b|2", "a|j|a:b|3"]),
        ("[a]\nk =\n", &["a|k||2"]),
        // Comments begin in the first column only.
        ("# c\n; c\n[a]\n#k=1\nk = v ; x # y\n", &["a|k|v ; x # y|5"]),
        ("[a]\nk = 1\n  # in\nj = 2\n", &["a|k|1\n# in|2", "a|j|2|4"]),
        // Quotes around the whole value go, others and backslashes stay.
        ("[a]\nk = 'v'\nj = \"v\"\n", &["a|k|v|2", "a|j|v|3"]),
        ("[a]\nk = \"v'\nj = \"a\" b\n", &["a|k|\"v'|2", "a|j|\"a\" b|3"]),
        ("[a]\nk = '\n", &["a|k||2"]),
        ("[a]\nk = C:\\dir\\new\n", &["a|k|C:\\dir\\new|2"]),
        // Continuations.
        ("[a]\nk = 1,\n  2,\n\t3\n", &["a|k|1,\n2,\n3|2"]),
        ("[a]\nk =\n  b\n", &["a|k|\nb|2"]),
        ("[a]\nk = 'a\n b'\n", &["a|k|'a\nb'|2"]),
        // Repeated keys and sections are all given; names keep their case.
        ("[a]\nk=1\n[b]\nk=2\n[a]\nk=3\nk=4\n", &["a|k|1|2", "b|k|2|4", "a|k|3|6", "a|k|4|7"]),
        ("[a]\nK=1\n[A]\nk=2\n", &["a|K|1|2", "A|k|2|4"]),
        (
            "[a.b]\nk=1\n[batch:gang]\nk=2\n[a]]\nk=3\n",
            &["a.b|k|1|2", "batch:gang|k|2|4", "a]|k|3|6"],
        ),
        ("[ a ]\nk=1\n", &[" a |k|1|2"]),
        ("", &[]),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text), *expected, "{text:?}");
    }
}

#[test]
fn bad_lines_are_all_told_with_their_numbers() {
    let cases: &[(&str, &[&str])] = &[
        ("[a]\nnovalue\nk = 1\n", &["a|k|1|3", "!2 expected option = value"]),
        ("k = 1\n", &["!1 expected a [section] before the first option"]),
        (
            "\u{feff}[a]\nk = 1\n",
            &["!1 expected no byte order mark", "!2 expected a [section] before the first option"],
        ),
        (
            "[a\n[]\n[a] # c\n",
            &[
                "!1 expected ] at the end of the section's name",
                "!2 expected the name of a section",
                "!3 expected ] at the end of the section's name",
            ],
        ),
        ("[a]\n= v\n", &["!2 expected the name of an option before the sign"]),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text), *expected, "{text:?}");
    }
    let continuation = "expected an option in the first column; an indented line continues the \
                        value directly above it";
    for text in ["[a]\nk=1\n\n  2\n", "[a]\nk=1\n#c\n  2\n"] {
        assert_eq!(read(text), ["a|k|1|2".to_owned(), format!("!4 {continuation}")], "{text:?}");
    }
    assert_eq!(read("[a]\n  k = 1\n"), [format!("!2 {continuation}")]);
    // What continues a refused line is refused with it, once.
    assert_eq!(read("[a]\nnovalue\n  more\n"), ["!2 expected option = value"]);
}
