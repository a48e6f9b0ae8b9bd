//! Whether the conditions' boots spread equally, so that their error may be pooled.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::distribution::fisher;

/// Below this p the spreads are not pooled.
const LEVEL: f64 = 0.05;

/// Brown and Forsythe's test (J. Am. Stat. Assoc. 69, 1974): an analysis of variance of the absolute deviations of boot
/// means from their condition's median. In a crossed design the deviations are what the additive model leaves of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Homogeneity {
    /// The F statistic; infinite if the deviations differ between conditions only.
    pub statistic: f64,
    /// Degrees of freedom, between and within conditions.
    pub df: (f64, f64),
    /// The chance of such a statistic where all conditions spread equally.
    pub p: f64,
}

impl Homogeneity {
    /// May the error be pooled over the conditions?
    pub fn is_equal(&self) -> bool {
        self.p >= LEVEL
    }

    /// Tests `deviations`, each with its condition's row. None for fewer than two conditions of three or more (two boots are
    /// equally far from their median, whatever their spread), and when nothing deviates.
    pub(crate) fn of(deviations: impl Iterator<Item = (usize, f64)>) -> Option<Homogeneity> {
        let mut groups: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for (row, deviation) in deviations {
            groups.entry(row).or_default().push(deviation);
        }
        let groups: Vec<Vec<f64>> =
            groups.into_values().filter(|group| group.len() > 2).map(from_median).collect();
        let count: usize = groups.iter().map(Vec::len).sum();
        let df = (groups.len().checked_sub(1)? as f64, (count - groups.len()) as f64);
        if df.0 == 0.0 {
            return None;
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let all = groups.iter().flatten().sum::<f64>() / count as f64;
        let between: f64 = groups.iter().map(|group| group.len() as f64 * (mean(group) - all).powi(2)).sum();
        let within: f64 = groups
            .iter()
            .map(|group| {
                let mean = mean(group);
                group.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
            })
            .sum();
        // Equal deviations, none of them included, prove nothing.
        if between <= f64::EPSILON * all * all {
            return (all > 0.0).then_some(Homogeneity { statistic: 0.0, df, p: 1.0 });
        }
        let statistic = between / df.0 / (within / df.1);
        Some(Homogeneity { statistic, df, p: fisher::sf(statistic, df.0, df.1) })
    }
}

/// The absolute deviations from the median.
fn from_median(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    let median = values[(values.len() - 1) / 2].midpoint(values[values.len() / 2]);
    values.iter().map(|value| (value - median).abs()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(groups: &[&[f64]]) -> Option<Homogeneity> {
        let rows = groups.iter().enumerate();
        Homogeneity::of(rows.flat_map(|(row, group)| group.iter().map(move |value| (row, *value))))
    }

    #[test]
    fn unequal_spreads_object_and_equal_ones_do_not() {
        let unequal =
            test(&[&[1.0, 1.1, 0.9, 1.05, 0.95], &[1.0, 9.0, -7.0, 5.0, -4.0], &[3.0, 3.1, 2.9, 3.0, 3.1]])
                .unwrap();
        assert!(!unequal.is_equal(), "{unequal:?}");
        let equal = test(&[&[1.0, 2.0, 3.0, 4.0], &[11.0, 12.0, 13.0, 14.0]]).unwrap();
        assert_eq!((equal.statistic, equal.p, equal.is_equal()), (0.0, 1.0, true));
    }

    #[test]
    fn without_spread_or_boots_there_is_no_test() {
        assert_eq!(test(&[&[1.0; 3], &[2.0; 3]]), None);
        assert_eq!(test(&[&[1.0, 2.0, 4.0], &[2.0, 9.0]]), None);
        assert_eq!(test(&[]), None);
    }
}
