//! The job `test`: every check, cheap ones first, stopping at the first that fails.

use std::process::Command;
use std::time::Instant;

use crate::ahead::Ahead;
use crate::arrows;
use crate::bpf;
use crate::checks::{browser, cargo, needs, scripts, static_binary, tests, tree, workflows};
use crate::failure::Failure;
use crate::fuzz;
use crate::generated;
use crate::report::{Ending, Report};
use crate::workspace::{Workspace, find_program};

/// One check.
struct Step {
    name: &'static str,
    about: &'static str,
    run: fn(&Workspace, &mut Report) -> Result<Ending, Failure>,
}

/// In this order. What is compiled is compiled once for each of: clippy, development (with tests),
/// documentation, fuzzing; later steps use what earlier ones built.
const STEPS: &[Step] = &[
    Step { name: "needs", about: "the Debian packages that tests and benches use", run: needs::check },
    Step { name: "tree", about: "no machine paths, no registry hosts, no endless files", run: tree::check },
    Step { name: "arrows", about: "no circles, and no crate knows what it may not", run: arrows::check },
    Step { name: "scripts", about: "shellcheck on every shell script", run: scripts::check },
    Step { name: "workflows", about: "the workflow files in docs/ci are YAML", run: workflows::check },
    Step { name: "format", about: "cargo fmt --check", run: cargo::format },
    Step { name: "clippy", about: "clippy on all targets, warnings denied", run: cargo::clippy },
    Step {
        name: "build",
        about: "the workspace and its tests, so that tests can start netassay",
        run: cargo::build,
    },
    Step { name: "static", about: "the binary is statically linked", run: static_binary::check },
    Step { name: "tests", about: "every unit and integration test", run: tests::units },
    Step { name: "browser", about: "the reports that the tests wrote, in a browser", run: browser::check },
    Step { name: "doctests", about: "the examples in the documentation", run: tests::examples },
    Step { name: "docs", about: "the documentation builds, warnings denied", run: cargo::docs },
    Step { name: "generated", about: "files that are generated and checked in", run: generated::check },
    Step { name: "bpf", about: "the programs for the kernel are what their source says", run: bpf::check },
    Step { name: "fuzz", about: "each fuzz target runs for a few seconds from its corpus", run: cargo::fuzz },
    Step { name: "deny", about: "licences and bans, if cargo-deny is there", run: cargo::deny },
];

/// `cargo xtask test [STEP…]`
pub(crate) fn run(workspace: &Workspace, names: &[String]) -> Result<(), Failure> {
    let chosen = choose(names)?;
    let mut report = Report::default();
    let mut ahead = None;
    let outcome = chosen.iter().enumerate().try_for_each(|(index, step)| {
        // A browser keeps one CPU busy; before, the tests need all of them.
        if step.name == "browser" {
            ahead = Some(Ahead::begin(builds_of(workspace, &chosen[index..])));
        }
        take(step, workspace, &mut report)
    });
    drop(ahead);
    print!("{report}");
    outcome
}

/// What these steps build, apart from what others build too.
fn builds_of(workspace: &Workspace, steps: &[&Step]) -> Vec<Command> {
    let builds = |step: &&Step| match step.name {
        "docs" => vec![cargo::builds_docs(workspace)],
        "fuzz" if find_program("c++").is_some() => {
            vec![fuzz::lints(workspace), fuzz::builds(workspace, fuzz::Manner::Check)]
        }
        _ => Vec::new(),
    };
    steps.iter().flat_map(builds).collect()
}

/// `cargo xtask steps`
pub(crate) fn list(_: &Workspace, _: &[String]) -> Result<(), Failure> {
    for step in STEPS {
        println!("{:<10} {}", step.name, step.about);
    }
    Ok(())
}

fn choose(names: &[String]) -> Result<Vec<&'static Step>, Failure> {
    if names.is_empty() {
        return Ok(STEPS.iter().collect());
    }
    let find = |name: &String| {
        STEPS.iter().find(|step| step.name == name).ok_or_else(|| {
            Failure::Usage(format!("no step is called `{name}`; `cargo xtask steps` lists them"))
        })
    };
    names.iter().map(find).collect()
}

fn take(step: &Step, workspace: &Workspace, report: &mut Report) -> Result<(), Failure> {
    eprintln!("\n=== {}: {}", step.name, step.about);
    let (start, skips) = (Instant::now(), report.skips());
    let outcome = (step.run)(workspace, report).and_then(|ending| {
        no_new_skips(workspace.ci, report.skips() - skips)?;
        Ok(ending)
    });
    let time = start.elapsed();
    report.step(step.name, time, *outcome.as_ref().unwrap_or(&Ending::Failed));
    eprintln!("=== {}: {:.1} s", step.name, time.as_secs_f64());
    outcome.map(drop)
}

/// In CI everything must be tested: there the machine is ours to equip.
fn no_new_skips(ci: bool, new: usize) -> Result<(), Failure> {
    if ci && new > 0 {
        return Err(Failure::Check(format!("{new} skipped, listed above: with CI=true a skip is a failure")));
    }
    Ok(())
}

#[cfg(test)]
mod tests_of_the_job {
    use super::*;

    #[test]
    fn all_steps_or_those_named_in_that_order() {
        assert_eq!(choose(&[]).unwrap().len(), STEPS.len());
        let names: Vec<_> =
            choose(&["tests".into(), "format".into()]).unwrap().iter().map(|s| s.name).collect();
        assert_eq!(names, ["tests", "format"]);
        assert!(matches!(choose(&["tset".into()]), Err(Failure::Usage(_))));
    }

    #[test]
    fn skips_fail_in_ci_only() {
        assert!(no_new_skips(true, 1).is_err());
        assert!(no_new_skips(true, 0).is_ok());
        assert!(no_new_skips(false, 1).is_ok());
    }

    #[test]
    fn a_failing_step_is_in_the_report() {
        let workspace = Workspace { root: ".".into(), target: ".".into(), built: ".".into(), ci: true };
        let mut report = Report::default();
        let skipping = Step {
            name: "skipping",
            about: "",
            run: |_, report| {
                report.skip("x", "y");
                Ok(Ending::Ok)
            },
        };
        take(&skipping, &workspace, &mut report).unwrap_err();
        let fine = Step { name: "fine", about: "", run: |_, _| Ok(Ending::Ok) };
        take(&fine, &workspace, &mut report).unwrap();
        let text = report.to_string();
        assert!(text.contains("skipping     0.0 s  FAILED\nfine         0.0 s\n"), "{text}");
    }
}
