//! How long a guest takes until its agent serves, beside QEMU with the same kernel until a shell
//! prompts.

use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use study::{Acceleration, Copies, Nic};
use testbed::guest::{Archive, GuestOrder, Kernel, RunningGuest, Tools};

use crate::bench::{Bench, temporary_directory, write};
use crate::failure::Failure;
use crate::figures::Ratios;
use crate::goal::{Bound, Goal};
use crate::process::Owned;
use crate::report::{Report, heading};
use crate::wait;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// What both guests boot: an image, a directory with one, or a package that `netassay kernel
    /// fetch` brought
    #[arg(long, default_value = "linux-image-cloud-amd64")]
    kernel: String,
    /// A static busybox; left out: the machine's
    #[arg(long, value_name = "PATH")]
    busybox: Option<PathBuf>,
}

/// Boot to agent-ready beside boot to prompt, the median of the ratios of neighbours.
const GOAL: f64 = 1.2;
const MEMORY: u32 = 512;
/// What the shell says when it waits for the first command.
const PROMPT: &[u8] = b"/ # ";
/// How long a guest may be silent: far longer than any that boots.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn run(bench: &Bench, options: &Options) -> Result<Report, Failure> {
    let mut report = Report::begin("guest-boot", &heading("guest", "ms"));
    report.note(
        "from the start of QEMU until the guest's agent is at its port, or until the shell prompts on its console; in turn",
    );
    let kernel = Kernel::find(Some(&options.kernel)).map_err(Failure::environment)?;
    let directory = temporary_directory()?;
    let initramfs = directory.path().join("initramfs");
    match shell(options.busybox.as_deref()) {
        Some(archive) => write(&initramfs, archive)?,
        None => {
            report
                .not_run("the other guest: no static busybox: apt-get install busybox-static, or --busybox");
            return Ok(report.finish());
        }
    }
    let tools = Tools::of_this_machine();
    let qemu = tools.qemu().map_err(Failure::environment)?;
    let kvm = tools.try_kvm(&kernel.image);
    for (name, arguments, acceleration) in [
        ("emulation", ["-accel", "tcg,thread=single", "-cpu", "max"], Acceleration::Emulation),
        ("KVM", ["-accel", "kvm", "-cpu", "host"], Acceleration::Kvm),
    ] {
        if let (Acceleration::Kvm, Err(why)) = (acceleration, &kvm) {
            report.note(format!("no guest boots under KVM here: {why}"));
            continue;
        }
        let order = order(bench, &kernel, acceleration);
        let mut other = Command::new(&qemu);
        other.args(["-nodefaults", "-no-reboot", "-display", "none", "-machine", "q35", "-smp", "1"]);
        other.args(arguments).args(["-m", &MEMORY.to_string(), "-serial", "stdio"]);
        other.arg("-kernel").arg(&kernel.image).arg("-initrd").arg(&initramfs);
        other.args(["-append", "console=ttyS0 quiet panic=-1 rdinit=/bin/sh"]);
        other.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let rounds = (1, bench.rounds(10, 1));
        let times: [Vec<f64>; 2] = bench.in_turn(name, rounds, |which| match which {
            0 => to_agent(bench, &order),
            _ => to_prompt(&mut other),
        })?;
        for (what, times) in ["agent serves", "busybox prompts"].iter().zip(&times) {
            report.figures(&format!("{name}: {what}"), times, 0);
        }
        if let Some(ratios) = Ratios::of(&times[0], &times[1]) {
            let what = format!("{name}: agent / prompt, median of pairs");
            let goal = Goal::new(what, ratios.all.median, Bound::AtMost(GOAL), "");
            report.goals.push(goal.within(ratios.interval));
        }
    }
    Ok(report.finish())
}

/// A guest as the scenarios have it, with one agent and no network card.
fn order(bench: &Bench, kernel: &Kernel, acceleration: Acceleration) -> GuestOrder {
    GuestOrder {
        name: "bench".to_owned(),
        kernel: kernel.clone(),
        command_line: String::new(),
        vcpus: 1,
        memory_mib: MEMORY,
        nic: Nic::VirtioNet,
        tap: None,
        mac: [2, 0, 0, 0, 0, 1],
        ports: 1,
        acceleration,
        exact: false,
        copies: Copies::Words,
        program: bench.netassay.clone(),
        modules: &[],
        packed: None,
        place: None,
        rootless: false,
        pin: Vec::new(),
    }
}

/// Boots a guest until its agent serves; how long that took, in ms.
fn to_agent(bench: &Bench, order: &GuestOrder) -> Result<f64, Failure> {
    let mut guest = RunningGuest::start(order).map_err(Failure::environment)?;
    let alive = guest.await_life(&bench.interrupt);
    bench.check()?;
    Ok(alive.map_err(Failure::environment)?.as_secs_f64() * 1e3)
}

/// Boots a guest of nothing but a kernel and a shell until that prompts; how long it took, in ms.
fn to_prompt(qemu: &mut Command) -> Result<f64, Failure> {
    let start = Instant::now();
    let mut running = Owned(qemu.spawn().map_err(Failure::io("cannot start QEMU"))?);
    let console = running.0.stdout.as_mut();
    let console = console.ok_or_else(|| Failure::failed("QEMU has no standard output"))?;
    let (mut said, mut piece) = (Vec::new(), [0; 4096]);
    while !said.windows(PROMPT.len()).any(|part| part == PROMPT) {
        if !wait::ready(console.as_fd(), PATIENCE)? {
            return Err(Failure::environment("the guest with busybox says nothing"));
        }
        let count = console.read(&mut piece).map_err(Failure::io("cannot read QEMU's console"))?;
        if count == 0 {
            let last = String::from_utf8_lossy(&said);
            let last = last.trim_end();
            return Err(Failure::Environment(format!(
                "the guest with busybox ended before its prompt: {last}"
            )));
        }
        said.extend(&piece[..count]);
    }
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

/// An initramfs of busybox alone. A shell needs no device of its own: the kernel gives it the
/// console.
fn shell(named: Option<&Path>) -> Option<Vec<u8>> {
    let program = busybox(named)?;
    let mut archive = Archive::default();
    for directory in ["dev", "bin"] {
        archive.directory(directory);
    }
    archive.device("dev/console", 0o600, 5, 1);
    archive.file("bin/sh", 0o755, &program);
    Some(archive.finish())
}

/// A busybox, as bytes: this one, or the machine's.
pub(crate) fn busybox(named: Option<&Path>) -> Option<Vec<u8>> {
    let found = ["/bin/busybox", "/usr/bin/busybox", "/usr/lib/busybox-static/busybox"].map(Path::new);
    named.into_iter().chain(found).find_map(|path| std::fs::read(path).ok())
}
