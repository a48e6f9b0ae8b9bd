//! A whole that is the sum of parts, under two conditions: which of the parts account for the
//! difference of the whole, and how much of it none of them does.

use serde::Serialize;

use crate::compare::{Comparison, analyse};
use crate::error::StatsError;
use crate::families;
use crate::observed::Observation;
use crate::question::Question;

/// One run: its whole, and the parts of it that were measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Divided {
    /// Whether it is of the condition, not of the baseline.
    pub of_condition: bool,
    /// The boot. Runs of both conditions in one boot are compared inside it.
    pub boot: u32,
    /// The whole, measured by itself: its parts need not add up to it.
    pub whole: f64,
    /// The parts, in the same order in all runs.
    pub parts: Vec<f64>,
}

/// The difference of a whole and of its parts. All differences are in the unit of the values:
/// those of the parts and `unexplained` add up to that of the whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explained {
    /// The difference of the whole, at the level that was asked for.
    pub whole: Comparison,
    /// Those of the parts, whose intervals hold together.
    pub parts: Vec<Comparison>,
    /// What the whole has beside its parts, at the level of the whole.
    pub unexplained: Comparison,
}

/// Explains the differences of several pairs of conditions, each with its own runs.
///
/// The boot counts, not the run ([`analyse`]). The parts of all pairs are a family of hypotheses,
/// of which Holm's procedure ([`families::levels`]) rejects a true one with a chance of at most 1 -
/// `level`; each part's interval has the level that it got, so that it excludes zero where the
/// difference is proven.
///
/// # Errors
/// As [`analyse`]; [`StatsError::NoBaseline`] for a pair one of whose conditions has no run.
pub fn explain(pairs: &[Vec<Divided>], level: f64) -> Result<Vec<Explained>, StatsError> {
    let question = Question { level, ..Question::against(0) };
    let first = |runs: &Vec<Divided>| -> Result<Explained, StatsError> {
        let parts = runs.iter().map(|run| run.parts.len()).min().unwrap_or(0);
        let part = |place: usize| compare(runs, &question, |run| run.parts[place]);
        Ok(Explained {
            whole: compare(runs, &question, |run| run.whole)?,
            parts: (0..parts).map(part).collect::<Result<_, _>>()?,
            unexplained: compare(runs, &question, |run| run.whole - run.parts.iter().sum::<f64>())?,
        })
    };
    let mut explained = pairs.iter().map(first).collect::<Result<Vec<_>, _>>()?;
    let p = explained.iter().flat_map(|one| &one.parts).map(|part| part.p.into_iter().collect());
    let p: Vec<Vec<f64>> = p.collect();
    let mut levels = families::levels(&p, 1.0 - level).into_iter();
    for (one, runs) in explained.iter_mut().zip(pairs) {
        for (place, part) in one.parts.iter_mut().enumerate() {
            let alpha = levels.next().unwrap_or(1.0 - level);
            let question = Question { level: 1.0 - alpha, ..question };
            *part = compare(runs, &question, |run| run.parts[place])?;
        }
    }
    Ok(explained)
}

fn compare(
    runs: &[Divided],
    question: &Question,
    value: impl Fn(&Divided) -> f64,
) -> Result<Comparison, StatsError> {
    let observations: Vec<Observation> = runs
        .iter()
        .map(|run| Observation {
            condition: usize::from(run.of_condition),
            boot: run.boot,
            value: value(run),
        })
        .collect();
    let found = analyse(&observations, question)?.comparisons.pop();
    // One condition alone is no comparison.
    found.ok_or(StatsError::NoBaseline(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;
    use proptest::prelude::*;

    /// Boots in which the second part differs by 50, and the whole by 3 more; each boot has a level
    /// of its own, and each run a wobble.
    fn runs(boots: u32) -> Vec<Divided> {
        let run = |boot: u32, of_condition: bool| {
            let wobble = f64::from((boot * 7 + u32::from(of_condition) * 3) % 5) / 10.0;
            let more = if of_condition { 50.0 } else { 0.0 };
            let parts = vec![100.0 + wobble, 200.0 + 10.0 * f64::from(boot) + more, 7.0 - wobble];
            let whole = parts.iter().sum::<f64>() + if of_condition { 3.0 } else { 0.0 };
            Divided { of_condition, boot, whole, parts }
        };
        (1..=boots).flat_map(|boot| [run(boot, false), run(boot, true)]).collect()
    }

    #[test]
    fn the_part_that_differs_is_found_and_what_is_left_is_told() {
        let found = explain(&[runs(5)], 0.95).unwrap().remove(0);
        assert!((found.whole.difference - 53.0).abs() < 1e-9);
        assert!((found.parts[1].difference - 50.0).abs() < 1e-9);
        assert!((found.unexplained.difference - 3.0).abs() < 1e-9);
        // Inside boots, whose levels differ by far more.
        let (low, high) = found.parts[1].interval.unwrap();
        assert!(low > 49.0 && high < 51.0, "{low} {high}");
        let verdicts: Vec<Verdict> = found.parts.iter().map(|part| part.verdict).collect();
        assert_eq!(verdicts, [Verdict::NoDifferenceProven, Verdict::Higher, Verdict::NoDifferenceProven]);
    }

    #[test]
    fn one_boot_has_differences_and_no_interval() {
        let found = explain(&[runs(1)], 0.95).unwrap().remove(0);
        assert!((found.parts[1].difference - 50.0).abs() < 1e-9);
        assert!(found.parts.iter().chain([&found.whole]).all(|part| part.interval.is_none()));
    }

    #[test]
    fn counts_that_are_the_same_each_time_differ_for_certain() {
        let run = |boot, of_condition: bool, more: f64| Divided {
            of_condition,
            boot,
            whole: 30.0 + more,
            parts: vec![10.0, 20.0 + more],
        };
        let runs = (1..=3).flat_map(|boot| [run(boot, false, 0.0), run(boot, true, 1.0)]).collect();
        let found = explain(&[runs], 0.95).unwrap().remove(0);
        assert_eq!((found.parts[0].difference, found.parts[1].difference), (0.0, 1.0));
        assert_eq!(found.parts[0].verdict, Verdict::NoDifferenceProven);
        assert_eq!(found.parts[1].verdict, Verdict::Higher);
        assert_eq!(found.unexplained.difference, 0.0);
    }

    #[test]
    fn a_condition_without_a_run_is_refused() {
        let alone: Vec<Divided> = runs(3).into_iter().filter(|run| !run.of_condition).collect();
        assert_eq!(explain(&[alone], 0.95), Err(StatsError::NoBaseline(1)));
        let other: Vec<Divided> = runs(3).into_iter().filter(|run| run.of_condition).collect();
        assert_eq!(explain(&[other], 0.95), Err(StatsError::NoBaseline(0)));
    }

    /// Runs of both conditions, with two in some boots; boots are shared, or each condition's own.
    fn any_runs() -> impl Strategy<Value = Vec<Divided>> {
        let values = proptest::collection::vec(-1000.0..1000.0f64, 5);
        (proptest::collection::vec((values, 1..3usize), 4..12), any::<bool>()).prop_map(|(cells, shared)| {
            let runs = cells.into_iter().enumerate().flat_map(move |(place, (values, runs))| {
                let boot = (place / 2 + if shared { 0 } else { 100 * (place % 2) }) as u32;
                (0..runs).map(move |again| Divided {
                    of_condition: place % 2 == 1,
                    boot,
                    whole: values[4] + again as f64,
                    parts: values[..4].to_vec(),
                })
            });
            runs.collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn parts_and_the_unexplained_rest_add_up_to_the_whole(runs in any_runs()) {
            let found = explain(&[runs], 0.95).unwrap().remove(0);
            let sum: f64 = found.parts.iter().chain([&found.unexplained]).map(|part| part.difference).sum();
            prop_assert!((sum - found.whole.difference).abs() < 1e-6, "{} {}", sum, found.whole.difference);
        }

        #[test]
        fn together_no_more_is_proven_than_by_each_alone(runs in any_runs()) {
            let found = explain(std::slice::from_ref(&runs), 0.95).unwrap().remove(0);
            for (place, part) in found.parts.iter().enumerate() {
                let alone = compare(&runs, &Question::against(0), |run| run.parts[place]).unwrap();
                let proven = |one: &Comparison| matches!(one.verdict, Verdict::Higher | Verdict::Lower);
                prop_assert!(!proven(part) || proven(&alone));
                prop_assert_eq!(part.difference, alone.difference);
            }
        }

        #[test]
        fn the_order_of_runs_and_the_names_of_boots_change_nothing(
            runs in any_runs().prop_flat_map(|runs| (Just(runs.clone()), Just(runs).prop_shuffle())),
        ) {
            let (runs, mut shuffled) = runs;
            let last = runs.iter().map(|run| run.boot).max().unwrap_or(0);
            shuffled.iter_mut().for_each(|run| run.boot = last - run.boot);
            let [one, other] = [runs, shuffled].map(|runs| explain(&[runs], 0.95).unwrap().remove(0));
            for (one, other) in one.parts.iter().zip(&other.parts) {
                prop_assert!((one.difference - other.difference).abs() < 1e-6);
                prop_assert_eq!(one.verdict, other.verdict);
            }
        }
    }
}
