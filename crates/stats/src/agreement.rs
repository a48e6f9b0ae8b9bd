//! Two ways of measuring the same difference in the same boots: whether they agree.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::distribution::student;
use crate::families;
use crate::model::{Estimate, ROUNDING};
use crate::observed::mean;

/// One run of a condition or of its baseline, measured one way or the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EitherWay {
    /// The boot.
    pub boot: u32,
    /// Whether it was measured the second way.
    pub second: bool,
    /// A run of the condition, or else of the baseline.
    pub of_condition: bool,
    /// The value, which is not negative.
    pub value: f64,
}

/// A share in % with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PercentEstimate {
    /// The estimate.
    pub value: f64,
    /// Its standard error over boots.
    pub standard_error: f64,
    /// Its interval.
    pub interval: (f64, f64),
}

/// A difference as both ways show it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// The boots that measured both conditions both ways.
    pub boots: usize,
    /// The difference in % of the baseline, the first way; its interval has the level by itself.
    pub first: PercentEstimate,
    /// The difference measured the second way.
    pub second: PercentEstimate,
    /// The first less the second, in points of %. The intervals of all comparisons hold together.
    pub apart: PercentEstimate,
    /// Whether the interval of `apart` includes 0.
    pub agree: bool,
}

/// Whether two ways of measuring agree on each of several differences. `None` where fewer than two
/// boots measured both conditions both ways, or where the baseline's mean is not above 0.
///
/// The boot is the unit. Each way's difference is the ratio of the means of the boots; the
/// disagreement is the mean, over boots, of the difference of both ratios' linear parts (the delta
/// method), so that what a boot does to both ways alike is in neither its estimate nor its error.
/// Of comparisons that agree, any is said to disagree with a chance of at most 1 - `level` (Holm,
/// Scandinavian Journal of Statistics 6, 1979).
pub fn agree(comparisons: &[Vec<EitherWay>], level: f64) -> Vec<Option<Agreement>> {
    let alpha = 1.0 - level;
    let found: Vec<Option<(usize, [Estimate; 3])>> = comparisons.iter().map(|runs| estimates(runs)).collect();
    let p = |(_, [.., apart]): &(usize, [Estimate; 3])| student::two_sided(apart.t(), apart.df);
    let p: Vec<Vec<f64>> = found.iter().map(|one| one.iter().map(p).collect()).collect();
    let levels = families::levels(&p, alpha);
    let judged = |(one, own): (Option<(usize, [Estimate; 3])>, f64)| {
        let (boots, [first, second, apart]) = one?;
        let apart = percent(&apart, own)?;
        let (low, high) = apart.interval;
        Some(Agreement {
            boots,
            first: percent(&first, alpha)?,
            second: percent(&second, alpha)?,
            apart,
            agree: low <= 0.0 && high >= 0.0,
        })
    };
    found.into_iter().zip(levels).map(judged).collect()
}

/// The number of boots; each way, and how far both are apart.
fn estimates(runs: &[EitherWay]) -> Option<(usize, [Estimate; 3])> {
    // The values of the baseline and of the condition, each way, by boot.
    let mut cells: BTreeMap<u32, [[Vec<f64>; 2]; 2]> = BTreeMap::new();
    for run in runs {
        let cell = cells.entry(run.boot).or_default();
        cell[usize::from(run.second)][usize::from(run.of_condition)].push(run.value);
    }
    cells.retain(|_, ways| ways.iter().flatten().all(|cell| !cell.is_empty()));
    let means =
        |way: usize| cells.values().map(move |ways| [mean(&ways[way][0]), mean(&ways[way][1])]).collect();
    let (first, second) = (ratios(means(0))?, ratios(means(1))?);
    let apart: Vec<f64> = first.iter().zip(&second).map(|(first, second)| first - second).collect();
    Some((cells.len(), [estimate(&first)?, estimate(&second)?, estimate(&apart)?]))
}

fn percent(estimate: &Estimate, alpha: f64) -> Option<PercentEstimate> {
    let interval = estimate.interval(alpha)?;
    Some(PercentEstimate { value: estimate.value, standard_error: estimate.se, interval })
}

/// The difference of the condition's mean over boots from the baseline's in %, as one value for
/// each boot: their mean is that difference, and their spread that of its linear part.
fn ratios(boots: Vec<[f64; 2]>) -> Option<Vec<f64>> {
    let mean_of = |place: usize| mean(&boots.iter().map(|boot| boot[place]).collect::<Vec<_>>());
    let (baseline, ratio) = (mean_of(0), mean_of(1) / mean_of(0));
    let linear = |[one, other]: &[f64; 2]| 100.0 * (ratio - 1.0 + (other - ratio * one) / baseline);
    (baseline > 0.0 && ratio.is_finite()).then(|| boots.iter().map(linear).collect())
}

fn estimate(boots: &[f64]) -> Option<Estimate> {
    let (value, count) = (mean(boots), boots.len() as f64);
    let squares: f64 = boots.iter().map(|boot| (boot - value).powi(2)).sum();
    // Values are in %, of which 100 are taken off.
    let rounding = ROUNDING * boots.iter().fold(100.0_f64, |most, boot| most.max(boot.abs()));
    (boots.len() > 1).then(|| Estimate {
        value,
        se: (squares / (count - 1.0) / count).sqrt(),
        df: count - 1.0,
        rounding,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::oracles::is_close;

    #[test]
    fn the_difference_is_that_of_the_ratios() {
        let run = |boot, second, of_condition, value| EitherWay { boot, second, of_condition, value };
        let runs = [
            run(1, false, false, 100.0),
            run(1, false, true, 80.0),
            run(1, true, false, 100.0),
            run(1, true, true, 79.0),
            run(2, false, false, 110.0),
            run(2, false, true, 90.0),
            run(2, true, false, 120.0),
            run(2, true, true, 92.0),
            run(2, true, true, 94.0),
            // A boot without the baseline.
            run(3, true, true, 1.0),
        ];
        let found = agree(&[runs.to_vec()], 0.95)[0].unwrap();
        assert_eq!(found.boots, 2);
        let (first, second) = (100.0 * (170.0 / 210.0 - 1.0), 100.0 * (172.0 / 220.0 - 1.0));
        assert!(is_close(found.first.value, first, 1e-12) && is_close(found.second.value, second, 1e-12));
        assert!(is_close(found.apart.value, first - second, 1e-9) && found.agree, "{found:?}");
        assert_eq!(agree(&[runs[..4].to_vec(), Vec::new()], 0.95), [None, None]);
    }

    proptest! {
        #[test]
        fn what_boots_do_to_all_alike_changes_nothing(
            levels in prop::collection::vec(0.1..10.0f64, 2..8),
            value in 1.0..1000.0f64,
        ) {
            let boots = || (1..).zip(&levels);
            let run = |boot, level: f64, second, of_condition: bool| EitherWay {
                boot, second, of_condition, value: level * value * if of_condition { 0.9 } else { 1.0 },
            };
            let runs = boots().flat_map(|(boot, level)| {
                [(false, false), (false, true), (true, false), (true, true)]
                    .map(|(second, of_condition)| run(boot, *level, second, of_condition))
            });
            let found = agree(&[runs.collect()], 0.95)[0].unwrap();
            prop_assert!((found.first.value + 10.0).abs() < 1e-9 && found.agree, "{:?}", found);
        }
    }
}
