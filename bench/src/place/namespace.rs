//! A host of a testbed that is a network namespace of this machine.
//!
//! Between the bench and a program there stands this program again (`netassay-bench inside`): with
//! one thread only, it may join the user namespace of a rootless testbed. It puts the program into
//! a process namespace of its own, so that whatever the program forks dies with it. It ends the
//! program when the bench closes its standard input, in order or by dying.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _};
use std::os::fd::{AsFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use host::{affinity, namespace};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::sys::signal::Signal;

use super::{Life, Place, Reading, Resident, THIS_PROGRAM};
use crate::failure::Failure;
use crate::{clock, ready};

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
    pub(super) fn arguments(agent: u32, rootless: bool) -> Vec<String> {
        let parent = std::process::id();
        let mut all = vec![format!("--net-of={agent}"), format!("--parent={parent}")];
        all.extend(rootless.then(|| format!("--user-of={agent}")));
        all
    }

    /// Joins them. This process must still have one thread.
    pub(super) fn enter(&self) -> Result<(), Failure> {
        let place = |error: &dyn std::fmt::Display| Failure::Environment(error.to_string());
        if let Some(pid) = self.user_of {
            namespace::join_user(pid).map_err(|error| place(&error))?;
        }
        namespace::join_net(self.net_of).map_err(|error| place(&error))?;
        // After the user namespace, because the kernel forgets the wish when credentials change.
        namespace::die_with_parent(self.parent).map_err(|error| place(&error))
    }
}

/// Which program, and where.
#[derive(Debug, Args)]
pub(crate) struct Inside {
    #[command(flatten)]
    joined: Joined,
    /// The CPUs it may run on
    #[arg(long, value_delimiter = ',')]
    cpus: Vec<u32>,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    program: Vec<String>,
}

/// `netassay-bench inside`
pub(crate) fn serve(inside: &Inside) -> Result<ExitCode, Failure> {
    inside.joined.enter()?;
    affinity::pin_current_thread(&inside.cpus).map_err(|error| Failure::Environment(error.to_string()))?;
    unshare(CloneFlags::CLONE_NEWPID)
        .map_err(|errno| Failure::io("cannot make a process namespace")(errno.into()))?;

    let mut command = Command::new(&inside.program[0]);
    command.args(&inside.program[1..]).stdin(Stdio::null());
    // SAFETY: between fork and exec this makes one system call and touches no memory.
    unsafe { command.pre_exec(|| prctl::set_pdeathsig(Signal::SIGKILL).map_err(io::Error::from)) };
    let mut child = command.spawn().map_err(Failure::io(format!("cannot start {}", inside.program[0])))?;
    let ended = pidfd(&child)?;
    let stdin = io::stdin();
    // Far longer than anything takes here: the bench closes the pipe, or the program ends.
    if ready::first(&[ended.as_fd(), stdin.as_fd()], Duration::from_secs(24 * 3600))? != Some(0) {
        // The first process of a namespace takes all others with it.
        child.kill().map_err(Failure::io("cannot end the program"))?;
    }
    let status = child.wait().map_err(Failure::io("cannot wait for the program"))?;
    let code = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
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

/// A network namespace of this machine.
#[derive(Debug, Clone)]
pub(crate) struct Namespace {
    /// The agent that holds the namespaces.
    pub(crate) agent: u32,
    /// Do the namespaces belong to a user namespace of the agent's?
    pub(crate) rootless: bool,
    /// The CPUs that programs run on.
    pub(crate) cpus: Vec<u32>,
}

impl Place for Namespace {
    fn start(&self, program: &[String]) -> Result<Resident, Failure> {
        let cannot = |what: &str| Failure::io(format!("cannot start {}: {what}", program.join(" ")));
        let output = tempfile::tempfile().map_err(cannot("no temporary file"))?;
        let errors = tempfile::tempfile().map_err(cannot("no temporary file"))?;
        let copy = |file: &File| file.try_clone().map_err(cannot("no descriptor"));
        let cpus: Vec<String> = self.cpus.iter().map(u32::to_string).collect();
        let mut command = Command::new(THIS_PROGRAM);
        command.arg("inside").args(Joined::arguments(self.agent, self.rootless));
        command.args(["--cpus", &cpus.join(","), "--"]).args(program);
        let child = command
            .stdin(Stdio::piped())
            .stdout(copy(&output)?)
            .stderr(copy(&errors)?)
            .spawn()
            .map_err(cannot("no process"))?;
        Ok(Resident::new(program, Process { child, output, errors }))
    }

    fn read(&self, files: &[&str]) -> Result<Reading, Failure> {
        let at = clock::monotonic()?;
        let text = |file: &&str| {
            let path = format!("/proc/{}/net/{file}", self.agent);
            fs::read_to_string(&path).map_err(Failure::io(format!("cannot read {path}")))
        };
        Ok(Reading { at, texts: files.iter().map(text).collect::<Result<_, _>>()? })
    }
}

/// A program of this machine.
#[derive(Debug)]
struct Process {
    child: Child,
    output: File,
    errors: File,
}

impl Life for Process {
    fn ended(&mut self) -> Result<Option<ExitStatus>, Failure> {
        self.child.try_wait().map_err(Failure::io("cannot wait for a program"))
    }

    fn stop(&mut self) {
        // It ends the program, and itself, when this closes.
        drop(self.child.stdin.take());
        let deadline = Instant::now() + Duration::from_secs(3);
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        // Both fail only when it is gone by now.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn output(&mut self) -> String {
        text(&mut self.output)
    }

    fn words(&mut self) -> String {
        [text(&mut self.errors), text(&mut self.output)].concat()
    }
}

/// All of a file. Empty if it cannot be read: the caller then finds no figure in it, and reports
/// that.
fn text(file: &mut File) -> String {
    let mut bytes = Vec::new();
    // The program shares this file and its position, so it is read only once the program has said
    // what it had to say.
    let read = file.rewind().and_then(|()| file.read_to_end(&mut bytes));
    read.map_or_else(|_| String::new(), |_| String::from_utf8_lossy(&bytes).into_owned())
}
