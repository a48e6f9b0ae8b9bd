//! The tests themselves.

use std::fs;
use std::io::{self, IsTerminal as _};
use std::process::Command;

use crate::failure::Failure;
use crate::junit;
use crate::process::{Ran, tee};
use crate::report::{Ending, Report};
use crate::tally;
use crate::workspace::Workspace;

/// All targets of the workspace, with nextest if it is there.
pub(crate) fn units(workspace: &Workspace, report: &mut Report) -> Result<Ending, Failure> {
    if workspace.has_cargo("nextest") {
        return nextest(workspace, report);
    }
    report.note("cargo-nextest is not there: the tests were run one at a time by cargo test");
    let mut command = workspace.cargo(&["test", "--workspace", "--all-targets", "--no-fail-fast"]);
    // One at a time: libtest knows no groups, and tests that move traffic must not meet.
    command.args(["--", "--show-output", "--test-threads=1"]);
    libtest(command, report)
}

/// Documentation examples: nextest cannot run them.
pub(crate) fn examples(workspace: &Workspace, report: &mut Report) -> Result<Ending, Failure> {
    let mut command = workspace.cargo(&["test", "--workspace", "--doc", "--no-fail-fast"]);
    command.args(["--", "--show-output"]);
    libtest(command, report)
}

fn nextest(workspace: &Workspace, report: &mut Report) -> Result<Ending, Failure> {
    let junit = workspace.target.join("nextest/default/junit.xml");
    // A report of an earlier run must not speak for this one.
    if let Err(error) = fs::remove_file(&junit)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(Failure::io(format!("cannot remove {}", junit.display()))(error));
    }
    let colour = if io::stderr().is_terminal() { "always" } else { "never" };
    let mut command = workspace.cargo(&["nextest", "run", "--workspace", "--all-targets"]);
    command.args(["--profile", "default", "--final-status-level", "skip", "--color", colour]);
    let ran = tee(command)?;
    let said = tally::of_nextest(&ran.text).ok_or_else(|| uncounted(&ran))?;
    let xml = fs::read_to_string(&junit).map_err(Failure::io(format!("cannot read {}", junit.display())))?;
    report.tests(said, junit::announced_skips(&xml));
    ran.succeeded()?;
    Ok(Ending::Ok)
}

fn libtest(command: Command, report: &mut Report) -> Result<Ending, Failure> {
    let ran = tee(command)?;
    let said = tally::of_libtest(&ran.text).ok_or_else(|| uncounted(&ran))?;
    report.tests(said, Vec::new());
    ran.succeeded()?;
    Ok(Ending::Ok)
}

/// A run without a summary has failed early, or speaks a language that we do not know: never a
/// success.
fn uncounted(ran: &Ran) -> Failure {
    let unknown =
        || Failure::Check("the test runner ended well, but without a summary that xtask can read".into());
    ran.succeeded().err().unwrap_or_else(unknown)
}
