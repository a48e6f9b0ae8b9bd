//! Virtual machines of a testbed: their orders, and their descriptions.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use guest::{Accelerated, Guest, Kernel, Order};
use record::{GuestEnvironment, Note};
use study::BySide;

use crate::builder::Builder;
use crate::error::Error;
use crate::launched::Launched;

/// The modules that impair a path, where the kernel has them.
pub(crate) const IMPAIRING: [&str; 2] = ["sch_netem", "sch_tbf"];

/// A virtual machine that lives.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) name: String,
    pub(crate) guest: Rc<RefCell<Guest>>,
    /// The agent that reported its CPUs, if any. It is kept, so that no port closes while others
    /// are in use.
    pub(crate) agent: Option<Launched>,
    order: Order,
    /// The time from its start until its agents answered.
    boot: Duration,
    /// Why its first boot failed, with the console's lines.
    first: Option<guest::Error>,
}

impl Builder<'_> {
    /// Boots a machine, and waits until it runs. One that panics or hangs is booted once more.
    pub(crate) fn boot(&self, order: Order) -> Result<Machine, Error> {
        self.await_boot(Guest::start(&order)?, order)
    }

    /// The same for both sides, in parallel.
    pub(crate) fn boot_pair(&self, orders: BySide<Order>) -> Result<BySide<Machine>, Error> {
        let guests = BySide::try_of(|side| Guest::start(&orders[side]))?;
        let transmitter = self.await_boot(guests.transmitter, orders.transmitter)?;
        Ok(BySide { transmitter, receiver: self.await_boot(guests.receiver, orders.receiver)? })
    }

    fn await_boot(&self, mut guest: Guest, order: Order) -> Result<Machine, Error> {
        let (boot, first) = match guest.await_life(self.interrupt) {
            Err(first) if first.may_pass() => {
                // The tap is free for another QEMU once this one is gone.
                drop(guest);
                match self.boot_again(&order) {
                    Ok((boot, again)) => {
                        guest = again;
                        (boot, Some(first))
                    }
                    Err(error @ guest::Error::Interrupted) => return Err(error.into()),
                    Err(second) => {
                        let (first, second) = (Box::new(first), Box::new(second));
                        return Err(guest::Error::Twice { first, second }.into());
                    }
                }
            }
            boot => (boot?, None),
        };
        let name = order.name.clone();
        Ok(Machine { name, guest: Rc::new(RefCell::new(guest)), agent: None, order, boot, first })
    }

    fn boot_again(&self, order: &Order) -> Result<(Duration, Guest), guest::Error> {
        let mut guest = Guest::start(order)?;
        let boot = guest.await_life(self.interrupt)?;
        Ok((boot, guest))
    }

    /// The order of a machine, as far as all of a testbed's are alike: no network card, one agent.
    /// `cpus`: the host's CPUs of this machine.
    pub(crate) fn order(&self, name: &str, cpus: &[u32]) -> Result<Order, Error> {
        let options = self.options;
        let asked = options.state.guest.clone().unwrap_or_default();
        Ok(Order {
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
            place: None,
            rootless: options.rootless,
            pin: if asked.pin { cpus.to_vec() } else { Vec::new() },
        })
    }
}

impl Machine {
    /// Whether its virtual CPUs stay on its own CPUs.
    pub(crate) fn is_pinned(&self) -> bool {
        !self.order.pin.is_empty()
    }

    /// The machine for an environment, as seen from its host. Its agent describes the kernel.
    pub(crate) fn describe(&self) -> GuestEnvironment {
        let order = &self.order;
        let guest = self.guest.borrow();
        GuestEnvironment {
            kernel_image: order.kernel.image.display().to_string(),
            kernel_release: order.kernel.release.clone(),
            vcpus: order.vcpus,
            memory_mib: order.memory_mib,
            nic: order.tap.is_some().then(|| order.nic.to_string()),
            acceleration: guest.accelerated.clone(),
            pinned_to: order.pin.clone(),
            modules_absent: guest.absent_modules.clone(),
            exact: order.exact,
            boot_ms: self.boot.as_secs_f64() * 1e3,
            failed_first: self.first.as_ref().map(ToString::to_string),
        }
    }

    pub(crate) fn notes(&self) -> Vec<Note> {
        let again = self.first.as_ref().map(|first| Note::BootedAgain(first.reason()));
        let root = self.guest.borrow().stays_root.clone().map(Note::QemuAsRoot);
        std::iter::once(self.run_by()).chain(root).chain(again).collect()
    }

    fn run_by(&self) -> Note {
        if self.order.exact {
            return Note::CountsInstructions;
        }
        let guest = self.guest.borrow();
        match &guest.accelerated {
            Accelerated::Kvm => Note::Kvm,
            Accelerated::Emulation { why } => {
                Note::Emulation { why: why.to_string(), tried: guest.kvm_recalled.map(guest::date) }
            }
        }
    }
}
