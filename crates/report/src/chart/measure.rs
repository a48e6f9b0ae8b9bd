//! The width of text, estimated before any browser has drawn it.

/// The size of all text, in px.
pub(crate) const SIZE: f64 = 12.0;
/// From one line of text to the next, in px.
pub(crate) const LINE: f64 = 15.0;
const CUT: char = '…';
// No label shows more characters.
const MOST: usize = 400;

/// The width of each printable ASCII character, in hundredths of the size: the larger of DejaVu
/// Sans and Liberation Sans (which has the widths of Arial and Helvetica), from their `hmtx`
/// tables. The fonts that systems show pages in are as wide or narrower.
#[rustfmt::skip]
const ASCII: [u8; 95] = [
    32, 41, 46, 84, 64, 96, 78, 28, 40, 40, 50, 84, 32, 37, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 56, 102, 69, 69, 73, 77, 67, 62, 78, 76, 30, 50, 67, 56, 87, 75, 79,
    67, 79, 73, 67, 62, 74, 69, 99, 69, 67, 69, 40, 34, 40, 84, 56, 50, 62, 64, 55, 64, 62, 36, 64,
    64, 28, 28, 58, 28, 98, 64, 62, 64, 64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84,
];

/// An upper estimate, in px.
pub(crate) fn width(text: &str) -> f64 {
    // Of a line longer than any that is shown only the beginning counts.
    let shown = text.char_indices().nth(MOST).map_or(text, |(end, _)| &text[..end]);
    words::sanitised_line(shown).chars().map(advance).sum()
}

fn advance(letter: char) -> f64 {
    let hundredths = match letter {
        ' '..='~' => ASCII[letter as usize - ' ' as usize],
        // Marks that stand above or below the letter before them, and choose its shape.
        '\u{300}'..='\u{36f}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{a0}'..='\u{24f}' | '\u{370}'..='\u{3ff}' => 85,
        '\u{2070}'..='\u{209f}' => 50,
        '…' | '–' | '—' => 100,
        // Wide scripts and pictures.
        _ => 135,
    };
    f64::from(hundredths) / 100.0 * SIZE
}

/// Breaks between words if possible; the rest is cut.
pub(crate) fn wrap(text: &str, room: f64, most: usize) -> Vec<String> {
    // Escapes of hostile characters are longer than these, so they are made before the lines.
    let near: String = text.chars().take(MOST + 1).collect();
    let text = words::sanitised_line(&near);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        for piece in pieces(word, room) {
            let line = lines.last_mut().expect("there is a line from the start");
            let joined = if line.is_empty() { piece.to_owned() } else { format!("{line} {piece}") };
            if line.is_empty() || width(&joined) <= room {
                *line = joined;
            } else {
                lines.push(piece.to_owned());
            }
        }
    }
    if lines.len() > most || near.chars().count() > MOST {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            while width(last) + advance(CUT) > room && last.pop().is_some() {}
            last.push(CUT);
        }
    }
    lines
}

pub(crate) fn fit(text: &str, room: f64) -> String {
    wrap(text, room, 1).swap_remove(0)
}

/// A word in pieces that each have room.
fn pieces(word: &str, room: f64) -> Vec<&str> {
    let (mut pieces, mut rest) = (Vec::new(), word);
    while !rest.is_empty() && width(rest) > room {
        let (mut end, mut used) = (0, 0.0);
        for (at, letter) in rest.char_indices() {
            used += advance(letter);
            if used > room && end > 0 {
                break;
            }
            end = at + letter.len_utf8();
        }
        let (head, _) = rest.split_at(end);
        // Names of conditions and functions break best after one of these.
        let border = head.rfind(['=', '.', ',', '_', '-', '/']).map(|at| at + 1);
        // A border in the first half would leave too much of the line empty.
        let end = border.filter(|at| 2 * at > end).unwrap_or(end);
        pieces.push(&rest[..end]);
        rest = &rest[end..];
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_broken_between_words_and_after_separators() {
        assert_eq!(wrap("ipv4 offloads=none", 60.0, 3), ["ipv4", "offloads=", "none"]);
        assert_eq!(wrap("ipv4 offloads=none", 200.0, 3), ["ipv4 offloads=none"]);
        assert_eq!(wrap("one two three four", 40.0, 2), ["one", "two…"]);
        assert_eq!(wrap("", 40.0, 2), [""]);
        assert_eq!(fit("off\u{202e}no", 200.0), "off\\u{202e}no");
        assert_eq!(width("off\u{202e}no"), width("off\\u{202e}no"));
        assert_eq!(wrap("off", -4.0, 3), ["o", "f", "f"], "no room at all");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_its_room(text in any::<String>(), room in 30.0..400.0, most in 1_usize..5) {
            let lines = wrap(&text, room, most);
            prop_assert!(lines.len() <= most && !lines.is_empty());
            for line in lines {
                prop_assert!(width(&line) <= room, "{line:?}");
            }
        }
    }
}
