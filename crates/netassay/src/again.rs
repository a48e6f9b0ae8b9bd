//! The command of this process, and the one that continues what it began.

use std::{env, iter};

pub(crate) fn command() -> String {
    joined(given())
}

pub(crate) fn again() -> String {
    // The parent has ended when the command is given again.
    joined(again_without(&["--parent"], &["--again"]).into_iter())
}

/// The words of this command, without these options (with their values) and flags, and without
/// what resumes.
pub(crate) fn again_without(options: &[&str], flags: &[&str]) -> Vec<String> {
    without(given(), options, flags)
}

fn without(given: impl Iterator<Item = String>, options: &[&str], flags: &[&str]) -> Vec<String> {
    let mut given = not_resuming(given);
    let mut words = Vec::new();
    while let Some(word) = given.next() {
        if options.contains(&word.as_str()) {
            given.next();
        } else if !flags.contains(&word.as_str())
            && !word.split_once('=').is_some_and(|(option, _)| options.contains(&option))
        {
            words.push(word);
        }
    }
    words
}

fn given() -> impl Iterator<Item = String> {
    env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned())
}

fn joined(given: impl Iterator<Item = String>) -> String {
    let shown = given.map(|word| store::without_password(&word).into_owned());
    let words: Vec<String> = iter::once("netassay".to_owned()).chain(shown).collect();
    words::shell_command(words.iter().map(String::as_str))
}

fn not_resuming(given: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    let mut given = given.peekable();
    iter::from_fn(move || {
        loop {
            // Options are added behind the words, also behind a study after `--`.
            let word = given.find(|word| word != "--")?;
            if word == "--resume" {
                // A word behind it is the stored study's.
                given.next_if(|next| !next.starts_with('-'));
            } else if !word.starts_with("--resume=") {
                return Some(word);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_said_again_but_what_resumes() {
        let again = |given: &[&str]| joined(not_resuming(given.iter().map(|word| (*word).to_owned())));
        assert_eq!(again(&["run", "a b.toml", "--set", "boots=2"]), "netassay run 'a b.toml' --set boots=2");
        let hosts = ["run", "--resume", "7", "mtu", "--transmitter", "root@a:eth0"];
        assert_eq!(again(&hosts), "netassay run mtu --transmitter root@a:eth0");
        assert_eq!(again(&["quick", "--resume", "--no-wait"]), "netassay quick --no-wait");
        assert_eq!(again(&["quick", "--resume=3", "--wide"]), "netassay quick --wide");
        assert_eq!(again(&["quick", "--resume"]), "netassay quick");
        assert_eq!(again(&["run", "--resume", "--", "mtu"]), "netassay run mtu");
    }

    #[test]
    fn options_and_flags_are_left_out_in_either_spelling() {
        let given = ["run", "mtu", "--db", "a", "--at-once=3", "--wide", "--resume", "7", "--set", "boots=2"];
        let left = without(given.iter().map(|word| (*word).to_owned()), &["--db", "--at-once"], &["--wide"]);
        assert_eq!(left, ["run", "mtu", "--set", "boots=2"]);
    }
}
