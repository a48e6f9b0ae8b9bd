//! Small data sets whose outcome can be told by hand.

use crate::close;
use netassay_stats::sequential::{Schedule, SpendingBounds};
use netassay_stats::{
    Against, Design, Gap, Look, Margin, Observation, Question, StatsError, Verdict, analyse,
};

/// Runs of each condition, from (boot, values).
fn observations(conditions: &[&[(u32, &[f64])]]) -> Vec<Observation> {
    let mut all = Vec::new();
    for (condition, boots) in conditions.iter().enumerate() {
        for (boot, values) in *boots {
            all.extend(values.iter().map(|value| Observation { condition, boot: *boot, value: *value }));
        }
    }
    all
}

#[test]
fn a_clear_loss() {
    let data = observations(&[
        &[(1, &[100.0, 100.4]), (2, &[99.0, 100.0]), (3, &[100.2, 100.4])],
        &[(1, &[66.0, 66.2]), (2, &[67.0, 67.0]), (3, &[66.8, 67.0])],
    ]);
    let analysis = analyse(&data, &Question::against(0)).unwrap();
    let [result] = analysis.comparisons.try_into().unwrap();
    assert_eq!((result.condition, result.baseline, result.boots), (1, 0, 3));
    // The boot means are those of the first case in oracles.py.
    let interval = result.interval.unwrap();
    close("low", interval.0, -35.325_812_068_469_936, 1e-9);
    close("high", interval.1, -31.340_854_598_196_735, 1e-9);
    close("in %", result.relative_interval.unwrap().0, -35.018_203_557_975_71, 1e-9);
    close("df", result.df, 2.0, 1e-12);
    assert_eq!(result.verdict, Verdict::Lower);
    let runs = analysis.components.runs.unwrap();
    close("runs", runs.sd, (0.08_f64 + 0.5 + 0.02 + 0.02 + 0.02).sqrt() / 6.0_f64.sqrt(), 1e-9);
}

#[test]
fn a_boot_that_lacks_one_of_two_is_left_out() {
    let full = observations(&[
        &[(1, &[100.0, 102.0]), (2, &[110.0, 112.0]), (3, &[105.0, 105.0])],
        &[(1, &[90.0, 92.0]), (2, &[101.0, 101.0]), (3, &[95.0, 97.0])],
    ]);
    let mut ragged = full.clone();
    ragged.push(Observation { condition: 1, boot: 4, value: 1e6 });
    ragged.push(Observation { condition: 0, boot: 5, value: -1e6 });
    let compared = |data: &[Observation]| analyse(data, &Question::against(0)).unwrap().comparisons.remove(0);
    let (full, ragged) = (compared(&full), compared(&ragged));
    assert_eq!(ragged.boots, 3);
    close("difference", ragged.difference, full.difference, 1e-9);
    assert_eq!(ragged.verdict, full.verdict);
}

#[test]
fn what_has_no_interval_says_why() {
    let compared = |data: &[Observation], design| {
        let question = Question { design, ..Question::against(0) };
        analyse(data, &question).unwrap().comparisons.remove(0)
    };
    let one = observations(&[&[(1, &[10.0]), (2, &[11.0])], &[(2, &[22.0]), (3, &[30.0])]]);
    let one = compared(&one, None);
    assert_eq!((one.boots, one.verdict, one.gap), (1, Verdict::Inconclusive, Some(Gap::OneBootInCommon)));
    // Over all three boots, of which each condition has measured two: one mean for each, here as in
    // the table.
    close("difference", one.difference, 11.0, 1e-12);
    close("mean", one.mean, (21.0 + 22.0 + 30.0) / 3.0, 1e-12);
    close("baseline", one.baseline_mean, (10.0 + 11.0 + 19.0) / 3.0, 1e-12);
    assert_eq!((one.interval, one.relative_interval, one.p, one.df), (None, None, None, 0.0));

    // Boots 1 and 2 connect 0 with 1, boots 3 and 4 connect 2 with 3, and nothing connects the two
    // pairs: they are held against the spread between boots.
    let apart = observations(&[
        &[(1, &[10.0]), (2, &[12.0])],
        &[(1, &[11.0]), (2, &[12.5])],
        &[(3, &[22.0]), (4, &[23.0])],
        &[(3, &[20.0]), (4, &[23.0])],
    ]);
    let analysis = analyse(&apart, &Question::against(0)).unwrap();
    let apart_of: Vec<bool> = analysis.comparisons.iter().map(|one| one.boots_apart).collect();
    assert_eq!(apart_of, [false, true, true]);
    assert!(analysis.comparisons.iter().all(|one| one.gap.is_none()));
    assert_eq!((analysis.comparisons[1].mean, analysis.comparisons[1].baseline_mean), (22.5, 11.0));
    let nested = Question { design: Some(Design::Nested), ..Question::against(0) };
    assert!(analyse(&apart, &nested).unwrap().comparisons.iter().all(|one| one.interval.is_some()));

    let single = observations(&[&[(1, &[10.0, 11.0]), (2, &[12.0])], &[(3, &[22.0, 23.0])]]);
    let single = compared(&single, None);
    assert_eq!((single.gap, single.verdict, single.boots), (Some(Gap::OneBoot), Verdict::Inconclusive, 1));
    let lonely = observations(&[&[(1, &[10.0, 11.0])], &[(1, &[22.0, 23.0])], &[(1, &[3.0])]]);
    assert_eq!(compared(&lonely, None).interval, None);
}

#[test]
fn conditions_connected_by_others_are_compared() {
    // 0 and 2 never share a boot, but 1 was measured beside both.
    let data = observations(&[
        &[(1, &[10.0]), (2, &[12.0]), (3, &[11.2])],
        &[(1, &[11.0]), (2, &[13.1]), (3, &[12.0]), (4, &[14.0]), (5, &[15.1])],
        &[(4, &[16.0]), (5, &[17.0])],
    ]);
    let analysis = analyse(&data, &Question::against(0)).unwrap();
    let indirect = &analysis.comparisons[1];
    assert_eq!((indirect.boots, indirect.gap), (0, None));
    // (2 - 1) in boots 4 and 5 plus (1 - 0) in boots 1 to 3.
    close("difference", indirect.difference, 1.95 + 2.9 / 3.0, 1e-9);
    // Three cells are left over; not all conditions have the same share in them.
    assert!((1.0..=3.0).contains(&indirect.df), "{indirect:?}");
}

#[test]
fn no_spread_at_all_is_no_noise() {
    for (own, verdict) in [([5.0; 2], Verdict::NoDifferenceProven), ([6.0; 2], Verdict::Higher)] {
        for (boots, others) in [([1, 2, 3], [1, 2, 3]), ([1, 2, 3], [4, 5, 6])] {
            let fives: [f64; 2] = [5.0; 2];
            let of = |boots: [u32; 3], values: [f64; 2]| {
                boots.into_iter().flat_map(move |boot| values.map(|value| (boot, value)))
            };
            let data: Vec<Observation> = of(boots, fives)
                .map(|(boot, value)| Observation { condition: 0, boot, value })
                .chain(of(others, own).map(|(boot, value)| Observation { condition: 1, boot, value }))
                .collect();
            let analysis = analyse(&data, &Question::against(0)).unwrap();
            let result = &analysis.comparisons[0];
            assert_eq!(result.verdict, verdict, "{result:?}");
            assert_eq!(analysis.components.runs.unwrap().sd, 0.0);
        }
    }
}

#[test]
fn equivalence_is_judged_by_two_one_sided_tests() {
    let data = observations(&[
        &[(1, &[100.0]), (2, &[101.0]), (3, &[99.5]), (4, &[100.5]), (5, &[100.2])],
        &[(1, &[100.4]), (2, &[101.2]), (3, &[99.6]), (4, &[100.4]), (5, &[100.6])],
    ]);
    let judged = |margin| {
        let question = Question { margin: Some(margin), ..Question::against(0) };
        analyse(&data, &question).unwrap().comparisons.remove(0)
    };
    let wide =
        analyse(&data, &Question { level: 0.9, ..Question::against(0) }).unwrap().comparisons.remove(0);
    let (low, high) = wide.interval.unwrap();
    let edge = low.abs().max(high.abs());
    assert_eq!(judged(Margin::Absolute(edge * 1.000_001)).verdict, Verdict::Equivalent);
    assert_eq!(judged(Margin::Absolute(edge * 0.999_999)).verdict, Verdict::Inconclusive);
    let (low, high) = wide.relative_interval.unwrap();
    let edge = low.abs().max(high.abs());
    assert_eq!(judged(Margin::Percent(edge * 1.000_001)).verdict, Verdict::Equivalent);
    assert_eq!(judged(Margin::Percent(edge * 0.999_999)).verdict, Verdict::Inconclusive);
}

#[test]
fn a_fall_is_held_to_the_margin_as_a_rise_is() {
    let judged = |by: f64, margin| {
        let level = |boot: u32| 100.0 + f64::from(boot % 3);
        let other = |boot: u32| level(boot) + by + 0.1 * f64::from(boot % 2);
        let run = |condition, boot, value| Observation { condition, boot, value };
        let data: Vec<Observation> =
            (1..=6).flat_map(|boot| [run(0, boot, level(boot)), run(1, boot, other(boot))]).collect();
        let question = Question { margin: Some(margin), ..Question::against(0) };
        analyse(&data, &question).unwrap().comparisons.remove(0).verdict
    };
    for margin in [Margin::Absolute(2.0), Margin::Percent(2.0)] {
        for by in [-1.0, 1.0] {
            assert_eq!(judged(by, margin), Verdict::Equivalent, "{by} {margin:?}");
        }
        assert_eq!(judged(-5.0, margin), Verdict::Lower, "{margin:?}");
        assert_eq!(judged(5.0, margin), Verdict::Higher, "{margin:?}");
    }
}

#[test]
fn a_look_asks_for_more() {
    let data = observations(&[
        &[(1, &[100.0]), (2, &[101.0]), (3, &[99.5]), (4, &[100.5])],
        &[(1, &[102.0]), (2, &[102.5]), (3, &[101.9]), (4, &[102.0])],
    ]);
    let final_one = analyse(&data, &Question::against(0)).unwrap().comparisons.remove(0);
    let schedule = Schedule { bounds: SpendingBounds::ObrienFleming, looks: 5, boots: 20 };
    let look = Some(Look { number: 1, schedule });
    let early = analyse(&data, &Question { look, ..Question::against(0) }).unwrap().comparisons.remove(0);
    assert_eq!((final_one.verdict, early.verdict), (Verdict::Higher, Verdict::NoDifferenceProven));
    assert_eq!(early.level, 0.95);
    assert!(early.p > final_one.p && early.p > Some(0.05), "{:?}", early.p);
}

/// Condition 1 is higher by `by`, and every boot adds its own wobble.
fn growing(boots: u32, by: f64) -> Vec<Observation> {
    let wobble = |boot: u32, condition: usize| {
        2.0 * (f64::from(boot) * 12.9898 + condition as f64 * 37.719)
            .sin()
            .mul_add(43_758.545, 0.0)
            .rem_euclid(1.0)
    };
    (1..=boots)
        .flat_map(|boot| [0, 1].map(|condition| (boot, condition)))
        .map(|(boot, condition)| Observation {
            condition,
            boot,
            value: 100.0 + by * condition as f64 + wobble(boot, condition),
        })
        .collect()
}

#[test]
fn a_difference_that_a_look_chose_is_stated_nearer_to_zero() {
    let schedule = Schedule { bounds: SpendingBounds::Pocock, looks: 5, boots: 10 };
    let at = |number: u32, by: f64| {
        let question = Question { look: Some(Look { number, schedule }), ..Question::against(0) };
        analyse(&growing(2 * number, by), &question).unwrap().comparisons.remove(0)
    };
    // The smallest difference that look 3 proves was not proven before.
    let by =
        (1..200).map(|step| f64::from(step) / 50.0).find(|by| at(3, *by).verdict == Verdict::Higher).unwrap();
    assert_eq!(at(2, by).verdict, Verdict::NoDifferenceProven);
    let chosen = at(3, by);
    let measured = chosen.mean - chosen.baseline_mean;
    close("as measured", chosen.unadjusted.unwrap(), measured, 1e-9);
    let (low, _) = chosen.interval.unwrap();
    assert!(
        chosen.difference < measured && chosen.difference >= low && chosen.difference > 0.0,
        "{chosen:?}"
    );
    let (stated, share) = (chosen.relative.unwrap(), chosen.unadjusted_relative.unwrap());
    close("share", stated / share, chosen.difference / measured, 1e-9);
    // A decision of an earlier look did not keep the study going: the estimate is as measured. So
    // is that of a first look, and of one that proves nothing.
    let decided = at(4, by);
    assert_eq!((decided.verdict, decided.unadjusted), (Verdict::Higher, None));
    assert_eq!((at(1, 1e4).verdict, at(1, 1e4).unadjusted), (Verdict::Higher, None));
    assert_eq!((at(4, 0.0).verdict, at(4, 0.0).unadjusted), (Verdict::NoDifferenceProven, None));
}

#[test]
fn what_cannot_be_answered_is_named() {
    let data = observations(&[&[(1, &[1.0])], &[(1, &[f64::NAN])]]);
    let error = analyse(&data, &Question::against(0)).unwrap_err();
    assert!(error.to_string().starts_with("value 2 is NaN"), "{error}");
    assert_eq!(analyse(&data[..1], &Question::against(3)), Err(StatsError::NoBaseline(3)));
    let level = Question { level: 95.0, ..Question::against(0) };
    assert_eq!(analyse(&data[..1], &level), Err(StatsError::Level(95.0)));
    assert_eq!(analyse(&data[..1], &Question::against(0)).unwrap().comparisons, []);
    let pairs = Question { against: Against::AllPairs, ..Question::against(0) };
    assert_eq!(analyse(&[], &pairs).unwrap().conditions, []);
}
