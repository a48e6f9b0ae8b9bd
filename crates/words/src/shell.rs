//! Words and commands for a POSIX shell.

use crate::sanitised_line;

/// A word that every shell reads unchanged, in quotation marks unless it needs none.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "=.,_+%:@/-".contains(c);
    // zsh takes a leading `=` for a command's path, and csh and fish a leading `%` for a job.
    if !word.is_empty() && !word.starts_with(['=', '%']) && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A command that a person may paste: one line of quoted words.
pub fn shell_command<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    words.into_iter().map(|word| shell_word(&sanitised_line(word))).collect::<Vec<_>>().join(" ")
}

/// A text as a CSV cell: one sanitised line, behind an apostrophe where a spreadsheet would run it
/// as a formula (OWASP, "CSV Injection"), quoted where CSV needs it.
pub fn csv_field(text: &str) -> String {
    let mut text = sanitised_line(text).into_owned();
    // Some spreadsheets look behind blanks.
    if text.starts_with('\t') || text.trim_start().starts_with(['=', '+', '-', '@']) {
        text.insert(0, '\'');
    }
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

// A short checksum of a text. It is stored, so it must be the same in every version of the
// program; the standard library's hasher does not promise that.

/// FNV-1a of 64 bits (draft-eastlake-fnv; Fowler, Noll, Vo): two texts that differ in one byte
/// have different checksums. It is not cryptographic: collisions can be made on purpose.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    let add = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, add)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_needs_them_has_quotation_marks() {
        assert_eq!(
            ["root@a:ens1f0", "a=1,2", "", "a b", "it's", "=ls", "%1", "~"].map(shell_word),
            ["root@a:ens1f0", "a=1,2", "''", "'a b'", r"'it'\''s'", "'=ls'", "'%1'", "'~'"]
        );
    }

    #[test]
    fn a_name_ends_no_command_and_no_line() {
        let words = ["ethtool", "-K", "x; touch /tmp/owned", "$(id)\nid", "\u{1b}[2J", "on"];
        assert_eq!(shell_command(words), r"ethtool -K 'x; touch /tmp/owned' '$(id) id' '\u{1b}[2J' on");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_shell_gets_the_same_word(word in "[^\0]{0,12}") {
            let script = format!("printf %s {}", shell_word(&word));
            let shell = std::process::Command::new("sh").arg("-c").arg(script).output().unwrap();
            prop_assert_eq!(shell.stdout, word.as_bytes());
        }
    }
}

#[cfg(test)]
mod csv_tests {
    use super::*;

    #[test]
    fn fields_are_quoted_only_where_they_must_be() {
        assert_eq!(csv_field("ipv6 offloads=none"), "ipv6 offloads=none");
        assert_eq!(csv_field("a,b"), "\"a,b\"");
        assert_eq!(csv_field("say \"no\""), "\"say \"\"no\"\"\"");
        assert_eq!(csv_field("two\nlines"), "two lines");
        assert_eq!(csv_field(""), "");
    }

    #[test]
    fn no_field_is_a_formula_or_commands_a_terminal() {
        for (text, cell) in [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "' =1"),
            ("a\n=1", "a =1"),
            ("=HYPERLINK(\"x\",\"y\")", "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\""),
            ("a=b", "a=b"),
            ("\u{1b}[2J\u{202e}", "\\u{1b}[2J\\u{202e}"),
        ] {
            assert_eq!(csv_field(text), cell);
        }
    }
}

#[cfg(test)]
mod checksum_tests {
    use super::*;

    #[test]
    fn fnv1a_equals_the_published_vectors() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
