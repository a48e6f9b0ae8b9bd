//! The process that undoes the changes of an agent after the agent's end.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{IntoRawFd as _, OwnedFd};
use std::time::Duration;

use host::journal::{self, Process};
use host::machine::Machine;
use nix::fcntl::OFlag;
use nix::unistd::{ForkResult, dup2_stderr, dup2_stdin, dup2_stdout, fork, pipe2, setsid};

// The longest wait while another session changes or restores the machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts the undo process. This process must have one thread.
pub(crate) fn start(session: u64) -> io::Result<()> {
    let agent = Process::this();
    let (end, life) = pipe2(OFlag::O_CLOEXEC)?;
    // SAFETY: this process has one thread, so that the child may do whatever it may.
    match unsafe { fork() }? {
        ForkResult::Parent { .. } => {
            // Open as long as this process lives, and closed by the kernel.
            let _ = life.into_raw_fd();
            Ok(())
        }
        ForkResult::Child => {
            drop(life);
            let undone = undo_after_agent(end, (agent, session));
            // SAFETY: ends the process at once; what the agent would do at its end is not its own.
            unsafe { libc::_exit(i32::from(undone.is_err())) }
        }
    }
}

fn undo_after_agent(end: OwnedFd, agent: (Process, u64)) -> Result<(), Box<dyn std::error::Error>> {
    // A signal to the agent's group must not reach this process.
    setsid()?;
    // The controller notices the agent's end by that of its output.
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nothing)?;
    dup2_stdout(&nothing)?;
    dup2_stderr(&nothing)?;
    let mut end = File::from(end);
    // The agent never writes: this returns when the agent has ended.
    let _ = end.read(&mut [0])?;
    journal::restore_of(&journal::directory()?, &Machine::system(), agent, PATIENCE)?;
    Ok(())
}
