//! The limits of a study file, shared with the schema.

use std::ops::RangeInclusive;
use std::time::Duration;

use words::Shape;

/// Bytes of text.
pub(crate) const TEXT: usize = 1 << 20;
/// Bytes of a `--set` change.
pub(crate) const ASSIGNMENT: usize = 10_000;
pub(crate) const CONDITIONS: usize = 10_000;
pub(crate) const RUNS: u64 = 1_000_000;
/// Workloads, and comparisons.
pub(crate) const BLOCKS: usize = 32;
pub(crate) const FACTORS: usize = 32;
pub(crate) const LEVELS: usize = 1_000;
pub(crate) const EXCLUSIONS: usize = 1_000;
/// Bytes of a name.
pub(crate) const NAME: usize = 64;
/// Bytes of a question or a reason.
pub(crate) const SENTENCE: usize = 500;
/// Bytes of the value of a sysctl, such as a list of ports.
pub(crate) const SYSCTL: usize = 65_536;

/// The MTU in bytes.
// The least that IPv4 allows (RFC 791) to the longest packet of either family.
pub(crate) const MTU: Shape = Shape::Number(68, 65_535);
pub(crate) const DEVICE_AMOUNT: Shape = Shape::Number(0, words::DeviceSetting::MOST as u64);
pub(crate) const VCPUS: Shape = Shape::Number(1, 64);
// From the least with which a distribution's kernel boots.
pub(crate) const MEMORY_MIB: RangeInclusive<u64> = 128..=65_536;
/// Bytes of the options of a kernel.
// Half of x86's limit (`COMMAND_LINE_SIZE`, 2048), which must hold ours too.
pub(crate) const COMMAND_LINE: usize = 1_000;
/// Bytes of a path or a package's name.
pub(crate) const PATH: usize = 1_024;
pub(crate) const OFFLOADS: usize = 16;
pub(crate) const MOST: Shape = Shape::Number(2, 10_000);
// More than any kernel supports (`NR_CPUS` is at most 8192).
pub(crate) const CPU: Shape = Shape::Number(0, 65_535);
/// The longest wake-up time of a CPU, in µs.
// No idle state takes a second.
pub(crate) const CPU_LATENCY: Shape = Shape::Number(0, 1_000_000);
pub(crate) const BOOTS: Shape = Shape::Number(1, 1_000);
pub(crate) const WARMUP: Shape = Shape::Number(0, 1_000);
pub(crate) const RECORDED: Shape = Shape::Number(1, 10_000);
pub(crate) const LOOKS: Shape = Shape::Number(2, 20);
// Shorter turns are lost in the time that a switch takes, and drift changes longer ones.
pub(crate) const TURN: Shape =
    Shape::Time(Duration::from_millis(20), Duration::from_secs(10), Duration::from_nanos(1));
pub(crate) const SETTLE: Shape =
    Shape::Time(Duration::from_millis(1), LONGEST_SETTLE, Duration::from_nanos(1));
/// Half of the longest turn.
pub(crate) const LONGEST_SETTLE: Duration = Duration::from_secs(5);
pub(crate) const BATCH: Shape = Shape::Number(1, words::MOST_MESSAGES as u64);
pub(crate) const ROUNDS: Shape = Shape::Number(1, words::MOST_ROUNDS as u64);
// The range of TOML's integers.
pub(crate) const SEED: Shape = Shape::Number(0, 9_223_372_036_854_775_807);
