//! `bench/`: netassay compared with its goals and with similar programs. Outside the workspace:
//! only those compile it who use it.

use crate::Result;
use crate::nextest;
use crate::program::{run as program, succeeded};
use crate::session::Session;
use crate::test::build;

pub(crate) const MANIFEST: &str = "bench/Cargo.toml";

/// `cargo xtask bench [NAME] [OPTION…]`: builds netassay and the bench side by side, and passes
/// everything on. The results are on standard output.
pub(crate) fn run(session: &mut Session, arguments: &[String]) -> Result {
    program(&mut session.cargo(&["build", "--release", "--package", "netassay"]))?;
    program(&mut session.cargo(&["build", "--release", "--manifest-path", MANIFEST]))?;
    let mut bench = session.command(session.built.join("release/netassay-bench"));
    let status = bench.args(arguments).status();
    succeeded(&bench, status)
}

/// The step `bench`: its tests find netassay beside the bench.
pub(crate) fn check(session: &mut Session) -> Result {
    let clippy = ["clippy", "--manifest-path", MANIFEST, "--all-targets", "--", "-D", "warnings"];
    program(&mut session.cargo(&clippy))?;
    build(session)?;
    nextest::bench(session, MANIFEST)
}
