//! The job `test`: checks in order, cheap checks first; it stops at the first that fails.

use std::thread;
use std::time::Instant;

use crate::Result;
use crate::program::{output, run as program};
use crate::session::Session;
use crate::{architecture, bpf, browser, deny, fuzz, generated, needs, nextest, scripts, touched, tree};

/// How thorough a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tier {
    /// The checks of each change.
    Gate,
    /// Every check.
    All,
}

/// A check: name, the lowest tier that has it, what it looks at, and how.
type Step = (&'static str, Tier, &'static str, fn(&mut Session) -> Result);

/// In this order. The gate compiles twice: for clippy, and for programs and tests.
const STEPS: &[Step] = &[
    ("needs", Tier::Gate, "cargo-nextest and the Debian packages that the checks use", needs::check),
    ("tree", Tier::Gate, "no paths of one machine, no registry hosts, no endless files", tree::check),
    ("architecture", Tier::Gate, "the crates use each other as ARCHITECTURE.md says", architecture::check),
    ("scripts", Tier::Gate, "shellcheck on every shell script", scripts::shell),
    ("workflows", Tier::Gate, "the workflow files in docs/ci are YAML", scripts::workflows),
    ("format", Tier::Gate, "cargo fmt --check, of fuzz/ too", format),
    ("clippy", Tier::Gate, "clippy on all targets, warnings denied", clippy),
    ("build", Tier::Gate, "the workspace with its tests", build),
    ("static", Tier::Gate, "the binary is statically linked", is_static),
    ("tests", Tier::Gate, "unit and integration tests; with --all also the ignored ones", all_tests),
    ("generated", Tier::Gate, "generated files that are checked in", generated::check),
    ("bpf", Tier::All, "the programs for the kernel compile to the object that is checked in", bpf::rebuild),
    ("browser", Tier::All, "the reports that the tests wrote, in a browser", browser::check),
    ("doctests", Tier::All, "the examples in the documentation", doctests),
    ("docs", Tier::All, "rustdoc, warnings denied", docs),
    (
        "fuzz",
        Tier::All,
        "each target of fuzz/ compiles without warnings and runs for two seconds",
        fuzz::check,
    ),
    ("deny", Tier::All, "cargo deny: licences, duplicates, sources, advisories", deny::all),
];

/// `cargo xtask test [--all] [STEP…]` and `cargo xtask test --touched [REV]`
pub(crate) fn run(session: &mut Session, arguments: &[String]) -> Result {
    let outcome = match arguments {
        [option] if option == "--touched" => touched(session, None),
        [option, revision] if option == "--touched" => touched(session, Some(revision)),
        _ => {
            let (tier, steps) = chosen(arguments)?;
            session.tier = tier;
            steps.iter().try_for_each(|(name, _, about, run)| take(session, name, about, run))
        }
    };
    print!("{}", session.report);
    outcome
}

/// The gate's checks of what changed. clippy looks at the whole workspace, as in the gate: cargo
/// compiles only the crates that changed and the crates that use them.
fn touched(session: &mut Session, revision: Option<&str>) -> Result {
    let filterset = touched::filterset(session, revision)?;
    take(session, "tree", "", tree::check)?;
    take(session, "format", "", format)?;
    take(session, "clippy", "", clippy)?;
    filterset.map_or(Ok(()), |filterset| {
        take(session, "tests", &filterset, |session| nextest::matching(session, &filterset))
    })
}

fn chosen(arguments: &[String]) -> Result<(Tier, Vec<&'static Step>)> {
    let tier = if arguments.iter().any(|word| word == "--all") { Tier::All } else { Tier::Gate };
    let mut steps = Vec::new();
    for word in arguments.iter().filter(|word| *word != "--all") {
        let step = STEPS.iter().find(|(name, ..)| name == word);
        steps.push(step.ok_or_else(|| format!("`test` has no step `{word}`; `cargo xtask` lists them"))?);
    }
    if steps.is_empty() {
        steps = STEPS.iter().filter(|(_, lowest, ..)| *lowest <= tier).collect();
    }
    Ok((tier, steps))
}

/// A line for each step.
pub(crate) fn steps_text() -> String {
    let mark = |tier| if tier == Tier::All { '*' } else { ' ' };
    STEPS.iter().map(|(name, tier, about, _)| format!("{} {name:<13} {about}\n", mark(*tier))).collect()
}

fn take(
    session: &mut Session,
    name: &'static str,
    about: &str,
    run: impl FnOnce(&mut Session) -> Result,
) -> Result {
    eprintln!("\n=== {name}: {about}");
    let (start, skips) = (Instant::now(), session.report.skips.len());
    let outcome = run(session);
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    let outcome = outcome.and(judged(&session.report.skips[skips..], session.ci, cpus));
    let seconds = start.elapsed().as_secs_f64();
    session.report.steps.push((name, seconds, outcome.is_err()));
    eprintln!("=== {name}: {seconds:.1} s");
    outcome
}

/// The machine of a CI server can have everything that a check needs, except a second CPU.
fn judged(skips: &[String], ci: bool, cpus: usize) -> Result {
    let is_excused = |skip: &&String| cpus == 1 && skip.ends_with("it needs two CPUs");
    match skips.iter().filter(|skip| !is_excused(skip)).count() {
        1.. if ci => Err("checks were skipped, listed above: with CI=true that is a failure".to_owned()),
        _ => Ok(()),
    }
}

fn format(session: &mut Session) -> Result {
    program(&mut session.cargo(&["fmt", "--check", "--all"]))?;
    program(&mut session.cargo(&["fmt", "--check", "--manifest-path", fuzz::MANIFEST]))
}

fn clippy(session: &mut Session) -> Result {
    let mut command = session.cargo(&["clippy", "--workspace", "--all-targets"]);
    program(command.args(features(session.tier)).args(["--", "-D", "warnings"]))
}

/// nextest then compiles nothing: this is what it runs. Without `--all-targets` cargo would compile
/// shared dependencies once more, with the features that only tests need.
pub(crate) fn build(session: &mut Session) -> Result {
    program(session.cargo(&["build", "--workspace", "--all-targets"]).args(features(session.tier)))
}

/// The arguments for the features of a released program, which the gate does not compile.
pub(crate) fn features(tier: Tier) -> &'static [&'static str] {
    if tier == Tier::All { &["--features", "netassay/parquet,netassay/postgres"] } else { &[] }
}

/// The binary runs on any Linux machine: it asks for no loader and no library. `.cargo/config.toml`
/// links each profile in the same way: the binary that the tests start is there already.
fn is_static(session: &mut Session) -> Result {
    let binary = session.built.join("debug/netassay");
    let mut readelf = session.command("readelf");
    let said = output(readelf.args(["--wide", "--segments", "--dynamic"]).arg(&binary))?;
    let is_request = |line: &str| line.contains("INTERP") || line.contains("(NEEDED)");
    if said.contains(" LOAD ") && !said.lines().any(is_request) {
        return Ok(());
    }
    Err(format!("{} is not static:\n{said}", binary.display()))
}

fn all_tests(session: &mut Session) -> Result {
    nextest::matching(session, "all()")
}

fn doctests(session: &mut Session) -> Result {
    let mut command = session.cargo(&["test", "--quiet", "--workspace", "--doc", "--no-fail-fast"]);
    program(command.args(features(session.tier)))
}

fn docs(session: &mut Session) -> Result {
    let mut command = session.cargo(&["doc", "--workspace", "--no-deps"]);
    command.args(features(session.tier));
    program(command.env("RUSTDOCFLAGS", "-D warnings"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Result<Vec<&'static str>> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        Ok(chosen(&words)?.1.iter().map(|(name, ..)| *name).collect())
    }

    #[test]
    fn steps_are_chosen_by_tier_or_by_name() {
        let gate = names("").unwrap();
        assert!(gate.contains(&"tests") && !gate.contains(&"browser"), "{gate:?}");
        assert_eq!(names("--all").unwrap().len(), STEPS.len());
        assert_eq!(names("tests browser --all").unwrap(), ["tests", "browser"]);
        assert_eq!(chosen(&["--all".into(), "tests".into()]).unwrap().0, Tier::All);
        assert!(names("tset").is_err() && names("--al").is_err() && names("--touched a b").is_err());
    }

    #[test]
    fn skips_fail_in_ci_only() {
        let (program, cpu) = (["a: no ethtool".to_owned()], ["b: it needs two CPUs".to_owned()]);
        assert!(judged(&program, true, 1).is_err() && judged(&program, false, 1).is_ok());
        assert!(
            judged(&cpu, true, 2).is_err() && judged(&cpu, true, 1).is_ok() && judged(&[], true, 2).is_ok()
        );
    }
}
