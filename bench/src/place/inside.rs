//! Between the bench and a program on a host there stands this program again
//! (`netassay-bench inside`): with one thread only, it may join the user namespace of a rootless
//! testbed. It puts the program into a process namespace of its own, so that whatever the program
//! forks dies with it. It ends the program when its standard input closes: the bench closes it, in
//! order or by dying.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::thread;

use clap::Args;
use host::{affinity, namespace};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::failure::Failure;
use crate::process::dies_with_its_starter;

/// Whose namespaces this program joins, and with whom it dies.
#[derive(Debug, Args)]
pub(super) struct Joined {
    /// The process whose network namespace is joined; left out: it is there already
    #[arg(long, requires = "parent")]
    net_of: Option<u32>,
    /// The process whose user namespace is joined
    #[arg(long)]
    user_of: Option<u32>,
    /// The process to die with
    #[arg(long)]
    parent: Option<u32>,
}

impl Joined {
    /// The arguments for a child of this process.
    pub(super) fn arguments(process: u32, rootless: bool) -> Vec<String> {
        let mut all = vec![format!("--net-of={process}"), format!("--parent={}", std::process::id())];
        all.extend(rootless.then(|| format!("--user-of={process}")));
        all
    }

    /// Joins them. This process must still have one thread.
    pub(super) fn enter(&self) -> Result<(), Failure> {
        let each = |process: Option<u32>, enter: fn(u32) -> Result<(), host::Error>| {
            process.map_or(Ok(()), enter).map_err(Failure::environment)
        };
        each(self.user_of, namespace::join_user)?;
        each(self.net_of, namespace::join_net)?;
        // After the user namespace, because the kernel forgets it when credentials change.
        each(self.parent, namespace::die_with_parent)
    }
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
    pub(crate) fn serve(&self) -> Result<ExitCode, Failure> {
        self.joined.enter()?;
        if !self.cpus.is_empty() {
            affinity::pin_current_thread(&self.cpus).map_err(Failure::environment)?;
        }
        // Before the process namespace, in which this process can have no further thread.
        let (tell, told) = mpsc::channel::<u32>();
        thread::spawn(move || {
            let _ = io::copy(&mut io::stdin(), &mut io::sink());
            // Its number is its own: once it is waited for, this process ends.
            let program = told.recv().map(|pid| Pid::from_raw(pid.cast_signed()));
            // The first process of a namespace takes all others with it.
            program.map(|pid| kill(pid, Signal::SIGKILL))
        });
        unshare(CloneFlags::CLONE_NEWPID)
            .map_err(|errno| Failure::io("cannot make a process namespace")(errno.into()))?;

        let mut command = Command::new(&self.program[0]);
        command.args(&self.program[1..]).stdin(Stdio::null());
        let child = dies_with_its_starter(&mut command).spawn();
        let mut child = child.map_err(Failure::io(format!("cannot start {}", self.program[0])))?;
        // The thread lives as long as this process.
        let _ = tell.send(child.id());
        let status = child.wait().map_err(Failure::io("cannot wait for the program"))?;
        let code = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1);
        Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
    }
}
