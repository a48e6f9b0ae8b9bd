//! The field of a JSON document at which its parser stopped.

/// The path of the field at which the parser stopped, `transmitter.window.cpu_each[1].user`; empty
/// at the document's top. `line` and `column` are the parser's, both from 1.
///
/// It reads only what the parser has read, which is well-formed or ends at the error.
pub(crate) fn field_at(json: &str, line: usize, column: usize) -> String {
    let before: usize = json.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let read = &json.as_bytes()[..(before + column).min(json.len())];
    let mut path: Vec<Step> = Vec::new();
    let mut bytes = read.iter();
    // Whether the next text is a key.
    let mut is_key = false;
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => {
                let mut text = Vec::new();
                while let Some(byte) = bytes.next().filter(|byte| **byte != b'"') {
                    text.push(*byte);
                    if *byte == b'\\' {
                        text.extend(bytes.next());
                    }
                }
                if let (true, Some(Step::Key(key))) = (is_key, path.last_mut()) {
                    *key = String::from_utf8_lossy(&text).into_owned();
                }
                is_key = false;
            }
            b'{' => {
                path.push(Step::Key(String::new()));
                is_key = true;
            }
            b'[' => path.push(Step::Item(0)),
            b',' => match path.last_mut() {
                Some(Step::Item(index)) => *index += 1,
                Some(Step::Key(_)) => is_key = true,
                None => {}
            },
            // A missing field is reported at the end of its object: name the object, not its last
            // key.
            b'}' | b']' => drop(path.pop()),
            _ => {}
        }
    }
    path.iter().fold(String::new(), |path, step| match step {
        Step::Key(key) if path.is_empty() || key.is_empty() => path + key,
        Step::Key(key) => path + "." + key,
        Step::Item(index) => format!("{path}[{index}]"),
    })
}

enum Step {
    Key(String),
    Item(usize),
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its reading is looked at")]
    struct Outer {
        inner: Vec<Inner>,
        name: String,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its reading is looked at")]
    struct Inner {
        number: u64,
        pair: [u8; 2],
    }

    #[test]
    fn an_error_is_at_the_field_that_is_wrong() {
        let good = r#"{"number":1,"pair":[1,2]}"#;
        for (json, at) in [
            (r#"{"inner":[{"number":"a \"b\", {","pair":[1,2]}],"name":"x"}"#.to_owned(), "inner[0].number"),
            (format!(r#"{{"inner":[{good},{{"number":1,"pair":[1,256]}}],"name":"x"}}"#), "inner[1].pair[1]"),
            (format!("{{\"inner\":\n[{good},{good},{{\"number\":1}}],\"name\":\"x\"}}"), "inner[2]"),
            (r#"{"inner":[],"name":7}"#.to_owned(), "name"),
            (r#"{"inner":[],"new":{}}"#.to_owned(), "new"),
            (r#"{"inner":[]}"#.to_owned(), ""),
            ("7".to_owned(), ""),
        ] {
            let error = serde_json::from_str::<Outer>(&json).unwrap_err();
            assert_eq!(field_at(&json, error.line(), error.column()), at, "{json}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_at_any_place_has_some_field(json in "[\"\\[\\]{},:\\\\a-c\\n]{0,40}", line in 0_usize..4, column in 0_usize..60) {
            field_at(&json, line, column);
        }
    }
}
