//! A guest's life, from the controller's side.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::time::{Duration, Instant};

use agent::message::{Answer, Booted};
use agent::{Interrupt, Relay, ServeError};
use host::{CapabilitySet, user_file};
use words::{Accelerated, Nic};

use crate::console::{BootSign, Console};
use crate::error::{Error, GuestFault};
use crate::guest::hang::{HangDetector, ThreadWork, pin, vcpu_threads, work_of};
use crate::guest::initramfs::{self, LARGEST_IMAGE};
use crate::guest::order::GuestOrder;
use crate::guest::qemu;
use crate::guest::sandbox;
use crate::guest::spawn::{ProcessContext, Tap, in_memory, spawn};
use crate::guest::tools::{Tools, decide};

// Not counting waits for a CPU: ten times the slowest emulated kernel tried (7 s).
const PATIENCE_EMULATED: Duration = Duration::from_secs(90);
const PATIENCE_KVM: Duration = Duration::from_secs(45);
const GLANCE: Duration = Duration::from_millis(20);
const LOOK: Duration = Duration::from_secs(1);
const LOOK_AT_WORK: Duration = Duration::from_secs(10);
const LAST_BREATH: Duration = Duration::from_secs(5);

/// A running virtual machine; it ends with this value, and with the thread that started it.
#[derive(Debug)]
pub struct RunningGuest {
    name: String,
    process: Child,
    console: Console,
    patience: (HangDetector, Duration),
    ports: Vec<Option<(OwnedFd, OwnedFd)>>,
    /// The accelerator: KVM or emulation.
    pub accelerated: Accelerated,
    /// Why QEMU runs as root, with the remedy; `None`: it runs as nobody.
    stays_root: Option<String>,
    /// Requested modules that the kernel has neither built in nor as files.
    pub absent_modules: Vec<String>,
    pin: Vec<u32>,
    started: Instant,
}

impl RunningGuest {
    /// Starts QEMU without waiting for the guest. The first call may [try](Tools::try_kvm) KVM.
    ///
    /// # Errors
    /// When this machine cannot run the order; each error has a remedy.
    pub fn start(order: &GuestOrder) -> Result<Self, Error> {
        Self::start_with(order, &Tools::of_this_machine())
    }

    /// Starts a guest with other tools than this machine's.
    ///
    /// # Errors
    /// As [`RunningGuest::start`].
    pub fn start_with(order: &GuestOrder, tools: &Tools) -> Result<Self, Error> {
        let qemu = tools.qemu()?;
        let (bytes, absent) = match &order.packed {
            None => initramfs::pack(order)?,
            Some(path) => (user_file::read(path, LARGEST_IMAGE).map_err(Error::read(path))?, Vec::new()),
        };
        let accelerated = decide(order, tools)?;
        let failed = |step: &'static str| {
            move |source: io::Error| {
                format!("cannot start QEMU for the {}: cannot {step}: {source}", order.name)
            }
        };
        let initramfs = in_memory(&bytes).map_err(failed("keep its initramfs in memory"))?;
        // Perhaps only root may read a distribution's kernel, and QEMU runs as nobody.
        let kernel = user_file::read(&order.kernel.image, LARGEST_IMAGE).and_then(|image| in_memory(&image));
        let kernel = kernel.map_err(failed("keep its kernel in memory"))?;
        let firmware = tools.firmware();
        let kvm = accelerated == Accelerated::Kvm;
        let mut place = ProcessContext::in_namespaces_of(order.place, order.rootless)
            .map_err(failed("open the namespaces of its place"))?;
        // Without the header for checksums and segments, a tap accepts finished packets only.
        let tap = order.tap.as_deref().map(|tap| Tap::named(tap, order.nic == Nic::VirtioNet));
        place.tap = tap.transpose().map_err(failed("name its tap"))?;
        let mut stays_root = None;
        if !order.rootless {
            match tools.nobodys_group(&qemu, kvm.then_some(tools.kvm.as_path())) {
                Ok(group) => place.nobodys_group = group,
                Err(why) => stays_root = Some(why),
            }
        }
        let mut ours = Vec::new();
        let mut theirs: Vec<OwnedFd> = Vec::new();
        for _ in 0..order.ports {
            let (our, their) = UnixStream::pair().map_err(failed("make its ports"))?;
            let from = our.try_clone().map_err(failed("make its ports"))?;
            ours.push(Some((our.into(), from.into())));
            theirs.push(their.into());
        }
        let ports: Vec<RawFd> = theirs.iter().map(|fd| fd.as_raw_fd()).collect();
        let files = [kernel.as_raw_fd(), initramfs.as_raw_fd()];
        let machine = qemu::machine(kvm, order.exact, firmware.as_deref(), sandbox::has_sandbox(&qemu));
        let tap = place.tap.as_ref().map(Tap::fd);
        let arguments = qemu::arguments(order, machine, kvm, files, tap, &ports);
        let (reader, writer) = io::pipe().map_err(failed("make its console"))?;
        let console = Console::read(reader).map_err(failed("read its console"))?;
        let kept: Vec<RawFd> = ports.iter().copied().chain(files).collect();
        let started = Instant::now();
        let process = spawn(&qemu, &arguments, place, &kept, writer).map_err(failed("start the program"))?;
        Ok(Self {
            name: order.name.clone(),
            process,
            console,
            patience: (HangDetector::for_work(Duration::ZERO), Duration::ZERO),
            ports: ours,
            accelerated,
            stays_root,
            absent_modules: absent,
            pin: order.pin.clone(),
            started,
        })
    }

    /// The write and read ends for the agent at this port, available once. The first line is an
    /// [`agent::Launch`]; it and the first request wait in the socket for the guest.
    pub fn port(&mut self, index: usize) -> Option<(OwnedFd, OwnedFd)> {
        self.ports.get_mut(index)?.take()
    }

    /// Waits for the agents, and pins the virtual CPUs; returns the time since the start.
    ///
    /// # Errors
    /// [`Error::Guest`] with the console's last lines; [`Error::Interrupted`].
    pub fn await_life(&mut self, interrupt: &Interrupt) -> Result<Duration, Error> {
        let most = match self.accelerated {
            Accelerated::Kvm => PATIENCE_KVM,
            Accelerated::Emulation { .. } => PATIENCE_EMULATED,
        };
        let mut patience = HangDetector::for_boot(most);
        let mut next_look = LOOK;
        loop {
            match self.console.sign_within(GLANCE) {
                Some(BootSign::Serving) => break,
                Some(_) => return Err(self.end(true)),
                None if self.console.closed_within(Duration::ZERO) => return Err(self.end(true)),
                None => {}
            }
            if interrupt.is_tripped() {
                return Err(Error::Interrupted);
            }
            let now = self.started.elapsed();
            if now < next_look {
                continue;
            }
            next_look = now + LOOK;
            if let Some(hang) = patience.look(now, self.work()) {
                let what = format!("the {} did not boot within {} s: {hang}", self.name, now.as_secs());
                return Err(self.error(what, GuestFault::Passing));
            }
        }
        let life = self.started.elapsed();
        self.pin()?;
        Ok(life)
    }

    /// Waits for the agents, if need be of a guest that is booted again.
    pub(crate) fn alive(
        mut self,
        order: &GuestOrder,
        tools: &Tools,
        interrupt: &Interrupt,
    ) -> Result<(Self, Booted), Error> {
        let first = match self.await_life(interrupt) {
            // Once in many boots any kernel panics or hangs.
            Err(first) if first.may_pass() => first,
            boot => {
                let booted = self.booted(boot?, None);
                return Ok((self, booted));
            }
        };
        // The tap is free for another QEMU once this one is gone.
        drop(self);
        let again = Self::start_with(order, tools).and_then(|mut again| {
            let booted = again.await_life(interrupt).map(|boot| again.booted(boot, Some(&first)))?;
            Ok((again, booted))
        });
        again.map_err(|second| second.after(&first))
    }

    /// Why the guest is gone, or ends; `None` while it runs.
    pub fn explain(&mut self) -> Option<Error> {
        let dying = matches!(
            self.console.sign_within(Duration::ZERO),
            Some(BootSign::Panicked(_) | BootSign::Cannot(_))
        );
        let gone = self.console.closed_within(Duration::ZERO) || !matches!(self.process.try_wait(), Ok(None));
        (dying || gone).then(|| self.end(false))
    }

    pub(crate) fn works(&mut self) {
        let now = self.started.elapsed();
        self.patience = (HangDetector::for_work(now), now + LOOK_AT_WORK);
    }

    /// `None` while it goes on; to be asked again and again.
    pub(crate) fn stuck(&mut self) -> Option<Error> {
        if self.started.elapsed() < self.patience.1 {
            return None;
        }
        let (now, work) = (self.started.elapsed(), self.work());
        self.patience.1 = now + LOOK_AT_WORK;
        let hang = self.patience.0.look(now, work)?;
        Some(self.error(format!("the {} makes no progress: {hang}", self.name), GuestFault::Machine))
    }

    fn work(&self) -> Option<ThreadWork> {
        self.threads().ok().and_then(|threads| work_of(&threads))
    }

    pub(crate) fn last_words(&self) -> String {
        self.console.tail()
    }

    /// QEMU's process.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    fn booted(&self, boot: Duration, first: Option<&Error>) -> Booted {
        Booted {
            process: self.pid(),
            acceleration: self.accelerated.clone(),
            stays_root: self.stays_root.clone(),
            boot_ms: boot.as_secs_f64() * 1e3,
            failed_first: first.map(ToString::to_string),
        }
    }

    /// QEMU's threads that run its virtual CPUs, as of now.
    ///
    /// # Errors
    /// When QEMU is gone.
    pub fn threads(&self) -> io::Result<Vec<u32>> {
        vcpu_threads(self.pid())
    }

    fn pin(&self) -> Result<(), Error> {
        if self.pin.is_empty() {
            return Ok(());
        }
        let pinned = self.threads().and_then(|threads| pin(&threads, &self.pin));
        let failed = |source| {
            let cpus = words::format_cpu_list(&self.pin);
            format!("cannot pin the {}'s virtual CPUs to CPUs {cpus}: {source}", self.name).into()
        };
        pinned.map_err(failed)
    }

    fn error(&self, what: String, fault: GuestFault) -> Error {
        Error::Guest { what, console: self.console.tail(), fault }
    }

    /// `boots`: it has not served yet.
    fn end(&mut self, boots: bool) -> Error {
        // The lines after a panic's first tell where it was; and powering off takes some time.
        let closed = self.console.ended_within(LAST_BREATH);
        let name = &self.name;
        let (what, fault) = match self.console.sign_within(Duration::ZERO) {
            Some(BootSign::Panicked(what)) => {
                (format!("the {name}'s kernel panicked: {what}"), GuestFault::Passing)
            }
            Some(BootSign::Cannot(why)) => {
                (format!("the {name} booted, but its agent did not start: {why}"), GuestFault::Kernel)
            }
            Some(BootSign::Serving) | None => {
                let status =
                    if closed { self.process.wait().ok() } else { self.process.try_wait().ok().flatten() };
                let well = status.is_some_and(|status| status.success());
                let status =
                    status.map_or_else(|| "unknown exit status".to_owned(), |status| status.to_string());
                let exited = format!("the {name}'s QEMU exited ({status})");
                match (well, boots) {
                    // A triple fault, or a command line that ends the guest.
                    (true, true) => {
                        (format!("the {name} reset or powered off before it booted"), GuestFault::Passing)
                    }
                    (true, false) => (exited, GuestFault::Kernel),
                    (false, _) => (exited, GuestFault::Machine),
                }
            }
        };
        self.error(what, fault)
    }
}

impl Drop for RunningGuest {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

// Capabilities until the guest has booted. `DAC_OVERRIDE` reads files of a login that is not root;
// `SETGID`, `SETUID` and `SETPCAP` start QEMU as nobody without capabilities; `NET_ADMIN` opens
// its tap; `SYS_NICE` pins its threads; `KILL` ends a guest that fails.
const UNTIL_BOOTED: CapabilitySet = CapabilitySet::DAC_OVERRIDE
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETPCAP)
    .union(CapabilitySet::NET_ADMIN)
    .union(CapabilitySet::SYS_NICE)
    .union(CapabilitySet::KILL);

const WHILE_RUNNING: CapabilitySet = CapabilitySet::KILL;

/// Boots the guest that the controller orders on standard input, and relays its agent's
/// conversation, until the controller or its lease ends.
///
/// # Errors
/// When the conversation fails, or the guest is gone. The controller gets a boot's failure.
pub fn serve_remote_guest() -> Result<(), Error> {
    let keep = |capabilities| host::keep_capabilities(capabilities).map_err(ServeError::Privileges);
    // While this is the only thread: those that it starts inherit what is left.
    keep(UNTIL_BOOTED)?;
    let tools = Tools::of_this_machine();
    let cannot = tools.qemu().err().map(|error| error.to_string());
    let Some(mut relay) = Relay::open(cannot)? else { return Ok(()) };
    let Some(order) = relay.receive::<GuestOrder>()? else { return Ok(()) };
    // The end of the controller ends this process, whatever it does.
    let interrupt = Interrupt::new().map_err(ServeError::from)?;
    let alive =
        RunningGuest::start_with(&order, &tools).and_then(|guest| guest.alive(&order, &tools, &interrupt));
    let (mut guest, booted) = match alive {
        Ok(alive) => alive,
        Err(error) => {
            return Ok(relay.answer(&Answer::Failed { why: error.to_string(), broken: true })?);
        }
    };
    let Some(port) = guest.port(0) else {
        return Err(Error::Failed(format!("the {} has no port for its agent", order.name)));
    };
    keep(WHILE_RUNNING)?;
    relay.answer(&Answer::Booted(Box::new(booted)))?;
    if relay.join(port)? {
        return Ok(());
    }
    let ended = || Error::Failed(format!("the agent of the {} ended", order.name));
    Err(guest.explain().unwrap_or_else(ended))
}
