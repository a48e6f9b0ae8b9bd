//! Sanitising JSON, in which an escape sequence can hide a hostile character.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::sanitised::{in_line, is_hostile, is_plain, replaced};

/// Escapes hostile characters in JSON strings by JSON's own escapes (RFC 8259, section 7), so that
/// the JSON can be shown and keeps its values. Newlines and tabs between values stay.
#[must_use]
pub fn escaped_json(text: &str) -> Cow<'_, str> {
    let escape = |letter: char, out: &mut String| {
        for unit in letter.encode_utf16(&mut [0; 2]) {
            write!(out, "\\u{unit:04x}").expect("writing to a string cannot fail");
        }
    };
    // In JSON newlines and tabs stand only between values.
    replaced(text, |letter| matches!(letter, '\n' | '\t'), escape)
}

/// The JSON with all its strings and keys sanitised as by [`crate::sanitised_line`]. Invalid JSON
/// stays invalid. An escape is up to eight times as long as its character: `None` if the result
/// exceeds `most` bytes.
#[must_use]
pub fn sanitised_json(text: &str, most: usize) -> Option<Cow<'_, str>> {
    if !text.contains('\\') && is_plain(text) {
        return (text.len() <= most).then_some(Cow::Borrowed(text));
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        if out.len() > most {
            return None;
        }
        let (meant, length) = match escape(rest) {
            Some((meant, length)) => (meant, length),
            // An escape that cannot be hostile (`\"`): both its bytes stay.
            None if letter == '\\' => {
                let length = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                out.push_str(&rest[..length]);
                rest = &rest[length..];
                continue;
            }
            None => (letter, letter.len_utf8()),
        };
        let between_values = length == 1 && matches!(meant, '\n' | '\r');
        if is_hostile(meant) && meant != '\t' && !between_values {
            let mut plain = String::new();
            in_line(meant, &mut plain);
            out.push_str(&plain.replace('\\', "\\\\"));
        } else {
            out.push_str(&rest[..length]);
        }
        rest = &rest[length..];
    }
    (out.len() <= most).then_some(Cow::Owned(out))
}

/// The character of an escape at the beginning, if it can be hostile, and the escape's length.
fn escape(text: &str) -> Option<(char, usize)> {
    let short = |letter| Some((letter, 2));
    match text.as_bytes().get(..2)? {
        b"\\b" => short('\u{8}'),
        b"\\f" => short('\u{c}'),
        b"\\n" => short('\n'),
        b"\\r" => short('\r'),
        b"\\t" => short('\t'),
        b"\\u" => {
            let first = utf16_unit(text)?;
            // Characters beyond the first 65536 are two units.
            let second = text.get(6..).and_then(utf16_unit);
            let one = |units: &[u16]| char::decode_utf16(units.iter().copied()).next()?.ok();
            one(&[first])
                .map(|letter| (letter, 6))
                .or_else(|| one(&[first, second?]).map(|letter| (letter, 12)))
        }
        _ => None,
    }
}

/// The UTF-16 unit of an escape such as `\u001b` at the beginning.
fn utf16_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::{is_plain, sanitised_line};

    #[test]
    fn every_way_to_write_a_character_is_seen_through() {
        let read = |text: &str| serde_json::from_str::<String>(&sanitised_json(text, 1000).unwrap()).unwrap();
        assert_eq!(read(r#""a\u001B[31m\b\/\"\\u001b""#), "a\\u{1b}[31m\\u{8}/\"\\u001b");
        assert_eq!(read(r#""x\ny\r\tz""#), "x y \tz");
        assert_eq!(read("\"\u{202e}\u{7f}\""), "\\u{202e}\\u{7f}");
        assert_eq!(read(r#""\udb40\udc41\ud83d\ude42""#), "\\u{e0041}🙂");
    }

    /// Any character, half of the time a hostile one.
    fn odd() -> impl Strategy<Value = char> {
        let hostile: Vec<char> = (0..0xe2000).filter_map(char::from_u32).filter(|c| is_hostile(*c)).collect();
        prop_oneof![any::<char>(), prop::sample::select(hostile)]
    }

    proptest! {
        #[test]
        fn json_keeps_its_values_where_it_is_shown(text in any::<String>(), odd in odd()) {
            let value = json!({ text.clone(): [format!("{text}{odd}")] });
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            let shown = escaped_json(&pretty);
            prop_assert!(is_plain(&shown.replace('\n', "")));
            prop_assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value);
        }

        #[test]
        fn json_from_others_reads_as_plain_lines(text in any::<String>(), odd in odd()) {
            let text = format!("{text}{odd}");
            let pretty = serde_json::to_string_pretty(&json!([text])).unwrap();
            for written in [escaped_json(&pretty), Cow::Borrowed(pretty.as_str())] {
                let read: Vec<String> = serde_json::from_str(&sanitised_json(&written, 1 << 20).unwrap()).unwrap();
                prop_assert_eq!(&read[0], &sanitised_line(&text));
            }
        }

        #[test]
        fn any_text_is_accepted(text in r#"[\\u0-9a-f"bnrt\x00-\x1f é🙂]{0,60}"#) {
            let plain = sanitised_json(&text, 1000).unwrap();
            prop_assert!(sanitised_json(&text, plain.len()).is_some_and(|same| same == plain));
            prop_assert_eq!(sanitised_json(&text, plain.len().saturating_sub(1)).is_none(), !plain.is_empty());
        }
    }
}
