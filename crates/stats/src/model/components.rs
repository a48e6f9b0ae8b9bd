//! The spread of boots and of runs: the variance components, with intervals.
//!
//! Estimates are those of the analysis of variance of unweighted cell means (Thomas and Hultquist,
//! Ann. Stat. 6, 1978: the harmonic mean of the numbers of runs stands for theirs), which are exact
//! for equal numbers. Intervals: chi-squared for a single mean square; for a difference of two the
//! modified large sample method (Ting, Burdick, Graybill, Jeyaratnam and Lu, J. Stat. Comput.
//! Simul. 35, 1990; Burdick and Graybill, Confidence Intervals on Variance Components, 1992).

use std::collections::BTreeMap;

use serde::Serialize;

use crate::distribution::{chi_squared, fisher};
use crate::model::additive::Additive;
use crate::model::spread::Spread;
use crate::observed::mean;
use crate::question::Design;

/// The spread of the data, by where it comes from, in the metric's unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Components {
    /// Between boots, common to all conditions. With one run in each boot of a nested design it
    /// includes the runs' spread, and so does `interaction` of a crossed design. `None` for fewer
    /// than two boots.
    pub boots: Option<Component>,
    /// The specific effect of a boot on one condition; crossed designs only.
    pub interaction: Option<Component>,
    /// Between runs inside a boot; `None` where every cell has one run.
    pub runs: Option<Component>,
}

/// One variance component, as a standard deviation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Component {
    /// The standard deviation; 0 where the other components explain all.
    pub sd: f64,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
    /// The degrees of freedom of the mean square it comes from.
    pub df: f64,
}

impl Components {
    pub(crate) fn from_fit(fit: &Additive, alpha: f64) -> Components {
        let layout = &fit.layout;
        let run_df = layout.runs - layout.places.len() as f64;
        let runs = (run_df > 0.0).then(|| Spread { variance: layout.within / run_df, df: run_df });
        let cells = fit.residual;
        let inverse_runs: f64 = layout.places.iter().map(|place| 1.0 / place.runs).sum();
        let harmonic = layout.places.len() as f64 / inverse_runs;
        let of_runs = runs.map(|runs| Spread { variance: runs.variance / harmonic, ..runs });
        let component = |above, below| Component::from_difference(above, below, alpha, layout.scale);
        let between_cells = cells.map(|cells| component(cells, of_runs));
        let boots = fit.boots().zip(cells).map(|((boots, error_share), error)| {
            // The error limits the precision of a boot's effect: with every cell measured to 1 /
            // conditions of it.
            component(boots, Some(Spread { variance: error.variance * error_share, df: error.df }))
        });
        let (boots, interaction) = match layout.design {
            Design::Nested => (between_cells, None),
            Design::Crossed => (boots, between_cells),
        };
        Components { boots, interaction, runs: runs.map(|runs| component(runs, None)) }
    }
}

impl Component {
    /// The excess of the mean square `above` over the part `below`, as a standard deviation in
    /// units of `scale`, with an interval of error rate `alpha`.
    pub(crate) fn from_difference(above: Spread, below: Option<Spread>, alpha: f64, scale: f64) -> Component {
        let (value, low, high) = match below {
            Some(below) => difference(above, below, alpha),
            None => alone(above, alpha),
        };
        let sd = |variance: f64| scale * variance.max(0.0).sqrt();
        let interval = (low.is_finite() && high.is_finite()).then(|| (sd(low), sd(high)));
        Component { sd: sd(value), interval, df: above.df }
    }
}

fn alone(square: Spread, alpha: f64) -> (f64, f64, f64) {
    let Spread { variance: value, df } = square;
    let bound = |p: f64| chi_squared::quantile(p, df).map_or(f64::NAN, |quantile| df * value / quantile);
    (value, bound(1.0 - alpha / 2.0), bound(alpha / 2.0))
}

/// The difference of two mean squares with its modified-large-sample interval: Burdick and
/// Graybill's equations 3.3.1 and 3.3.2.
fn difference(above: Spread, below: Spread, alpha: f64) -> (f64, f64, f64) {
    let quantile = |p: f64, df: f64| chi_squared::quantile(p, df).map_or(f64::NAN, |value| value / df);
    let ratio = |p: f64| fisher::quantile(p, above.df, below.df).unwrap_or(f64::NAN);
    let (small, large) = (alpha / 2.0, 1.0 - alpha / 2.0);
    let (one, other) = (above.variance, below.variance);
    let value = one - other;
    let reach = |of_one: f64, of_other: f64, f: f64| {
        let both = ((f - 1.0).powi(2) - (of_one * f).powi(2) - of_other.powi(2)) / f;
        ((of_one * one).powi(2) + (of_other * other).powi(2) + both * one * other).max(0.0).sqrt()
    };
    let low =
        reach(1.0 - 1.0 / quantile(large, above.df), 1.0 / quantile(small, below.df) - 1.0, ratio(large));
    let high =
        reach(1.0 / quantile(small, above.df) - 1.0, 1.0 - 1.0 / quantile(large, below.df), ratio(small));
    (value, value - low, value + high)
}

// The spread of differences between conditions that share flows.
//
// An effect of a flow or its boot on all of its conditions alike is in no difference between them.
// The rest of a value is the part of its condition, that of the boot for this condition, and that
// of the flow for it.

impl Components {
    /// The variance components of flows, each with its boot and the values of the same conditions
    /// in the same order: `interaction` of a boot and a condition, `runs` of a flow and a
    /// condition, `None` where each boot has one flow (`interaction` includes it then). `None` with
    /// fewer than two conditions or boots.
    pub fn of_flows(flows: &[(u32, Vec<f64>)], alpha: f64) -> Option<Components> {
        let conditions = flows.first().map_or(0, |(_, values)| values.len());
        let mut boots: BTreeMap<u32, Vec<Vec<f64>>> = BTreeMap::new();
        for (boot, values) in flows.iter().filter(|(_, values)| values.len() == conditions) {
            let level = mean(values);
            boots.entry(*boot).or_default().push(values.iter().map(|value| value - level).collect());
        }
        if conditions < 2 || boots.len() < 2 {
            return None;
        }
        let of_boots: Vec<(f64, Vec<f64>)> = boots.values().map(|flows| around_means(flows)).collect();
        let free = conditions as f64 - 1.0;
        let count = boots.values().map(Vec::len).sum::<usize>();
        let run_df = (count - boots.len()) as f64 * free;
        let within: f64 = of_boots.iter().map(|(squares, _)| squares).sum();
        let runs = (run_df > 0.0).then(|| Spread { variance: within / run_df, df: run_df });
        let harmonic = boots.len() as f64 / boots.values().map(|flows| 1.0 / flows.len() as f64).sum::<f64>();
        let cells: Vec<Vec<f64>> = of_boots.into_iter().map(|(_, means)| means).collect();
        let df = (boots.len() as f64 - 1.0) * free;
        let above = Spread { variance: around_means(&cells).0 / df, df };
        let below = runs.map(|runs| Spread { variance: runs.variance / harmonic, ..runs });
        Some(Components {
            boots: None,
            interaction: Some(Component::from_difference(above, below, alpha, 1.0)),
            runs: runs.map(|runs| Component::from_difference(runs, None, alpha, 1.0)),
        })
    }
}

/// The sum of squares of the rows around the mean of each column, and these means.
fn around_means(rows: &[Vec<f64>]) -> (f64, Vec<f64>) {
    let columns = 0..rows.first().map_or(0, Vec::len);
    let means: Vec<f64> =
        columns.map(|column| mean(&rows.iter().map(|row| row[column]).collect::<Vec<_>>())).collect();
    let squares =
        |row: &Vec<f64>| row.iter().zip(&means).map(|(value, mean)| (value - mean).powi(2)).sum::<f64>();
    (rows.iter().map(squares).sum(), means)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_second_mean_square_the_interval_is_chi_squareds() {
        let square = Spread { variance: 4.0, df: 6.0 };
        let nothing = Spread { variance: 0.0, df: 20.0 };
        let ((_, low, high), (_, alone_low, alone_high)) =
            (difference(square, nothing, 0.05), alone(square, 0.05));
        assert!((low - alone_low).abs() < 1e-9 && (high - alone_high).abs() < 1e-9);
    }

    #[test]
    fn the_interval_starts_above_zero_exactly_when_f_is_significant() {
        for value in [0.5, 1.0, 2.0, 4.0, 8.0, 16.0] {
            let (above, below) = (Spread { variance: value, df: 5.0 }, Spread { variance: 1.0, df: 30.0 });
            let (_, low, high) = difference(above, below, 0.05);
            let is_significant = value > fisher::quantile(0.975, 5.0, 30.0).unwrap();
            assert_eq!(low > 0.0, is_significant, "{value}: {low}");
            assert!(low <= value - 1.0 && value - 1.0 <= high);
        }
    }
}

#[cfg(test)]
mod flows_tests {
    use proptest::prelude::*;

    use super::*;
    use crate::oracles::is_close;

    /// Of two conditions: half of the variance of their differences, by hand.
    #[test]
    fn two_conditions_spread_as_their_differences() {
        let flows = |differences: [f64; 4]| {
            let flow = |(place, difference): (u32, f64)| (place / 2, vec![100.0, 100.0 + difference]);
            (0..4_u32).zip(differences).map(flow).collect::<Vec<_>>()
        };
        // In each boot 2 apart, a variance of 2; the means of the boots are 2 and 8, a variance of
        // 18, of which 2 / 2 is that of flows.
        let found = Components::of_flows(&flows([1.0, 3.0, 7.0, 9.0]), 0.4).unwrap();
        let (interaction, runs) = (found.interaction.unwrap(), found.runs.unwrap());
        assert!(is_close(runs.sd.powi(2), 2.0 / 2.0, 1e-12), "{runs:?}");
        assert!(is_close(interaction.sd.powi(2), (18.0 - 1.0) / 2.0, 1e-12), "{interaction:?}");
        assert_eq!((interaction.df, runs.df), (1.0, 2.0));
        let one_each = Components::of_flows(&[(1, vec![1.0, 2.0]), (2, vec![1.0, 4.0])], 0.4).unwrap();
        assert!(
            is_close(one_each.interaction.unwrap().sd.powi(2), 2.0 / 2.0, 1e-12) && one_each.runs.is_none()
        );
    }

    #[test]
    fn what_has_no_spread_has_no_components() {
        let one = |boot| (boot, vec![1.0, 2.0]);
        assert_eq!(Components::of_flows(&[], 0.4), None);
        assert_eq!(Components::of_flows(&[one(1), one(1)], 0.4), None);
        assert_eq!(Components::of_flows(&[(1, vec![1.0]), (2, vec![2.0])], 0.4), None);
    }

    proptest! {
        #[test]
        fn what_flows_do_to_all_alike_changes_nothing(
            levels in prop::collection::vec(-100.0..100.0f64, 6),
            values in prop::collection::vec(prop::collection::vec(-1.0..1.0f64, 3), 6),
        ) {
            let flows = |level: &dyn Fn(usize) -> f64| -> Vec<(u32, Vec<f64>)> {
                let flow = |(place, values): (usize, &Vec<f64>)| {
                    (place as u32 / 2, values.iter().map(|value| value + level(place)).collect())
                };
                values.iter().enumerate().map(flow).collect()
            };
            let sd = |found: Components| (found.interaction.unwrap().sd, found.runs.unwrap().sd);
            let plain = sd(Components::of_flows(&flows(&|_| 0.0), 0.4).unwrap());
            let shifted = sd(Components::of_flows(&flows(&|place| levels[place]), 0.4).unwrap());
            prop_assert!((plain.0 - shifted.0).abs() < 1e-6 && (plain.1 - shifted.1).abs() < 1e-9);
        }
    }
}
