//! The protocol of a study: the number and the order of its measurements.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use words::{KernelPath, Kind, Percent, Waiting};

/// The protocol of a study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Protocol {
    /// Boots: fresh starts of every host. The boot is the unit of replication.
    pub boots: u32,
    /// The parts of machines that a boot starts afresh; absent in studies of earlier versions.
    #[serde(default, skip_serializing_if = "BootKind::is_reset")]
    pub how: BootKind,
    /// Warm-up runs of each condition in each boot.
    pub warmup: u32,
    /// Recorded runs of each condition in each boot.
    pub runs: u32,
    /// The order of the runs inside a boot.
    pub order: Order,
    /// The seed of the random order, which is the same on every machine and in every version.
    pub seed: u64,
    /// When it may stop before the last boot; none: never.
    pub stop: Option<Stop>,
    /// The turns of conditions in one flow; `None`: each has runs of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternate: Option<Alternate>,
    /// Whether conditions take turns in every second block only ([`Protocol::is_apart`]).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
}

/// The turns of conditions in one flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alternate {
    /// The length of a turn.
    #[serde(with = "words::duration::text")]
    pub turn: Duration,
    /// Its first part, which is not counted.
    #[serde(with = "words::duration::text")]
    pub settle: Duration,
}

impl Alternate {
    // A step response of some ms is over in a fifth of it.
    pub(crate) const TURN: Duration = Duration::from_millis(100);

    /// Turns of this length; without a time to settle, a fifth of it is for that.
    pub fn with_turn(turn: Duration, settle: Option<Duration>) -> Self {
        Self { turn, settle: settle.unwrap_or(turn / 5) }
    }

    /// The part of a turn that is counted.
    pub fn counted(self) -> Duration {
        self.turn.saturating_sub(self.settle)
    }
}

impl Protocol {
    /// Whether conditions that could take turns have runs of their own in this recorded block of a
    /// boot, so that both ways of measuring see the same boots. Boots begin with either way.
    pub fn is_apart(&self, boot: u32, block: u32) -> bool {
        self.apart && block > 0 && boot % 2 == block % 2
    }

    pub(crate) fn total_runs(&self, conditions: usize) -> u64 {
        let each = u64::from(self.warmup) + u64::from(self.runs);
        each.saturating_mul(self.boots.into()).saturating_mul(conditions as u64)
    }
}

impl Default for Protocol {
    fn default() -> Self {
        // Boots and runs of the reference studies R1 and R2.
        Self {
            boots: 3,
            how: BootKind::Reset,
            warmup: 1,
            runs: 10,
            order: Order::Interleaved,
            seed: 1,
            stop: None,
            alternate: Some(Alternate::with_turn(Alternate::TURN, None)),
            apart: false,
        }
    }
}

words::vocabulary! {
    /// The order of the runs inside a boot.
    pub enum Order: "an order" {
        /// In blocks: every condition once in random order, then every condition again. What drifts
        /// during a boot falls on all conditions alike.
        Interleaved = "interleaved";
        /// Condition after condition, as most published studies did. Drift falls on some conditions
        /// more than on others.
        Sequential = "sequential";
    }
}

words::vocabulary! {
    /// Whether conditions take turns, where their length is not written.
    #[derive(Default)]
    pub(crate) enum WhetherTurns: "a duration, `auto` or `off`" {
        /// Where they can, and turns are known to find what runs find.
        Auto = "auto", default;
        /// Each condition has runs of its own.
        Off = "off";
    }
}

words::vocabulary! {
    /// The parts that a boot between machines starts afresh.
    #[derive(Default)]
    pub enum BootKind: "a kind of boot" {
        /// Sockets and settings. The machines go on.
        Reset = "reset", default;
        /// The machines: both restart between two boots.
        Reboot = "reboot";
    }
}

impl BootKind {
    /// Whether it is the default.
    pub fn is_reset(&self) -> bool {
        *self == Self::Reset
    }

    /// The effect on the machines, for tables.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Reset => "sockets and settings rebuilt, machines not restarted",
            Self::Reboot => "both machines restarted between boots",
        }
    }
}

/// A group-sequential design: it stops at the first look that decides every comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// The smallest difference of interest, in % of the baseline. A comparison is decided when it
    /// is proven to differ, or proven to differ by less than this.
    pub detect: Percent,
    /// The number of planned looks, including the one after the last boot.
    pub looks: u32,
    /// The way in which the error rate is spent over the looks.
    pub bounds: Bounds,
}

impl Stop {
    /// The looks of a study that does not say how many.
    pub const LOOKS: u32 = 5;

    /// The boots after which it looks: equal steps, rounded up, to the last boot.
    pub fn after(&self, boots: u32) -> impl Iterator<Item = u32> + use<> {
        let looks = self.looks;
        (1..=looks).map(move |look| (u64::from(boots) * u64::from(look)).div_ceil(u64::from(looks)) as u32)
    }
}

words::vocabulary! {
    /// How the error rate is spent over the looks.
    pub enum Bounds: "a kind of bounds" {
        /// Little of it early: stops early only for large differences, and costs almost no power at
        /// the end.
        ObrienFleming = "obrien-fleming";
        /// The same at every look: stops earlier, and needs more boots where the difference is
        /// small.
        Pocock = "pocock";
    }
}

/// The traces that a study makes behind each recorded run, with the switches of that run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tracing {
    /// The paths. One whose protocol a workload does not have is not traced with it.
    pub paths: Vec<KernelPath>,
    /// Waits of the readers; each path is traced with each.
    pub readers: Vec<Waiting>,
    /// Messages of a batch.
    pub batch: u32,
    /// Batches of each kind.
    pub rounds: u32,
    /// Whether the functions that take the CPU are sampled, without probes.
    #[serde(default)]
    pub profile: bool,
}

impl Default for Tracing {
    fn default() -> Self {
        Self { paths: Vec::new(), readers: vec![Waiting::Awake], batch: 4096, rounds: 5, profile: false }
    }
}

impl Tracing {
    /// The traced paths of this kind of traffic, each with each wait of the readers.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = (KernelPath, Waiting)> {
        let paths = self.paths.iter().filter(move |path| path.carries(kind));
        paths.flat_map(move |path| {
            let readers = self.readers.iter().filter(move |reader| reader.suits(kind));
            readers.map(|reader| (*path, *reader))
        })
    }

    /// Whether functions are sampled beside this trace: with the first path of each kind of reader,
    /// for all of its paths have the same work.
    pub fn samples(&self, kind: Kind, (path, reader): (KernelPath, Waiting)) -> bool {
        let first = self.of_kind(kind).find(|(_, other)| *other == reader);
        self.profile && first == Some((path, reader))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_at_equal_steps_and_the_last_is_at_the_end() {
        let after = |looks, boots| {
            let detect = Percent::parse("2%").unwrap();
            Stop { detect, looks, bounds: Bounds::Pocock }.after(boots).collect::<Vec<_>>()
        };
        assert_eq!(after(5, 10), [2, 4, 6, 8, 10]);
        assert_eq!(after(5, 6), [2, 3, 4, 5, 6]);
        assert_eq!(after(3, 10), [4, 7, 10]);
        assert_eq!(after(2, 1_000), [500, 1_000]);
    }
}
