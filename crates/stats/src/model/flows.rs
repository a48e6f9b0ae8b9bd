//! The spread of differences between conditions that share flows.
//!
//! An effect of a flow or its boot on all of its conditions alike is in no difference between them.
//! The rest of a value is the part of its condition, that of the boot for this condition, and that
//! of the flow for it.

use std::collections::BTreeMap;

use super::components::{Component, Components};
use super::spread::Spread;
use crate::observed::mean;

impl Components {
    /// The variance components of flows, each with its boot and the values of the same conditions
    /// in the same order: `interaction` of a boot and a condition, `runs` of a flow and a
    /// condition, `None` where each boot has one flow (`interaction` includes it then). `None` with
    /// fewer than two conditions or boots.
    #[must_use]
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
    use crate::oracles::is_close;
    use proptest::prelude::*;

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
