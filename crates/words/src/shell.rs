//! Words and commands for a POSIX shell.

use crate::sanitised_line;

/// A word that every shell reads unchanged: in quotation marks, unless it needs none.
#[must_use]
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "=.,_+%:@/-".contains(c);
    // zsh takes a leading `=` for a command's path, and csh and fish a leading `%` for a job.
    if !word.is_empty() && !word.starts_with(['=', '%']) && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A command that a person may paste: one line of quoted words. Every command that netassay prints
/// is made here.
#[must_use]
pub fn shell_command<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    words.into_iter().map(|word| shell_word(&sanitised_line(word))).collect::<Vec<_>>().join(" ")
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
