//! The job `fuzz`: every target of `fuzz/` with libFuzzer, for a bounded time and in bounded
//! memory.
//!
//! The compiler's own coverage pass needs no nightly toolchain: only sanitizers do.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use crate::failure::Failure;
use crate::process::{run as program, shown};
use crate::workspace::Workspace;

const MANIFEST: &str = "fuzz/Cargo.toml";

/// Counters at each edge, where they are in the program, and the operands of comparisons: what
/// libFuzzer learns from.
const COVERAGE: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";
/// What libFuzzer says of a program that has them.
const HAS_COVERAGE: &str = "inline 8-bit counters";

/// Memory of one target's process, in MiB, and time of one input, in seconds.
const MOST_MEMORY: u32 = 2048;
const MOST_TIME: u32 = 10;

/// How to run the targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Anew each time, from the checked-in corpus and a fixed seed. What is learnt is forgotten.
    Check,
    /// Going on where earlier runs stopped.
    Explore,
}

/// `cargo xtask fuzz [--seconds N] [TARGET…]`
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Failure> {
    let asked = Asked::read(arguments)?;
    let targets = choose(targets(workspace)?, &asked.targets)?;
    let binaries = build(workspace, Manner::Explore)?;
    let outcomes = each(workspace, &binaries, &targets, asked.seconds, Manner::Explore)?;
    for outcome in &outcomes {
        println!("{}", outcome.line());
    }
    judge(&outcomes)
}

/// The step `fuzz` of the job `test`.
pub(crate) fn check(workspace: &Workspace, seconds: u64) -> Result<(), Failure> {
    let binaries = build(workspace, Manner::Check)?;
    judge(&each(workspace, &binaries, &targets(workspace)?, seconds, Manner::Check)?)
}

#[derive(Debug, PartialEq, Eq)]
struct Asked {
    seconds: u64,
    targets: Vec<String>,
}

impl Asked {
    fn read(arguments: &[String]) -> Result<Self, Failure> {
        let mut asked = Self { seconds: 60, targets: Vec::new() };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            if word == "--seconds" {
                let number = words.next().and_then(|word| word.parse().ok()).filter(|seconds| *seconds > 0);
                asked.seconds =
                    number.ok_or_else(|| Failure::Usage("--seconds needs a number from 1".to_owned()))?;
            } else if word.starts_with('-') {
                return Err(Failure::Usage(format!(
                    "`{word}` is no option of `fuzz`: [--seconds N] [TARGET…]"
                )));
            } else {
                asked.targets.push(word.clone());
            }
        }
        Ok(asked)
    }
}

/// Every file in `fuzz/fuzz_targets` is a target of that name.
fn targets(workspace: &Workspace) -> Result<Vec<String>, Failure> {
    let directory = workspace.root.join("fuzz/fuzz_targets");
    let unread = || Failure::io(format!("cannot read {}", directory.display()));
    let mut targets = Vec::new();
    for entry in fs::read_dir(&directory).map_err(unread())? {
        let name = entry.map_err(unread())?.file_name().to_string_lossy().into_owned();
        targets.extend(name.strip_suffix(".rs").map(str::to_owned));
    }
    targets.sort();
    Ok(targets)
}

fn choose(all: Vec<String>, asked: &[String]) -> Result<Vec<String>, Failure> {
    if let Some(unknown) = asked.iter().find(|name| !all.contains(name)) {
        return Err(Failure::Usage(format!("no fuzz target is called `{unknown}`: {}", all.join(", "))));
    }
    Ok(if asked.is_empty() { all } else { asked.to_vec() })
}

/// What builds them: in the workspace's build directory, whose macros and build scripts they share.
/// Cargo keeps what was compiled with other flags beside it.
///
/// A check, in which each target runs for moments, does without the optimiser for the project's own
/// crates: it would take longer than all targets together.
pub(crate) fn builds(workspace: &Workspace, manner: Manner) -> Command {
    let mut command = workspace.cargo(&["build", "--manifest-path", MANIFEST, "--bins", "--target-dir"]);
    command.arg(&workspace.target).env("RUSTFLAGS", COVERAGE);
    if manner == Manner::Check {
        for name in own_crates(workspace) {
            command.arg("--config").arg(format!("profile.dev.package.{name}.opt-level=0"));
        }
    }
    command
}

/// The project's crates that the targets use, by the lock file; none if it cannot be read, which
/// the build then tells.
fn own_crates(workspace: &Workspace) -> Vec<String> {
    let lock = fs::read_to_string(workspace.root.join("fuzz/Cargo.lock")).unwrap_or_default();
    let names = lock.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    let own = names.filter(|name| name.starts_with("netassay-") && *name != "netassay-fuzz");
    own.map(str::to_owned).collect()
}

/// Builds all targets; gives the directory where they are.
fn build(workspace: &Workspace, manner: Manner) -> Result<PathBuf, Failure> {
    program(&mut builds(workspace, manner))?;
    Ok(workspace.built.join("debug"))
}

/// Runs the targets, as many at a time as there are CPUs.
fn each(
    workspace: &Workspace,
    binaries: &Path,
    targets: &[String],
    seconds: u64,
    manner: Manner,
) -> Result<Vec<Outcome>, Failure> {
    let left = Mutex::new(targets.iter());
    let next = || left.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).next();
    let work = || {
        let mut outcomes = Vec::new();
        while let Some(target) = next() {
            let outcome = one(workspace, &binaries.join(target), target, seconds, manner)?;
            eprintln!("{}", outcome.line());
            outcomes.push(outcome);
        }
        Ok(outcomes)
    };
    let at_once = thread::available_parallelism().map_or(1, usize::from).min(targets.len());
    let mut outcomes: Vec<Outcome> = thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().expect("a worker does not panic"))
            .collect::<Result<Vec<_>, _>>()
    })?
    .concat();
    outcomes.sort_by(|one, other| one.target.cmp(&other.target));
    Ok(outcomes)
}

fn one(
    workspace: &Workspace,
    binary: &Path,
    target: &str,
    seconds: u64,
    manner: Manner,
) -> Result<Outcome, Failure> {
    let learnt = workspace.target.join("fuzz").join(match manner {
        Manner::Check => "scratch",
        Manner::Explore => "corpus",
    });
    let learnt = learnt.join(target);
    if manner == Manner::Check && learnt.exists() {
        fs::remove_dir_all(&learnt).map_err(Failure::io(format!("cannot remove {}", learnt.display())))?;
    }
    let artifacts = workspace.root.join("fuzz/artifacts").join(target);
    let given = workspace.root.join("fuzz/corpus").join(target);
    for directory in [&learnt, &artifacts, &given] {
        fs::create_dir_all(directory).map_err(Failure::io(format!("cannot make {}", directory.display())))?;
    }
    let mut command = workspace.command(&binary.to_string_lossy());
    command
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-rss_limit_mb={MOST_MEMORY}"))
        .arg(format!("-timeout={MOST_TIME}"))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .arg("-print_final_stats=1")
        // The panic's own words tell the place; libFuzzer's frames would only hide them.
        .env("RUST_BACKTRACE", "0");
    if manner == Manner::Check {
        command.arg("-seed=1");
    }
    // libFuzzer writes what it learns to the first, and reads both.
    command.arg(&learnt).arg(&given).stdin(Stdio::null());
    let output = command.output().map_err(Failure::io(format!("cannot start `{}`", shown(&command))))?;
    let said = String::from_utf8_lossy(&output.stderr);
    Ok(Outcome::of(target, binary, output.status.success(), &said))
}

/// What came of a target.
#[derive(Debug, Clone)]
struct Outcome {
    target: String,
    executions: u64,
    /// Edges of the program that were reached.
    edges: u64,
    failure: Option<String>,
}

impl Outcome {
    /// From what libFuzzer said.
    fn of(target: &str, binary: &Path, succeeded: bool, said: &str) -> Self {
        let number = |line: &str, word: &str| -> Option<u64> {
            line.split_once(word)?.1.split_whitespace().next()?.parse().ok()
        };
        let last = |word: &str| said.lines().rev().find_map(|line| number(line, word)).unwrap_or(0);
        let (executions, edges) = (last("stat::number_of_executed_units:"), last(" cov:"));
        let failure = if !succeeded {
            Some(broken(target, binary, said))
        } else if !said.contains(HAS_COVERAGE) {
            Some(format!("{target}: it was built without coverage, so libFuzzer is blind"))
        } else if executions == 0 || edges == 0 {
            Some(format!("{target}: nothing was executed"))
        } else {
            None
        };
        Self { target: target.to_owned(), executions, edges, failure }
    }

    fn line(&self) -> String {
        let Self { target, executions, edges, failure } = self;
        let end = if failure.is_some() { "  FAILED" } else { "" };
        format!("{target:<20} {executions:>10} executions {edges:>6} edges{end}")
    }
}

/// The last words of a target that ended badly, the input, and how to run it again.
fn broken(target: &str, binary: &Path, said: &str) -> String {
    const SHOWN: usize = 30;
    let lines: Vec<&str> = said.lines().filter(|line| !line.starts_with('#')).collect();
    let last = lines[lines.len().saturating_sub(SHOWN)..].join("\n");
    let saved = said.lines().find_map(|line| line.split_once("Test unit written to ")).map(|(_, file)| file);
    let again = match saved {
        Some(file) => format!("input: {file}\nagain: {} {file}", binary.display()),
        None => "it left no input".to_owned(),
    };
    format!("{target}:\n{last}\n{again}")
}

fn judge(outcomes: &[Outcome]) -> Result<(), Failure> {
    let failed: Vec<&str> = outcomes.iter().filter_map(|outcome| outcome.failure.as_deref()).collect();
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::Check(format!("{} fuzz targets failed\n\n{}", failed.len(), failed.join("\n\n"))))
}

/// The targets' own text: format and lints, without libFuzzer.
pub(crate) fn lint(workspace: &Workspace) -> Result<(), Failure> {
    program(&mut workspace.cargo(&["fmt", "--manifest-path", MANIFEST, "--", "--check"]))?;
    program(&mut lints(workspace))
}

/// Clippy. What the workspace's own has checked of shared crates is not checked again.
pub(crate) fn lints(workspace: &Workspace) -> Command {
    let mut command: Command = workspace.cargo(&["clippy", "--manifest-path", MANIFEST, "--target-dir"]);
    command.arg(&workspace.target).args(["--no-default-features", "--all-targets", "--", "-D", "warnings"]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_command_line_is_read() {
        let asked = Asked::read(&words("--seconds 5 a b")).unwrap();
        assert_eq!(asked, Asked { seconds: 5, targets: words("a b") });
        assert_eq!(Asked::read(&[]).unwrap(), Asked { seconds: 60, targets: vec![] });
        for wrong in ["--seconds", "--seconds 0", "--seconds x", "--minutes 1"] {
            assert!(matches!(Asked::read(&words(wrong)), Err(Failure::Usage(_))), "{wrong}");
        }
        assert_eq!(choose(words("a b"), &[]).unwrap(), words("a b"));
        assert!(choose(words("a b"), &words("c")).unwrap_err().to_string().ends_with("`c`: a, b"));
    }

    const WELL: &str = "\
INFO: Loaded 1 modules   (13 inline 8-bit counters): 13 [0x1, 0x2),
#12\tNEW    cov: 7 ft: 9 corp: 2/2b
#20\tDONE   cov: 8 ft: 11 corp: 3/4b lim: 4 exec/s: 10 rss: 30Mb
stat::number_of_executed_units: 20
";

    fn outcome(succeeded: bool, said: &str) -> Outcome {
        Outcome::of("t", Path::new("b"), succeeded, said)
    }

    #[test]
    fn a_target_that_ran_is_counted() {
        let well = outcome(true, WELL);
        assert_eq!((well.executions, well.edges), (20, 8));
        assert!(judge(&[well]).is_ok());
    }

    #[test]
    fn a_target_that_is_blind_or_did_nothing_failed() {
        let why = |said: &str| judge(&[outcome(true, said)]).unwrap_err().to_string();
        assert!(why("stat::number_of_executed_units: 20\n#1 cov: 3\n").contains("blind"));
        assert!(why("INFO: 13 inline 8-bit counters\n").contains("nothing was executed"));
    }

    #[test]
    fn a_crash_is_reported_with_its_input_and_how_to_run_it_again() {
        let said = format!("{WELL}thread panicked: why\nTest unit written to /a/crash-1\n");
        let failure = judge(&[outcome(false, &said)]).unwrap_err().to_string();
        assert!(
            failure.contains("why") && failure.ends_with("input: /a/crash-1\nagain: b /a/crash-1"),
            "{failure}"
        );
    }
}
