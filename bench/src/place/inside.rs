//! Between the bench and a program in a network namespace there stands this program again
//! (`netassay-bench inside`): with one thread only, it may join the user namespace of a rootless
//! testbed. It puts the program into a process namespace of its own, so that whatever the program
//! forks dies with it. It ends the program when its standard input closes: the bench closes it, in
//! order or by dying.

use std::io;
use std::os::fd::{AsFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use clap::Args;
use host::{affinity, namespace};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::sys::signal::Signal;

use crate::failure::Failure;
use crate::wait;

/// Whose namespaces this program joins, and with whom it dies.
#[derive(Debug, Args)]
pub(super) struct Joined {
    /// The process whose network namespace is joined
    #[arg(long)]
    net_of: u32,
    /// The process whose user namespace is joined
    #[arg(long)]
    user_of: Option<u32>,
    /// The process to die with
    #[arg(long)]
    parent: u32,
}

impl Joined {
    /// The arguments for a child of this process.
    pub(super) fn arguments(process: u32, rootless: bool) -> Vec<String> {
        let parent = std::process::id();
        let mut all = vec![format!("--net-of={process}"), format!("--parent={parent}")];
        all.extend(rootless.then(|| format!("--user-of={process}")));
        all
    }

    /// Joins them. This process must still have one thread.
    pub(super) fn enter(&self) -> Result<(), Failure> {
        if let Some(pid) = self.user_of {
            namespace::join_user(pid).map_err(Failure::environment)?;
        }
        namespace::join_net(self.net_of).map_err(Failure::environment)?;
        // After the user namespace, because the kernel forgets it when credentials change.
        namespace::die_with_parent(self.parent).map_err(Failure::environment)
    }
}

/// This program, for a command that is run on a host: in a guest it has another path.
pub(super) const THIS_PROGRAM: &str = "/proc/self/exe";

/// The command that runs a program in the network namespace of a process.
pub(super) fn command(process: u32, rootless: bool, cpus: &[u32], program: &[String]) -> Command {
    let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
    let mut command = Command::new(THIS_PROGRAM);
    command.arg("inside").args(Joined::arguments(process, rootless));
    if !cpus.is_empty() {
        command.args(["--cpus", &cpus.join(",")]);
    }
    command.arg("--").args(program);
    command
}

/// Which program, and where.
#[derive(Debug, Args)]
pub(crate) struct Inside {
    #[command(flatten)]
    joined: Joined,
    /// The CPUs it may run on; left out: all
    #[arg(long, value_delimiter = ',')]
    cpus: Vec<u32>,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    program: Vec<String>,
}

impl Inside {
    /// `netassay-bench inside`
    pub(crate) fn serve(&self) -> Result<ExitCode, Failure> {
        self.joined.enter()?;
        if !self.cpus.is_empty() {
            affinity::pin_current_thread(&self.cpus).map_err(Failure::environment)?;
        }
        unshare(CloneFlags::CLONE_NEWPID)
            .map_err(|errno| Failure::io("cannot make a process namespace")(errno.into()))?;

        let mut command = Command::new(&self.program[0]);
        command.args(&self.program[1..]).stdin(Stdio::null());
        // SAFETY: between fork and exec this makes one system call and touches no memory.
        unsafe { command.pre_exec(|| prctl::set_pdeathsig(Signal::SIGKILL).map_err(io::Error::from)) };
        let mut child = command.spawn().map_err(Failure::io(format!("cannot start {}", self.program[0])))?;
        let ended = pidfd(&child)?;
        let stdin = io::stdin();
        // Far longer than anything takes here: the bench closes the pipe, or the program ends.
        if wait::first(&[ended.as_fd(), stdin.as_fd()], Duration::from_secs(24 * 3600))? != Some(0) {
            // The first process of a namespace takes all others with it.
            child.kill().map_err(Failure::io("cannot end the program"))?;
        }
        let status = child.wait().map_err(Failure::io("cannot wait for the program"))?;
        let code = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1);
        Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
    }
}

/// A descriptor that can be read once the process has ended.
fn pidfd(child: &Child) -> Result<OwnedFd, Failure> {
    // SAFETY: takes two numbers; the child is not waited for yet, so that the number is its own.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, child.id(), 0) };
    match i32::try_from(fd) {
        // SAFETY: the kernel has just made it, and nobody else owns it.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(Failure::io("cannot watch the program")(io::Error::last_os_error())),
    }
}
