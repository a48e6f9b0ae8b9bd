//! Text of others, before it is written in any form: harmless, and no longer than anybody reads.

// The most of one text that is shown, in bytes: far beyond a sentence about every condition.
const LONGEST: usize = 1 << 14;

const CUT: &str = "… (cut)";

/// Text on one line.
pub fn line(words: &str) -> String {
    cut(&words::sanitised_line(near(words).trim()), words.len() > LONGEST)
}

/// Text whose lines and blanks matter; each line is cut by itself.
pub fn lines(words: &str) -> String {
    words.lines().map(|line| cut(&words::sanitised_lines(near(line)), line.len() > LONGEST) + "\n").collect()
}

fn near(words: &str) -> &str {
    // Replacing what is harmful makes a text longer, so the result is cut once more.
    &words[..words.floor_char_boundary(LONGEST)]
}

fn cut(words: &str, is_cut: bool) -> String {
    if !is_cut && words.len() <= LONGEST {
        return words.to_owned();
    }
    format!("{}{CUT}", &words[..words.floor_char_boundary(LONGEST - CUT.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_and_others_stay() {
        assert_eq!(line(" a\u{1b}\nb "), "a\\u{1b} b");
        assert_eq!(lines("a\n  b"), "a\n  b\n");
        for long in ["x".repeat(4 << 20), "\u{202e}".repeat(1 << 20), "é".repeat(LONGEST)] {
            assert!(line(&long).len() <= LONGEST && line(&long).ends_with(CUT));
            assert!(lines(&long).len() <= LONGEST + 1);
        }
    }
}
