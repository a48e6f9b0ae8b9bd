//! Which peers are on this machine, and getting those that are not.

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use load::Kind;
use nix::unistd::geteuid;

use crate::bench::Bench;
use crate::peers::{End, KINDS, Peer};
use crate::report::Report;

/// A peer that can be started.
#[derive(Debug, Clone)]
pub(crate) struct Installed {
    pub(crate) peer: &'static dyn Peer,
    /// The first line it says of its version.
    pub(crate) version: String,
}

impl Installed {
    /// The command of an end.
    pub(crate) fn command(&self, end: End, kind: Kind, arguments: Vec<String>) -> Vec<String> {
        let name = self.peer.program(end, kind);
        // A program that was removed since it was found fails to start, and the error has its name.
        let program = program(name).unwrap_or_else(|| name.into());
        [vec![program.to_string_lossy().into_owned()], arguments].concat()
    }
}

/// Splits `peers` into those whose programs are all installed, and the others.
pub(crate) fn find(peers: &[&'static dyn Peer]) -> (Vec<Installed>, Vec<&'static dyn Peer>) {
    let (mut there, mut missing) = (Vec::new(), Vec::new());
    for peer in peers {
        let ends = KINDS
            .into_iter()
            .filter(|kind| peer.runs(*kind))
            .flat_map(|kind| [(End::Client, kind), (End::Server, kind)]);
        let programs: Option<Vec<PathBuf>> =
            ends.map(|(end, kind)| program(peer.program(end, kind))).collect();
        match programs.as_deref() {
            Some([first, ..]) => {
                there.push(Installed { peer: *peer, version: version(first, peer.version()) })
            }
            _ => missing.push(*peer),
        }
    }
    (there, missing)
}

/// The program that a Debian package of the same name has, installed if it is missing and
/// `may_install`. Without it the report says so.
pub(crate) fn program_of_package(
    bench: &Bench<'_>,
    name: &str,
    may_install: bool,
    report: &mut Report,
) -> Option<PathBuf> {
    if program(name).is_none()
        && may_install
        && let Err(why) = install(&[name])
    {
        bench.say(&format!("{name} is not installed: {why}"));
    }
    let found = program(name);
    if found.is_none() {
        report.not_run.push(format!("{name}: it is not installed ({})", advice(&[name])));
    }
    found
}

/// Installs Debian packages, which are called like the peers. Says why it cannot.
pub(crate) fn install(packages: &[&str]) -> Result<(), String> {
    if !geteuid().is_root() {
        return Err("only root can install them".to_owned());
    }
    let apt = program("apt-get").ok_or("this is no Debian (there is no apt-get)")?;
    run(&apt, &["-q", "update"])?;
    run(&apt, &[&["-q", "--yes", "--no-install-recommends", "install"], packages].concat())
}

/// How a user installs them.
pub(crate) fn advice(packages: &[&str]) -> String {
    format!("sudo apt-get install --no-install-recommends {}", packages.join(" "))
}

/// Its standard output is talk to us, and goes to standard error.
fn run(program: &Path, arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .stdout(io::stderr());
    let status =
        command.status().map_err(|error| format!("{} cannot be started: {error}", program.display()))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} {} failed", program.display(), arguments.join(" ")))
    }
}

/// The first file of that name where programs are. Debian leaves the administrator's directories
/// out of users' paths.
fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let directories =
        env::split_paths(&path).chain(["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from));
    directories.map(|directory| directory.join(name)).find(|file| file.is_file())
}

fn version(program: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
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
        assert_eq!(version(Path::new("/no/such/program"), &[]), "version unknown");
    }

    #[test]
    fn advice_is_a_command() {
        assert!(advice(&["iperf", "nuttcp"]).ends_with("install --no-install-recommends iperf nuttcp"));
    }
}
