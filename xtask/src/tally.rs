//! Counting tests: what libtest says at the end of a run.

use std::fmt;

/// How many tests did what.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u32,
    pub(crate) failed: u32,
    pub(crate) skipped: u32,
}

impl Tally {
    /// Adds another run.
    pub(crate) fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    /// The runner counts a test that announced a skip as passed; it did not test anything.
    pub(crate) fn announced(self, skips: usize) -> Tally {
        let skips = u32::try_from(skips).unwrap_or(u32::MAX).min(self.passed);
        Tally { passed: self.passed - skips, skipped: self.skipped + skips, ..self }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// A test that did not test, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skip {
    pub(crate) test: String,
    pub(crate) reason: String,
}

impl Skip {
    /// Reads the line `SKIPPED: <test>: <reason>`.
    pub(crate) fn announced(line: &str) -> Option<Skip> {
        let announcement = line.trim().strip_prefix("SKIPPED:")?.trim();
        let (test, reason) = announcement.split_once(": ").unwrap_or((announcement, ""));
        let reason = if reason.trim().is_empty() { "no reason given" } else { reason.trim() };
        Some(Skip { test: test.trim_end_matches(':').to_owned(), reason: reason.to_owned() })
    }

    /// A test that its author told not to run.
    pub(crate) fn ignored(test: &str, reason: Option<&str>) -> Skip {
        let reason = reason.map_or("marked #[ignore]".into(), |reason| format!("marked #[ignore]: {reason}"));
        Skip { test: test.to_owned(), reason }
    }
}

/// What one run of a test runner said.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) tally: Tally,
    /// Tests that were not run, and (libtest only) tests that ran and announced a skip.
    pub(crate) skips: Vec<Skip>,
}

/// Reads the output of `cargo test -- --show-output`: the sum over all its binaries. None when no
/// binary ended.
pub(crate) fn of_libtest(text: &str) -> Option<Said> {
    let text = without_colours(text);
    let mut said = Said::default();
    let mut announced: Vec<Skip> = Vec::new();
    let (mut ended, mut failures) = (false, false);
    for line in text.lines() {
        if let Some(result) = line.strip_prefix("test result: ") {
            ended = true;
            failures = false;
            said.tally.add(libtest_counts(result)?);
        } else if let Some((test, reason)) = libtest_ignored(line) {
            said.skips.push(Skip::ignored(test, reason));
        } else if line == "failures:" {
            failures = true;
        } else if let Some(skip) = Skip::announced(line).filter(|_| !failures)
            && !announced.iter().any(|known| known.test == skip.test)
        {
            announced.push(skip);
        }
    }
    said.tally = said.tally.announced(announced.len());
    said.skips.extend(announced);
    ended.then_some(said)
}

/// `ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s`
fn libtest_counts(result: &str) -> Option<Tally> {
    let (_, counts) = result.split_once(". ")?;
    let mut tally = Tally::default();
    for part in counts.split("; ") {
        let (count, word) = part.split_once(' ')?;
        match word {
            "passed" => tally.passed = count.parse().ok()?,
            "failed" => tally.failed = count.parse().ok()?,
            "ignored" => tally.skipped = count.parse().ok()?,
            _ => {}
        }
    }
    Some(tally)
}

/// `test name ... ignored` and `test name ... ignored, reason`
fn libtest_ignored(line: &str) -> Option<(&str, Option<&str>)> {
    let (test, rest) = line.strip_prefix("test ")?.split_once(" ... ignored")?;
    Some((test, rest.strip_prefix(", ")))
}

/// Leaves out `ESC [ … letter`.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        if c == '\u{1b}' && characters.next_if_eq(&'[').is_some() {
            for c in characters.by_ref() {
                if c.is_ascii_alphabetic() {
                    break;
                }
            }
        } else {
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(passed: u32, failed: u32, skipped: u32) -> Tally {
        Tally { passed, failed, skipped }
    }

    #[test]
    fn the_closing_line() {
        assert_eq!(tally(12, 0, 1).to_string(), "12 passed, 0 failed, 1 skipped");
    }

    #[test]
    fn an_announced_skip_is_not_a_pass() {
        assert_eq!(tally(4, 1, 1).announced(2), tally(2, 1, 3));
        assert_eq!(tally(1, 0, 0).announced(2), tally(0, 0, 1));
    }

    #[test]
    fn announcements() {
        let skip = Skip::announced("  SKIPPED: tests::steering: needs root: uid 1000\n").unwrap();
        assert_eq!(skip, Skip { test: "tests::steering".into(), reason: "needs root: uid 1000".into() });
        assert_eq!(Skip::announced("SKIPPED: a").unwrap().reason, "no reason given");
        assert_eq!(Skip::announced("SKIPPED: a:").unwrap(), Skip::announced("SKIPPED: a").unwrap());
        assert_eq!(Skip::announced("it was SKIPPED: a: b"), None);
    }

    const LIBTEST: &str = "\
running 5 tests
test a ... ok
test c ... ignored, slow thing
test d ... FAILED

successes:

---- a stdout ----
SKIPPED: a: no root
SKIPPED: a: no root, really

failures:

---- d stdout ----
SKIPPED: d: but it failed all the same

test result: FAILED. 4 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

running 1 test
test src/lib.rs - f (line 1) ... ok
test src/lib.rs - f (line 4) ... ignored

test result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.13s
";

    #[test]
    fn libtest_is_summed_over_binaries() {
        let said = of_libtest(LIBTEST).unwrap();
        assert_eq!(said.tally, tally(4, 1, 3));
        let skips: Vec<String> = said.skips.iter().map(|s| format!("{}: {}", s.test, s.reason)).collect();
        assert_eq!(
            skips,
            ["c: marked #[ignore]: slow thing", "src/lib.rs - f (line 4): marked #[ignore]", "a: no root"]
        );
    }

    #[test]
    fn libtest_that_never_ran() {
        assert_eq!(of_libtest("error: could not compile `x`\n"), None);
        assert_eq!(
            of_libtest("\u{1b}[1mtest result: \u{1b}[0mok. 1 passed; 0 failed\n").unwrap().tally,
            tally(1, 0, 0)
        );
    }
}
