//! Starts QEMU: it enters namespaces, drops its privileges, and dies with its parent.

use std::fs::File;
use std::io::{self, PipeWriter, Write as _};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nix::errno::Errno;
use nix::sys::memfd::{MFdFlags, memfd_create};

use crate::guest::sandbox;

#[derive(Debug, Default)]
pub(crate) struct ProcessContext {
    // The parent opens them: the child may do little between `fork` and `exec`.
    pub(crate) namespaces: Vec<OwnedFd>,
    pub(crate) tap: Option<Tap>,
    /// `None`: it keeps our user.
    pub(crate) nobodys_group: Option<u32>,
}

impl ProcessContext {
    pub(crate) fn in_namespaces_of(pid: Option<u32>, rootless: bool) -> io::Result<Self> {
        let Some(pid) = pid else { return Ok(Self::default()) };
        // The user namespace first: it gives the right to enter the other.
        let kinds: &[&str] = if rootless { &["user", "net"] } else { &["net"] };
        let open = |kind: &&str| File::open(format!("/proc/{pid}/ns/{kind}")).map(OwnedFd::from);
        Ok(Self { namespaces: kinds.iter().map(open).collect::<io::Result<_>>()?, ..Self::default() })
    }
}

pub(crate) fn in_memory(bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = File::from(memfd_create(c"guest", MFdFlags::MFD_CLOEXEC)?);
    file.write_all(bytes)?;
    Ok(file.into())
}

/// Keeps only the descriptors `kept` and its tap, and dies with the calling thread.
pub(crate) fn spawn(
    program: &Path,
    arguments: &[String],
    place: ProcessContext,
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
    let kept = kept.to_vec();
    // QEMU must not inherit files that the parent of netassay left open.
    let closed = host::open_files()?;
    let parent = std::process::id().cast_signed();
    // SAFETY: between fork and exec the closure makes system calls only, on numbers that were fixed
    // before; it allocates nothing.
    unsafe { command.pre_exec(move || settle(&place, &closed, &kept, parent)) };
    let child = command.spawn()?;
    tracing::debug!(process = child.id(), ?command, "started");
    Ok(child)
}

fn settle(place: &ProcessContext, closed: &[RawFd], kept: &[RawFd], parent: libc::pid_t) -> io::Result<()> {
    for namespace in &place.namespaces {
        // SAFETY: an open descriptor of a namespace; 0 takes any kind.
        Errno::result(unsafe { libc::setns(namespace.as_raw_fd(), 0) })?;
    }
    for &fd in closed {
        // SAFETY: plain numbers; a closed descriptor is an error without effect.
        unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    place.tap.as_ref().map_or(Ok(()), Tap::open)?;
    for &fd in kept {
        // SAFETY: an open descriptor, and no flags: it is no longer closed by exec.
        Errno::result(unsafe { libc::fcntl(fd, libc::F_SETFD, 0) })?;
    }
    sandbox::drop_privileges(place.nobodys_group)?;
    // Last: a change of credentials makes the kernel forget it.
    // SAFETY: plain numbers.
    Errno::result(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) })?;
    // SAFETY: takes nothing.
    if unsafe { libc::getppid() } != parent {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok(())
}

#[derive(Debug)]
pub(crate) struct Tap {
    // It reserves the number, which the command line names before the tap can be opened.
    place: OwnedFd,
    name: [libc::c_char; libc::IFNAMSIZ],
    flags: libc::c_short,
}

impl Tap {
    /// `header`: with the header for unfinished checksums and segments.
    pub(crate) fn named(text: &str, header: bool) -> io::Result<Self> {
        let mut name = [0; libc::IFNAMSIZ];
        if text.len() >= name.len() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        for (to, from) in name.iter_mut().zip(text.bytes()) {
            *to = libc::c_char::from_ne_bytes([from]);
        }
        let flags = libc::IFF_TAP | libc::IFF_NO_PI | if header { libc::IFF_VNET_HDR } else { 0 };
        // The flags are far below 2^15.
        Ok(Self { place: File::open("/dev/null")?.into(), name, flags: flags as libc::c_short })
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.place.as_raw_fd()
    }

    fn open(&self) -> io::Result<()> {
        // A device belongs to the network namespace that opened it, so it is opened after `fork`.
        // SAFETY: a text that ends with zero.
        let device =
            Errno::result(unsafe { libc::open(c"/dev/net/tun".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) })?;
        // SAFETY: `struct ifreq` is plain numbers, for which all bits zero are valid.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        request.ifr_name = self.name;
        request.ifr_ifru.ifru_flags = self.flags;
        // SAFETY: the request outlives the call, which reads it and writes the name back.
        Errno::result(unsafe { libc::ioctl(device, libc::TUNSETIFF, &raw mut request) })?;
        // SAFETY: two descriptors of this process; nobody uses the second yet.
        Errno::result(unsafe { libc::dup2(device, self.fd()) })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
