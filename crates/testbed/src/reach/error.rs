//! Errors on the way to a host.

use std::io;
use std::path::PathBuf;

use thiserror::Error as ThisError;

/// Why a host cannot be used.
#[derive(Debug, ThisError)]
pub enum Error {
    /// The program that connects could not be started.
    #[error("{host}: cannot start {program}: {source}")]
    Start {
        /// The host.
        host: String,
        /// `ssh`, or the first word of the launcher.
        program: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// The connecting program exited before the host answered.
    #[error("cannot reach {host}: {said}{hint}")]
    Unreachable {
        /// The host.
        host: String,
        /// Its last words, or its exit status.
        said: String,
        /// The way out; may be empty.
        hint: String,
    },
    /// The host answered, and then failed to do its task.
    #[error("{host}: {said}")]
    Refused {
        /// The host.
        host: String,
        /// Its last words, with the way out.
        said: String,
    },
    /// The host did not answer in time.
    #[error("{host} did not answer within {seconds} s; it said: {said}{hint}")]
    Silent {
        /// The host.
        host: String,
        /// The time limit.
        seconds: u64,
        /// Its last words.
        said: String,
        /// The way out; may be empty.
        hint: &'static str,
    },
    /// Something else answered.
    #[error("{host} answered {got:?}, and not what netassay's script says{hint}")]
    UnexpectedAnswer {
        /// The host.
        host: String,
        /// The beginning of the answer.
        got: String,
        /// The way out; may be empty.
        hint: &'static str,
    },
    /// The host cannot be restarted.
    #[error(
        "{host} cannot be rebooted: {said}: let its login be root, or let sudo run systemctl, reboot and sh without a password"
    )]
    NoReboot {
        /// The host.
        host: String,
        /// Its last words.
        said: String,
    },
    /// The host did not answer from another boot in time.
    #[error(
        "{host} did not come back within {seconds} s after its reboot ({last}): look at its console; `--resume` goes on once it is back, and `--reboot-within` waits longer"
    )]
    NotBack {
        /// The host.
        host: String,
        /// The time limit.
        seconds: u64,
        /// The result of the last attempt to reach it.
        last: String,
    },
    /// The host came up with another kernel than the chosen one.
    #[error(
        "{host} came up with kernel {got}, and {wanted} was chosen for this boot: look at its console for why its boot loader did not start that; its default kernel is unchanged"
    )]
    OtherKernel {
        /// The host.
        host: String,
        /// The kernel that was chosen.
        wanted: String,
        /// The kernel that runs.
        got: String,
    },
    /// The program cannot run there.
    #[error(
        "{host} is of the architecture {theirs}, and this netassay is of {ours}: give one for it with --agent-binary FILE"
    )]
    Architecture {
        /// The host.
        host: String,
        /// The host's machine.
        theirs: String,
        /// The program's machine.
        ours: String,
    },
    /// The program could not be read here.
    #[error("cannot read {}: {source}", .path.display())]
    Binary {
        /// The file.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The file is not a program.
    #[error("{} is not a program for Linux on a machine that netassay knows (ELF): {why}", .path.display())]
    NotAProgram {
        /// The file.
        path: PathBuf,
        /// The file's fault.
        why: String,
    },
    /// The socket of the connection has no place.
    #[error("cannot make a directory for the connection to {host} in {}: {source}", .place.display())]
    Control {
        /// The host.
        host: String,
        /// The parent.
        place: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// Several hosts, each with what is wrong there.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Several(Vec<Error>),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}
