//! The job `bench`: netassay beside its goals and its peers, as a release build. `bench/README.md`
//! tells the rest.

use crate::failure::Failure;
use crate::process::run as program;
use crate::workspace::Workspace;

/// `cargo xtask bench [NAME] [OPTION…]`: builds, and hands everything on. The report is standard
/// output.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Failure> {
    program(&mut workspace.cargo(&[
        "build",
        "--release",
        "--package",
        "netassay",
        "--package",
        "netassay-bench",
    ]))?;
    let bench = workspace.built.join("release/netassay-bench");
    let mut command = workspace.command(&bench.to_string_lossy());
    let status = command.args(arguments).status().map_err(Failure::io("cannot start the bench"))?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::Program { command: format!("netassay-bench {}", arguments.join(" ")), status })
}
