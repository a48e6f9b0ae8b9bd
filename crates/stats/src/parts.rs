//! A whole that is the sum of parts, under two conditions: which of the parts account for the
//! difference of the whole, and how much of it none of them does.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::compare::{Comparison, Verdict, analyse};
use crate::distribution::student;
use crate::families;
use crate::model::{Common, Estimate, Spread};
use crate::observed::Observation;
use crate::question::{Margin, Question, StatsError};

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
    /// The variance of each part if it counts independent samples; empty where nothing is counted.
    pub by_count: Vec<f64>,
}

impl Divided {
    fn unexplained(&self) -> f64 {
        self.whole - self.parts.iter().sum::<f64>()
    }
}

/// In the unit of the values; the parts' differences and `unexplained` add up to the whole's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explained {
    /// The difference of the whole, at the level that was asked for.
    pub whole: Comparison,
    /// The differences of the parts, whose intervals hold together.
    pub parts: Vec<Comparison>,
    /// The part of the difference that is in none of the parts, at the level of the whole.
    pub unexplained: Comparison,
}

/// Explains the differences of several pairs of conditions, each with its own runs.
///
/// The unit is the boot, not the run ([`analyse`]). If boots have both conditions, a boot with one
/// of them alone is left out. The parts of all pairs are a family of hypotheses, of which Holm's
/// procedure ([`families::levels`]) rejects a true one with a chance of at most 1 - `level`; each
/// part's interval has the level that it got, so that it excludes zero where the difference is
/// proven.
///
/// If parts were counted ([`Divided::by_count`]) their spreads are moderated by each other: few
/// boots hardly show the spread of one part, but many parts show how far boots spread beyond what
/// counting explains.
///
/// # Errors
/// As [`analyse`]; [`StatsError::NoBaseline`] for a pair one of whose conditions has no run.
pub fn explain(pairs: &[Vec<Divided>], level: f64) -> Result<Vec<Explained>, StatsError> {
    let pairs: &[Vec<Divided>] = &pairs.iter().map(|runs| comparable(runs)).collect::<Vec<_>>();
    let question = Question { level, ..Question::against(0) };
    let mut explained =
        pairs.iter().map(|runs| explain_pair(runs, &question)).collect::<Result<Vec<_>, _>>()?;
    let spreads: Vec<Option<Vec<Spread>>> =
        explained.iter().zip(pairs).map(|(one, runs)| moderated(&one.parts, runs)).collect();
    for (one, spreads) in explained.iter_mut().zip(&spreads) {
        for (part, spread) in one.parts.iter_mut().zip(spreads.iter().flatten()) {
            *part = with_spread(part, *spread, 1.0 - level);
        }
    }
    let p = explained.iter().flat_map(|one| &one.parts).map(|part| part.p.into_iter().collect());
    let p: Vec<Vec<f64>> = p.collect();
    let mut levels = families::levels(&p, 1.0 - level).into_iter();
    for ((one, runs), spreads) in explained.iter_mut().zip(pairs).zip(&spreads) {
        for (place, part) in one.parts.iter_mut().enumerate() {
            let alpha = levels.next().unwrap_or(1.0 - level);
            let question = Question { level: 1.0 - alpha, ..question };
            *part = match spreads {
                Some(spreads) => with_spread(part, spreads[place], alpha),
                None => compare(runs, &question, |run| run.parts[place])?,
            };
        }
    }
    Ok(explained)
}

/// Explains the differences of counts that hardly vary, as [`crate::Analysis::by_resolution`]
/// judges them: a difference of more than `resolution` % of the baseline's whole is real, a smaller
/// one is equivalent. Counts that vary by more than that between the runs of one condition
/// ([`range`]) differ where their interval excludes zero too, as [`explain`] has it, and are
/// inconclusive otherwise.
///
/// # Errors
/// As [`explain`].
pub fn explain_counts(
    pairs: &[Vec<Divided>],
    resolution: f64,
    level: f64,
) -> Result<Vec<Explained>, StatsError> {
    let mut explained = explain(pairs, level)?;
    for (one, runs) in explained.iter_mut().zip(pairs) {
        let within = resolution / 100.0 * one.whole.baseline_mean.abs();
        let judge = |found: &mut Comparison, value: &dyn Fn(&Divided) -> f64| {
            let varies = [false, true]
                .into_iter()
                .any(|side| range(runs.iter().filter(|run| run.of_condition == side).map(value)) > within);
            let differs = matches!(found.verdict, Verdict::Higher | Verdict::Lower);
            if !(varies && differs && found.difference.abs() > within) {
                let margin = (within, Margin::Absolute(within));
                *found = std::mem::take(found).by_resolution(resolution, margin, varies);
            }
        };
        judge(&mut one.whole, &|run| run.whole);
        for (place, part) in one.parts.iter_mut().enumerate() {
            judge(part, &|run| run.parts[place]);
        }
        judge(&mut one.unexplained, &Divided::unexplained);
    }
    Ok(explained)
}

/// The difference of the highest and the lowest count; 0 of none.
pub fn range(counts: impl Iterator<Item = f64>) -> f64 {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = counts.fold(ends, |(low, high), count| (low.min(count), high.max(count)));
    (high - low).max(0.0)
}

/// All runs where no boot has both conditions. The weight of a boot with one of them depends on the
/// spread of a value: with it the parts' differences would not add up to that of the whole.
fn comparable(runs: &[Divided]) -> Vec<Divided> {
    let boots = |of_condition: bool| -> BTreeSet<u32> {
        runs.iter().filter(|run| run.of_condition == of_condition).map(|run| run.boot).collect()
    };
    let both: BTreeSet<u32> = boots(false).intersection(&boots(true)).copied().collect();
    runs.iter().filter(|run| both.is_empty() || both.contains(&run.boot)).cloned().collect()
}

fn explain_pair(runs: &[Divided], question: &Question) -> Result<Explained, StatsError> {
    let parts = 0..runs.iter().map(|run| run.parts.len()).min().unwrap_or(0);
    let part = |place: usize| compare(runs, question, |run| run.parts[place]);
    Ok(Explained {
        whole: compare(runs, question, |run| run.whole)?,
        parts: parts.map(part).collect::<Result<_, _>>()?,
        unexplained: compare(runs, question, Divided::unexplained)?,
    })
}

/// `None` where parts were not counted, or have nothing in common.
///
/// The variance of a count grows with the count, so that variances of unlike parts are not draws
/// around a common one. Their ratios to that of independent samples are: they would be 1 if boots
/// did not differ and samples did not come in bunches (the dispersions of S. P. Lund et al., Stat.
/// Appl. Genet. Mol. Biol. 11(5):8, 2012, moderated as by Smyth).
fn moderated(parts: &[Comparison], runs: &[Divided]) -> Option<Vec<Spread>> {
    let ratio = |(place, part): (usize, &Comparison)| {
        let by_count = by_count(runs, place).filter(|variance| *variance > 0.0)?;
        let ratio = Spread { variance: part.standard_error?.powi(2) / by_count, df: part.df };
        Some((ratio, by_count))
    };
    let ratios: Vec<(Spread, f64)> = parts.iter().enumerate().map(ratio).collect::<Option<_>>()?;
    // Counts that are the same in all of a few boots are so by chance: they say nothing of the
    // others, and the others say how far they may be off.
    let some = ratios.iter().map(|(ratio, _)| *ratio).filter(|ratio| ratio.variance > f64::EPSILON);
    let common = Common::from_estimates(some)?;
    let moderated = |(ratio, by_count): &(Spread, f64)| {
        let Spread { variance, df } = common.moderate(*ratio);
        Spread { variance: variance * by_count, df }
    };
    Some(ratios.iter().map(moderated).collect())
}

/// The variance that the difference of a part would have if it were of independent samples.
fn by_count(runs: &[Divided], place: usize) -> Option<f64> {
    let of_mean = |of_condition: bool| {
        let of = runs.iter().filter(|run| run.of_condition == of_condition);
        let variances: Vec<f64> = of.map(|run| run.by_count.get(place).copied()).collect::<Option<_>>()?;
        Some(variances.iter().sum::<f64>() / (variances.len() as f64).powi(2))
    };
    Some(of_mean(false)? + of_mean(true)?)
}

/// Drops all that rests on the comparison's own variance.
fn with_spread(one: &Comparison, spread: Spread, alpha: f64) -> Comparison {
    let estimate =
        Estimate { value: one.difference, se: spread.variance.sqrt(), df: spread.df, rounding: 0.0 };
    let interval = estimate.interval(alpha);
    Comparison {
        level: 1.0 - alpha,
        standard_error: Some(estimate.se),
        df: spread.df,
        p: Some(student::two_sided(estimate.t(), spread.df)),
        interval,
        verdict: Verdict::from_interval(interval, None),
        ..one.clone().means()
    }
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
    use proptest::prelude::*;

    use super::*;
    use crate::oracles::is_close;

    /// Boots in which the second part differs by 50, and the whole by 3 more; each boot has a level
    /// of its own, and each run a wobble.
    fn runs(boots: u32) -> Vec<Divided> {
        let run = |boot: u32, of_condition: bool| {
            let wobble = f64::from((boot * 7 + u32::from(of_condition) * 3) % 5) / 10.0;
            let more = if of_condition { 50.0 } else { 0.0 };
            let parts = vec![100.0 + wobble, 200.0 + 10.0 * f64::from(boot) + more, 7.0 - wobble];
            let whole = parts.iter().sum::<f64>() + if of_condition { 3.0 } else { 0.0 };
            Divided { of_condition, boot, whole, parts, by_count: Vec::new() }
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
            by_count: Vec::new(),
        };
        let runs = (1..=3).flat_map(|boot| [run(boot, false, 0.0), run(boot, true, 1.0)]).collect();
        let found = explain(&[runs], 0.95).unwrap().remove(0);
        assert_eq!((found.parts[0].difference, found.parts[1].difference), (0.0, 1.0));
        assert_eq!(found.parts[0].verdict, Verdict::NoDifferenceProven);
        assert_eq!(found.parts[1].verdict, Verdict::Higher);
        assert_eq!(found.unexplained.difference, 0.0);
    }

    #[test]
    fn counts_are_judged_by_whether_they_repeat() {
        // 0.1 % of 1000 is 1. The last part and the unexplained rest vary with the boot.
        let run = |boot: u32, of_condition: bool| {
            let more = if of_condition { [0.9, 1.2, -50.0] } else { [0.0; 3] };
            let noise = 1.1 * f64::from(boot % 2);
            let parts = vec![100.0 + more[0], 200.0 + more[1], 400.0 + more[2], 300.0 + noise];
            Divided { of_condition, boot, whole: 1000.0 + more[1] + more[2], parts, by_count: Vec::new() }
        };
        let runs = |boots: u32| -> Vec<Divided> {
            (1..=boots).flat_map(|boot| [run(boot, false), run(boot, true)]).collect()
        };
        let judged = |runs: &[Vec<Divided>]| explain_counts(runs, 0.1, 0.95);
        let found = judged(&[runs(2)]).unwrap().remove(0);
        let verdicts: Vec<Verdict> = found.parts.iter().map(|part| part.verdict).collect();
        let (same, open) = (Verdict::Equivalent, Verdict::Inconclusive);
        assert_eq!(verdicts, [same, Verdict::Higher, Verdict::Lower, open]);
        assert_eq!((found.whole.verdict, found.unexplained.verdict), (Verdict::Lower, open));
        assert!(found.parts.iter().all(|part| part.interval.is_none() && part.resolution == Some(0.1)));
        // One boot is enough: a count that cannot be seen to vary repeats.
        let found = judged(&[runs(1)]).unwrap().remove(0);
        assert_eq!(found.parts[3].verdict, same);
        assert_eq!(judged(&[vec![run(1, true)]]), Err(StatsError::NoBaseline(0)));
    }

    #[test]
    fn counts_that_vary_differ_where_their_interval_says_so() {
        // Each part varies by more than 0.1 % of 1000 from boot to boot.
        let run = |boot: u32, of_condition: bool| {
            let noise = f64::from((3 * boot + u32::from(of_condition)) % 4);
            let more = if of_condition { 40.0 } else { 0.0 };
            let parts = vec![200.0 + noise, 700.0 + more - noise];
            Divided { of_condition, boot, whole: 1000.0 + more + noise, parts, by_count: Vec::new() }
        };
        let runs = (1..=4).flat_map(|boot| [run(boot, false), run(boot, true)]).collect();
        let found = explain_counts(&[runs], 0.1, 0.95).unwrap().remove(0);
        let judged = |one: &Comparison| (one.verdict, one.interval.is_some(), one.resolution.is_some());
        assert_eq!(judged(&found.whole), (Verdict::Higher, true, false));
        assert_eq!(judged(&found.parts[1]), (Verdict::Higher, true, false));
        assert_eq!(judged(&found.parts[0]), (Verdict::Inconclusive, false, true));
    }

    /// Three boots of five counted parts, of which a count stands for 2; `more` for the condition.
    fn counted(by_count: bool) -> Vec<Divided> {
        let baseline = [
            [100.0, 200.0, 50.0, 400.0, 20.0],
            [110.0, 190.0, 58.0, 410.0, 21.0],
            [105.0, 195.0, 51.0, 430.0, 25.0],
        ];
        let condition = [
            [120.0, 205.0, 49.0, 401.0, 60.0],
            [128.0, 180.0, 60.0, 418.0, 71.0],
            [127.0, 200.0, 50.0, 425.0, 66.0],
        ];
        let run = |of_condition: bool, (boot, parts): (u32, [f64; 5])| Divided {
            of_condition,
            boot,
            whole: parts.iter().sum(),
            by_count: if by_count { parts.map(|part| 2.0 * part).to_vec() } else { Vec::new() },
            parts: parts.to_vec(),
        };
        let of = |side: bool, rows: [[f64; 5]; 3]| (0..).zip(rows).map(move |row| run(side, row));
        of(false, baseline).chain(of(true, condition)).collect()
    }

    /// Computed with scipy 1.15 (digamma, polygamma, chi2.ppf, t.sf, and brentq for the degrees of
    /// freedom): the prior is worth 0.46147982838818535 of them at a ratio of 0.06229138359085486.
    #[test]
    fn spreads_of_counted_parts_are_moderated_by_their_ratio_to_that_of_counts() {
        let found = explain(&[counted(true)], 0.95).unwrap().remove(0);
        let expected = [
            (1.695_302_793_107_126, 0.003_157_108_708_657_134),
            (4.832_119_136_275_073, 1.0),
            (1.279_763_646_849_207, 1.0),
            (4.232_262_232_186_09, 0.777_491_272_946_985_8),
            (2.982_953_696_153_592, 0.001_866_956_402_294_113),
        ];
        for (part, (error, p)) in found.parts.iter().zip(expected) {
            assert!(is_close(part.df, 2.461_479_828_388_185, 1e-8), "{part:?}");
            assert!(is_close(part.standard_error.unwrap(), error, 1e-8), "{part:?}");
            assert!(is_close(part.p.unwrap(), p, 1e-7), "{part:?}");
        }
        // The whole and the rest are judged by themselves.
        let alone = explain(&[counted(false)], 0.95).unwrap().remove(0);
        assert_eq!((&found.whole, &found.unexplained), (&alone.whole, &alone.unexplained));
        assert!(alone.parts.iter().all(|part| is_close(part.df, 2.0, 1e-9)), "{alone:?}");
    }

    #[test]
    fn counts_that_are_equal_by_chance_prove_nothing_for_certain() {
        let mut runs = counted(true);
        // The difference of the first part is 1 in each boot.
        runs.iter_mut().for_each(|run| run.parts[0] = 100.0 + f64::from(u8::from(run.of_condition)));
        let part = explain(&[runs], 0.95).unwrap().remove(0).parts.remove(0);
        assert!(part.standard_error.unwrap() > 0.1, "{part:?}");
        assert_eq!(part.verdict, Verdict::NoDifferenceProven);
    }

    #[test]
    fn a_condition_without_a_run_is_refused() {
        let alone: Vec<Divided> = runs(3).into_iter().filter(|run| !run.of_condition).collect();
        assert_eq!(explain(&[alone], 0.95), Err(StatsError::NoBaseline(1)));
        let other: Vec<Divided> = runs(3).into_iter().filter(|run| run.of_condition).collect();
        assert_eq!(explain(&[other], 0.95), Err(StatsError::NoBaseline(0)));
    }

    #[test]
    fn a_boot_with_one_condition_does_not_keep_parts_from_adding_up() {
        let run = |of_condition: bool, boot: u32, part: f64| Divided {
            of_condition,
            boot,
            whole: 0.0,
            parts: vec![part],
            by_count: Vec::new(),
        };
        let boot = |(boot, part): (u32, f64)| [run(false, boot, part), run(true, boot, 0.0)];
        let mut runs: Vec<Divided> = (0..).zip([831.9, 0.0, 762.2]).flat_map(boot).collect();
        runs.push(run(false, 3, 0.0));
        let found = explain(&[runs], 0.95).unwrap().remove(0);
        assert!((found.parts[0].difference + found.unexplained.difference).abs() < 1e-9, "{found:?}");
        assert!(is_close(found.parts[0].difference, -(831.9 + 762.2) / 3.0, 1e-9), "{found:?}");
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
                    by_count: Vec::new(),
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
            let runs = comparable(&runs);
            for (place, part) in found.parts.iter().enumerate() {
                let alone = compare(&runs, &Question::against(0), |run| run.parts[place]).unwrap();
                let proven = |one: &Comparison| matches!(one.verdict, Verdict::Higher | Verdict::Lower);
                prop_assert!(!proven(part) || proven(&alone));
                prop_assert_eq!(part.difference, alone.difference);
            }
        }

        /// The unit of costs, and of what a sample stands for, changes no verdict; the interval
        /// excludes zero where, and only where, a difference is proven.
        #[test]
        fn counted_parts_are_judged_alike_in_any_unit(
            counts in proptest::collection::vec(proptest::collection::vec(1u32..400, 6), 4..9),
            unit in 0.01..100.0f64,
        ) {
            let runs = |unit: f64| -> Vec<Divided> {
                let run = |(place, counts): (usize, &Vec<u32>)| {
                    let parts: Vec<f64> = counts.iter().map(|count| unit * f64::from(*count)).collect();
                    Divided {
                        of_condition: place % 2 == 1,
                        boot: (place / 2) as u32,
                        whole: parts.iter().sum(),
                        by_count: parts.iter().map(|part| part * unit).collect(),
                        parts,
                    }
                };
                counts.iter().enumerate().map(run).collect()
            };
            let [one, other] = [1.0, unit].map(|unit| explain(&[runs(unit)], 0.95).unwrap().remove(0));
            for (one, other) in one.parts.iter().zip(&other.parts) {
                prop_assert!((one.difference * unit - other.difference).abs() < 1e-9 * unit * 400.0);
                prop_assert!(is_close(one.df, other.df, 1e-6), "{} {}", one.df, other.df);
                let (low, high) = one.interval.unwrap();
                let is_proven = matches!(one.verdict, Verdict::Higher | Verdict::Lower);
                prop_assert_eq!(is_proven, low > 0.0 || high < 0.0);
                prop_assert_eq!(is_proven, one.p.unwrap() < 1.0 - one.level);
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
