//! Two virtual machines as the hosts of a comparison: their shells are reached, and what the peers
//! need is copied there.

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use agent::Interrupt;
use guest::Kernel;
use study::{Family, Scenario};
use testbed::{CpuSplit, Options, Testbed};

use crate::failure::Failure;
use crate::netassay::receiver;
use crate::peers::End;
use crate::place::{Guest, Places, Way, needed};
use crate::report::Report;
use crate::traffic::cell::Cell;
use crate::traffic::grid::PACED;
use crate::traffic::turn::SHELL;

/// Addresses of the bridge's in the guests' networks, one for each way to a guest.
const OWN_IPV4: [Ipv4Addr; 2] = [Ipv4Addr::new(198, 18, 0, 253), Ipv4Addr::new(198, 18, 0, 254)];
const OWN_IPV6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0xfd), Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0xfe)];
const PREFIX_IPV4: u8 = 24;
const PREFIX_IPV6: u8 = 64;

/// What every Debian kernel has built in.
const GUESTS_OWN: &str = "cubic";

/// The testbed: its guests boot this program, which is netassay and the shell.
pub(crate) fn testbed(
    kernel: &Kernel,
    cpus: &CpuSplit,
    rootless: bool,
    interrupt: &Interrupt,
) -> Result<Testbed, Failure> {
    let program = std::env::current_exe().map_err(Failure::io("cannot find this program"))?;
    let mut options = Options::new(Scenario::Vm, program, cpus.clone(), rootless);
    let kernel = Some(kernel.image.to_string_lossy().into_owned());
    options.state.guest = Some(study::Guest { kernel, ..study::Guest::default() });
    Ok(Testbed::build(&options, interrupt)?)
}

/// Both guests, with all that the peers of a cell need in them.
pub(crate) fn places(
    kernel: &Kernel,
    rootless: bool,
    cell: &Cell,
    testbed: &Testbed,
) -> Result<Places, Failure> {
    let (process, bridge) =
        testbed.bridge().ok_or_else(|| Failure::Internal("there is no bridge".to_owned()))?;
    let ends = [(&testbed.transmitter, End::Client), (receiver(testbed)?, End::Server)];
    let mut places = Vec::new();
    for (index, (end, role)) in ends.into_iter().enumerate() {
        // Over the family that is not measured: what is counted there is not what is said here.
        let (own, prefix, guest) = match cell.family {
            Family::Ipv4 => (IpAddr::from(OWN_IPV6[index]), PREFIX_IPV6, end.ipv6),
            Family::Ipv6 => (IpAddr::from(OWN_IPV4[index]), PREFIX_IPV4, end.ipv4),
        };
        let way = Way { process, rootless, bridge, own, prefix, guest };
        let cpus = end.cpus.iter().copied().take(cell.task.flows as usize).collect();
        let guest = Guest::reach(&way, cpus)?;
        for file in files(cell, role, kernel)? {
            guest.copy(&file)?;
        }
        places.push(guest);
    }
    let receiver = places.pop().map(Box::new);
    let transmitter = places.pop().map(Box::new);
    match transmitter.zip(receiver) {
        Some((transmitter, receiver)) => Ok(Places { transmitter, receiver }),
        None => Err(Failure::Internal("there are two guests".to_owned())),
    }
}

/// What an end of a cell needs: its programs, with what they need to start, and the module of its
/// congestion control.
fn files(cell: &Cell, end: End, kernel: &Kernel) -> Result<BTreeSet<PathBuf>, Failure> {
    let mut files = BTreeSet::new();
    for peer in &cell.peers {
        let command = peer.command(end, cell.task.kind, Vec::new());
        for program in command {
            files.extend(needed(Path::new(&program))?);
        }
    }
    if end == End::Client {
        files.extend(needed(Path::new(SHELL))?);
    }
    files.extend(cell.congestion_control.as_deref().and_then(|name| module(kernel, name)));
    Ok(files)
}

/// The file with a congestion control of a kernel that has it as a module, packed or not. In a
/// guest it has the same path.
pub(crate) fn module(kernel: &Kernel, congestion_control: &str) -> Option<PathBuf> {
    let directory = kernel.modules.as_ref()?.join("kernel/net/ipv4");
    let paths = ["", ".xz", ".zst", ".gz"]
        .map(|packed| directory.join(format!("tcp_{congestion_control}.ko{packed}")));
    paths.into_iter().find(|path| path.is_file())
}

/// The congestion controls of TCP's cells between guests of this kernel.
pub(crate) fn congestion_controls(kernel: &Kernel, report: &mut Report) -> Vec<String> {
    let built_in = |name: &str| {
        let list = kernel
            .modules
            .as_ref()
            .and_then(|modules| fs::read_to_string(modules.join("modules.builtin")).ok());
        list.is_some_and(|list| list.lines().any(|path| path.ends_with(&format!("/tcp_{name}.ko"))))
    };
    let mut all = vec![GUESTS_OWN.to_owned()];
    if built_in(PACED) || module(kernel, PACED).is_some() {
        all.push(PACED.to_owned());
    } else {
        report.note(format!(
            "vm: without {PACED}: the kernel {} has no module tcp_{PACED}",
            kernel.image.display()
        ));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Table;

    #[test]
    fn a_paced_congestion_control_is_a_module_or_built_in() {
        let modules = tempfile::tempdir().unwrap();
        let kernel = Kernel {
            image: PathBuf::from("/boot/vmlinuz"),
            modules: Some(modules.path().to_owned()),
            release: None,
        };
        let controls = || {
            let mut report = Report::begin("load", Table::new(1, [""]));
            let controls = congestion_controls(&kernel, &mut report);
            (controls.len(), report.to_string().contains("vm: without bbr"))
        };
        assert_eq!((controls(), module(&kernel, "bbr")), ((1, true), None));

        let directory = modules.path().join("kernel/net/ipv4");
        fs::create_dir_all(&directory).unwrap();
        let file = directory.join("tcp_bbr.ko.xz");
        fs::write(&file, b"").unwrap();
        assert_eq!((controls(), module(&kernel, "bbr")), ((2, false), Some(file.clone())));

        fs::remove_file(&file).unwrap();
        fs::write(modules.path().join("modules.builtin"), "kernel/net/ipv4/tcp_bbr.ko\n").unwrap();
        assert_eq!((controls(), module(&kernel, "bbr")), ((2, false), None));
    }
}
