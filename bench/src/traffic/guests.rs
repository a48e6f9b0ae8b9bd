//! Two virtual machines as the hosts of a comparison: their shells are reached, and what the peers
//! need is copied there.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use study::{Family, Scenario};
use testbed::guest::Kernel;
use testbed::{Testbed, TestbedOptions};

use crate::bench::{Bench, receiver, this_program};
use crate::failure::Failure;
use crate::peers::End;
use crate::place::{Host, Hosts, PORT};
use crate::traffic::cell::Cell;
use crate::traffic::controls::module;
use crate::traffic::turn::SHELL;

/// Addresses of the bridge's in the guests' networks, with the lengths of their prefixes.
const OWN_IPV4: (IpAddr, u8) = (IpAddr::V4(Ipv4Addr::new(198, 18, 0, 253)), 24);
const OWN_IPV6: (IpAddr, u8) = (IpAddr::V6(Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0xfd)), 64);

/// The testbed: its guests boot this program, which is netassay and the shell.
pub(crate) fn testbed(bench: &Bench, kernel: &Kernel) -> Result<Testbed, Failure> {
    let mut options = TestbedOptions::new(Scenario::Vm, this_program()?, bench.cpus.clone(), bench.rootless);
    let kernel = Some(kernel.image.to_string_lossy().into_owned());
    options.state.guest = Some(study::Guest { kernel, ..study::Guest::default() });
    Ok(Testbed::build(&options, &bench.interrupt)?)
}

/// Both guests, with all that the peers of a cell need in them.
pub(crate) fn hosts(
    bench: &Bench,
    kernel: &Kernel,
    cell: &Cell,
    testbed: &Testbed,
) -> Result<Hosts, Failure> {
    let (process, bridge) = testbed.bridge().ok_or_else(|| Failure::failed("there is no bridge"))?;
    // Over the family that is not measured: what is counted there is not what is said here.
    let over_ipv6 = cell.family == Family::Ipv4;
    let (own, prefix) = if over_ipv6 { OWN_IPV6 } else { OWN_IPV4 };
    let namespace = Host { process, rootless: bench.rootless, cpus: Vec::new(), guest: None };
    let settings = format!("--interface {bridge} --address {own} --prefix {prefix}");
    namespace.prepare(&settings, &bench.interrupt)?;
    let host = |end: &testbed::End, role| {
        let guest = Some(SocketAddr::new(end.address(study::Family::from_ipv6(over_ipv6)), PORT));
        let cpus = end.cpus.iter().copied().take(cell.task.flows as usize).collect();
        let host = Host { cpus, guest, ..namespace.clone() };
        files(cell, role, kernel)?.iter().try_for_each(|file| host.copy(file))?;
        Ok::<Host, Failure>(host)
    };
    let transmitter = host(&testbed.transmitter, End::Client)?;
    Ok(Hosts { transmitter, receiver: host(receiver(testbed)?, End::Server)? })
}

/// What an end of a cell needs: its programs, with what they need to start, and the module of its
/// congestion control.
fn files(cell: &Cell, end: End, kernel: &Kernel) -> Result<BTreeSet<PathBuf>, Failure> {
    let mut programs: BTreeSet<String> =
        cell.peers.iter().flat_map(|peer| peer.command(end, cell.task.kind, "")).collect();
    programs.extend((end == End::Client).then(|| SHELL.to_owned()));
    let mut files = BTreeSet::new();
    for program in programs {
        files.extend(needed(Path::new(&program))?);
    }
    files.extend(cell.congestion_control.as_deref().and_then(|name| module(kernel, name)));
    Ok(files)
}

/// The files that a program needs to start: itself, and the libraries and the interpreter that
/// `ldd` names.
fn needed(program: &Path) -> Result<Vec<PathBuf>, Failure> {
    let output = Command::new("ldd").arg(program).stdin(Stdio::null()).output();
    let output = output.map_err(Failure::io("cannot start ldd"))?;
    // It fails for a program that is linked statically, which needs nothing else.
    let libraries = listed(&String::from_utf8_lossy(&output.stdout));
    Ok([vec![program.to_owned()], libraries].concat())
}

/// The paths in what `ldd` says. What the kernel brings itself has none.
fn listed(text: &str) -> Vec<PathBuf> {
    let file = |line: &str| {
        let file = line.split_once("=>").map_or(line, |(_, file)| file).split_whitespace().next();
        file.filter(|file| file.starts_with('/')).map(PathBuf::from)
    };
    text.lines().filter_map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_and_interpreter_are_listed() {
        let text = "\tlinux-vdso.so.1 (0x00007fa80387a000)\n\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007fa80373c000)\n\
                    \tlibgone.so => not found\n\t/lib64/ld-linux-x86-64.so.2 (0x00007fa80387c000)\n";
        let paths = ["/lib/x86_64-linux-gnu/libm.so.6", "/lib64/ld-linux-x86-64.so.2"].map(PathBuf::from);
        assert_eq!(listed(text), paths);
        assert_eq!(listed("\tnot a dynamic executable\n"), Vec::<PathBuf>::new());
        assert_eq!(needed(Path::new("/bin/sh")).unwrap()[0], Path::new("/bin/sh"));
    }
}
