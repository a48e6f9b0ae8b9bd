//! The checks that are one call of cargo.

use std::process::Command;

use crate::failure::Failure;
use crate::fuzz;
use crate::process::run;
use crate::report::{Ending, Report};
use crate::workspace::{Workspace, find_program};

pub(crate) fn format(workspace: &Workspace, _: &mut Report) -> Result<Ending, Failure> {
    run(&mut workspace.cargo(&["fmt", "--all", "--check"]))?;
    Ok(Ending::Ok)
}

pub(crate) fn clippy(workspace: &Workspace, _: &mut Report) -> Result<Ending, Failure> {
    run(&mut workspace.cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    Ok(Ending::Ok)
}

pub(crate) fn build(workspace: &Workspace, _: &mut Report) -> Result<Ending, Failure> {
    run(&mut development_build(workspace))?;
    Ok(Ending::Ok)
}

/// Programs and tests together. Without `--all-targets` cargo would leave out what only tests ask
/// of shared dependencies, and would compile those, and all that builds on them, once more for the
/// tests.
pub(crate) fn development_build(workspace: &Workspace) -> Command {
    workspace.cargo(&["build", "--workspace", "--all-targets"])
}

pub(crate) fn docs(workspace: &Workspace, _: &mut Report) -> Result<Ending, Failure> {
    run(&mut builds_docs(workspace))?;
    Ok(Ending::Ok)
}

pub(crate) fn builds_docs(workspace: &Workspace) -> Command {
    let mut command = workspace.cargo(&["doc", "--workspace", "--no-deps"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    command
}

/// The fuzz targets are outside the workspace: nothing else would see that they no longer fit, or
/// what they find.
pub(crate) fn fuzz(workspace: &Workspace, report: &mut Report) -> Result<Ending, Failure> {
    /// Of each target: enough for its corpus and a few thousand more inputs.
    const SECONDS: u64 = 2;
    fuzz::lint(workspace)?;
    if find_program("c++").is_none() {
        report.skip("fuzz targets", "no C++ compiler for libFuzzer: they were not run");
        return Ok(Ending::NotRun);
    }
    fuzz::check(workspace, SECONDS)?;
    Ok(Ending::Ok)
}

/// Advisories are left out: they need the network and change without a change of ours
/// (CONTRIBUTING.md).
pub(crate) fn deny(workspace: &Workspace, report: &mut Report) -> Result<Ending, Failure> {
    if !workspace.has_cargo("deny") {
        report.note("cargo-deny is not there: licences, bans and sources were not checked");
        return Ok(Ending::NotRun);
    }
    run(&mut workspace.cargo(&["deny", "check", "licenses", "bans", "sources"]))?;
    Ok(Ending::Ok)
}
