//! How long a guest takes until its agent serves, beside QEMU with the same kernel until a shell
//! prompts.

use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use guest::{Acceleration, Archive, Guest, Kernel, Nic, Order, Tools};
use serde_json::json;

use crate::bench::Bench;
use crate::failure::Failure;
use crate::report::{Bound, Goal, Report};
use crate::spread::{Spread, median_interval};
use crate::table::Table;

/// Options of `guest-boot`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// What both guests boot: an image, a directory with one, or a package that `netassay kernel
    /// fetch` brought
    #[arg(long, default_value = "linux-image-cloud-amd64")]
    pub(crate) kernel: String,
    /// A static busybox; left out: the machine's
    #[arg(long, value_name = "PATH")]
    pub(crate) busybox: Option<PathBuf>,
    /// How often each boots
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) count: u32,
}

/// Boot to agent-ready beside boot to prompt, the median of the ratios of neighbours.
const GOAL: f64 = 1.2;
/// The memory of both guests, in MiB.
const MEMORY: u32 = 512;
/// What the shell says when it waits for the first command.
const PROMPT: &[u8] = b"/ # ";
/// How long a guest may take: far beyond any that boots.
const PATIENCE: Duration = Duration::from_secs(180);

/// `netassay-bench guest-boot`
pub(crate) fn run(bench: &Bench<'_>, options: &Options) -> Result<Report, Failure> {
    let table = Table::new(1, ["guest", "median ms", "min ms", "max ms", "count"]);
    let mut report = Report::begin("guest-boot", table);
    report.note("from the start of QEMU until the guest's agent is at its port, or until the shell prompts on its console; in turn");
    let count = if bench.common.smoke { 1 } else { options.count };
    let mut results = serde_json::Map::new();
    let kernel = Kernel::find(Some(&options.kernel)).map_err(environment)?;
    let Some(shell) = shell(options.busybox.as_deref()) else {
        report.not_run.push(
            "no static busybox for the other guest: apt-get install busybox-static, or --busybox".to_owned(),
        );
        return Ok(report.finish());
    };
    let tools = Tools::here();
    let kvm = tools.try_kvm(&kernel.image).outcome;
    for (name, accelerator, acceleration) in
        [("emulation", "tcg,thread=single", Acceleration::Emulation), ("KVM", "kvm", Acceleration::Kvm)]
    {
        if let (Acceleration::Kvm, Err(why)) = (acceleration, &kvm) {
            report.note(format!("no guest boots under KVM here: {why}"));
            continue;
        }
        let ours = order(bench, &kernel, acceleration);
        let theirs = Shell {
            qemu: tools.qemu().map_err(environment)?,
            kernel: &kernel.image,
            accelerator,
            initramfs: &shell,
        };
        let (mut agents, mut prompts) = (Vec::new(), Vec::new());
        // The first of each is not counted: it loads what later ones find in memory.
        for round in 0..=count {
            bench.say(&format!("{name}: round {round} of {count}"));
            let agent = to_agent(bench, &ours)?;
            let prompt = theirs.to_prompt()?;
            if bench.interrupt.is_tripped() {
                return Err(Failure::Interrupted);
            }
            if round > 0 {
                agents.push(agent);
                prompts.push(prompt);
            }
        }
        let ratios: Vec<f64> = agents.iter().zip(&prompts).map(|(agent, prompt)| agent / prompt).collect();
        for (what, times) in [("agent serves", &agents), ("busybox prompts", &prompts)] {
            let Some(spread) = Spread::of(times.iter().copied()) else { continue };
            let [median, min, max] = spread.cells(0);
            report.table.row([format!("{name}: {what}"), median, min, max, spread.count.to_string()]);
        }
        if let Some(ratio) = Spread::of(ratios.iter().copied()) {
            let goal = Goal::new(
                format!("{name}: agent / prompt, median of pairs"),
                ratio.median,
                (Bound::AtMost, GOAL),
                "",
            );
            report.goals.push(goal.within(median_interval(&ratios)));
        }
        results.insert(name.to_owned(), json!({"agent_ms": agents, "prompt_ms": prompts}));
    }
    report.results = results.into();
    Ok(report.finish())
}

/// A guest as the scenarios have it, with one agent and no network card.
fn order(bench: &Bench<'_>, kernel: &Kernel, acceleration: Acceleration) -> Order {
    Order {
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
        copies: guest::Copies::Words,
        program: bench.netassay.program.clone(),
        modules: &[],
        needed: &[],
        place: None,
        rootless: false,
        pin: Vec::new(),
    }
}

fn to_agent(bench: &Bench<'_>, order: &Order) -> Result<f64, Failure> {
    let mut guest = Guest::start(order).map_err(environment)?;
    let alive = guest.await_life(&bench.interrupt).map_err(|error| match bench.interrupt.is_tripped() {
        true => Failure::Interrupted,
        false => environment(error),
    })?;
    Ok(alive.as_secs_f64() * 1e3)
}

/// A guest of nothing but a kernel and a shell.
struct Shell<'a> {
    qemu: PathBuf,
    kernel: &'a Path,
    accelerator: &'a str,
    initramfs: &'a [u8],
}

/// A process that goes with its value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Shell<'_> {
    fn to_prompt(&self) -> Result<f64, Failure> {
        let directory = tempfile::tempdir().map_err(Failure::io("cannot make a directory"))?;
        let initramfs = directory.path().join("initramfs");
        std::fs::write(&initramfs, self.initramfs).map_err(Failure::io("cannot write an initramfs"))?;
        let processor = if self.accelerator == "kvm" { "host" } else { "max" };
        let mut command = Command::new(&self.qemu);
        command
            .args(["-nodefaults", "-no-reboot", "-display", "none", "-machine", "q35", "-smp", "1"])
            .args([
                "-accel",
                self.accelerator,
                "-cpu",
                processor,
                "-m",
                &MEMORY.to_string(),
                "-serial",
                "stdio",
            ])
            .arg("-kernel")
            .arg(self.kernel)
            .arg("-initrd")
            .arg(&initramfs)
            .args(["-append", "console=ttyS0 quiet panic=-1 rdinit=/bin/sh"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let begun = Instant::now();
        let mut running = Running(command.spawn().map_err(Failure::io("cannot start QEMU"))?);
        let Some(mut console) = running.0.stdout.take() else {
            return Err(Failure::Internal("QEMU has no standard output".to_owned()));
        };
        let mut said = Vec::new();
        let mut piece = [0; 4096];
        while !said.windows(PROMPT.len()).any(|part| part == PROMPT) {
            // The console of a guest that hangs says nothing more, so the wait is bounded by what
            // the kernel tells before.
            ready(&console, PATIENCE.saturating_sub(begun.elapsed()))?;
            match console.read(&mut piece) {
                Ok(0) => {
                    let last = String::from_utf8_lossy(&said).trim_end().to_owned();
                    return Err(Failure::Environment(format!(
                        "the guest with busybox ended before its prompt: {last}"
                    )));
                }
                Ok(count) => said.extend(&piece[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::io("cannot read QEMU's console")(error)),
            }
        }
        Ok(begun.elapsed().as_secs_f64() * 1e3)
    }
}

/// Waits until there is something to read.
fn ready(console: &impl std::os::fd::AsFd, time: Duration) -> Result<(), Failure> {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    let mut polled = [PollFd::new(console.as_fd(), PollFlags::POLLIN)];
    let millis = u16::try_from(time.as_millis().min(60_000)).unwrap_or(u16::MAX);
    match poll(&mut polled, PollTimeout::from(millis)) {
        Ok(0) => Err(Failure::Environment("the guest with busybox says nothing".to_owned())),
        // A signal: whoever reads finds out whether there is anything.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// An initramfs of busybox alone. A shell needs no device of its own: the kernel gives it the
/// console.
fn shell(named: Option<&Path>) -> Option<Vec<u8>> {
    let found = ["/bin/busybox", "/usr/bin/busybox", "/usr/lib/busybox-static/busybox"].map(Path::new);
    let program = named.into_iter().chain(found).find_map(|path| std::fs::read(path).ok())?;
    let mut archive = Archive::default();
    for directory in ["dev", "bin"] {
        archive.directory(directory);
    }
    archive.device("dev/console", 0o600, 5, 1);
    archive.file("bin/sh", 0o755, &program);
    Some(archive.finish())
}

fn environment(error: guest::Error) -> Failure {
    Failure::Environment(error.to_string())
}
