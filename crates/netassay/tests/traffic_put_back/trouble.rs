//! What goes wrong while machines are changed.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::machines::{Machine, Machines};

/// The lease of each session.
pub(crate) const LEASE: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    KillController,
    KillSsh,
    KillSshd,
    KillAgent,
    KillAgentAndGuardian,
    CutNetwork,
    StopController,
    FillDisk,
    LockDirectory,
}

impl Trouble {
    pub(crate) const ALL: [Self; 9] = [
        Self::KillController,
        Self::KillSsh,
        Self::KillSshd,
        Self::KillAgent,
        Self::KillAgentAndGuardian,
        Self::CutNetwork,
        Self::StopController,
        Self::FillDisk,
        Self::LockDirectory,
    ];
}

/// Where a machine has its journals, as seen from here.
pub(crate) fn undo_directory(machine: &Machine) -> PathBuf {
    machine.root().join("var/lib/netassay/undo")
}

/// A journal of an agent that is at work.
#[derive(Debug)]
pub(crate) struct Journal {
    pub(crate) agent: u32,
    /// How many lines it has.
    pub(crate) lines: usize,
}

/// The journal of a machine, if there is one.
pub(crate) fn journal(machine: &Machine) -> Option<Journal> {
    let entries = fs::read_dir(undo_directory(machine)).ok()?.flatten();
    let file = entries.map(|entry| entry.path()).find(|path| path.extension() == Some("journal".as_ref()))?;
    let agent = file.file_stem()?.to_str()?.rsplit('-').next()?.parse().ok()?;
    let bytes = fs::read(&file).ok()?;
    Some(Journal { agent, lines: bytes.iter().filter(|byte| **byte == b'\n').count() })
}

impl Trouble {
    /// Makes it, on a machine or with its agent.
    pub(crate) fn strike(self, machines: &Machines, name: &str, controller: u32, agent: Option<u32>) {
        let machine = if name == "a" { &machines.a } else { &machines.b };
        match self {
            Self::KillController => signal(&[controller], libc::SIGKILL),
            Self::KillSsh => signal(&ssh_of(controller), libc::SIGKILL),
            Self::KillSshd => signal(&agent.map(sshd_of).unwrap_or_default(), libc::SIGKILL),
            Self::KillAgent => signal(agent.as_slice(), libc::SIGKILL),
            Self::KillAgentAndGuardian => {
                let undo_processes = agent.map(children).unwrap_or_default();
                signal(&[agent.as_slice(), &undo_processes].concat(), libc::SIGKILL);
            }
            Self::CutNetwork => machines.controller_sh(&format!("ip link set mgmt-{name} down")),
            Self::StopController => signal(&[controller], libc::SIGSTOP),
            Self::FillDisk => {
                let mut file = fs::File::create(full(machine)).unwrap();
                while std::io::Write::write_all(&mut file, &[0; 4096]).is_ok() {}
                while std::io::Write::write_all(&mut file, &[0]).is_ok() {}
            }
            Self::LockDirectory => {
                machine.sh("mkdir -p -m 700 /var/lib/netassay/undo && chattr +i /var/lib/netassay/undo");
            }
        }
    }

    /// Whether only the lease ends what it interrupts.
    pub(crate) fn is_of_lease(self) -> bool {
        matches!(self, Self::CutNetwork | Self::StopController)
    }

    /// Whether the journal cannot be written, or not be removed.
    pub(crate) fn is_of_disk(self) -> bool {
        matches!(self, Self::FillDisk | Self::LockDirectory)
    }

    /// Ends it.
    pub(crate) fn end(self, machines: &Machines, name: &str, controller: u32) {
        let machine = if name == "a" { &machines.a } else { &machines.b };
        match self {
            Self::CutNetwork => machines.controller_sh(&format!("ip link set mgmt-{name} up")),
            Self::StopController => signal(&[controller], libc::SIGCONT),
            Self::FillDisk => fs::remove_file(full(machine)).unwrap(),
            Self::LockDirectory => drop(machine.sh("chattr -i /var/lib/netassay/undo")),
            _ => {}
        }
    }
}

fn full(machine: &Machine) -> PathBuf {
    machine.root().join("var/lib/full")
}

/// One that has ended meanwhile is as good.
fn signal(processes: &[u32], signal: i32) {
    for process in processes {
        // SAFETY: kill has no memory to violate.
        unsafe { libc::kill(i32::try_from(*process).unwrap(), signal) };
    }
}

fn children(process: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|one| one.parse().ok()).collect()
}

fn command(process: u32) -> String {
    fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default().trim().to_owned()
}

fn parent(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok())
}

/// The connections of a controller.
fn ssh_of(controller: u32) -> Vec<u32> {
    children(controller).into_iter().filter(|one| command(*one) == "ssh").collect()
}

/// The processes of sshd's session that an agent runs in, and not the one that listens.
fn sshd_of(agent: u32) -> Vec<u32> {
    let above = std::iter::successors(Some(agent), |one| parent(*one));
    let mut all: Vec<u32> = above.filter(|one| command(*one).starts_with("sshd")).collect();
    all.pop();
    all
}

/// How often a journal is looked at.
pub(crate) const OFTEN: Duration = Duration::from_micros(200);

/// Waits until `done`, looking often.
pub(crate) fn wait(within: Duration, mut done: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + within;
    while !done() {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(OFTEN);
    }
    true
}
