//! Rust source as tokens: words, `::` and single characters. Comments and literals are left out,
//! and what is compiled for tests only.

/// The tokens of `text` without those of items under `#[cfg(test)]`.
pub(super) fn tokens(text: &str) -> Vec<&str> {
    let all = lex(text);
    let (mut kept, mut at) = (Vec::new(), 0);
    while at < all.len() {
        if all[at..].starts_with(&["#", "[", "cfg", "(", "test", ")", "]"]) {
            at = end_of_item(&all, at + 7);
        } else {
            kept.push(all[at]);
            at += 1;
        }
    }
    kept
}

/// The place behind the item that begins at `at`: behind its `;`, or behind the brace that closes
/// it.
fn end_of_item(tokens: &[&str], mut at: usize) -> usize {
    let mut depth = 0;
    while at < tokens.len() {
        match tokens[at] {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 && matches!(tokens[at - 1], ";" | "}") {
            break;
        }
    }
    at
}

fn lex(text: &str) -> Vec<&str> {
    let (mut tokens, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let length = if let Some(length) = passed_over(rest) {
            rest = &rest[length..];
            continue;
        } else if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        if !first.is_whitespace() {
            tokens.push(&rest[..length]);
        }
        rest = &rest[length..];
    }
    tokens
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of the comment or literal with which `text` begins.
fn passed_over(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return Some(comment(text));
    }
    if text.starts_with('\'') {
        return character(text);
    }
    let prefix = ["br", "cr", "r", "b", "c", ""].into_iter().find(|prefix| {
        let behind = text.strip_prefix(prefix).unwrap_or("").trim_start_matches('#');
        behind.starts_with('"')
    })?;
    let literal = &text[prefix.len()..];
    let length = if prefix.ends_with('r') { raw(literal) } else { quoted(literal, '"') };
    literal.starts_with(['"', '#']).then_some(prefix.len() + length)
}

/// A block comment; those inside it count.
fn comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let rest = &text[at..];
        match () {
            () if rest.starts_with("/*") => (depth, at) = (depth + 1, at + 2),
            () if rest.starts_with("*/") => (depth, at) = (depth - 1, at + 2),
            () => at += rest.chars().next().map_or(1, char::len_utf8),
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// A literal between two `quote`s, with escapes.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// `#"…"#` with any number of `#`.
fn raw(text: &str) -> usize {
    let hashes = text.len() - text.trim_start_matches('#').len();
    let end = format!("\"{}", &text[..hashes]);
    let start = hashes + 1;
    text[start..].find(&end).map_or(text.len(), |at| start + at + end.len())
}

/// A character; none for a lifetime.
fn character(text: &str) -> Option<usize> {
    let mut inside = text[1..].chars();
    let first = inside.next()?;
    (first == '\\' || inside.next() == Some('\'')).then(|| quoted(text, '\''))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_is_left() {
        let text = r####"
            // use crate::a;
            /* use /* crate::b */ crate::c; */
            let x: &'a str = "crate::d \" crate::e"; let y = '"'; let z = b'\''; r#"crate::"f"#;
            use crate::real as r#type;
        "####;
        let expected = "let x : & ' a str = ; let y = ; let z = b ; ; use crate :: real as r # type ;";
        assert_eq!(tokens(text).join(" "), expected);
    }

    #[test]
    fn test_items_are_left_out() {
        let text = "mod a; #[cfg(test)] mod b; #[cfg(test)] #[x(y)] fn c(d: [u8; 2]) { { } } fn e() {}
            #[cfg(test)] mod tests { use super::*; }";
        assert_eq!(tokens(text).join(" "), "mod a ; fn e ( ) { }");
    }
}
