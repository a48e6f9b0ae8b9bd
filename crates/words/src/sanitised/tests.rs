use proptest::prelude::*;

use super::*;

#[test]
fn honest_text_stays_as_it_is() {
    for text in ["", "ipv4 offloads=none", "größer, 更大, أكبر, 🙂\u{fe0f}", "10 µs ± 2 %", "a\tb"]
    {
        assert!(matches!(sanitised_line(text), Cow::Borrowed(same) if same == text));
        assert_eq!(shortened_reason(text), text);
    }
    assert_eq!(sanitised_lines("a\n\tb\n"), "a\n\tb\n");
}

#[test]
fn hostile_characters_become_their_escapes() {
    assert_eq!(sanitised_line("\u{1b}]0;x\u{7}"), "\\u{1b}]0;x\\u{7}");
    assert_eq!(sanitised_line("a\r\nb\nc"), "a  b c");
    assert_eq!(sanitised_lines("a\r\nb"), "a\\u{d}\nb");
    assert_eq!(sanitised_line("\u{9b}2J\u{7f}\u{0}"), "\\u{9b}2J\\u{7f}\\u{0}");
    assert_eq!(sanitised_line("off\u{202e}no\u{2066}\u{200b}"), "off\\u{202e}no\\u{2066}\\u{200b}");
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
fn last_words_are_the_end_of_a_text() {
    assert_eq!(last_words("it died:\n  | a\u{1b}\n\n"), "it died: | a\\u{1b}");
    let long = format!("first {}last\n", "é\n".repeat(2 * LONGEST_REASON));
    let cut = last_words(&long);
    assert!(cut.len() <= LONGEST_REASON && cut.starts_with("(cut) …") && cut.ends_with("é é last"), "{cut}");
    assert_eq!(last_words(&"\n".repeat(1 << 20)), "(cut) …");
    for most in [0, 5, 9, 20, 300] {
        let cut = last_words_within(&long, most);
        assert!(cut.starts_with("(cut) …") && cut.len() <= most.max("(cut) …".len()), "{most}: {cut}");
    }
    assert_eq!(last_words_within("short", 5), "short");
}

#[test]
fn a_reason_is_cut_on_a_border_and_says_so() {
    let whole = "é".repeat(LONGEST_REASON / 2);
    assert_eq!(shortened_reason(&whole), whole);
    let cut = shortened_reason(&format!("{whole}x"));
    assert!(cut.len() <= LONGEST_REASON && cut.starts_with("éé") && cut.ends_with("é… (cut)"), "{cut}");
    assert_eq!(shortened_reason("it died:\n  | a\n  | b\n"), "it died: | a | b");
    assert_eq!(shortened_reason(&format!("{}x", "\n".repeat(1 << 20))), "… (cut)");
}

proptest! {
    #[test]
    fn a_text_is_plain_if_each_of_its_characters_is(
        words in proptest::collection::vec("[ -~]{0,70}|\\PC{0,3}|[\\x00-\\x1f\\x7f\u{202e}]", 0..6),
    ) {
        let text = words.concat();
        prop_assert_eq!(is_plain(&text), !text.chars().any(is_hostile));
        let marked = replaced(&text, |letter| letter == '\t', |_, out| out.push('#'));
        let expected: String =
            text.chars().map(|one| if is_hostile(one) && one != '\t' { '#' } else { one }).collect();
        prop_assert_eq!(marked, expected);
    }

    #[test]
    fn nothing_hostile_is_left(text in any::<String>(), odd in proptest::collection::vec(0u32..0xe2000, 0..50)) {
        let text: String = text.chars().chain(odd.into_iter().filter_map(char::from_u32)).collect();
        let (one, many, why) = (sanitised_line(&text), sanitised_lines(&text), shortened_reason(&text));
        let last = last_words(&text);
        prop_assert!(is_plain(&last.replace('\t', "")) && last.len() <= LONGEST_REASON);
        prop_assert!(is_plain(&one.replace('\t', "")));
        prop_assert!(is_plain(&many.replace(['\t', '\n'], "")));
        prop_assert_eq!(many.matches('\n').count(), text.matches('\n').count());
        prop_assert!(is_plain(&why.replace('\t', "")) && why.len() <= LONGEST_REASON);
        // Applying it twice changes nothing more: text may pass several borders.
        prop_assert_eq!(sanitised_line(&one).into_owned(), one.clone());
        prop_assert_eq!(sanitised_lines(&many).into_owned(), many.clone());
        prop_assert_eq!(shortened_reason(&why), why.trim());
    }
}
