//! Explained differences.

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
