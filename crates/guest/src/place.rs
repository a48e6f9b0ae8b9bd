//! How QEMU's process is put into its place: it enters namespaces, and dies with its parent.

use std::fs::File;
use std::io::{self, PipeWriter};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The namespaces to enter, opened by the parent: the child may do little between `fork` and `exec`.
#[derive(Debug, Default)]
pub(crate) struct Place {
    /// In the order in which they are entered.
    namespaces: Vec<OwnedFd>,
}

impl Place {
    /// Those of the process `pid`; `None`: those of this process.
    pub(crate) fn of(pid: Option<u32>, rootless: bool) -> io::Result<Self> {
        let Some(pid) = pid else { return Ok(Self::default()) };
        // The user namespace first: it gives the right to enter the other.
        let kinds: &[&str] = if rootless { &["user", "net"] } else { &["net"] };
        let open = |kind: &&str| File::open(format!("/proc/{pid}/ns/{kind}")).map(OwnedFd::from);
        Ok(Self { namespaces: kinds.iter().map(open).collect::<io::Result<_>>()? })
    }
}

/// Starts `program`; its output and complaints go to `console`, and it keeps the descriptors `kept`. It dies with the thread that
/// calls this, and no signal of the terminal reaches it.
pub(crate) fn spawn(
    program: &Path,
    arguments: &[String],
    place: &Place,
    kept: &[RawFd],
    console: PipeWriter,
) -> io::Result<Child> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(console.try_clone()?)
        .stderr(console)
        .process_group(0);
    let namespaces: Vec<RawFd> = place.namespaces.iter().map(AsRawFd::as_raw_fd).collect();
    let kept = kept.to_vec();
    // SAFETY: getpid takes nothing.
    let parent = unsafe { libc::getpid() };
    // SAFETY: between fork and exec the closure makes system calls only, on numbers that were fixed before; it allocates nothing.
    unsafe { command.pre_exec(move || settle(&namespaces, &kept, parent)) };
    command.spawn()
}

fn settle(namespaces: &[RawFd], kept: &[RawFd], parent: libc::pid_t) -> io::Result<()> {
    let check = |result: i32| if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) };
    for &namespace in namespaces {
        // SAFETY: an open descriptor of a namespace; 0 takes any kind.
        check(unsafe { libc::setns(namespace, 0) })?;
    }
    for &fd in kept {
        // SAFETY: an open descriptor, and no flags: it is no longer closed by exec.
        check(unsafe { libc::fcntl(fd, libc::F_SETFD, 0) })?;
    }
    // After the namespaces: a change of credentials makes the kernel forget it.
    // SAFETY: plain numbers.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) })?;
    // SAFETY: takes nothing.
    if unsafe { libc::getppid() } != parent {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok(())
}
