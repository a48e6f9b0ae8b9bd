//! The tests themselves.

use std::fs;
use std::io::{self, IsTerminal as _};
use std::process::Command;
use std::thread;

use crate::failure::Failure;
use crate::junit;
use crate::process::{Ran, output, run, tee};
use crate::report::{Ending, Report};
use crate::tally::{self, Said, Skip};
use crate::workspace::{Workspace, giving_way};

/// Tests whose findings no clock decides: those that only compute, and guests in which instructions
/// are counted. They run while the others leave a CPU idle, and only then.
const ASIDE: &str = "package(/^netassay-(advice|chart|gate|ministat|page|record|report|samples|stats|study|text|words)$/) \
    | (binary(campaign_bundled) & test(in_exact_mode)) \
    | (binary(traffic_guests) & test(/^(exact|tracing)::/) - test(/^tracing::apart::/))";

/// Tests that look at how busy the CPUs are, or that tell by few runs which of two is faster: even
/// those beside them that give way at once would change what they find.
const ALONE: &str = "binary(/^alone/) | (binary(traffic_ssh) & test(/^bundled_studies_have_the_same_sign/))";

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

/// Some of the tests: nextest's profile for them, and which they are.
struct Part {
    profile: &'static str,
    which: String,
    /// Whether they run only while nothing else wants a CPU.
    gives_way: bool,
}

fn nextest(workspace: &Workspace, report: &mut Report) -> Result<Ending, Failure> {
    for test in ignored(workspace)? {
        report.skip(&test.test, test.reason);
    }
    let part = |profile, which: &str, gives_way| Part { profile, which: which.to_owned(), gives_way };
    let alone = part("alone", ALONE, false);
    let aside = part("aside", ASIDE, true);
    let rest = part("default", &format!("not ({ALONE} | {ASIDE})"), false);
    let first = alone.run(workspace);
    let (second, third) = thread::scope(|scope| {
        let beside = scope.spawn(|| aside.run(workspace));
        (rest.run(workspace), beside.join().expect("a part of the tests does not panic"))
    });
    // All are counted, whichever fails.
    let all = [first, second, third];
    let mut endings = Vec::new();
    for (counts, ended) in all {
        counts.into_iter().for_each(|said| report.tests(said));
        endings.push(ended);
    }
    endings.into_iter().collect::<Result<(), _>>()?;
    Ok(Ending::Ok)
}

impl Part {
    /// What the tests' report says, and how nextest ended.
    fn run(&self, workspace: &Workspace) -> (Option<Said>, Result<(), Failure>) {
        let junit = workspace.target.join("nextest").join(self.profile).join("junit.xml");
        // A report of an earlier run must not speak for this one.
        if let Err(error) = fs::remove_file(&junit)
            && error.kind() != io::ErrorKind::NotFound
        {
            return (None, Err(Failure::io(format!("cannot remove {}", junit.display()))(error)));
        }
        let ended = run(&mut self.command(workspace));
        let counts = fs::read_to_string(&junit).ok().and_then(|xml| junit::read(&xml));
        // A run without a report has failed early: never a success.
        let unread = || Failure::Check(format!("{} has no counts of tests", junit.display()));
        let ended = ended.and_then(|()| counts.as_ref().map(drop).ok_or_else(unread));
        (counts, ended)
    }

    fn command(&self, workspace: &Workspace) -> Command {
        let colour = if io::stderr().is_terminal() { "always" } else { "never" };
        let mut command = workspace.cargo(&["nextest", "run", "--workspace", "--all-targets"]);
        command.args(["--profile", self.profile, "--filterset", &self.which, "--color", colour]);
        // Those that are not of this part are no news.
        command.args(["--status-level", "pass", "--final-status-level", "fail"]);
        if self.gives_way { giving_way(command) } else { command }
    }
}

/// The tests that their authors told not to run.
fn ignored(workspace: &Workspace) -> Result<Vec<Skip>, Failure> {
    let mut list = workspace.cargo(&["nextest", "list", "--workspace", "--all-targets"]);
    list.args(["--run-ignored", "only", "--message-format", "oneline"]);
    Ok(output(&mut list)?.lines().map(|test| Skip::ignored(test, None)).collect())
}

fn libtest(command: Command, report: &mut Report) -> Result<Ending, Failure> {
    let ran = tee(command)?;
    let said = tally::of_libtest(&ran.text).ok_or_else(|| uncounted(&ran))?;
    report.tests(said);
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
