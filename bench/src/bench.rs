//! What every bench has: its options, the measured binary, Ctrl-C, and rounds in turn.

use std::env;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agent::Interrupt;
use clap::Args;
use load::Kind;
use study::Scenario;
use testbed::{CpuSplit, End, RunAccount, Testbed, TestbedOptions};

use crate::failure::Failure;
use crate::report::Report;
use crate::wait;

#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Print JSON, one document for each bench
    #[arg(long, global = true)]
    json: bool,
    /// Tiny counts: shows that the bench works, and nothing else
    #[arg(long, global = true)]
    smoke: bool,
    /// How often each contestant has its turn, unless the bench has an option of its own for that;
    /// left out: the bench's own number
    #[arg(long, global = true, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: Option<u32>,
    /// The netassay binary; left out: the one beside this program
    #[arg(long, global = true, value_name = "PATH")]
    netassay: Option<PathBuf>,
}

pub(crate) struct Bench {
    json: bool,
    pub(crate) smoke: bool,
    count: Option<u32>,
    /// The measured binary.
    pub(crate) netassay: PathBuf,
    pub(crate) interrupt: Interrupt,
    pub(crate) cpus: CpuSplit,
    /// Must testbeds be built in a user namespace?
    pub(crate) rootless: bool,
}

impl Bench {
    /// Finds the measured binary, and watches for Ctrl-C.
    pub(crate) fn new(common: &Common) -> Result<Self, Failure> {
        let netassay = match &common.netassay {
            Some(path) => path.clone(),
            None => this_program()?.with_file_name("netassay"),
        };
        if !netassay.is_file() {
            return Err(Failure::Environment(format!(
                "there is no netassay at {}: build it (`cargo xtask bench` does), or name it with --netassay",
                netassay.display()
            )));
        }
        Ok(Self {
            json: common.json,
            smoke: common.smoke,
            count: common.count,
            netassay,
            interrupt: wait::watch_signals()?,
            cpus: testbed::split_cpus(&host::affinity::usable()),
            rootless: !host::Privileges::read().privileged(),
        })
    }

    /// Prints the report of a bench.
    pub(crate) fn print(&self, report: &Report) -> Result<(), Failure> {
        let text = if self.json { report.json()? } else { report.to_string() };
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            // Nobody reads any more: nothing is left to do.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result.map_err(Failure::io("cannot write to standard output")),
        }
    }

    /// Progress, on standard error: a bench takes minutes.
    pub(crate) fn say(&self, what: &str) {
        // Without a standard error there is nobody to tell.
        let _ = writeln!(io::stderr(), "{what}");
    }

    /// Fails once the user has asked to stop.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.interrupt.is_tripped() { Err(Failure::Interrupted) } else { Ok(()) }
    }

    pub(crate) fn sleep(&self, time: Duration) -> Result<(), Failure> {
        wait::sleep(time, &self.interrupt)
    }

    /// `whole`, or `tiny` in a smoke test.
    pub(crate) fn or_smoke<T>(&self, whole: T, tiny: T) -> T {
        if self.smoke { tiny } else { whole }
    }

    /// How many rounds are counted: as asked for, or `usual`, or `tiny` in a smoke test.
    pub(crate) fn rounds(&self, usual: u32, tiny: u32) -> u32 {
        self.or_smoke(self.count.unwrap_or(usual), tiny)
    }

    /// Measures `N` contestants in turn, `count` rounds: A B A B …; before them `warm_up` rounds
    /// that are not counted, since the first loads what later ones find in memory.
    pub(crate) fn in_turn<T, const N: usize>(
        &self,
        name: &str,
        (warm_up, count): (u32, u32),
        mut measure: impl FnMut(usize) -> Result<T, Failure>,
    ) -> Result<[Vec<T>; N], Failure> {
        /// Shorter rounds are not worth a line each.
        const LONG: Duration = Duration::from_millis(100);
        let mut all = [(); N].map(|()| Vec::new());
        for round in 0..warm_up + count {
            let start = Instant::now();
            for (contestant, measured) in all.iter_mut().enumerate() {
                self.check()?;
                let one = measure(contestant)?;
                if round >= warm_up {
                    measured.push(one);
                }
            }
            if start.elapsed() >= LONG {
                self.say(&format!("{name}: round {} of {}", round + 1, warm_up + count));
            }
        }
        Ok(all)
    }

    pub(crate) fn testbed(&self, scenario: Scenario, rootless: bool) -> Result<Testbed, Failure> {
        let options = TestbedOptions::new(scenario, &self.netassay, self.cpus.clone(), rootless);
        Ok(Testbed::build(&options, &self.interrupt)?)
    }
}

/// The receiving end of a testbed with a wire.
pub(crate) fn receiver(testbed: &Testbed) -> Result<&End, Failure> {
    testbed.receiver.as_ref().ok_or_else(|| Failure::failed("this testbed has no receiver"))
}

/// The one of this name, for the command line.
pub(crate) fn by_name<T: Copy + ToString>(name: &str, of: &[T]) -> Result<T, String> {
    let names = || of.iter().map(T::to_string).collect::<Vec<_>>().join(", ");
    of.iter().copied().find(|one| one.to_string() == name).ok_or_else(|| format!("use one of {}", names()))
}

pub(crate) fn this_program() -> Result<PathBuf, Failure> {
    env::current_exe().map_err(Failure::io("cannot find this program"))
}

/// A temporary directory, removed with its value.
pub(crate) fn temporary_directory() -> Result<tempfile::TempDir, Failure> {
    tempfile::tempdir().map_err(Failure::io("cannot make a temporary directory"))
}

pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(Failure::io(format!("cannot write {}", path.display())))
}

/// What netassay says of the rate of a run: payload bits/s at the receiver, or transactions/s at
/// the transmitter.
pub(crate) fn rate(kind: Kind, account: &RunAccount) -> Option<f64> {
    let per_second = |amount: u64, elapsed_ns: u64| amount as f64 * 1e9 / elapsed_ns.max(1) as f64;
    if kind.is_rr() {
        let asking = &account.transmitter.window;
        return Some(per_second(asking.load.sent.transactions, asking.elapsed_ns));
    }
    let receiver = &account.receiver.as_ref()?.window;
    Some(8.0 * per_second(receiver.load.received.bytes, receiver.elapsed_ns))
}
