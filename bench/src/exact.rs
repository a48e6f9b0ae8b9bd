//! Whether exact mode counts the same at each boot: kernels, each on an idle and on a busy machine,
//! booted again and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use clap::Args;
use guest::Kernel;
use load::{Kind, Traffic};
use serde_json::json;
use study::Scenario;
use testbed::RunOrder;

use crate::bench::{Bench, this_program};
use crate::failure::Failure;
use crate::figures::{cells, summary};
use crate::report::{Bound, Goal, Report};

/// Options of `exact`.
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

/// `netassay-bench exact`
pub(crate) fn run(bench: &Bench, options: &Options) -> Result<Report, Failure> {
    let heading = ["instructions per packet", "median", "min", "max", "boots", "apart %"];
    let mut report = Report::begin("exact", &heading);
    report.note(
        "one UDP datagram over a veth pair inside one guest, sent and received; busy: as many threads as there are CPUs, each in an \
         endless loop",
    );
    let boots = bench.or_smoke(options.boots, 2);
    let mut results = Vec::new();
    for kernel in &options.kernels {
        let found = Kernel::find(Some(kernel)).map_err(Failure::environment);
        let Some(found) = report.or_not_run(kernel, found)? else { continue };
        let image = found.image.to_string_lossy();
        for (load, is_busy) in [("idle", false), ("busy", true)] {
            let busy = is_busy.then(Busy::start);
            let mut counts: [Vec<f64>; MESSAGES.len()] = Default::default();
            for boot in 1..=boots {
                let name = format!("{kernel}, {load}, boot {boot}");
                bench.say(&format!("{name} of {boots}"));
                if let Some(counted) = report.or_not_run(&name, boot_and_count(bench, &image))? {
                    counts.iter_mut().zip(counted).for_each(|(counts, count)| counts.push(count));
                }
            }
            drop(busy);
            for (message, counts) in MESSAGES.iter().zip(&counts) {
                tell(&mut report, &format!("{kernel}, {load}, {message} B"), counts);
                results
                    .push(json!({"kernel": kernel, "busy": is_busy, "message": message, "counts": counts}));
            }
        }
    }
    Ok(report.finish(results))
}

/// The instructions of a datagram of each size in a fresh guest.
fn boot_and_count(bench: &Bench, image: &str) -> Result<[f64; MESSAGES.len()], Failure> {
    let mut options = testbed::Options::new(Scenario::Veth, this_program()?, bench.cpus.clone(), false);
    options.inside_guest = true;
    options.exact = true;
    options.state.guest = Some(study::Guest { kernel: Some(image.to_owned()), ..study::Guest::default() });
    let mut testbed = bench.testbed_of(&options)?;
    let mut counts = [0.0; MESSAGES.len()];
    for (count, message) in counts.iter_mut().zip(MESSAGES) {
        let order = RunOrder {
            traffic: Traffic { message, ..Traffic::new(Kind::UdpStream) },
            family: study::Family::Ipv4,
            ramp: Duration::ZERO,
            window: Duration::from_secs(1),
            step: Duration::from_secs(1),
        };
        *count = testbed.exact(&order)?.whole.median;
    }
    Ok(counts)
}

fn tell(report: &mut Report, name: &str, counts: &[f64]) {
    let Some(counts) = summary(counts.iter().copied()) else { return };
    let apart = 100.0 * (counts.max - counts.min) / counts.min;
    report.row([name.to_owned()].into_iter().chain(cells(&counts, 1)).chain([format!("{apart:.3}")]));
    report.goals.push(Goal::new(format!("{name}: boots apart"), apart, (Bound::AtMost, GOAL), "%"));
}

/// Threads that keep every CPU busy, until this is dropped.
struct Busy {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Busy {
    fn start() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let spin = |_| {
            let over = Arc::clone(&over);
            thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        };
        let threads = host::affinity::usable().into_iter().map(spin).collect();
        Self { over, threads }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // It has nothing to panic about.
            let _ = thread.join();
        }
    }
}
