use proptest::prelude::*;

use super::*;

#[test]
fn names_stay_as_they_are_and_markup_is_text() {
    for (words, shown) in [
        ("tcp_stream: ipv4 offloads=none", "tcp_stream: ipv4 offloads=none"),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("a|b `c` *d* _e_", "a\\|b \\`c\\` \\*d\\* \\_e\\_"),
        ("ask @linus, see #12", "ask @<!-- -->linus, see #<!-- -->12"),
        ("http://x.example www.x.example", "http:<!-- -->//x.example www<!-- -->.x.example"),
        ("[x](javascript:alert) :x: 09:45", "\\[x\\](javascript:alert) :<!-- -->x: 09:45"),
        ("a\nb\u{202e}", "a b\\\\u{202e}"),
    ] {
        assert_eq!(escaped(words), shown);
    }
    for (words, shown) in [
        ("# head", "\\#<!-- --> head"),
        ("- x", "\\- x"),
        ("12. x", "12\\. x"),
        ("12.5 to 13", "12\\.5 to 13"),
        ("1 x", "1 x"),
    ] {
        assert_eq!(paragraph(words), shown);
    }
    assert_eq!(escaped("-1.5 to +2"), "-1.5 to +2");
}

#[test]
fn an_element_of_html_has_no_escapes_of_markdown() {
    assert_eq!(element("a_b [x](y) | <b> @me"), "a_b &#91;x](y) | &lt;b&gt; @<!-- -->me");
}

#[test]
fn no_backtick_ends_a_command() {
    assert_eq!(code("ethtool -K \"$IF\" gro on"), "`ethtool -K \"$IF\" gro on`");
    assert_eq!(code("a`b``c"), "```a`b``c```");
    assert_eq!(code("`a"), "`` `a ``");
}

#[test]
fn no_line_ends_a_fence() {
    assert_eq!(fence("a\n```\n````x\n"), "`````text\na\n```\n````x\n`````\n");
    assert_eq!(fence(""), "```text\n\n```\n");
}

proptest! {
    #[test]
    fn a_cell_has_no_bare_pipe_bracket_or_line_end(words in any::<String>()) {
        let shown = escaped(&words).replace(APART, "");
        prop_assert!(!shown.contains(['<', '>', '\n']));
        let mut escaped = false;
        for letter in shown.chars() {
            prop_assert!(escaped || !"|`*[]~$".contains(letter), "{shown}");
            escaped = letter == '\\' && !escaped;
        }
    }

    #[test]
    fn a_fence_holds_any_lines(lines in "[`a\n]{0,40}") {
        let fenced = fence(&lines);
        let fence: String = fenced.chars().take_while(|letter| *letter == '`').collect();
        prop_assert_eq!(fenced.matches(&fence).count(), 2);
    }
}
