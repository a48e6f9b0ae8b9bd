//! Counts of interrupts and software interrupts on a host's CPUs, and the time of the latter.

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};
use words::metric::{self, InterruptRates};

use crate::cpu::affinity;
use crate::error::Error;
use crate::kernel::bpf::{Attached, Instruction, Map, MapKind, Program, attach, load};

/// A kind of interrupt or software interrupt that is counted per CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InterruptKind {
    /// The CPU's own timer: the tick, and timers between ticks, such as those of TCP's pacing.
    Timer,
    /// Another CPU requested rescheduling.
    Reschedule,
    /// Another CPU requested a function call, such as a wake-up or steered receive work.
    Call,
    SoftHrtimer,
    SoftTimer,
    SoftNetRx,
    SoftNetTx,
    SoftTasklet,
    SoftSched,
}

/// A kind with its metrics, its file, the label of its row, and the row's end on other machines.
type InterruptSource = (InterruptKind, InterruptRates, &'static str, &'static str, &'static [&'static str]);

const HARD: &str = "/proc/interrupts";
const SOFT: &str = "/proc/softirqs";

// Labels of x86. Arm and RISC-V number their rows (`IPI0`, `11`) and name the kind at the end.
const SOURCES: [InterruptSource; 9] = [
    (InterruptKind::Timer, metric::TIMER_INTERRUPTS, HARD, "LOC", &["arch_timer", "riscv-timer"]),
    (InterruptKind::Reschedule, metric::RESCHEDULE_INTERRUPTS, HARD, "RES", &["Rescheduling interrupts"]),
    (InterruptKind::Call, metric::CALL_INTERRUPTS, HARD, "CAL", &["Function call interrupts"]),
    (InterruptKind::SoftHrtimer, metric::SOFTIRQS_HRTIMER, SOFT, "HRTIMER", &[]),
    (InterruptKind::SoftTimer, metric::SOFTIRQS_TIMER, SOFT, "TIMER", &[]),
    (InterruptKind::SoftNetRx, metric::SOFTIRQS_NET_RX, SOFT, "NET_RX", &[]),
    (InterruptKind::SoftNetTx, metric::SOFTIRQS_NET_TX, SOFT, "NET_TX", &[]),
    (InterruptKind::SoftTasklet, metric::SOFTIRQS_TASKLET, SOFT, "TASKLET", &[]),
    (InterruptKind::SoftSched, metric::SOFTIRQS_SCHED, SOFT, "SCHED", &[]),
];

impl InterruptKind {
    /// All kinds.
    pub fn kinds() -> impl Iterator<Item = Self> {
        SOURCES.iter().map(|(interrupt, ..)| *interrupt)
    }

    /// Its metrics.
    pub fn rates(self) -> InterruptRates {
        // Each kind is in the table, in order.
        SOURCES[self as usize].1
    }
}

/// The interrupts of a set of CPUs by kind. A kind that this machine does not count is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Interrupts(pub BTreeMap<InterruptKind, u64>);

impl Interrupts {
    /// Reads the interrupts since boot of each of `cpus`, in their order.
    pub fn read_each(cpus: &[u32]) -> Vec<Self> {
        let texts = [HARD, SOFT].map(|file| (file, std::fs::read_to_string(file).unwrap_or_default()));
        let mut each = vec![Self::default(); cpus.len()];
        for (file, text) in &texts {
            parse(file, text, cpus, &mut each);
        }
        each
    }

    /// The sum over several CPUs.
    pub fn sum(each: &[Self]) -> Self {
        let mut sum = Self::default();
        for (interrupt, count) in each.iter().flat_map(|one| &one.0) {
            sum.add(*interrupt, *count);
        }
        sum
    }

    /// The difference from `earlier`, of kinds in both readings.
    pub fn since(&self, earlier: &Self) -> Self {
        let passed = |(interrupt, count): (&InterruptKind, &u64)| {
            Some((*interrupt, count.saturating_sub(*earlier.0.get(interrupt)?)))
        };
        Self(self.0.iter().filter_map(passed).collect())
    }

    fn add(&mut self, interrupt: InterruptKind, count: u64) {
        let sum = self.0.entry(interrupt).or_default();
        *sum = sum.saturating_add(count);
    }
}

/// Adds a file's counts of each of `cpus`.
pub(crate) fn parse(file: &str, text: &str, cpus: &[u32], each: &mut [Interrupts]) {
    let mut lines = text.lines();
    // The first line names the columns, one for each online CPU: their places are no CPUs' numbers.
    let header = lines.next().unwrap_or_default();
    let online: Vec<Option<u32>> =
        header.split_whitespace().map(|name| name.strip_prefix("CPU")?.parse().ok()).collect();
    for line in lines {
        let Some((label, rest)) = line.split_once(':') else { continue };
        let (label, rest) = (label.trim(), rest.trim());
        let is_of = |(_, _, place, known, ends): &&InterruptSource| {
            *place == file && (*known == label || ends.iter().any(|end| rest.ends_with(end)))
        };
        let Some((interrupt, ..)) = SOURCES.iter().find(is_of) else { continue };
        // Behind the counts stand words, beyond the last column.
        let counts = rest.split_whitespace().map(|word| word.parse::<u64>().ok());
        for (cpu, count) in online.iter().zip(counts) {
            let place = cpu.and_then(|cpu| cpus.iter().position(|wanted| *wanted == cpu));
            if let (Some(place), Some(count)) = (place, count) {
                each[place].add(*interrupt, count);
            }
        }
    }
}

/// Counts the time in soft interrupts, where packets are received, to the nanosecond, on a machine
/// with one CPU, until it is dropped. (`/proc/stat` counts by the tick, or in steps of 10 ms.)
///
/// One program runs at begin and end, and makes `sum` the clock's reading less `sum`: half of its
/// cost lies between the two readings.
#[derive(Debug)]
pub struct Softirqs {
    sum: Map,
    _attached: [Attached; 2],
}

impl Softirqs {
    /// Starts counting.
    ///
    /// # Errors
    /// Several CPUs, or the kernel's error (it needs `CONFIG_BPF_EVENTS`).
    pub fn count() -> Result<Self, Error> {
        let cpus = affinity::online_cpus().len();
        if cpus != 1 {
            return Err(format!("soft interrupts are counted on one CPU, and there are {cpus}").into());
        }
        let counting = || {
            let sum = Map::new(MapKind::Array, KEY.len(), 8, 1)?;
            let program = load(Program::RawTracepoint, &program(&sum))?;
            let attached =
                [attach(Some(c"softirq_entry"), &program)?, attach(Some(c"softirq_exit"), &program)?];
            // Soft interrupts may have begun between; none is under way while this program runs.
            sum.write(&KEY, &[0; 8])?;
            Ok(Self { sum, _attached: attached })
        };
        counting()
            .map_err(|error: io::Error| Error::failed("soft interrupts cannot be traced (BPF)", error, ""))
    }

    /// The time in soft interrupts so far, in ns.
    pub fn inside_ns(&self) -> io::Result<u64> {
        Ok(self.sum.read(&KEY)?.try_into().map_or(0, u64::from_ne_bytes))
    }
}

const KEY: [u8; 4] = [0; 4];

/// `sum = now - sum`.
fn program(sum: &Map) -> [Instruction; 8] {
    const KTIME_GET_NS: i32 = 5;
    const MAP_VALUE: u8 = 2;
    [
        Instruction(0x85, 0, 0, KTIME_GET_NS), // r0 = now
        // r1 = &sum, in two instructions.
        Instruction(0x18, (MAP_VALUE << 4) | 1, 0, sum.number()),
        Instruction(0, 0, 0, 0),
        Instruction(0x79, 0x12, 0, 0), // r2 = *r1
        Instruction(0x1f, 0x20, 0, 0), // r0 -= r2
        Instruction(0x7b, 0x01, 0, 0), // *r1 = r0
        Instruction(0xb7, 0x00, 0, 0), // r0 = 0
        Instruction(0x95, 0x00, 0, 0), // exit
    ]
}

#[cfg(test)]
mod tests;
