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
    let fd = memfd_create(c"guest", MFdFlags::MFD_CLOEXEC)?;
    let mut file = File::from(fd);
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
mod tests {
    use std::fs;
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::time::{Duration, Instant};

    use super::*;
    use crate::guest::qemu::machine;
    use crate::guest::tools::Tools;

    struct Running(Child);

    impl Drop for Running {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// A process in a network namespace of its own with a tap, called "wire"; rootless if we are
    /// not root.
    fn elsewhere(rootless: bool) -> Running {
        let script =
            "ip tuntap add dev wire mode tap vnet_hdr && ip link set wire up && echo ready && exec sleep 600";
        let mut command = Command::new("unshare");
        command.args(if rootless { &["--map-root-user"][..] } else { &[] });
        command.args(["--net", "sh", "-c", script]).stdout(Stdio::piped());
        let mut process = Running(command.spawn().unwrap());
        let mut line = String::new();
        BufReader::new(process.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        process
    }

    fn status(pid: u32) -> impl Fn(&str) -> String {
        let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        move |field| {
            let line = text.lines().find_map(|line| line.strip_prefix(&format!("{field}:"))).unwrap();
            line.split_whitespace().next().unwrap_or_default().to_owned()
        }
    }

    fn skip(why: &str) {
        let _ = writeln!(io::stderr(), "SKIPPED: netns_qemu: {why}");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "skipped in CI: {why}");
    }

    #[test]
    fn netns_qemu_has_its_tap_and_its_sandbox_and_no_privileges() {
        let root = sandbox::is_root();
        if let Err(error) = File::options().read(true).write(true).open("/dev/net/tun") {
            return skip(&format!("/dev/net/tun cannot be opened: {error}"));
        }
        let qemu = Tools::of_this_machine().qemu().unwrap();
        assert!(sandbox::has_sandbox(&qemu), "QEMU as distributions build it");
        let elsewhere = elsewhere(!root);
        let tap = Tap::named("wire", true).unwrap();
        let mut arguments = machine(false, false, None, true);
        arguments.extend(["-m", "64", "-netdev"].map(str::to_owned));
        arguments.push(format!("tap,id=net,fd={}", tap.fd()));
        arguments.extend(["-device", "virtio-net-pci,netdev=net,romfile="].map(str::to_owned));
        let group = sandbox::nobodys_group(&[&qemu], None).unwrap();
        assert_eq!(group.is_some(), root);
        let mut place = ProcessContext::in_namespaces_of(Some(elsewhere.0.id()), !root).unwrap();
        (place.tap, place.nobodys_group) = (Some(tap), group);
        // A file that our parent left open, and QEMU must not get.
        let inherited = fs::File::open("/proc/self/status").unwrap();
        // SAFETY: an open descriptor, and no flags.
        assert_eq!(unsafe { libc::fcntl(inherited.as_raw_fd(), libc::F_SETFD, 0) }, 0);
        let (mut reader, writer) = io::pipe().unwrap();
        let mut process = Running(spawn(&qemu, &arguments, place, &[], writer).unwrap());

        // The sandbox is the last step before the machine.
        let begun = Instant::now();
        while status(process.0.id())("Seccomp") != "2" {
            if process.0.try_wait().unwrap().is_some() || begun.elapsed() > Duration::from_secs(60) {
                let _ = process.0.kill();
                let mut said = String::new();
                reader.read_to_string(&mut said).unwrap();
                panic!("no sandbox: {said}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let carrier = || {
            let mut command = Command::new("nsenter");
            let pid = elsewhere.0.id().to_string();
            command.args(if root { &[][..] } else { &["--user", "--preserve-credentials"] });
            let link = command.args(["-t", &pid, "-n", "ip", "link", "show", "wire"]).output().unwrap();
            String::from_utf8_lossy(&link.stdout).contains("LOWER_UP")
        };
        while !carrier() {
            assert!(begun.elapsed() < Duration::from_secs(60), "nobody holds the tap");
            std::thread::sleep(Duration::from_millis(20));
        }
        let status = status(process.0.id());
        assert_eq!((status("Seccomp").as_str(), status("NoNewPrivs").as_str()), ("2", "1"));
        for set in ["CapEff", "CapPrm", "CapBnd"] {
            // Nobody's bounding set is empty too; an ordinary user's stays, and has no effect
            // without a capability.
            assert_eq!(status(set), "0000000000000000", "{set}");
        }
        if root {
            assert_eq!(
                (status("Uid").as_str(), status("Gid").as_str(), status("Groups").as_str()),
                ("65534", "65534", "")
            );
        }
        let open = fs::read_dir(format!("/proc/{}/fd", process.0.id())).unwrap().flatten();
        let leads = open.filter_map(|fd| fs::read_link(fd.path()).ok()).collect::<Vec<_>>();
        assert!(!leads.iter().any(|path| path.ends_with("status")), "{leads:?}");
        assert!(leads.iter().any(|path| path.ends_with("tun")), "{leads:?}");
    }

    #[test]
    fn a_process_without_a_sandbox_gets_no_privileges_either() {
        let root = sandbox::is_root();
        if root {
            // Groups that a user may have who starts netassay. The system call changes those of
            // this thread only. SAFETY: a list of two, which outlives the call.
            assert_eq!(unsafe { libc::syscall(libc::SYS_setgroups, 2, [4u32, 27].as_ptr()) }, 0);
        }
        let nobodys_group = sandbox::nobodys_group(&[], None).unwrap();
        let place = ProcessContext { nobodys_group, ..ProcessContext::default() };
        let (_reader, writer) = io::pipe().unwrap();
        let sleep = Path::new("/bin/sleep");
        let process = Running(spawn(sleep, &["600".to_owned()], place, &[], writer).unwrap());
        let status = status(process.0.id());
        assert_eq!((status("Seccomp").as_str(), status("NoNewPrivs").as_str()), ("0", "1"));
        for set in ["CapEff", "CapPrm"] {
            assert_eq!(status(set), "0000000000000000", "{set}");
        }
        if root {
            assert_eq!((status("Uid").as_str(), status("Groups").as_str()), ("65534", ""));
        }
    }
}
