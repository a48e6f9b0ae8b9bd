//! A robust check in words.

use super::number::{fixed, signed};
use crate::compare::{Check, Looks};

impl Check {
    /// The sentence of a check that disagrees with a verdict, without a full stop and without
    /// [`Check::farthest`], which needs the boots' names. `is_proven`: the verdict is a difference.
    pub fn sentence(&self, is_proven: bool) -> String {
        let size = self.relative.map_or_else(String::new, |share| format!("{} %, ", signed(fixed(share, 1))));
        let p = if self.p < 0.0001 { "p < 0.0001".to_owned() } else { format!("p {:.4}", self.p) };
        let (by, rests, hides) = match self.looks {
            Looks::RunMedians => (
                "by the medians of the boots' runs",
                "the verdict rests on single runs",
                "single runs hide the difference from the verdict",
            ),
            Looks::BootRanks => (
                "by the ranks of the boots",
                "the verdict rests on single boots",
                "single boots hide the difference from the verdict",
            ),
        };
        let finding = if is_proven {
            format!("no difference is seen ({size}{p}): {rests}")
        } else {
            format!("there is a difference ({size}{p}): {hides}")
        };
        format!("robust check disagrees: {by} {finding}")
    }
}
