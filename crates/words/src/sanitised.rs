//! Sanitising: replaces the characters of foreign text (from agents, databases, files, the kernel)
//! that would command a terminal, reverse or hide their surroundings, or end a line of ours.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The longest stored reason (why a run is invalid, why an agent refuses), in bytes.
pub const LONGEST_REASON: usize = 1 << 10;

/// The marks of a reason that was cut, behind it and before it.
const CUT: &str = "… (cut)";
const CUT_BEFORE: &str = "(cut) …";

/// Whether sanitising changes nothing: the text is shown as stored, on one line.
pub fn is_plain(text: &str) -> bool {
    !unprintable(text).any(|(_, letter)| is_hostile(letter))
}

/// Text of several lines: newlines and tabs stay, every other hostile character becomes its escape,
/// `\u{1b}`, for people: an escape in the original text looks alike.
pub fn sanitised_lines(text: &str) -> Cow<'_, str> {
    replaced(text, |letter| matches!(letter, '\n' | '\t'), escape)
}

/// Text on one line: line breaks become spaces, tabs stay, other hostile characters become escapes,
/// `\u{1b}`.
pub fn sanitised_line(text: &str) -> Cow<'_, str> {
    replaced(text, |letter| letter == '\t', in_line)
}

/// A reason: one line of at most [`LONGEST_REASON`] bytes. A cut reason ends in a mark.
pub fn shortened_reason(text: &str) -> String {
    // Replacing shortens no character, so text far beyond the cut can be skipped.
    let near = &text[..text.floor_char_boundary(4 * LONGEST_REASON)];
    let mut reason = joined_lines(near);
    if reason.len() > LONGEST_REASON || near.len() < text.len() {
        reason.truncate(reason.floor_char_boundary(LONGEST_REASON - CUT.len()));
        reason.push_str(CUT);
    }
    reason
}

/// The end of a text, shortened as by [`shortened_reason`]: a program's last words tell more than
/// its first. Begins with a mark if it was cut.
pub fn last_words(text: &str) -> String {
    last_words_within(text, LONGEST_REASON)
}

/// The end of a text as [`last_words`] has it, in at most this many bytes (or the mark alone).
pub fn last_words_within(text: &str, most: usize) -> String {
    let near = &text[text.ceil_char_boundary(text.len().saturating_sub(4 * LONGEST_REASON))..];
    let words = joined_lines(near);
    if words.len() <= most && near.len() == text.len() {
        return words;
    }
    let from = (words.len() + CUT_BEFORE.len()).saturating_sub(most).min(words.len());
    format!("{CUT_BEFORE}{}", &words[words.ceil_char_boundary(from)..])
}

fn joined_lines(text: &str) -> String {
    let words: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    sanitised_line(&words.join(" ")).into_owned()
}

pub(crate) fn in_line(letter: char, out: &mut String) {
    match letter {
        '\n' | '\r' => out.push(' '),
        other => escape(other, out),
    }
}

fn escape(letter: char, out: &mut String) {
    write!(out, "{}", letter.escape_unicode()).expect("writing to a string cannot fail");
}

/// Whether a character commands a terminal, changes the order of others, ends a line, or is
/// invisible.
pub(crate) fn is_hostile(letter: char) -> bool {
    // Unicode's controls (category Cc: C0, DEL, C1), line and paragraph separators (Zl, Zp), and
    // the property Default_Ignorable_Code_Point (Unicode 16, DerivedCoreProperties.txt), which
    // includes Bidi_Control, without the variation selectors, which emoji need.
    letter.is_control()
        || matches!(letter,
            '\u{2028}' | '\u{2029}'
            | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}')
}

pub(crate) fn replaced(
    text: &str,
    stays: impl Fn(char) -> bool,
    replace: impl Fn(char, &mut String),
) -> Cow<'_, str> {
    let goes = |(_, letter): &(usize, char)| is_hostile(*letter) && !stays(*letter);
    let mut going = unprintable(text).filter(goes).peekable();
    if going.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut copied = 0;
    for (at, letter) in going {
        out.push_str(&text[copied..at]);
        replace(letter, &mut out);
        copied = at + letter.len_utf8();
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// The characters that are not printable ASCII, each with its place.
fn unprintable(text: &str) -> impl Iterator<Item = (usize, char)> {
    // Printable ASCII is never hostile, and most text has nothing else.
    let mut at = 0;
    std::iter::from_fn(move || {
        at += printable_length(&text.as_bytes()[at..]);
        let letter = text[at..].chars().next()?;
        let found = (at, letter);
        at += letter.len_utf8();
        Some(found)
    })
}

fn printable_length(bytes: &[u8]) -> usize {
    // The compiler makes vector instructions of a block without an early exit.
    const BLOCK: usize = 32;
    let is_printable = |byte: &u8| matches!(byte, b' '..=b'~');
    let is_whole = |block: &&[u8]| block.iter().fold(true, |all, byte| all & is_printable(byte));
    let whole = BLOCK * bytes.chunks_exact(BLOCK).take_while(is_whole).count();
    let rest = &bytes[whole..];
    whole + rest.iter().position(|byte| !is_printable(byte)).unwrap_or(rest.len())
}

/// Escapes hostile characters in JSON strings by JSON's own escapes (RFC 8259, section 7), so that
/// the JSON can be shown and keeps its values. Newlines and tabs between values stay.
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
pub fn sanitised_json(text: &str, most: usize) -> Option<Cow<'_, str>> {
    if !text.contains('\\') && is_plain(text) {
        return (text.len() <= most).then_some(Cow::Borrowed(text));
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some((meant, length)) = json_character(rest) {
        if out.len() > most {
            return None;
        }
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

/// The first character as JSON means it, and its length as it is written.
fn json_character(text: &str) -> Option<(char, usize)> {
    let mut letters = text.chars();
    let (first, second) = (letters.next()?, letters.next());
    let Some(escaped) = second.filter(|_| first == '\\') else { return Some((first, first.len_utf8())) };
    let meant = match escaped {
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        // An escape that cannot be hostile (`\"`), or is invalid: both its characters stay.
        _ => '\\',
    };
    utf16_character(text).or(Some((meant, 1 + escaped.len_utf8())))
}

/// The character of one or two escapes such as `\u001b` at the beginning, and their length.
fn utf16_character(text: &str) -> Option<(char, usize)> {
    let first = utf16_unit(text)?;
    let one = |units: &[u16]| char::decode_utf16(units.iter().copied()).next()?.ok();
    // Characters beyond the first 65536 are two units.
    let two = || Some((one(&[first, utf16_unit(text.get(6..)?)?])?, 12));
    one(&[first]).map(|letter| (letter, 6)).or_else(two)
}

/// The UTF-16 unit of an escape such as `\u001b` at the beginning.
fn utf16_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod sanitised_json_tests {
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
