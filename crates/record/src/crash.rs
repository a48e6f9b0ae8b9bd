//! Machines that crashed in a run, or that did not come up for a boot.

use std::fmt;

use serde::{Deserialize, Serialize};
use words::{LONGEST_REASON, Side, last_words_within};

/// Machines that crashed. It prints as one line of at most [`LONGEST_REASON`] bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crash {
    #[serde(rename = "crash")]
    pub machines: Vec<CrashedMachine>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrashedMachine {
    pub side: Side,
    /// Its name as the user gave it: `root@a`.
    pub host: String,
    pub sign: CrashSign,
    /// The last lines of its console, the oldest first; empty if no console is configured.
    pub console: Vec<String>,
}

/// The sign by which a crash was noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CrashSign {
    /// Its agent and its login stopped to answer.
    Silent,
    /// It answers from another boot, which nobody ordered.
    Restarted,
    /// It was to restart for a boot of the study, and stayed away.
    NotBack,
    /// It was to restart with another kernel than its default, and came back with the default.
    OtherKernel,
}

impl fmt::Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let room = LONGEST_REASON / self.machines.len().max(1);
        for (place, CrashedMachine { side, host, sign, console }) in self.machines.iter().enumerate() {
            let machine = format!("the {side} ({host})");
            let sentence = match sign {
                CrashSign::Silent => format!("it crashed {machine}, which no longer answers"),
                CrashSign::Restarted => format!("it crashed {machine}, which restarted by itself"),
                CrashSign::NotBack => format!("{machine} did not come back from its restart for this boot"),
                CrashSign::OtherKernel => {
                    format!("{machine} did not stay up with the kernel of this boot, and runs another one")
                }
            };
            let separator = if place == 0 { "" } else { "; " };
            f.write_str(separator)?;
            f.write_str(&with_console(&sentence, console, room.saturating_sub(separator.len())))?;
        }
        Ok(())
    }
}

const CONSOLE: &str = "; the last lines of its console: ";

/// A sentence, with as much of the end of a console as `most` bytes have room for.
pub fn with_console(sentence: &str, console: &[String], most: usize) -> String {
    if console.is_empty() {
        return sentence.to_owned();
    }
    let room = most.saturating_sub(sentence.len() + CONSOLE.len());
    format!("{sentence}{CONSOLE}{}", last_words_within(&console.join(" / "), room))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crashed(side: Side, sign: CrashSign, console: &[&str]) -> CrashedMachine {
        let console = console.iter().map(|line| (*line).to_owned()).collect();
        CrashedMachine { side, host: "root@b".to_owned(), sign, console }
    }

    #[test]
    fn a_crash_is_one_line_that_ends_with_the_end_of_the_console() {
        let silent = crashed(Side::Receiver, CrashSign::Silent, &["BUG: a", "Kernel panic - not syncing"]);
        let crash = Crash { machines: vec![silent] };
        assert_eq!(
            crash.to_string(),
            "it crashed the receiver (root@b), which no longer answers; the last lines of its console: \
             BUG: a / Kernel panic - not syncing"
        );
        let crash = Crash { machines: vec![crashed(Side::Transmitter, CrashSign::Restarted, &[])] };
        assert_eq!(crash.to_string(), "it crashed the transmitter (root@b), which restarted by itself");
    }

    #[test]
    fn the_consoles_of_two_machines_fit_into_one_reason() {
        let line = "é".repeat(400);
        let both = Side::BOTH.map(|side| crashed(side, CrashSign::NotBack, &[&line, &line, "the end"]));
        let text = Crash { machines: both.to_vec() }.to_string();
        assert!(text.len() <= LONGEST_REASON && text.matches("the end").count() == 2, "{text}");
        assert_eq!(words::shortened_reason(&text), text);
    }
}
