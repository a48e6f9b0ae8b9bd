//! The tests, run by cargo-nextest. `.config/nextest.toml` has the groups of tests that wait for
//! each other.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, IsTerminal as _};
use std::process::Command;

use crate::Result;
use crate::program::{output, run};
use crate::session::{Session, write};
use crate::test::{Tier, features};
use crate::times::{self, Test};

/// Runs the tests that match a filterset, counts them, and writes their times.
pub(crate) fn matching(session: &mut Session, filterset: &str) -> Result {
    let (mut tests, ended) = run_tests(session, filterset)?;
    if tests.is_empty() {
        return ended;
    }
    let ignored = list(session, "only", filterset)?;
    for test in tests.iter_mut().filter(|test| ignored.contains(&test.id())) {
        test.tier = Tier::All;
    }
    for group in groups(&session.read(".config/nextest.toml")?) {
        let members = list(session, "all", &format!("group({group})"))?;
        for test in tests.iter_mut().filter(|test| members.contains(&test.id())) {
            test.waited_for = Some(group.to_owned());
        }
    }
    if session.tier == Tier::Gate {
        let note = format!("{} tests run only with `cargo xtask test --all`", ignored.len());
        session.report.notes.push(note);
    }
    eprint!("{}", times::summary(&tests));
    session.report.add_tests(tests);
    let path = session.target.join("test-times.tsv");
    write(&path, &times::table(&session.report.tests))?;
    eprintln!("\ntime of each test: {}", path.display());
    ended
}

/// The tests that ran, and how nextest ended.
fn run_tests(session: &Session, filterset: &str) -> Result<(Vec<Test>, Result)> {
    // nextest's store is in `target`, wherever the build directory is.
    let junit = session.root.join("target/nextest").join(profile(session)).join("junit.xml");
    // The report of an earlier run is not the report of this one; mostly there is none.
    let _ = fs::remove_file(&junit);
    let ignored = if session.tier == Tier::All { "all" } else { "default" };
    let colour = if io::stderr().is_terminal() { "always" } else { "never" };
    let mut command = command(session, &["nextest", "run", "--color", colour], ignored, filterset);
    // Nothing is said of tests that are not run.
    let ended = run(command.args(["--status-level", "pass", "--final-status-level", "fail"]));
    match fs::read_to_string(&junit) {
        Ok(xml) => Ok((times::of_junit(&xml)?, ended)),
        Err(error) => ended.and(Err(format!("cannot read {}: {error}", junit.display()))),
    }
}

/// The identities of tests.
fn list(session: &Session, ignored: &str, filterset: &str) -> Result<BTreeSet<String>> {
    let call = ["nextest", "list", "--message-format", "oneline"];
    let listed = output(&mut command(session, &call, ignored, filterset))?;
    Ok(listed.lines().map(str::to_owned).collect())
}

fn command(session: &Session, call: &[&str], ignored: &str, filterset: &str) -> Command {
    let mut command = session.cargo(call);
    command.args(["--workspace", "--profile", profile(session)]).args(features(session.tier));
    command.args(["--run-ignored", ignored, "--filterset", filterset]);
    command
}

/// The profile `all` gives some tests the machine to themselves.
fn profile(session: &Session) -> &'static str {
    if session.tier == Tier::All { "all" } else { "default" }
}

/// The names in the table `[test-groups]`.
fn groups(config: &str) -> Vec<&str> {
    let table = config.lines().skip_while(|line| *line != "[test-groups]").skip(1);
    let table = table.take_while(|line| !line.starts_with('[')).filter(|line| !line.starts_with('#'));
    table.filter_map(|line| Some(line.split_once('=')?.0.trim())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_named_in_the_configuration() {
        let config = "a = 1\n[test-groups]\n# b = 2\ntraffic = { c = 1 }\n\nguests = { c = 1 }\n[x]\nd = 3\n";
        assert_eq!(groups(config), ["traffic", "guests"]);
    }
}
