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
    let root = nix::unistd::geteuid().is_root();
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
    let root = nix::unistd::geteuid().is_root();
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
