//! The spread of boots and of runs: the variance components, with intervals.
//!
//! Estimates are those of the analysis of variance of unweighted cell means (Thomas and Hultquist,
//! Ann. Stat. 6, 1978: the harmonic mean of the numbers of runs stands for theirs), which are exact
//! for equal numbers. Intervals: chi-squared for a single mean square; for a difference of two the
//! modified large sample method (Ting, Burdick, Graybill, Jeyaratnam and Lu, J. Stat. Comput.
//! Simul. 35, 1990; Burdick and Graybill, Confidence Intervals on Variance Components, 1992).

use serde::Serialize;

use super::additive::Additive;
use super::spread::Spread;
use crate::distribution::{chi_squared, fisher};
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
    /// The variance components of `fit`, with intervals of error rate `alpha`.
    pub(crate) fn from_fit(fit: &Additive, alpha: f64) -> Components {
        let layout = &fit.layout;
        let run_df = layout.run_df();
        let runs = (run_df > 0.0).then(|| Spread { variance: layout.within / run_df, df: run_df });
        let cells = fit.mean_square();
        let of_runs = runs.map(|runs| Spread { variance: runs.variance / layout.harmonic_runs(), ..runs });
        let component = |above, below| Component::from_difference(above, below, alpha, layout.scale);
        let between_cells = cells.map(|cells| component(cells, of_runs));
        let boots = fit.boots().filter(|spread| spread.df > 0.0).and_then(|spread| {
            let error = cells?;
            let above = Spread { variance: spread.mean_square, df: spread.df };
            // The error limits the precision of a boot's effect: with every cell measured to 1 /
            // conditions of it.
            let below = Spread { variance: error.variance * spread.error_share, df: error.df };
            Some(component(above, Some(below)))
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
    pub(super) fn from_difference(above: Spread, below: Option<Spread>, alpha: f64, scale: f64) -> Component {
        let (value, low, high) = match below {
            Some(below) => difference(above, below, alpha),
            None => alone(above, alpha),
        };
        let sd = |variance: f64| scale * variance.max(0.0).sqrt();
        let interval = (low.is_finite() && high.is_finite()).then(|| (sd(low), sd(high)));
        Component { sd: sd(value), interval, df: above.df }
    }
}

/// A mean square with its chi-squared interval.
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
