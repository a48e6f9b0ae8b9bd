//! The accelerator of a guest. KVM is tried: its device may exist and create virtual machines
//! although no guest boots (under some nested virtualisation, for example).

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use host::user_file;
use serde_json::json;
use words::{Accelerated, Acceleration};

use crate::guest::console::Console;
use crate::guest::error::Error;
use crate::guest::identity;
use crate::guest::initramfs::LARGEST_IMAGE;
use crate::guest::order::GuestOrder;
use crate::guest::qemu;
use crate::guest::sandbox::has_sandbox;
use crate::guest::spawn::{ProcessContext, in_memory, spawn};
use crate::guest::threads::Threads;
use crate::guest::tools::Tools;

/// Longest time until a kernel prints its first line under KVM, not counting waits of QEMU's
/// threads for a CPU. Normally a fraction of a second.
const PATIENCE: Duration = Duration::from_secs(5);
/// Longest time with those waits.
const MOST: Duration = Duration::from_secs(30);
const GLANCE: Duration = Duration::from_millis(20);
/// The first words of a kernel.
pub(crate) const FIRST_LINE: &str = "Linux version";

/// The outcome of a trial of KVM; `Err`: why it cannot be used, in words.
pub(crate) type TrialOutcome = Result<(), String>;

/// A trial of KVM, made now or in an earlier session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KvmTrial {
    /// Its outcome.
    pub outcome: TrialOutcome,
    /// When an earlier session made it; `None`: this session.
    pub recalled: Option<SystemTime>,
}

impl KvmTrial {
    fn of_this_session(outcome: TrialOutcome) -> Self {
        Self { outcome, recalled: None }
    }
}

impl Tools {
    /// Whether `image` boots under KVM: boots it for at most a few seconds, until it prints
    /// anything. Silence is recalled from [`Tools::memory`], if an earlier session found it with
    /// this kernel and this QEMU since this machine's boot; other outcomes are found quickly, and
    /// may change.
    pub fn try_kvm(&self, image: &Path) -> KvmTrial {
        let device = self.kvm.display();
        if let Err(error) = File::options().read(true).write(true).open(&self.kvm) {
            return KvmTrial::of_this_session(Err(match error.kind() {
                std::io::ErrorKind::NotFound => format!("{device} does not exist"),
                std::io::ErrorKind::PermissionDenied => {
                    format!("no permission to open {device}: become a member of its group (usually kvm)")
                }
                _ => format!("{device} cannot be opened: {error}"),
            }));
        }
        let key = json!({
            "finding": "kvm",
            "machine": identity::machine(),
            "device": self.kvm,
            "qemu": identity::qemu(self),
            "image": identity::file(image),
        });
        if let Some(known) = self.memory.recall(&key) {
            return KvmTrial { outcome: known.what, recalled: Some(known.when) };
        }
        let TrialBoot { outcome, lasts } =
            self.boot_under_kvm(image).unwrap_or_else(|why| TrialBoot::temporary(Err(why)));
        if lasts {
            self.memory.keep(&key, &outcome);
        }
        KvmTrial::of_this_session(outcome)
    }

    /// Tries KVM for guests that may use either, so that the first one need not wait for the trial.
    pub fn settle_kvm(&self, image: &Path) {
        kvm_trial(self, image);
    }

    fn boot_under_kvm(&self, image: &Path) -> Result<TrialBoot, String> {
        let qemu = self.qemu().map_err(|error| error.to_string())?;
        let (reader, writer) = std::io::pipe().map_err(|error| error.to_string())?;
        let console = Console::read(reader).map_err(|error| error.to_string())?;
        // Perhaps only root may read a distribution's kernel, and QEMU runs as nobody.
        let kernel = user_file::read(image, LARGEST_IMAGE).and_then(|bytes| in_memory(&bytes));
        let kernel = kernel.map_err(|error| format!("{} cannot be read: {error}", image.display()))?;
        let firmware = self.firmware();
        let mut place = ProcessContext::default();
        place.user = self.user(&qemu, Some(&self.kvm)).unwrap_or(None);
        let mut arguments = qemu::machine(true, false, firmware.as_deref(), has_sandbox(&qemu));
        arguments.extend(["-cpu", "host", "-m", "128", "-kernel"].map(str::to_owned));
        arguments.push(qemu::file(kernel.as_raw_fd()));
        arguments.extend(["-append", "console=ttyS0 earlyprintk=ttyS0 panic=-1"].map(str::to_owned));
        let mut process = spawn(&qemu, &arguments, &place, &[kernel.as_raw_fd()], writer)
            .map_err(|error| format!("QEMU cannot be started: {error}"))?;
        let begun = Instant::now();
        let boot = loop {
            if console.says(FIRST_LINE) {
                break TrialBoot::temporary(Ok(()));
            }
            if console.closed_within(GLANCE) {
                // The last lines may include the first line.
                let said = if console.says(FIRST_LINE) { Ok(()) } else { Err(console.last_line()) };
                break TrialBoot::temporary(said.map_err(|line| format!("QEMU exited under KVM: {line}")));
            }
            let waited = || Threads::read(process.id()).map_or(Duration::ZERO, |threads| threads.waited());
            if let Some(lasts) = silence(begun.elapsed(), waited) {
                let why = format!("a guest under KVM printed nothing within {} s", PATIENCE.as_secs());
                break TrialBoot { outcome: Err(why), lasts };
            }
        };
        // Both fail only if it has ended already.
        let _ = process.kill();
        let _ = process.wait();
        Ok(boot)
    }
}

struct TrialBoot {
    outcome: TrialOutcome,
    /// Whether another trial would give the same.
    lasts: bool,
}

impl TrialBoot {
    /// An outcome that may change, and is found quickly.
    fn temporary(outcome: TrialOutcome) -> Self {
        Self { outcome, lasts: false }
    }
}

/// Whether silence so far proves that KVM does not work; if so, whether another trial would find
/// the same. `waited`: how long QEMU's threads waited for a CPU: silence on a busy machine proves
/// nothing for the next time.
fn silence(elapsed: Duration, waited: impl FnOnce() -> Duration) -> Option<bool> {
    let lasts = elapsed > PATIENCE && elapsed.saturating_sub(waited()) > PATIENCE;
    (lasts || elapsed > MOST).then_some(lasts)
}

/// The accelerator of an order, and when an earlier session tried KVM for it, if one did.
///
/// # Errors
/// [`Error::NoKvm`] where KVM is required but not available.
pub(crate) fn decide(order: &GuestOrder, tools: &Tools) -> Result<(Accelerated, Option<SystemTime>), Error> {
    let emulation = |why: &str| Ok((Accelerated::Emulation { why: why.to_owned() }, None));
    match order.acceleration {
        Acceleration::Kvm if order.exact => {
            Err(Error::NoKvm("exact mode counts instructions, which only emulation can".to_owned()))
        }
        _ if order.exact => emulation("exact mode counts instructions, which only emulation can"),
        Acceleration::Emulation => emulation("requested"),
        asked => {
            let KvmTrial { outcome, recalled } = kvm_trial(tools, &order.kernel.image);
            match (outcome, asked) {
                (Ok(()), _) => Ok((Accelerated::Kvm, recalled)),
                (Err(why), Acceleration::Kvm) => Err(Error::NoKvm(why)),
                (Err(why), _) => Ok((Accelerated::Emulation { why }, recalled)),
            }
        }
    }
}

/// Tries KVM once in a process for each set of tools (only tests have two): the kernel makes no
/// difference to KVM.
fn kvm_trial(tools: &Tools, image: &Path) -> KvmTrial {
    static TRIALS: Mutex<Vec<(Tools, KvmTrial)>> = Mutex::new(Vec::new());
    // Held through the trial: other threads wait for its outcome.
    let mut trials = TRIALS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = trials.iter().find(|(tried, _)| tried == tools) {
        return known.clone();
    }
    let trial = tools.try_kvm(image);
    trials.push((tools.clone(), trial.clone()));
    trial
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::guest::sandbox::{NOBODY, is_root};
    use crate::guest::trial_cache::TrialCache;

    /// A QEMU that says who it is, and the kernel that it got.
    const FAKE: &str = r#"#!/bin/sh
[ "$3" = -version ] && exit 0
echo "user $(id -u)"
for word; do case "$word" in /proc/self/fd/*) cat "$word" ;; esac; done
"#;

    #[test]
    fn the_trial_runs_as_the_guests_do_and_reads_a_kernel_that_only_root_may() {
        let directory = tempfile::tempdir().unwrap();
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let (qemu, image) = (directory.path().join("qemu-system-x86_64"), directory.path().join("vmlinuz"));
        fs::write(&qemu, FAKE).unwrap();
        // Without the first words of a kernel, the verdict has the last line.
        fs::write(&image, "a kernel\n").unwrap();
        set(directory.path(), 0o755);
        set(&qemu, 0o755);
        set(&image, 0o600);
        // A device that every user may open.
        let tools =
            Tools { path: directory.path().into(), kvm: "/dev/null".into(), memory: TrialCache::none() };
        let why = tools.try_kvm(&image).outcome.unwrap_err();
        assert_eq!(why, "QEMU exited under KVM: a kernel");
        fs::write(&image, "").unwrap();
        let why = tools.try_kvm(&image).outcome.unwrap_err();
        let expected = if is_root() { NOBODY } else { nix::unistd::geteuid().as_raw() };
        assert_eq!(why, format!("QEMU exited under KVM: user {expected}"));
    }

    #[test]
    fn silence_on_a_busy_machine_is_waited_for_longer_and_not_believed() {
        let silent =
            |elapsed: u64, waited: u64| silence(Duration::from_secs(elapsed), || Duration::from_secs(waited));
        assert_eq!(
            [silent(5, 0), silent(6, 0), silent(6, 2), silent(8, 2)],
            [None, Some(true), None, Some(true)]
        );
        assert_eq!([silent(30, 26), silent(31, 26)], [None, Some(false)]);
    }
}
