//! The figures behind the dots.

use super::{Dots, DotsBoot};
use crate::chart::finite::Finite;
use crate::chart::table::{FigureCell, FigureTable};

impl Dots {
    pub(super) fn table_of_boots(&self) -> FigureTable {
        let quantity = self.quantity.title(0);
        let mut table = FigureTable::new(&["condition", "boot", &quantity, "lower end", "upper end", "runs"]);
        let plain = |value| self.quantity.plain(value);
        for condition in &self.conditions {
            if let Some(shown) = &condition.interval {
                table.row([
                    FigureCell::text(&condition.name),
                    FigureCell::text(&self.interval),
                    FigureCell::number(Some(shown.estimate), plain),
                    FigureCell::number(shown.low, plain),
                    FigureCell::number(shown.high, plain),
                    FigureCell::Empty,
                ]);
            }
            for boot in &condition.boots {
                let runs: Vec<String> = boot.runs.iter().map(|run| plain(*run)).collect();
                table.row([
                    FigureCell::text(&condition.name),
                    FigureCell::text(&boot.name),
                    FigureCell::number(boot.mean(), plain),
                    FigureCell::Empty,
                    FigureCell::Empty,
                    FigureCell::Text(runs.join(" ")),
                ]);
            }
        }
        table
    }

    /// A row for each condition, with the means of its boots: of very many runs nobody reads each.
    pub(super) fn table_of_conditions(&self) -> FigureTable {
        let (quantity, boots) = (self.quantity.title(0), self.boots());
        let means: Vec<String> = boots.iter().map(|boot| format!("mean of {boot}")).collect();
        let head = ["condition", &quantity, "lower end", "upper end", "runs"].into_iter();
        let mut table = FigureTable::new(&head.chain(means.iter().map(String::as_str)).collect::<Vec<_>>());
        let plain = |value| FigureCell::number(value, |value| self.quantity.plain(value));
        for condition in &self.conditions {
            let shown = condition.interval.as_ref();
            let runs: usize = condition.boots.iter().map(|boot| boot.runs.len()).sum();
            let of = |name: &&str| {
                let boot = condition.boots.iter().find(|boot| boot.name == *name);
                plain(boot.and_then(DotsBoot::mean))
            };
            let whole = [
                FigureCell::text(&condition.name),
                plain(shown.map(|shown| shown.estimate)),
                plain(shown.and_then(|shown| shown.low)),
                plain(shown.and_then(|shown| shown.high)),
                FigureCell::number(u32::try_from(runs).ok().map(Finite::from), |_| runs.to_string()),
            ];
            table.row(whole.into_iter().chain(boots.iter().map(of)));
        }
        table
    }
}
