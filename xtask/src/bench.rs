//! `bench/`: netassay compared with its goals and with similar programs.

use crate::Result;
use crate::program::{run as program, succeeded};
use crate::session::Session;

/// `cargo xtask bench [NAME] [OPTION…]`: builds netassay as users have it, and the bench beside it,
/// and passes everything on. The results are on standard output.
pub(crate) fn run(session: &mut Session, arguments: &[String]) -> Result {
    for package in ["netassay", "netassay-bench"] {
        program(&mut session.cargo(&["build", "--release", "--package", package]))?;
    }
    let mut bench = session.command(session.built.join("release/netassay-bench"));
    let status = bench.args(arguments).status();
    succeeded(&bench, status)
}
