//! Which programs are on this machine.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use load::Kind;

use crate::bench::this_program;
use crate::peers::{End, Peer};
use crate::report::Report;

/// A peer that can be started.
#[derive(Debug, Clone)]
pub(crate) struct Installed {
    pub(crate) peer: &'static Peer,
    /// The first line it says of its version.
    pub(crate) version: String,
}

impl Installed {
    pub(crate) fn command(&self, end: End, kind: Kind, arguments: &str) -> Vec<String> {
        let name = self.peer.program(end, kind);
        // A program that was removed since it was found fails to start, and the error has its name.
        let program = program(name).unwrap_or_else(|| name.into()).to_string_lossy().into_owned();
        std::iter::once(program).chain(arguments.split_whitespace().map(str::to_owned)).collect()
    }
}

/// Those of `wanted` that are there. What is missing is told.
pub(crate) fn peers(wanted: &[&'static Peer], report: &mut Report) -> Vec<Installed> {
    let mut there = Vec::new();
    for peer in wanted.iter().copied() {
        let name = peer.name;
        match (version(peer), peer.source) {
            (Some(version), _) => there.push(Installed { peer, version }),
            (None, None) => report.not_run(not_installed(name)),
            // The grid runs with the peers that are installed.
            (None, Some(address)) => report.note(format!(
                "without {name}: it is not installed, and Debian's main archive has no package of it; build {address} and put its \
                 programs on the PATH"
            )),
        }
    }
    there
}

/// The program that a Debian package of the same name has. Without it the report says so.
pub(crate) fn program_of_package(name: &str, report: &mut Report) -> Option<PathBuf> {
    let found = program(name);
    if found.is_none() {
        report.not_run(not_installed(name));
    }
    found
}

pub(crate) fn not_installed(name: &str) -> String {
    format!("{name}: it is not installed (sudo apt-get install --no-install-recommends {name})")
}

/// The first file of that name where programs are, and where this one is. Debian leaves the
/// administrator's directories out of users' paths.
fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let here = this_program().ok().and_then(|path| path.parent().map(Path::to_owned));
    let more = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from).into_iter().chain(here);
    env::split_paths(&path).chain(more).map(|directory| directory.join(name)).find(|file| file.is_file())
}

/// What a peer says of its version, if all its programs are there.
fn version(peer: &Peer) -> Option<String> {
    let ends = peer.kinds.iter().flat_map(|kind| [(End::Client, *kind), (End::Server, *kind)]);
    let programs: Option<Vec<PathBuf>> = ends.map(|(end, kind)| program(peer.program(end, kind))).collect();
    Some(first_line(programs?.first()?, peer.version))
}

fn first_line(program: &Path, arguments: &str) -> String {
    let output = Command::new(program).args(arguments.split_whitespace()).stdin(Stdio::null()).output();
    let said = output.map(|output| [output.stdout, output.stderr].concat()).unwrap_or_default();
    let said = String::from_utf8_lossy(&said).into_owned();
    let line = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("version unknown");
    line.chars().filter(|letter| !letter.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_or_not() {
        assert!(program("sh").is_some());
        assert_eq!(program("no-such-program-here"), None);
        assert_eq!(first_line(Path::new("/no/such/program"), ""), "version unknown");
        assert!(not_installed("iperf").ends_with("install --no-install-recommends iperf)"));
    }
}
