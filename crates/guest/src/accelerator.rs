//! What runs a guest: KVM is not believed but tried, because its device may be there, and virtual
//! machines may be made with it, while no guest boots (under some hypervisors' nested
//! virtualisation, for example).

use std::fs::File;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use serde_json::json;
use words::Acceleration;

use crate::console::Console;
use crate::error::Error;
use crate::identity;
use crate::order::{Accelerated, Order};
use crate::place::{Place, spawn};
use crate::qemu;
use crate::sandbox::has_sandbox;
use crate::threads::Threads;
use crate::tools::Tools;

/// How long a kernel may take to say its first line under KVM, not counting the time in which
/// QEMU's threads wait for a CPU. It takes a fraction of a second where KVM works.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long it may take by the clock.
const MOST: Duration = Duration::from_secs(30);
/// How often it is looked whether QEMU still lives.
const GLANCE: Duration = Duration::from_millis(20);
/// What a kernel says first of all.
const FIRST_LINE: &str = "Linux version";

/// The outcome of a trial of KVM; `Err`: why it cannot be used, in words.
pub type Trial = Result<(), String>;

/// A trial of KVM, of now or of an earlier session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Its outcome.
    pub outcome: Trial,
    /// When it was tried, if an earlier session did.
    pub recalled: Option<SystemTime>,
}

impl Verdict {
    fn now(outcome: Trial) -> Self {
        Self { outcome, recalled: None }
    }
}

impl Tools {
    /// Whether `image` boots under KVM: boots it for at most a few seconds, and looks whether it
    /// says anything. That it says nothing is recalled from [`Tools::memory`] where an earlier
    /// session found so with this kernel and this QEMU since this machine's boot; any other outcome
    /// is quick to find, and may change at any time.
    pub fn try_kvm(&self, image: &Path) -> Verdict {
        let device = self.kvm.display();
        if let Err(error) = File::options().read(true).write(true).open(&self.kvm) {
            return Verdict::now(Err(match error.kind() {
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
            return Verdict { outcome: known.what, recalled: Some(known.when) };
        }
        let Boot { outcome, lasts } =
            self.boot_under_kvm(image).unwrap_or_else(|why| Boot::passing(Err(why)));
        if lasts {
            self.memory.keep(&key, &outcome);
        }
        Verdict::now(outcome)
    }

    /// Finds out whether KVM is to run guests that leave that open, so that the first of them is
    /// not kept waiting.
    pub fn settle_kvm(&self, image: &Path) {
        verdict(self, image);
    }

    fn boot_under_kvm(&self, image: &Path) -> Result<Boot, String> {
        let qemu = self.qemu().map_err(|error| error.to_string())?;
        let (reader, writer) = std::io::pipe().map_err(|error| error.to_string())?;
        let console = Console::read(reader).map_err(|error| error.to_string())?;
        let mut arguments = qemu::machine(true, false, self.firmware().as_deref(), has_sandbox(&qemu));
        arguments.extend(["-cpu", "host", "-m", "128", "-kernel"].map(str::to_owned));
        arguments.push(image.display().to_string());
        arguments.extend(["-append", "console=ttyS0 earlyprintk=ttyS0 panic=-1"].map(str::to_owned));
        let mut process = spawn(&qemu, &arguments, &Place::default(), &[], writer)
            .map_err(|error| format!("QEMU cannot be started: {error}"))?;
        let begun = Instant::now();
        let boot = loop {
            if console.says(FIRST_LINE) {
                break Boot::passing(Ok(()));
            }
            if console.closed_within(GLANCE) {
                // What it said last before its end: once more, as the first line may have been
                // among it.
                let said = if console.says(FIRST_LINE) { Ok(()) } else { Err(console.last_line()) };
                break Boot::passing(said.map_err(|line| format!("QEMU exited under KVM: {line}")));
            }
            let waited = || Threads::read(process.id()).map_or(Duration::ZERO, |threads| threads.waited());
            if let Some(lasts) = silence(begun.elapsed(), waited) {
                let why = format!("a guest under KVM printed nothing within {} s", PATIENCE.as_secs());
                break Boot { outcome: Err(why), lasts };
            }
        };
        // Both fail only when it has ended by itself.
        let _ = process.kill();
        let _ = process.wait();
        Ok(boot)
    }
}

/// What a boot under KVM told.
struct Boot {
    outcome: Trial,
    /// Would another one tell the same?
    lasts: bool,
}

impl Boot {
    /// One that is quick to make, and may come out otherwise next time.
    fn passing(outcome: Trial) -> Self {
        Self { outcome, lasts: false }
    }
}

/// Whether silence until now tells that KVM cannot be used, and then whether another trial would
/// find the same. `waited`: how long QEMU's threads waited for a CPU. On a machine too busy to
/// tell, silence says nothing about the next time.
fn silence(elapsed: Duration, waited: impl FnOnce() -> Duration) -> Option<bool> {
    let lasts = elapsed > PATIENCE && elapsed.saturating_sub(waited()) > PATIENCE;
    (lasts || elapsed > MOST).then_some(lasts)
}

/// What is to run the guest of this order, and when KVM was tried for it, if an earlier session
/// did.
///
/// # Errors
/// [`Error::NoKvm`] where KVM was insisted on and cannot be had.
pub(crate) fn decide(order: &Order, tools: &Tools) -> Result<(Accelerated, Option<SystemTime>), Error> {
    let emulation = |why: &str| Ok((Accelerated::Emulation { why: why.to_owned() }, None));
    match order.acceleration {
        Acceleration::Kvm if order.exact => {
            Err(Error::NoKvm("exact mode counts instructions, which only emulation can".to_owned()))
        }
        _ if order.exact => emulation("exact mode counts instructions, which only emulation can"),
        Acceleration::Emulation => emulation("requested"),
        asked => {
            let Verdict { outcome, recalled } = verdict(tools, &order.kernel.image);
            match (outcome, asked) {
                (Ok(()), _) => Ok((Accelerated::Kvm, recalled)),
                (Err(why), Acceleration::Kvm) => Err(Error::NoKvm(why)),
                (Err(why), _) => Ok((Accelerated::Emulation { why }, recalled)),
            }
        }
    }
}

/// As [`Tools::try_kvm`], once in a process. One for each set of tools, of which only tests have
/// two: what KVM can do does not depend on the kernel.
fn verdict(tools: &Tools, image: &Path) -> Verdict {
    static VERDICTS: Mutex<Vec<(Tools, Verdict)>> = Mutex::new(Vec::new());
    // Held through the trial: whoever comes meanwhile wants its outcome.
    let mut verdicts = VERDICTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = verdicts.iter().find(|(tried, _)| tried == tools) {
        return known.clone();
    }
    let verdict = tools.try_kvm(image);
    verdicts.push((tools.clone(), verdict.clone()));
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

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
