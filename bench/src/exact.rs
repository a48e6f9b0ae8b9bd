//! Whether exact mode counts the same at each boot: kernels, each on an idle and on a busy machine,
//! booted again and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use clap::Args;
use guest::Kernel;
use load::{Kind, Traffic};
use serde_json::{Value, json};
use study::Scenario;
use testbed::{RunOrder, Testbed};

use crate::bench::Bench;
use crate::failure::Failure;
use crate::report::{Bound, Goal, Report};
use crate::spread::Spread;
use crate::table::Table;

/// Options of `exact`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// What is booted: an image, a directory with one, or a package that `netassay kernel fetch`
    /// brought; may be given several times
    #[arg(long = "kernel", value_name = "KERNEL", default_value = "linux-image-cloud-amd64")]
    pub(crate) kernels: Vec<String>,
    /// How often each is booted on an idle machine, and as often on a busy one
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(crate) boots: u32,
}

/// How far boots may be apart, in % of the least: what exact mode calls its resolution.
const GOAL: f64 = 0.1;
/// The least and the largest datagram that a link of 1500 bytes carries in one piece, about.
const MESSAGES: [u32; 2] = [1, 1400];

/// `netassay-bench exact`
pub(crate) fn run(bench: &Bench<'_>, options: &Options) -> Result<Report, Failure> {
    let head = ["instructions per packet", "median", "min", "max", "boots", "apart %"];
    let mut report = Report::begin("exact", Table::new(1, head));
    report.note("one UDP datagram over a veth pair inside one guest, sent and taken; busy: as many threads as there are CPUs, each in a loop without end");
    let boots = if bench.common.smoke { 2 } else { options.boots };
    let mut results = Vec::new();
    for kernel in &options.kernels {
        let image = match Kernel::find(Some(kernel)) {
            Ok(found) => found.image.to_string_lossy().into_owned(),
            Err(error) => {
                report.not_run.push(format!("{kernel}: {error}"));
                continue;
            }
        };
        for (load, is_busy) in [("idle", false), ("busy", true)] {
            let busy = is_busy.then(Busy::make);
            let mut counts: [Vec<f64>; MESSAGES.len()] = Default::default();
            for boot in 1..=boots {
                bench.say(&format!("{kernel}, {load}: boot {boot} of {boots}"));
                match boot_and_count(bench, &image) {
                    Ok(taken) => counts.iter_mut().zip(taken).for_each(|(counts, count)| counts.push(count)),
                    Err(failure) if failure.is_interrupt() => return Err(failure),
                    Err(failure) => report.not_run.push(format!("{kernel}, {load}, boot {boot}: {failure}")),
                }
            }
            drop(busy);
            for (message, counts) in MESSAGES.iter().zip(&counts) {
                let name = format!("{kernel}, {load}, {message} B");
                tell(&mut report, &name, counts);
                results
                    .push(json!({"kernel": kernel, "busy": is_busy, "message": message, "counts": counts}));
            }
        }
    }
    report.results = Value::Array(results);
    Ok(report.finish())
}

/// What a datagram of each size takes in a fresh guest.
fn boot_and_count(bench: &Bench<'_>, image: &str) -> Result<[f64; MESSAGES.len()], Failure> {
    let program = std::env::current_exe().map_err(Failure::io("cannot find this program"))?;
    let cpus = testbed::split(&host::affinity::usable());
    let mut options = testbed::Options::new(Scenario::Veth, program, cpus, false);
    options.inside_guest = true;
    options.exact = true;
    options.state.guest = Some(study::Guest { kernel: Some(image.to_owned()), ..study::Guest::default() });
    let mut testbed = Testbed::build(&options, &bench.interrupt)?;
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
    let Some(spread) = Spread::of(counts.iter().copied()) else { return };
    let apart = 100.0 * (spread.max - spread.min) / spread.min;
    let [median, min, max] = spread.cells(1);
    report.table.row([name.to_owned(), median, min, max, spread.count.to_string(), format!("{apart:.3}")]);
    report.goals.push(Goal::new(format!("{name}: boots apart"), apart, (Bound::AtMost, GOAL), "%"));
}

/// Threads that keep every CPU busy, until this is dropped.
struct Busy {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Busy {
    fn make() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let spin = |over: Arc<AtomicBool>| {
            thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        };
        let threads = host::affinity::usable().iter().map(|_| spin(Arc::clone(&over))).collect();
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
