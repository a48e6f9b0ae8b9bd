//! The undo journal on the running kernel: features of an interface and sysctls of a namespace.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use netassay_host::Ethtool;
use netassay_host::journal::{Journal, JournalFate, RestoreOptions, restore};
use netassay_host::machine::{FeatureRequest, Machine, MachineRequest, SettingValue, Target};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::sys::ptrace;
use nix::sys::signal::{Signal, kill, raise};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork};

use crate::harness::Stage;
use crate::wire::connect;

/// Checksums off drags segmentation off; both come back, and so does a sysctl.
pub(crate) fn undone(stage: &mut Stage) {
    connect(stage);
    let features = || Ethtool::open().unwrap().features(&stage.here).unwrap();
    let before = features();
    let machine = Machine::system();
    let ttl = Target::Sysctl { name: "net.ipv4.ip_default_ttl".to_owned() };
    let ttl_before = machine.read(&ttl).unwrap();
    let off = |names: &[&str]| FeatureRequest {
        interface: stage.here.clone(),
        features: names.iter().map(|name| (*name).to_owned()).collect(),
        on: false,
    };
    let wishes = MachineRequest {
        sysctls: [("net.ipv4.ip_default_ttl".to_owned(), "77".to_owned())].into(),
        features: vec![off(&["tx-checksum-ip-generic", "tx-checksum-ipv4"]), off(&["tx-tcp6-segmentation"])],
        ..MachineRequest::default()
    };
    let directory = tempfile::tempdir().unwrap();
    let undo = directory.path().join("undo");
    let mut journal = Journal::new(&undo, Machine::system());
    journal.change(&wishes.settings(&machine).unwrap()).unwrap();
    let changed = features();
    assert!(!changed["tx-checksum-ip-generic"].active && !changed["tx-tcp-segmentation"].active);
    assert_eq!(machine.read(&ttl).unwrap(), "77\n".into());
    let done = journal.undo().unwrap();
    assert_eq!(done.len(), 3, "what this kernel lacks, and what was dragged along, is no change: {done:?}");
    assert_eq!(features(), before);
    assert_eq!(machine.read(&ttl).unwrap(), ttl_before);
    assert_eq!(std::fs::read_dir(&undo).unwrap().count(), 1, "only the lock is left");
    let lacking = MachineRequest { features: vec![off(&["nonsense"])], ..MachineRequest::default() };
    let text = lacking.settings(&machine).unwrap_err().to_string();
    assert!(text.contains("cannot switch nonsense"), "{text}");
}

/// The undo of the session itself, and that of the session after a kill.
pub(crate) fn full(_stage: &mut Stage) {
    const NOTHING: Option<&str> = None;
    let parent = tempfile::tempdir().unwrap();
    unshare(CloneFlags::CLONE_NEWNS).unwrap();
    mount(NOTHING, "/", NOTHING, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NOTHING).unwrap();
    let size = Some("size=512k,mode=700");
    mount(Some("none"), parent.path(), Some("tmpfs"), MsFlags::empty(), size).unwrap();
    let (undo, filler) = (parent.path().join("undo"), parent.path().join("filler"));
    let fill = || {
        let mut filler = std::fs::File::create(&filler).unwrap();
        while std::io::Write::write_all(&mut filler, &[0; 4096]).is_ok() {}
    };
    let (machine, ttl) = (Machine::system(), sysctl("net.ipv4.ip_default_ttl"));
    let before = machine.read(&ttl).unwrap();
    let change = |journal: &mut Journal, to: u8| journal.change(&[(ttl.clone(), to.to_string())]);
    let journals = || std::fs::read_dir(&undo).unwrap().count() - 1;

    let mut journal = Journal::new(&undo, Machine::system());
    change(&mut journal, 70).unwrap();
    fill();
    // There is space for some changes in the last page.
    let refused = (71..).find_map(|to| Some((to, change(&mut journal, to).err()?)));
    let (to, error) = refused.unwrap();
    assert!(error.to_string().contains("No space left"), "{error}");
    assert_eq!(
        machine.read(&ttl).unwrap(),
        format!("{}\n", to - 1).as_str().into(),
        "it was changed unannounced"
    );
    let done = journal.undo().unwrap();
    assert!(done.iter().all(|one| one.outcome.is_settled()), "{done:?}");
    assert_eq!((machine.read(&ttl).unwrap(), journals()), (before.clone(), 0));

    std::fs::remove_file(&filler).unwrap();
    let killed = child(|| {
        let mut journal = Journal::new(&undo, Machine::system());
        change(&mut journal, 70).unwrap();
        raise(Signal::SIGKILL).unwrap();
    });
    waitpid(killed, None).unwrap();
    fill();
    let reports = restore(&undo, &machine, RestoreOptions::default()).unwrap();
    assert_eq!(reports[0].fate, JournalFate::Undone, "{reports:?}");
    assert_eq!((machine.read(&ttl).unwrap(), journals()), (before, 0));
    // There is no space for a new journal: nothing is changed.
    fill();
    let error = change(&mut Journal::new(&undo, Machine::system()), 70).unwrap_err();
    assert!(error.to_string().contains("No space left"), "{error}");
    umount2(parent.path(), MntFlags::MNT_DETACH).unwrap();
}

/// Each allowed sysctl that belongs to a network namespace, changed by a process that is killed
/// then.
pub(crate) fn restored(_stage: &mut Stage) {
    let directory = tempfile::tempdir().unwrap();
    let machine = Machine::system();
    let (mut changed, mut refused) = (0, Vec::new());
    for name in words::sysctls() {
        let target = sysctl(name);
        let file = format!("/proc/sys/{}", name.replace('.', "/"));
        // A namespace shows its own, and may write them.
        if !is_of_this_namespace(&file) {
            continue;
        }
        let before = std::fs::read(&file).unwrap();
        let took = others(&before).into_iter().find(|value| {
            let settings = [(target.clone(), value.clone())];
            let child = child(|| {
                let mut journal = Journal::new(&directory.path().join("undo"), Machine::system());
                if journal.change(&settings).is_ok() {
                    raise(Signal::SIGKILL).unwrap();
                }
            });
            waitpid(child, None).unwrap() == WaitStatus::Signaled(child, Signal::SIGKILL, false)
        });
        let Some(took) = took else {
            refused.push(name);
            continue;
        };
        assert_ne!(
            machine.read(&target).unwrap(),
            String::from_utf8(before.clone()).unwrap().into(),
            "{name} = {took:?}"
        );
        undo(directory.path());
        assert_eq!(std::fs::read(&file).unwrap(), before, "{name} = {took:?}");
        changed += 1;
    }
    assert!(
        changed > 50 && refused.is_empty(),
        "{changed} were changed; no other value was found for {refused:?}"
    );
}

/// A process that changes settings and undoes that, killed between any two of its system calls.
pub(crate) fn killed(_stage: &mut Stage) {
    let directory = tempfile::tempdir().unwrap();
    let ports = "/proc/sys/net/ipv4/ip_local_reserved_ports";
    // The kernel takes what is longer than a page in several calls, so that there are values in
    // between.
    let long = (1000..3000).map(|port| (port * 2).to_string()).collect::<Vec<_>>().join(",");
    std::fs::write(ports, &long).unwrap();
    let files = [ports, "/proc/sys/net/ipv4/ip_default_ttl", "/proc/sys/net/ipv4/tcp_rmem"];
    let read = || files.map(|file| Machine::system().read(&of_file(file)).unwrap());
    let long_ports = read();
    assert!(long_ports[0].text().len() > 8192, "{}", long_ports[0]);
    kill_at_every_step(
        directory.path(),
        &files.map(of_file),
        ["8080,8081,8082", "0x20", "4096  131072 4194304"],
        &read,
    );
    std::fs::write(ports, "\n").unwrap();
    assert_eq!(read()[0], "\n".into());
    kill_at_every_step(directory.path(), &[of_file(ports)], [&long], &read);
}

fn kill_at_every_step<const N: usize>(
    directory: &Path,
    targets: &[Target; N],
    values: [&str; N],
    read: &impl Fn() -> [SettingValue; 3],
) {
    let before = read();
    let settings: Vec<(Target, String)> = targets.iter().cloned().zip(values.map(str::to_owned)).collect();
    // The end of a call and the beginning of the next are the same moment to the kernel.
    for steps in (0..).step_by(2) {
        let child = traced(|| {
            let mut journal = Journal::new(&directory.join("undo"), Machine::system());
            journal.change(&settings).unwrap();
            assert!(journal.undo().unwrap().iter().all(|one| one.outcome.is_settled()));
        });
        let killed = child.killed_after(steps);
        undo(directory);
        assert_eq!(read(), before, "killed after {steps} steps");
        if !killed {
            assert!(steps > 100, "only {steps} steps");
            return;
        }
    }
}

/// A process that is stopped at the beginning and the end of each of its system calls.
pub(crate) struct Traced(Pid);

/// Runs this in a process of its own, which is stopped first.
pub(crate) fn traced(run: impl FnOnce()) -> Traced {
    let child = child(|| {
        ptrace::traceme().unwrap();
        raise(Signal::SIGSTOP).unwrap();
        run();
    });
    assert_eq!(waitpid(child, None).unwrap(), WaitStatus::Stopped(child, Signal::SIGSTOP));
    Traced(child)
}

impl Traced {
    /// Whether it lived until it was killed, after so many beginnings and ends of system calls.
    fn killed_after(self, steps: usize) -> bool {
        for step in 0..steps {
            if !self.steps_on(step) {
                return false;
            }
        }
        self.kill()
    }

    /// Whether it lived until it was killed, before a system call that may have an effect and so
    /// many of them before.
    pub(crate) fn killed_before_effect(self, count: usize) -> bool {
        let mut left = count;
        for step in 0.. {
            if !self.steps_on(step) {
                return false;
            }
            // At the end of a call it is another one's beginning.
            if step % 2 == 0 && has_effect(self.0) {
                if left == 0 {
                    return self.kill();
                }
                left -= 1;
            }
        }
        unreachable!("it ends")
    }

    /// Whether it is stopped at the next beginning or end of a system call; else it has ended well.
    fn steps_on(&self, step: usize) -> bool {
        ptrace::syscall(self.0, None).unwrap();
        match waitpid(self.0, None).unwrap() {
            WaitStatus::Stopped(_, Signal::SIGTRAP) => true,
            ended => {
                assert_eq!(ended, WaitStatus::Exited(self.0, 0), "after {step} steps");
                false
            }
        }
    }

    fn kill(self) -> bool {
        kill(self.0, Signal::SIGKILL).unwrap();
        waitpid(self.0, None).unwrap();
        true
    }
}

/// Whether the system call of a stopped process can change something outside of it.
fn has_effect(process: Pid) -> bool {
    use nix::libc::{SYS_fsync, SYS_rename, SYS_sendmsg, SYS_sendto, SYS_unlink, SYS_unlinkat, SYS_write};
    let calls = [SYS_fsync, SYS_rename, SYS_sendmsg, SYS_sendto, SYS_unlink, SYS_unlinkat, SYS_write];
    let text = std::fs::read_to_string(format!("/proc/{process}/syscall")).unwrap();
    let number = text.split_whitespace().next().and_then(|number| number.parse().ok());
    number.is_some_and(|number| calls.contains(&number))
}

/// Runs this in a process of its own, which ends with 0 if it came to its end.
pub(crate) fn child(run: impl FnOnce()) -> Pid {
    // SAFETY: this process has one thread, so that the child may do whatever it may.
    match unsafe { fork() }.unwrap() {
        ForkResult::Parent { child } => child,
        ForkResult::Child => {
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_ok();
            std::process::exit(i32::from(!done));
        }
    }
}

pub(crate) fn undo(directory: &Path) {
    let reports = restore(&directory.join("undo"), &Machine::system(), RestoreOptions::default()).unwrap();
    assert!(reports.iter().all(|report| report.fate == JournalFate::Undone), "{reports:?}");
}

fn sysctl(name: &str) -> Target {
    Target::Sysctl { name: name.to_owned() }
}

fn of_file(path: &str) -> Target {
    sysctl(&path["/proc/sys/".len()..].replace('/', "."))
}

/// Whether the namespace has this setting for itself: of the others most are not shown in it or may
/// only be read, and none is tried.
fn is_of_this_namespace(file: &str) -> bool {
    const SHARED: &[&str] =
        &["/proc/sys/kernel/", "/proc/sys/vm/", "/proc/sys/net/ipv4/tcp_mem", "/proc/sys/net/ipv4/udp_mem"];
    let may_be_written = |file: std::fs::Metadata| file.permissions().mode() & 0o200 != 0;
    std::fs::metadata(file).is_ok_and(may_be_written) && !SHARED.iter().any(|shared| file.starts_with(shared))
}

/// Other values of a setting that reads `before`, some in a form that the kernel does not write.
fn others(before: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(before);
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let Some(last) = words.pop() else { return vec!["8080,8081,8082".to_owned()] };
    let number: i64 = last.parse().unwrap();
    let first = words.join("  ");
    [number + 1, number - 1, number * 2, number / 2, 0, 1]
        .into_iter()
        .filter(|other| *other != number)
        .map(|other| if other < 0 { format!("{first} {other}") } else { format!("{first} {other:#x}") })
        .collect()
}
