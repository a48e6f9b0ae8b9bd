//! The tests, run by cargo-nextest. `.config/nextest.toml` has the groups of tests that wait for
//! each other.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, IsTerminal as _};
use std::process::Command;

use crate::Result;
use crate::program::{output, run};
use crate::session::{Session, write};
use crate::test::Tier;
use crate::times::{self, Test};

/// Some tests of a project.
struct Selection<'a> {
    /// The options that name the project.
    project: &'a [&'a str],
    config: &'a str,
    filterset: &'a str,
    /// The profile `all` gives some tests the machine to themselves.
    profile: &'a str,
}

/// The tests of the workspace that match a filterset.
pub(crate) fn matching(session: &mut Session, filterset: &str) -> Result {
    let profile = if session.tier == Tier::All { "all" } else { "default" };
    let config = ".config/nextest.toml";
    Selection { project: &["--workspace"], config, filterset, profile }.test(session)
}

/// All tests of `bench/`.
pub(crate) fn bench(session: &mut Session, manifest: &str) -> Result {
    let project = &["--manifest-path", manifest];
    let config = "bench/.config/nextest.toml";
    Selection { project, config, filterset: "all()", profile: "default" }.test(session)
}

impl Selection<'_> {
    /// Runs the tests, counts them, and writes their times.
    fn test(&self, session: &mut Session) -> Result {
        let (mut tests, ended) = self.run(session)?;
        if tests.is_empty() {
            return ended;
        }
        let ignored = self.list(session, "only", self.filterset)?;
        for test in tests.iter_mut().filter(|test| ignored.contains(&test.id())) {
            test.tier = Tier::All;
        }
        for group in groups(&session.read(self.config)?) {
            let members = self.list(session, "all", &format!("group({group})"))?;
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
    fn run(&self, session: &Session) -> Result<(Vec<Test>, Result)> {
        // nextest's store is in `target`, wherever the build directory is.
        let junit = session.root.join("target/nextest").join(self.profile).join("junit.xml");
        // The report of an earlier run is not the report of this one; mostly there is none.
        let _ = fs::remove_file(&junit);
        let ignored = if session.tier == Tier::All { "all" } else { "default" };
        let colour = if io::stderr().is_terminal() { "always" } else { "never" };
        let mut command =
            self.command(session, &["nextest", "run", "--color", colour], ignored, self.filterset);
        // Nothing is said of tests that are not run.
        let ended = run(command.args(["--status-level", "pass", "--final-status-level", "fail"]));
        match fs::read_to_string(&junit) {
            Ok(xml) => Ok((times::of_junit(&xml)?, ended)),
            Err(error) => ended.and(Err(format!("cannot read {}: {error}", junit.display()))),
        }
    }

    /// The identities of tests.
    fn list(&self, session: &Session, ignored: &str, filterset: &str) -> Result<BTreeSet<String>> {
        let list = ["nextest", "list", "--message-format", "oneline"];
        let listed = output(&mut self.command(session, &list, ignored, filterset))?;
        Ok(listed.lines().map(str::to_owned).collect())
    }

    fn command(&self, session: &Session, call: &[&str], ignored: &str, filterset: &str) -> Command {
        let mut command = session.cargo(call);
        command.args(self.project).args(["--profile", self.profile]);
        command.args(["--run-ignored", ignored, "--filterset", filterset]);
        command
    }
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
