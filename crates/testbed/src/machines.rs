//! Virtual machines of a testbed: what is ordered, and what came of it.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use guest::{Guest, Kernel, Order};
use record::{GuestEnvironment, Note};
use study::BySide;

use crate::builder::Builder;
use crate::error::Error;

/// A virtual machine that lives.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) name: String,
    pub(crate) guest: Rc<RefCell<Guest>>,
    order: Order,
    /// From its start until its agents were at their ports.
    boot: Duration,
    /// Why it did not boot when it was tried first, with its console's lines.
    first: Option<guest::Error>,
}

/// What one machine has that another has not.
pub(crate) struct MachineRequest<'a> {
    /// Its name in messages.
    pub(crate) name: &'a str,
    /// The interface on the host that its network card is joined to, the card's address, and a
    /// process whose network namespace that is in.
    pub(crate) card: Option<(&'a str, [u8; 6], u32)>,
    /// How many agents it has.
    pub(crate) ports: usize,
    /// Kernel modules beside those of its devices.
    pub(crate) modules: &'a [&'a str],
    /// Of each group one is necessary.
    pub(crate) needed: &'a [&'a [&'a str]],
    /// The host's CPUs that are its own.
    pub(crate) cpus: &'a [u32],
}

impl Builder<'_> {
    /// Boots a machine, and waits until it lives. One that panics or hangs is tried once more.
    pub(crate) fn boot(&self, request: &MachineRequest<'_>) -> Result<Machine, Error> {
        let (guest, order) = self.start(request)?;
        self.await_boot(guest, order)
    }

    /// The same for both sides, side by side.
    pub(crate) fn boot_pair(&self, requests: &BySide<MachineRequest<'_>>) -> Result<BySide<Machine>, Error> {
        let BySide { transmitter: one, receiver: other } =
            BySide::try_of(|side| self.start(&requests[side]))?;
        let transmitter = self.await_boot(one.0, one.1)?;
        Ok(BySide { transmitter, receiver: self.await_boot(other.0, other.1)? })
    }

    fn start(&self, request: &MachineRequest<'_>) -> Result<(Guest, Order), Error> {
        let order = self.order(request)?;
        Ok((Guest::start(&order)?, order))
    }

    fn await_boot(&self, mut guest: Guest, order: Order) -> Result<Machine, Error> {
        let (boot, first) = match guest.await_life(self.interrupt) {
            Err(first) if first.may_pass() => {
                // The tap is free for another QEMU when this one is gone.
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
        Ok(Machine { name, guest: Rc::new(RefCell::new(guest)), order, boot, first })
    }

    fn boot_again(&self, order: &Order) -> Result<(Duration, Guest), guest::Error> {
        let mut guest = Guest::start(order)?;
        let boot = guest.await_life(self.interrupt)?;
        Ok((boot, guest))
    }

    fn order(&self, request: &MachineRequest<'_>) -> Result<Order, Error> {
        let options = self.options;
        let asked = options.state.guest.clone().unwrap_or_default();
        let (tap, mac, place) = match request.card {
            Some((tap, mac, place)) => (Some(tap.to_owned()), mac, Some(place)),
            None => (None, [0; 6], None),
        };
        Ok(Order {
            name: request.name.to_owned(),
            kernel: Kernel::find(asked.kernel.as_deref())?,
            command_line: asked.command_line,
            vcpus: asked.vcpus,
            memory_mib: asked.memory_mib,
            nic: match asked.nic {
                study::Nic::VirtioNet => guest::Nic::VirtioNet,
                study::Nic::E1000e => guest::Nic::E1000e,
            },
            tap,
            mac,
            ports: request.ports,
            acceleration: match asked.acceleration {
                study::Acceleration::Auto => guest::Acceleration::Auto,
                study::Acceleration::Kvm => guest::Acceleration::Kvm,
                study::Acceleration::Emulation => guest::Acceleration::Emulation,
            },
            exact: options.exact,
            copies: match asked.copies {
                study::Copies::Words => guest::Copies::Words,
                study::Copies::Bytes => guest::Copies::Bytes,
            },
            program: options.program.clone(),
            modules: request.modules.iter().map(|&module| module.to_owned()).collect(),
            needed: request
                .needed
                .iter()
                .map(|one| one.iter().map(|&module| module.to_owned()).collect())
                .collect(),
            place,
            rootless: options.rootless,
            pin: if asked.pin { request.cpus.to_vec() } else { Vec::new() },
        })
    }
}

impl Machine {
    /// Whether its virtual CPUs keep to the CPUs that are its own.
    pub(crate) fn is_pinned(&self) -> bool {
        !self.order.pin.is_empty()
    }

    /// The machine as an environment tells it. What its kernel is and how it was started, the agent
    /// inside tells.
    pub(crate) fn describe(&self) -> GuestEnvironment {
        let order = &self.order;
        let guest = self.guest.borrow();
        GuestEnvironment {
            kernel_image: order.kernel.image.display().to_string(),
            kernel_release: order.kernel.release.clone(),
            vcpus: order.vcpus,
            memory_mib: order.memory_mib,
            nic: order.tap.is_some().then(|| order.nic.to_string()),
            acceleration: guest.accelerated().to_string(),
            emulated: *guest.accelerated() != guest::Accelerated::Kvm,
            pinned_to: order.pin.clone(),
            modules_absent: guest.absent_modules().to_vec(),
            exact: order.exact,
            boot_ms: self.boot.as_secs_f64() * 1e3,
            failed_first: self.first.as_ref().map(ToString::to_string),
        }
    }

    /// What of it the reader of any result must know.
    pub(crate) fn notes(&self) -> Vec<Note> {
        let again = self.first.as_ref().map(|first| Note::BootedAgain(first.reason()));
        let root = self.guest.borrow().stays_root().map(|why| Note::QemuAsRoot(why.to_owned()));
        std::iter::once(self.run_by()).chain(root).chain(again).collect()
    }

    /// What runs it.
    fn run_by(&self) -> Note {
        if self.order.exact {
            return Note::CountsInstructions;
        }
        let guest = self.guest.borrow();
        match guest.accelerated() {
            guest::Accelerated::Kvm => Note::Kvm,
            guest::Accelerated::Emulation { why } => {
                Note::Emulation { why: why.to_string(), tried: guest.kvm_recalled().map(guest::date) }
            }
        }
    }
}
