//! ministat's confidence levels and its table of quantiles, and any other level with exact ones.

use stats::distribution::student;

/// A confidence level: one of ministat's six, or any with exact quantiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    percent: f64,
    coverage: f64,
    /// Whether quantiles come from ministat's table.
    is_tabulated: bool,
}

impl Level {
    /// ministat's levels: 80, 90, 95, 98, 99 and 99.5 %. The last column holds the quantiles of
    /// 99.8 %: an error in ministat that is kept, since verdicts depend on it.
    pub const ALL: [Level; 6] = [
        Level::tabulated(80.0, 0.80),
        Level::tabulated(90.0, 0.90),
        Level::tabulated(95.0, 0.95),
        Level::tabulated(98.0, 0.98),
        Level::tabulated(99.0, 0.99),
        Level::tabulated(99.5, 0.998),
    ];

    const fn tabulated(percent: f64, coverage: f64) -> Level {
        Level { percent, coverage, is_tabulated: true }
    }

    /// A level with exact quantiles, in percent, if it is between 0 and 100.
    pub fn exact(percent: f64) -> Option<Level> {
        (percent > 0.0 && percent < 100.0).then_some(Level {
            percent,
            coverage: percent / 100.0,
            is_tabulated: false,
        })
    }

    /// ministat's level in percent, if it is one.
    pub fn from_percent(percent: f64) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.percent == percent)
    }

    /// The level in percent.
    pub fn percent(self) -> f64 {
        self.percent
    }

    /// The two-sided quantile of Student's t. ministat's table has three decimals, and above 100
    /// degrees of freedom the quantile of infinitely many.
    pub fn t(self, df: usize) -> f64 {
        if !self.is_tabulated {
            return student::quantile((1.0 + self.coverage) / 2.0, df as f64).unwrap_or(f64::NAN);
        }
        let slip = SLIPS.iter().find(|(slip, _)| *slip == df && self.coverage == 0.998);
        if let Some((_, t)) = slip {
            return *t;
        }
        let df = if df > 100 { f64::INFINITY } else { df as f64 };
        let exact = student::quantile((1.0 + self.coverage) / 2.0, df).unwrap_or(f64::NAN);
        (exact * 1000.0).round() / 1000.0
    }
}

impl Default for Level {
    fn default() -> Level {
        Level::ALL[2]
    }
}

/// The degrees of freedom for which the table's last column is not the rounded quantile, with the
/// column's value.
const SLIPS: [(usize, f64); 7] =
    [(1, 318.313), (7, 4.782), (8, 4.499), (9, 4.296), (10, 4.143), (11, 4.024), (12, 3.929)];

#[cfg(test)]
mod tests {
    use super::*;

    /// ministat's table by its rule, from `oracles.py` beside the fixtures of `stats`.
    #[derive(serde::Deserialize)]
    struct Table {
        infinity: Vec<String>,
        rows: Vec<Vec<String>>,
    }

    #[test]
    fn the_table_is_the_rounded_quantiles_except_for_seven_errors() {
        let oracle: Table = serde_json::from_str(include_str!("../tests/fixtures/t-table.json")).unwrap();
        let mut slips = Vec::new();
        for (column, level) in Level::ALL.into_iter().enumerate() {
            assert_eq!(format!("{:.3}", level.t(101)), oracle.infinity[column]);
            for (row, exact) in oracle.rows.iter().enumerate() {
                let (df, t) = (row + 1, level.t(row + 1));
                if format!("{t:.3}") != exact[column] {
                    slips.push((df, t));
                }
            }
        }
        assert_eq!(slips, SLIPS);
    }

    #[test]
    fn levels_are_found_by_their_exact_number() {
        assert_eq!(Level::from_percent(99.5).map(Level::percent), Some(99.5));
        assert_eq!(Level::from_percent(97.0), None);
        assert_eq!(Level::from_percent(f64::NAN), None);
        assert_eq!(Level::default().percent(), 95.0);
    }

    #[test]
    fn exact_levels_are_not_rounded() {
        let t = |percent: f64, df: usize| Level::exact(percent).unwrap().t(df);
        // From R: qt(0.9975, 18), qt(0.975, 101), qt(0.9875, 7)
        for (got, expected) in [(t(99.5, 18), 3.196574), (t(95.0, 101), 1.983731), (t(97.5, 7), 2.841244)] {
            assert!((got - expected).abs() < 1e-6, "{got} {expected}");
        }
        assert_eq!([0.0, 100.0, -1.0, f64::NAN].map(Level::exact), [None; 4]);
    }

    #[test]
    fn published_entries() {
        assert_eq!(Level::default().t(58), 2.002);
        assert_eq!((Level::default().t(100), Level::default().t(101)), (1.984, 1.960));
        assert_eq!(Level::from_percent(99.5).unwrap().t(18), 3.610);
    }
}
