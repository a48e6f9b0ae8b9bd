//! The process that undoes what an agent leaves behind.
//!
//! An agent that changes its machine must undo that when its controller is gone, whatever it does
//! at that moment: it may wait for a window's end, for the disk, or for a driver that resets its
//! card. No thread of the agent can do this safely. It would have to wait for a lock that the
//! working thread holds, or undo while that thread still changes something; and it ends with the
//! process, as by `kill -9`.
//!
//! So another process waits for the agent's end, on a pipe that the kernel closes when the last
//! thread of the agent has ended. From then on nobody changes anything for the agent, and its
//! journal on disk is complete: whatever was changed was announced there before. The guardian
//! follows it as `netassay undo` does. To undo at any moment it is therefore enough to end the
//! agent.
//!
//! If the guardian is killed too, or the power fails, the journal waits for the next session, or
//! for `netassay undo`.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{IntoRawFd as _, OwnedFd};
use std::time::Duration;

use host::journal::{self, Process};
use host::machine::Machine;
use nix::fcntl::OFlag;
use nix::unistd::{ForkResult, dup2_stderr, dup2_stdin, dup2_stdout, fork, pipe2, setsid};

/// How long it waits while another session changes or restores the machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts it. This process must have one thread.
///
/// # Errors
/// No pipe, or no process.
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
            let undone = guard(end, (agent, session));
            // SAFETY: ends the process at once; what the agent would do at its end is not its own.
            unsafe { libc::_exit(i32::from(undone.is_err())) }
        }
    }
}

fn guard(end: OwnedFd, agent: (Process, u64)) -> Result<(), Box<dyn std::error::Error>> {
    // A signal to the agent's group is not for this process.
    setsid()?;
    // The controller sees by the end of the agent's output that the agent has ended.
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nothing)?;
    dup2_stdout(&nothing)?;
    dup2_stderr(&nothing)?;
    let mut end = File::from(end);
    // Nothing is ever written: this returns when the agent has ended.
    let _ = end.read(&mut [0])?;
    journal::restore_of(&journal::directory()?, &Machine::system(), agent, PATIENCE)?;
    Ok(())
}
