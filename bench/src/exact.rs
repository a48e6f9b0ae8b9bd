//! Whether exact mode counts the same at each boot: kernels, each on an idle and on a busy machine,
//! booted again and again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use clap::Args;
use load::{Kind, Traffic};
use study::Scenario;
use testbed::guest::Kernel;
use testbed::{RunOrder, Testbed};

use crate::bench::Bench;
use crate::failure::Failure;
use crate::goal::{Bound, Goal};
use crate::report::{Report, heading};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// What is booted: an image, a directory with one, or a package that `netassay kernel fetch`
    /// brought; may be given several times
    #[arg(long = "kernel", value_name = "KERNEL", default_value = "linux-image-cloud-amd64")]
    kernels: Vec<String>,
    /// How often each is booted on an idle machine, and as often on a busy one
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(2..=1000))]
    boots: u32,
}

/// How far boots may be apart, in % of the least: what exact mode calls its resolution.
const GOAL: f64 = 0.1;
/// The least and the largest datagram that a link of 1500 bytes carries in one piece, about.
const MESSAGES: [u32; 2] = [1, 1400];

pub(crate) fn run(bench: &Bench, options: &Options) -> Result<Report, Failure> {
    let mut report = Report::begin("exact", &heading("instructions per packet", ""));
    report.note(
        "one UDP datagram over a veth pair inside one guest, sent and received; busy: as many threads as there are CPUs, each in an \
         endless loop",
    );
    let boots = bench.or_smoke(options.boots, 2);
    for kernel in &options.kernels {
        let found = Kernel::find(Some(kernel)).map_err(Failure::environment);
        let Some(found) = report.or_not_run(kernel, found)? else { continue };
        let image = found.image.to_string_lossy();
        for (load, is_busy) in [("idle", false), ("busy", true)] {
            let mut counts: [Vec<f64>; MESSAGES.len()] = Default::default();
            for boot in 1..=boots {
                let name = format!("{kernel}, {load}, boot {boot}");
                bench.say(&format!("{name} of {boots}"));
                let counted = beside_busy_threads(is_busy, || boot_and_count(bench, &image));
                if let Some(counted) = report.or_not_run(&name, counted)? {
                    counts.iter_mut().zip(counted).for_each(|(counts, count)| counts.push(count));
                }
            }
            for (message, counts) in MESSAGES.iter().zip(&counts) {
                let name = format!("{kernel}, {load}, {message} B");
                let Some(all) = report.figures(&name, counts, 1) else { continue };
                let apart = 100.0 * (all.max - all.min) / all.min;
                report.goals.push(Goal::new(format!("{name}: boots apart"), apart, Bound::AtMost(GOAL), "%"));
            }
        }
    }
    Ok(report.finish())
}

/// The instructions of a datagram of each size in a fresh guest.
fn boot_and_count(bench: &Bench, image: &str) -> Result<[f64; MESSAGES.len()], Failure> {
    let mut options =
        testbed::TestbedOptions::new(Scenario::Veth, &bench.netassay, bench.cpus.clone(), false);
    (options.inside_guest, options.exact) = (true, true);
    options.state.guest = Some(study::Guest { kernel: Some(image.to_owned()), ..study::Guest::default() });
    let mut testbed = Testbed::build(&options, &bench.interrupt)?;
    let mut counts = [0.0; MESSAGES.len()];
    for (count, message) in counts.iter_mut().zip(MESSAGES) {
        let second = Duration::from_secs(1);
        let traffic = Traffic { message, ..Traffic::new(Kind::UdpStream) };
        let family = study::Family::Ipv4;
        let order = RunOrder { traffic, family, ramp: Duration::ZERO, window: second, step: second };
        *count = testbed.exact(&order)?.whole.median;
    }
    Ok(counts)
}

/// Does the work while a thread for each CPU runs in an endless loop, if the machine is to be busy.
fn beside_busy_threads<T>(is_busy: bool, work: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(!is_busy);
    thread::scope(|scope| {
        for _ in host::affinity::usable() {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let result = work();
        over.store(true, Ordering::Relaxed);
        result
    })
}
