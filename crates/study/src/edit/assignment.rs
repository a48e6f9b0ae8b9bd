//! A change to a study from outside its file: `KEY=VALUE`.

use std::str::FromStr;

use words::suggest::quoted;

use crate::model::limit;

/// `KEY=VALUE`, as on the command line: `duration=2s`, `sender=send,gso`. Several values are levels
/// of a factor. No value removes the key from the study, so that its default holds.
///
/// ```
/// let change: netassay_study::Assignment = "boots = 2".parse().expect("a key and a value");
/// assert_eq!(change.to_string(), "boots=2");
/// ```
// It is no error: thiserror gives it its text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key}={}", .values.join(","))]
pub struct Assignment {
    /// The key, which may name its table: `boots`, `protocol.boots`, `udp_rr.message`.
    pub key: String,
    /// The values. Without any the key is removed.
    pub values: Vec<String>,
}

/// Why a text is no assignment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages of its variants say it")]
pub enum AssignmentError {
    #[error("`{0}` has no key and `=`: write KEY=VALUE, such as duration=2s")]
    NoKey(String),
    #[error("the value of `{key}` {why}")]
    Value { key: String, why: &'static str },
}

impl FromStr for Assignment {
    type Err = AssignmentError;

    fn from_str(text: &str) -> Result<Self, AssignmentError> {
        let no_key = || AssignmentError::NoKey(quoted(text));
        let (key, value) = text.split_once('=').ok_or_else(no_key)?;
        let (key, value) = (key.trim(), value.trim());
        let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if key.is_empty() || key.len() > limit::NAME || !key.chars().all(is_letter) {
            return Err(no_key());
        }
        let no_value = |why| AssignmentError::Value { key: key.to_owned(), why };
        if value.len() > limit::ASSIGNMENT {
            return Err(no_value("is too long"));
        }
        if !words::is_plain(value) {
            return Err(no_value("holds control or invisible characters"));
        }
        // A sentence may hold commas; no other value does.
        let values: Vec<String> = match (key, value) {
            (_, "") => Vec::new(),
            ("question", sentence) => vec![sentence.to_owned()],
            (_, list) => list.split(',').map(|one| one.trim().to_owned()).collect(),
        };
        if values.iter().any(String::is_empty) {
            return Err(no_value("has an empty part: write several values as A,B"));
        }
        Ok(Self { key: key.to_owned(), values })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_and_values_as_people_write_them() {
        for (text, key, values) in [
            ("duration=2s", "duration", vec!["2s"]),
            (" sender = send, gso ", "sender", vec!["send", "gso"]),
            ("stop=", "stop", vec![]),
            ("question=Why, and how = what?", "question", vec!["Why, and how = what?"]),
            ("receiver.gro=on,off", "receiver.gro", vec!["on", "off"]),
        ] {
            let assignment: Assignment = text.parse().unwrap();
            assert_eq!((assignment.key.as_str(), assignment.values), (key, values.map_text()), "{text}");
        }
        for (text, error) in [
            ("duration", "`duration` has no key and `=`: write KEY=VALUE, such as duration=2s"),
            ("=2s", "`=2s` has no key and `=`: write KEY=VALUE, such as duration=2s"),
            ("[factors]=1", "`[factors]=1` has no key and `=`: write KEY=VALUE, such as duration=2s"),
            ("sender=send,", "the value of `sender` has an empty part: write several values as A,B"),
            ("name=a\nb", "the value of `name` holds control or invisible characters"),
            ("name=a\u{202e}b", "the value of `name` holds control or invisible characters"),
        ] {
            assert_eq!(text.parse::<Assignment>().unwrap_err().to_string(), error);
        }
        let long = format!("name={}", "x".repeat(limit::ASSIGNMENT + 1));
        assert!(long.parse::<Assignment>().unwrap_err().to_string().ends_with("is too long"));
    }

    trait MapText {
        fn map_text(&self) -> Vec<String>;
    }

    impl MapText for Vec<&str> {
        fn map_text(&self) -> Vec<String> {
            self.iter().map(ToString::to_string).collect()
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_written_so_that_it_reads_back(text in "[a-z._]{0,8} ?=[a-z0-9, =]{0,12}|\\PC{0,20}") {
            if let Ok(assignment) = text.parse::<Assignment>() {
                prop_assert_eq!(assignment.to_string().parse::<Assignment>(), Ok(assignment));
            }
        }
    }
}
