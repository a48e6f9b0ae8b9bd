//! Which characters are replaced, and by what.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The longest reason that is kept, in bytes: why a run is invalid, or why an agent refuses.
pub const REASON: usize = 1 << 10;

/// The mark of a reason that was cut.
const CUT: &str = "… (cut)";

/// Whether nothing in a text would be replaced: it is shown as stored, on one line.
#[must_use]
pub fn is_plain(text: &str) -> bool {
    !text.chars().any(is_hostile)
}

/// Text of several lines: newlines and tabs stay, every other hostile character becomes its escape,
/// `\u{1b}`.
///
/// The escapes are for people: an escape in the original text looks the same.
#[must_use]
pub fn lines(text: &str) -> Cow<'_, str> {
    replaced(text, |letter| matches!(letter, '\n' | '\t'), escape)
}

/// Text on one line: line breaks become spaces, tabs stay, other hostile characters become escapes,
/// `\u{1b}`.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    replaced(text, |letter| letter == '\t', in_line)
}

/// A reason: one line of at most [`REASON`] bytes. A cut reason ends in a mark.
#[must_use]
pub fn reason(text: &str) -> String {
    // Replacing shortens no character, so text far beyond the cut can be skipped.
    let near = &text[..text.floor_char_boundary(4 * REASON)];
    let words: Vec<&str> = near.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut reason = line(&words.join(" ")).into_owned();
    if reason.len() > REASON || near.len() < text.len() {
        reason.truncate(reason.floor_char_boundary(REASON - CUT.len()));
        reason.push_str(CUT);
    }
    reason
}

/// Writes the replacement of a hostile character within a line.
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
///
/// Unicode's controls (category Cc: C0, DEL, C1), line and paragraph separators (Zl, Zp), and the
/// property Default_Ignorable_Code_Point (Unicode 16, DerivedCoreProperties.txt), which includes
/// Bidi_Control, without the variation selectors, which emoji need.
pub(crate) fn is_hostile(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{2028}' | '\u{2029}'
            | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}')
}

/// The text with every hostile character that may not `stay` replaced.
pub(crate) fn replaced(
    text: &str,
    stays: impl Fn(char) -> bool,
    replace: impl Fn(char, &mut String),
) -> Cow<'_, str> {
    let goes = |letter: char| is_hostile(letter) && !stays(letter);
    if !text.contains(goes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if goes(letter) { replace(letter, &mut out) } else { out.push(letter) }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn honest_text_stays_as_it_is() {
        for text in ["", "ipv4 offloads=none", "größer, 更大, أكبر, 🙂\u{fe0f}", "10 µs ± 2 %", "a\tb"]
        {
            assert!(matches!(line(text), Cow::Borrowed(same) if same == text));
            assert_eq!(reason(text), text);
        }
        assert_eq!(lines("a\n\tb\n"), "a\n\tb\n");
    }

    #[test]
    fn hostile_characters_become_their_escapes() {
        assert_eq!(line("\u{1b}]0;x\u{7}"), "\\u{1b}]0;x\\u{7}");
        assert_eq!(line("a\r\nb\nc"), "a  b c");
        assert_eq!(lines("a\r\nb"), "a\\u{d}\nb");
        assert_eq!(line("\u{9b}2J\u{7f}\u{0}"), "\\u{9b}2J\\u{7f}\\u{0}");
        assert_eq!(line("off\u{202e}no\u{2066}\u{200b}"), "off\\u{202e}no\\u{2066}\\u{200b}");
    }

    #[test]
    fn every_named_class_is_hostile() {
        let classes = ('\0'..='\u{1f}')
            .chain('\u{7f}'..='\u{9f}')
            .chain('\u{200b}'..='\u{200f}')
            .chain('\u{2028}'..='\u{202e}')
            .chain('\u{2060}'..='\u{2064}')
            .chain('\u{2066}'..='\u{2069}')
            .chain(['\u{61c}', '\u{feff}', '\u{e0041}']);
        for letter in classes {
            assert!(!is_plain(&format!("a{letter}b")), "{letter:?}");
        }
    }

    #[test]
    fn a_reason_is_cut_on_a_border_and_says_so() {
        let whole = "é".repeat(REASON / 2);
        assert_eq!(reason(&whole), whole);
        let cut = reason(&format!("{whole}x"));
        assert!(cut.len() <= REASON && cut.starts_with("éé") && cut.ends_with("é… (cut)"), "{cut}");
        assert_eq!(reason("it died:\n  | a\n  | b\n"), "it died: | a | b");
        assert_eq!(reason(&format!("{}x", "\n".repeat(1 << 20))), "… (cut)");
    }

    proptest! {
        #[test]
        fn nothing_hostile_is_left(text in any::<String>(), odd in proptest::collection::vec(0u32..0xe2000, 0..50)) {
            let text: String = text.chars().chain(odd.into_iter().filter_map(char::from_u32)).collect();
            let (one, many, why) = (line(&text), lines(&text), reason(&text));
            prop_assert!(is_plain(&one.replace('\t', "")));
            prop_assert!(is_plain(&many.replace(['\t', '\n'], "")));
            prop_assert_eq!(many.matches('\n').count(), text.matches('\n').count());
            prop_assert!(is_plain(&why.replace('\t', "")) && why.len() <= REASON);
            // Applying it twice changes nothing more: text may pass several borders.
            prop_assert_eq!(line(&one).into_owned(), one.clone());
            prop_assert_eq!(lines(&many).into_owned(), many.clone());
            prop_assert_eq!(reason(&why), why.trim());
        }
    }
}
