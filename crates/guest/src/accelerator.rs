//! What runs a guest: KVM is not believed but tried, because its device may be there, and virtual machines may be made with it,
//! while no guest comes to life (under some hypervisors' nested virtualisation, for example).

use std::fs::File;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::console::Console;
use crate::error::Error;
use crate::order::{Accelerated, Acceleration, Order};
use crate::place::{Place, spawn};
use crate::qemu;
use crate::tools::Tools;

/// How long a kernel may take to say its first line under KVM. It takes a fraction of a second where KVM works.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked whether QEMU still lives.
const GLANCE: Duration = Duration::from_millis(20);
/// What a kernel says first of all.
const FIRST_LINE: &str = "Linux version";

/// The outcome of a trial of KVM; `Err`: why it cannot be used, in words.
pub type Trial = Result<(), String>;

impl Tools {
    /// Boots `image` under KVM for at most a few seconds, and looks whether it says anything.
    pub fn try_kvm(&self, image: &Path) -> Trial {
        let device = self.kvm.display();
        if let Err(error) = File::options().read(true).write(true).open(&self.kvm) {
            return Err(match error.kind() {
                std::io::ErrorKind::NotFound => format!("{device} is not there"),
                std::io::ErrorKind::PermissionDenied => {
                    format!("{device} may not be opened: its group is usually kvm")
                }
                _ => format!("{device} cannot be opened: {error}"),
            });
        }
        let qemu = self.qemu().map_err(|error| error.to_string())?;
        let (reader, writer) = std::io::pipe().map_err(|error| error.to_string())?;
        let console = Console::read(reader).map_err(|error| error.to_string())?;
        let mut arguments = qemu::machine(true, false, self.firmware().as_deref());
        arguments.extend(["-m", "128", "-kernel"].map(str::to_owned));
        arguments.push(image.display().to_string());
        arguments.extend(["-append", "console=ttyS0 earlyprintk=ttyS0 panic=-1"].map(str::to_owned));
        let mut process = spawn(&qemu, &arguments, &Place::default(), &[], writer)
            .map_err(|error| format!("QEMU cannot be started: {error}"))?;
        let begun = Instant::now();
        let verdict = loop {
            if console.says(FIRST_LINE) {
                break Ok(());
            }
            if console.closed_within(GLANCE) {
                // What it said last before its end: once more, as the first line may have been among it.
                let said = if console.says(FIRST_LINE) { Ok(()) } else { Err(console.last_line()) };
                break said.map_err(|line| format!("QEMU gives up under KVM: {line}"));
            }
            if begun.elapsed() > PATIENCE {
                break Err(format!("under KVM a guest says nothing within {} s", PATIENCE.as_secs()));
            }
        };
        // Both fail only when it has ended by itself.
        let _ = process.kill();
        let _ = process.wait();
        verdict
    }
}

/// What is to run the guest of this order.
///
/// # Errors
/// [`Error::NoKvm`] where KVM was insisted on and cannot be had.
pub(crate) fn decide(order: &Order, tools: &Tools) -> Result<Accelerated, Error> {
    let emulation = |why: &str| Ok(Accelerated::Emulation { why: why.to_owned() });
    match order.acceleration {
        Acceleration::Kvm if order.exact => {
            Err(Error::NoKvm { why: "exact mode counts instructions, which only emulation can".to_owned() })
        }
        _ if order.exact => emulation("exact mode counts instructions, which only emulation can"),
        Acceleration::Emulation => emulation("asked for"),
        asked => match (trial(tools, &order.kernel.image), asked) {
            (Ok(()), _) => Ok(Accelerated::Kvm),
            (Err(why), Acceleration::Kvm) => Err(Error::NoKvm { why }),
            (Err(why), _) => emulation(&why),
        },
    }
}

/// The trials of this process. One for each set of tools, of which only tests have two: what KVM can do does not depend on the kernel.
fn trial(tools: &Tools, image: &Path) -> Trial {
    static TRIALS: Mutex<Vec<(Tools, Trial)>> = Mutex::new(Vec::new());
    // Held through the trial: whoever comes meanwhile wants its outcome.
    let mut trials = TRIALS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = trials.iter().find(|(tried, _)| tried == tools) {
        return known.clone();
    }
    let outcome = tools.try_kvm(image);
    trials.push((tools.clone(), outcome.clone()));
    outcome
}
