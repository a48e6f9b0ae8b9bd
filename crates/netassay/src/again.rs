//! The command of this process, and the one that continues what it began.

use std::{env, iter};

pub(crate) fn command() -> String {
    joined(given())
}

pub(crate) fn again() -> String {
    written(given())
}

fn given() -> impl Iterator<Item = String> {
    env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned())
}

fn joined(given: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = iter::once("netassay".to_owned()).chain(given).collect();
    words::shell_command(words.iter().map(String::as_str))
}

fn written(given: impl Iterator<Item = String>) -> String {
    let mut given = given.peekable();
    let mut kept = Vec::new();
    while let Some(word) = given.next() {
        if word == "--resume" {
            // A word behind it is the stored study's.
            given.next_if(|next| !next.starts_with('-'));
        } else if !word.starts_with("--resume=") {
            kept.push(word);
        }
    }
    joined(kept.into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_said_again_but_what_resumes() {
        let again = |given: &[&str]| written(given.iter().map(|word| (*word).to_owned()));
        assert_eq!(again(&["run", "a b.toml", "--set", "boots=2"]), "netassay run 'a b.toml' --set boots=2");
        let hosts = ["run", "--resume", "7", "mtu", "--transmitter", "root@a:eth0"];
        assert_eq!(again(&hosts), "netassay run mtu --transmitter root@a:eth0");
        assert_eq!(again(&["quick", "--resume", "--no-wait"]), "netassay quick --no-wait");
        assert_eq!(again(&["quick", "--resume=3", "--wide"]), "netassay quick --wide");
        assert_eq!(again(&["quick", "--resume"]), "netassay quick");
    }
}
