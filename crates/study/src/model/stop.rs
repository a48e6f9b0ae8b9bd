//! When a study may stop before its last boot: looks at the data, planned beforehand.

use std::fmt;

use serde::{Deserialize, Serialize};
use words::Percent;

/// A group-sequential design: the study stops at the first look at which every comparison is
/// decided.
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

    /// Whether this many boots are enough: the first look needs two boots, and each later one needs
    /// one more.
    pub(crate) fn fits(looks: u32, boots: u32) -> bool {
        boots > looks
    }

    /// The boots after which it looks: equal steps, rounded up; the last look is after the last
    /// boot.
    pub fn after(&self, boots: u32) -> impl Iterator<Item = u32> + use<> {
        let looks = self.looks;
        (1..=looks).map(move |look| (u64::from(boots) * u64::from(look)).div_ceil(u64::from(looks)) as u32)
    }
}

/// Looks that a `--set` left no boots for: all boots are run, whatever they show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LooksDropped {
    /// The looks that the file plans.
    pub looks: u32,
    /// The boots that are left.
    pub boots: u32,
}

impl fmt::Display for LooksDropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { looks, boots } = self;
        write!(
            f,
            "none, and no early stop: {looks} looks need more than {looks} boots, and --set leaves {boots}"
        )
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
