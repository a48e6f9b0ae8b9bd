//! Virtual machines of a testbed: their orders, and their descriptions.

use std::cell::RefCell;
use std::rc::Rc;

use agent::message::Booted;
use record::{GuestEnvironment, Note};
use study::BySide;
use words::Accelerated;

use crate::builder::Builder;
use crate::error::Error;
use crate::guest::{Guest, GuestOrder, Kernel, Tools};
use crate::launched_agent::LaunchedAgent;

/// The modules that impair a path, where the kernel has them.
pub(crate) const IMPAIRING: [&str; 2] = ["sch_netem", "sch_tbf"];

/// A virtual machine that lives, as its host sees it. It ends with the last of its agents.
#[derive(Debug)]
pub(crate) struct VirtualMachine {
    pub(crate) name: String,
    /// The agent that reported its CPUs, if any. It is kept, so that no port closes while others
    /// are in use.
    pub(crate) agent: Option<LaunchedAgent>,
    pub(crate) booted: Booted,
    order: GuestOrder,
    /// Modules that were wanted, and that its kernel lacks.
    absent: Vec<String>,
}

/// A virtual machine of this machine.
pub(crate) type LocalGuest = (VirtualMachine, Rc<RefCell<Guest>>);

impl Builder<'_> {
    /// Boots a machine, and waits until it runs. One that panics or hangs is booted once more.
    pub(crate) fn boot(&self, order: GuestOrder) -> Result<LocalGuest, Error> {
        self.await_boot(Guest::start(&order)?, order)
    }

    /// Boots the machines of both sides in parallel.
    pub(crate) fn boot_pair(&self, orders: BySide<GuestOrder>) -> Result<BySide<LocalGuest>, Error> {
        let guests = BySide::try_from_fn(|side| Guest::start(&orders[side]))?;
        let transmitter = self.await_boot(guests.transmitter, orders.transmitter)?;
        Ok(BySide { transmitter, receiver: self.await_boot(guests.receiver, orders.receiver)? })
    }

    fn await_boot(&self, guest: Guest, order: GuestOrder) -> Result<LocalGuest, Error> {
        let (guest, boot, first) = guest.alive(&order, &Tools::of_this_machine(), self.interrupt)?;
        let booted = guest.booted(boot, first.as_ref());
        let absent = guest.absent_modules.clone();
        Ok((VirtualMachine::new(order, booted, absent), Rc::new(RefCell::new(guest))))
    }

    /// The order of a machine, as far as all of a testbed's are alike: no network card, one agent.
    /// `cpus`: the host's CPUs of this machine.
    pub(crate) fn order(&self, name: &str, cpus: &[u32]) -> Result<GuestOrder, Error> {
        let options = self.options;
        let asked = options.state.guest.clone().unwrap_or_default();
        Ok(GuestOrder {
            name: name.to_owned(),
            kernel: Kernel::find(asked.kernel.as_deref())?,
            command_line: asked.command_line,
            vcpus: asked.vcpus,
            memory_mib: asked.memory_mib,
            nic: asked.nic,
            tap: None,
            mac: [0; 6],
            ports: 1,
            acceleration: asked.acceleration,
            exact: options.exact,
            copies: asked.copies,
            program: options.program.clone(),
            modules: &IMPAIRING,
            needed: &[],
            packed: None,
            place: None,
            rootless: options.rootless,
            pin: if asked.pin { cpus.to_vec() } else { Vec::new() },
        })
    }
}

impl VirtualMachine {
    pub(crate) fn new(order: GuestOrder, booted: Booted, absent: Vec<String>) -> Self {
        Self { name: order.name.clone(), agent: None, booted, order, absent }
    }

    /// Whether its virtual CPUs stay on its own CPUs.
    pub(crate) fn is_pinned(&self) -> bool {
        !self.order.pin.is_empty()
    }

    /// The machine for an environment, as seen from its host. Its agent describes the kernel.
    pub(crate) fn describe(&self) -> GuestEnvironment {
        let Self { order, booted, .. } = self;
        GuestEnvironment {
            kernel_image: order.kernel.image.display().to_string(),
            kernel_release: order.kernel.release.clone(),
            vcpus: order.vcpus,
            memory_mib: order.memory_mib,
            nic: order.tap.is_some().then(|| order.nic.to_string()),
            acceleration: booted.acceleration.clone(),
            pinned_to: order.pin.clone(),
            modules_absent: self.absent.clone(),
            exact: order.exact,
            boot_ms: booted.boot_ms,
            failed_first: booted.failed_first.clone(),
        }
    }

    pub(crate) fn notes(&self) -> Vec<Note> {
        let first = self.booted.failed_first.as_deref().and_then(|first| first.lines().next());
        let again = first.map(|first| Note::BootedAgain(first.to_owned()));
        let root = self.booted.stays_root.clone().map(Note::QemuAsRoot);
        std::iter::once(self.run_by()).chain(root).chain(again).collect()
    }

    fn run_by(&self) -> Note {
        if self.order.exact {
            return Note::CountsInstructions;
        }
        match &self.booted.acceleration {
            Accelerated::Kvm => Note::Kvm,
            Accelerated::Emulation { why } => {
                Note::Emulation { why: why.clone(), tried: self.booted.kvm_tried.clone() }
            }
        }
    }
}
