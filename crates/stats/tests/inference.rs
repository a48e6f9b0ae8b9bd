//! What `analyse` says of whole data sets, beside what R says of them (`fixtures/inference.R`), and what must hold of any data.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use netassay_stats::{
    Against, Analysis, Comparison, Correction, Design, ErrorTerm, Gap, Look, Margin, Observation, Question,
    StatsError, Verdict, analyse,
};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    script: String,
    balanced: Vec<Balanced>,
    unbalanced: Vec<Unbalanced>,
    welch: Vec<WelchCase>,
}

#[derive(Deserialize)]
struct Runs {
    condition: Vec<usize>,
    boot: Vec<u32>,
    value: Vec<f64>,
}

impl Runs {
    fn observations(&self) -> Vec<Observation> {
        (0..self.value.len())
            .map(|run| Observation {
                condition: self.condition[run],
                boot: self.boot[run],
                value: self.value[run],
            })
            .collect()
    }

    /// What the rounding of such values may do to a difference of their means.
    fn rounding(&self) -> f64 {
        32.0 * f64::EPSILON * self.value.iter().fold(0.0, |most: f64, value| most.max(value.abs()))
    }
}

/// R writes a single number as a number and several as a list.
#[derive(Deserialize)]
#[serde(untagged)]
enum Several {
    One(f64),
    Many(Vec<f64>),
}

impl Several {
    fn at(&self, place: usize) -> f64 {
        match self {
            Several::One(value) => *value,
            Several::Many(values) => values[place],
        }
    }
}

#[derive(Deserialize)]
struct Balanced {
    name: String,
    crossed: bool,
    runs: Runs,
    df: f64,
    difference: Several,
    standard_error: Several,
    interval: Vec<(f64, f64)>,
    p: Several,
    dunnett: Option<Dunnett>,
    tukey: Option<Tukey>,
    homogeneity: Option<BrownForsythe>,
    fieller: Option<Vec<(f64, f64)>>,
}

#[derive(Deserialize)]
struct Dunnett {
    critical: f64,
    p: Vec<f64>,
}

#[derive(Deserialize)]
struct Tukey {
    condition: Vec<usize>,
    baseline: Vec<usize>,
    low: Vec<f64>,
    high: Vec<f64>,
    p: Vec<f64>,
}

#[derive(Deserialize)]
struct BrownForsythe {
    statistic: f64,
    p: f64,
}

#[derive(Deserialize)]
struct Unbalanced {
    name: String,
    crossed: bool,
    runs: Runs,
    sd_run: f64,
    comparisons: Vec<Mixed>,
}

#[derive(Deserialize)]
struct Mixed {
    difference: f64,
    satterthwaite: SeAndDf,
    kenward_roger: SeAndDf,
}

#[derive(Deserialize)]
struct SeAndDf {
    se: f64,
    df: f64,
}

#[derive(Deserialize)]
struct WelchCase {
    name: String,
    runs: Runs,
    comparisons: Vec<WelchRow>,
}

#[derive(Deserialize)]
struct WelchRow {
    difference: f64,
    se: f64,
    df: f64,
    interval: (f64, f64),
    p: f64,
}

fn fixture() -> Fixture {
    let fixture: Fixture = serde_json::from_str(include_str!("fixtures/inference.json")).unwrap();
    assert_eq!(fixture.script, "inference.R");
    fixture
}

fn alone(baseline: usize) -> Question {
    Question { correction: Correction::None, ..Question::against(baseline) }
}

#[track_caller]
fn close(name: &str, got: f64, expected: f64, tolerance: f64) {
    assert!(
        (got - expected).abs() <= tolerance,
        "{name}: {got} instead of {expected}, off by more than {tolerance}"
    );
}

#[test]
fn balanced_data_give_what_aov_gives() {
    for case in fixture().balanced {
        let (data, name) = (case.runs.observations(), &case.name);
        let analysis = analyse(&data, &alone(0)).unwrap();
        assert_eq!(analysis.design, if case.crossed { Design::Crossed } else { Design::Nested }, "{name}");
        assert!(
            matches!(
                analysis.error,
                ErrorTerm::BootsPooled | ErrorTerm::InteractionPooled | ErrorTerm::PairedByPair
            ),
            "{name}: {:?}",
            analysis.error
        );
        let rounding = case.runs.rounding();
        for (place, got) in analysis.comparisons.iter().enumerate() {
            let (interval, expected) = (got.interval.unwrap(), case.interval[place]);
            let tolerance = rounding + 1e-9 * (expected.1 - expected.0);
            close(name, got.difference, case.difference.at(place), tolerance);
            close(name, got.standard_error.unwrap(), case.standard_error.at(place), tolerance);
            close(name, interval.0, expected.0, tolerance);
            close(name, interval.1, expected.1, tolerance);
            close(name, got.df, case.df, 1e-9);
            // p moves by about p * df times the relative change of t.
            let relative = rounding / got.standard_error.unwrap();
            close(name, got.p.unwrap(), case.p.at(place), 1e-9 + 10.0 * relative);
            if let (Some(fieller), Some(relative)) = (&case.fieller, got.relative_interval) {
                let (low, high) = fieller[place];
                // R's quadratic loses digits where the means are large beside their spread.
                let tolerance = 100.0 * rounding / got.baseline_mean.abs() + 1e-7 * (high - low);
                let tolerance = tolerance + 3e-13 / ((high - low) / 100.0);
                close(name, relative.0, low, tolerance);
                close(name, relative.1, high, tolerance);
            }
        }
        if let (Some(expected), Some(got)) = (case.homogeneity, analysis.homogeneity) {
            let tolerance = 1e-6 + 1e4 * rounding / analysis.comparisons[0].standard_error.unwrap();
            close(name, got.statistic, expected.statistic, tolerance * (1.0 + expected.statistic));
            close(name, got.p, expected.p, tolerance);
        }
    }
}

#[test]
fn families_are_dunnetts_and_tukeys() {
    for case in fixture().balanced {
        let (data, name) = (case.runs.observations(), &case.name);
        let Some(dunnett) = case.dunnett else { continue };
        let analysis = analyse(&data, &Question::against(0)).unwrap();
        for (got, p) in analysis.comparisons.iter().zip(&dunnett.p) {
            let half = (got.interval.unwrap().1 - got.interval.unwrap().0) / 2.0;
            let se = got.standard_error.unwrap();
            // mvtnorm integrates by chance, to about 1e-5; and the difference is judged less its possible rounding.
            close(name, got.p.unwrap(), *p, 5e-5 + *p * 10.0 * case.runs.rounding() / se);
            close(name, half / se, dunnett.critical, 2e-3 * dunnett.critical + case.runs.rounding() / se);
        }
        let tukey = case.tukey.unwrap();
        let analysis =
            analyse(&data, &Question { against: Against::AllPairs, ..Question::against(0) }).unwrap();
        assert_eq!(analysis.comparisons.len(), tukey.p.len(), "{name}");
        for (place, (condition, baseline)) in tukey.condition.iter().zip(&tukey.baseline).enumerate() {
            let of_pair = |one: &&Comparison| (one.condition, one.baseline) == (*condition, *baseline);
            let got = analysis.comparisons.iter().find(of_pair).unwrap();
            let (interval, width) = (got.interval.unwrap(), tukey.high[place] - tukey.low[place]);
            // R's qtukey is good to about 1e-5 for few degrees of freedom.
            let tolerance = case.runs.rounding() + 2e-5 * width;
            close(name, interval.0, tukey.low[place], tolerance);
            close(name, interval.1, tukey.high[place], tolerance);
            close(name, got.p.unwrap(), tukey.p[place], 1e-5 + 20.0 * case.runs.rounding() / width);
        }
    }
}

#[test]
fn ragged_data_give_what_lmer_gives() {
    for case in fixture().unbalanced {
        let name = &case.name;
        let analysis = analyse(&case.runs.observations(), &alone(0)).unwrap();
        assert_eq!(analysis.error, ErrorTerm::Reml, "{name}");
        assert_eq!(analysis.design == Design::Crossed, case.crossed, "{name}");
        // The runs' variance by REML is near, and not equal, to the mean square inside cells.
        let runs = analysis.components.runs.unwrap();
        assert!((runs.sd / case.sd_run - 1.0).abs() < 0.1, "{name}: {runs:?} and {}", case.sd_run);
        for (got, expected) in analysis.comparisons.iter().zip(&case.comparisons) {
            let (se, df) = (expected.kenward_roger.se, expected.kenward_roger.df);
            // lmer's optimiser stops at about 1e-6 of the ratio of the standard deviations.
            close(name, got.difference, expected.difference, 1e-5 * se);
            close(name, got.standard_error.unwrap(), se, 1e-4 * se);
            close(name, got.df, df, 1e-3 * df);
            // Satterthwaite's without the correction of the standard error and with observed information is not far.
            assert!(got.standard_error.unwrap() >= expected.satterthwaite.se * (1.0 - 1e-6), "{name}");
            assert!((got.df / expected.satterthwaite.df).ln().abs() < 0.5, "{name}");
        }
    }
}

#[test]
fn unequal_spreads_are_held_against_their_own() {
    for case in fixture().welch {
        let name = &case.name;
        let analysis = analyse(&case.runs.observations(), &alone(0)).unwrap();
        assert_eq!(analysis.error, ErrorTerm::BootsByPair);
        assert!(!analysis.homogeneity.unwrap().is_equal());
        for (got, expected) in analysis.comparisons.iter().zip(&case.comparisons) {
            let tolerance = 1e-9 * expected.se;
            close(name, got.difference, expected.difference, tolerance);
            close(name, got.standard_error.unwrap(), expected.se, tolerance);
            close(name, got.df, expected.df, 1e-9 * expected.df);
            close(name, got.interval.unwrap().0, expected.interval.0, 1e3 * tolerance);
            close(name, got.interval.unwrap().1, expected.interval.1, 1e3 * tolerance);
            close(name, got.p.unwrap(), expected.p, 1e-9);
        }
        let family = analyse(&case.runs.observations(), &Question::against(0)).unwrap();
        let expected = 1.0 - (1.0 - case.comparisons[0].p).powi(2);
        close("Sidak", family.comparisons[0].p.unwrap(), expected, 1e-9);
    }
}

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
    assert_eq!((result.condition, result.baseline, result.boots, result.boots_left_out), (1, 0, 3, 0));
    // The boot means are those of the first case in oracles.py.
    let interval = result.interval.unwrap();
    close("low", interval.0, -35.325_812_068_469_936, 1e-9);
    close("high", interval.1, -31.340_854_598_196_735, 1e-9);
    close("in %", result.relative_interval.unwrap().0, -35.018_203_557_975_71, 1e-9);
    assert_eq!((result.df, result.verdict), (2.0, Verdict::Lower));
    assert_eq!(result.sentence("b", "1/s"), "b is 33.3 % lower (95 % interval 31.6 to 35.0, 3 boots)");
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
    assert_eq!((ragged.boots, ragged.boots_left_out), (3, 2));
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
    assert_eq!(
        (one.boots, one.boots_left_out, one.verdict, one.gap),
        (1, 2, Verdict::Inconclusive, Some(Gap::OneBootInCommon))
    );
    assert_eq!((one.mean, one.baseline_mean, one.difference, one.relative), (22.0, 11.0, 11.0, Some(100.0)));
    assert_eq!((one.interval, one.relative_interval, one.p, one.df), (None, None, None, 0.0));

    // Boots 1 and 2 connect 0 with 1, boots 3 and 4 connect 2 with 3, and nothing connects the two pairs.
    let apart = observations(&[
        &[(1, &[10.0]), (2, &[12.0])],
        &[(1, &[11.0]), (2, &[12.5])],
        &[(3, &[22.0]), (4, &[23.0])],
        &[(3, &[20.0]), (4, &[23.0])],
    ]);
    let analysis = analyse(&apart, &Question::against(0)).unwrap();
    let gaps: Vec<Option<Gap>> = analysis.comparisons.iter().map(|one| one.gap).collect();
    assert_eq!(gaps, [None, Some(Gap::NotConnected), Some(Gap::NotConnected)]);
    assert_eq!(
        analysis.comparisons[1].sentence("c", "ns"),
        "c: inconclusive, no boot measured both it and the baseline"
    );
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
    assert_eq!(indirect.df, 3.0);
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
fn a_look_asks_for_more() {
    let data = observations(&[
        &[(1, &[100.0]), (2, &[101.0]), (3, &[99.5]), (4, &[100.5])],
        &[(1, &[102.0]), (2, &[102.5]), (3, &[101.9]), (4, &[102.0])],
    ]);
    let final_one = analyse(&data, &Question::against(0)).unwrap().comparisons.remove(0);
    let look = Some(Look { number: 1, of: 5, nominal: 1e-5 });
    let early = analyse(&data, &Question { look, ..Question::against(0) }).unwrap().comparisons.remove(0);
    assert_eq!((final_one.verdict, early.verdict), (Verdict::Higher, Verdict::NoDifferenceProven));
    assert_eq!((early.p, early.level), (final_one.p, 0.95));
}

#[test]
fn what_cannot_be_answered_is_named() {
    let data = observations(&[&[(1, &[1.0])], &[(1, &[f64::NAN])]]);
    let error = analyse(&data, &Question::against(0)).unwrap_err();
    assert!(error.to_string().starts_with("value 2 is NaN"), "{error}");
    assert_eq!(analyse(&data[..1], &Question::against(3)), Err(StatsError::NoBaseline { baseline: 3 }));
    let level = Question { level: 95.0, ..Question::against(0) };
    assert_eq!(analyse(&data[..1], &level), Err(StatsError::Level { level: 95.0 }));
    assert_eq!(analyse(&data[..1], &Question::against(0)).unwrap().comparisons, []);
    let pairs = Question { against: Against::AllPairs, ..Question::against(0) };
    assert_eq!(analyse(&[], &pairs).unwrap().conditions, []);
}

/// Any data: cells of any number of runs, boots shared or not.
fn data() -> impl Strategy<Value = Vec<Observation>> {
    let run = (0..4usize, 0..5u32, 50.0..150.0f64);
    (proptest::collection::vec(run, 1..60), any::<bool>()).prop_map(|(runs, is_nested)| {
        let boot = |condition: usize, boot| if is_nested { 10 * condition as u32 + boot } else { boot };
        runs.into_iter()
            .map(|(condition, number, value)| Observation { condition, boot: boot(condition, number), value })
            .chain([Observation { condition: 0, boot: 0, value: 100.0 }])
            .collect()
    })
}

fn question(against: Against) -> Question {
    Question { against, margin: Some(Margin::Percent(20.0)), ..Question::against(0) }
}

fn intervals(analysis: &Analysis) -> Vec<(f64, f64)> {
    analysis.comparisons.iter().filter_map(|comparison| comparison.interval).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_of_the_runs_does_not_matter(data in data(), turn in 0..60usize) {
        let mut turned = data.clone();
        turned.rotate_left(turn % data.len());
        let question = question(Against::AllPairs);
        prop_assert_eq!(analyse(&data, &question), analyse(&turned, &question));
    }

    #[test]
    fn any_values_have_an_outcome(
        runs in proptest::collection::vec((0..3usize, 0..4u32, prop_oneof![any::<f64>(), -1.0..1.0f64, Just(0.0)]), 0..20)
    ) {
        let data: Vec<Observation> =
            runs.into_iter().map(|(condition, boot, value)| Observation { condition, boot, value }).collect();
        for against in [Against::Baseline(0), Against::AllPairs] {
            let Ok(analysis) = analyse(&data, &question(against)) else { continue };
            for comparison in &analysis.comparisons {
                prop_assert!(!comparison.sentence("a", "ns").is_empty());
                prop_assert_eq!(comparison.interval.is_none(), comparison.gap.is_some());
            }
        }
    }

    #[test]
    fn a_verdict_its_interval_its_percentage_and_its_p_agree(data in data()) {
        let analysis = analyse(&data, &Question::against(0)).unwrap();
        for one in &analysis.comparisons {
            let Some((low, high)) = one.interval else { continue };
            let is_proven = low > 0.0 || high < 0.0;
            prop_assert_eq!(is_proven, matches!(one.verdict, Verdict::Higher | Verdict::Lower));
            let p = one.p.unwrap();
            prop_assert!((p - 0.05).abs() < 1e-3 || is_proven == (p < 0.05), "{:?}", one);
            if let Some((relative_low, relative_high)) = one.relative_interval {
                prop_assert_eq!((low > 0.0, high < 0.0), (relative_low > 0.0, relative_high < 0.0), "{:?}", one);
            }
        }
    }

    #[test]
    fn shifting_and_scaling_act_as_they_must(data in data(), exponent in -20..20i32, shift in -1e3..1e3f64) {
        let factor = 2.0_f64.powi(exponent);
        let moved: Vec<Observation> =
            data.iter().map(|run| Observation { value: factor * (run.value + shift), ..*run }).collect();
        let pairs = Question { against: Against::AllPairs, correction: Correction::None, ..Question::against(0) };
        let (one, other) = (analyse(&data, &pairs).unwrap(), analyse(&moved, &pairs).unwrap());
        for ((low, high), (moved_low, moved_high)) in intervals(&one).into_iter().zip(intervals(&other)) {
            let tolerance = 1e-4 * (high - low) + 1e-9;
            prop_assert!((moved_low / factor - low).abs() <= tolerance, "{} {}", moved_low / factor, low);
            prop_assert!((moved_high / factor - high).abs() <= tolerance, "{} {}", moved_high / factor, high);
        }
    }

    #[test]
    fn swapped_labels_swap_the_sign(data in data()) {
        let swap = |condition| if condition < 2 { 1 - condition } else { condition };
        let swapped: Vec<Observation> =
            data.iter().map(|run| Observation { condition: swap(run.condition), ..*run }).collect();
        let pairs = Question { against: Against::AllPairs, correction: Correction::None, ..Question::against(0) };
        let of_first = |data: &[Observation]| {
            let analysis = analyse(data, &pairs).unwrap();
            let found = analysis.comparisons.into_iter().find(|one| (one.condition, one.baseline) == (1, 0));
            found.and_then(|one| one.interval)
        };
        if let (Some((low, high)), Some((swapped_low, swapped_high))) = (of_first(&data), of_first(&swapped)) {
            // As exactly as the search for the likelihood's maximum finds it.
            let tolerance = 1e-4 * (high - low) + 1e-9;
            prop_assert!((low + swapped_high).abs() <= tolerance && (high + swapped_low).abs() <= tolerance, "{low} {high} {swapped_low} {swapped_high}");
        }
    }

    #[test]
    fn a_boot_resumed_in_two_parts_is_one(data in data(), at in 0..60usize) {
        // The same runs, the second half recorded after everything else.
        let (first, second) = data.split_at(at % data.len());
        let resumed: Vec<Observation> = second.iter().chain(first).copied().collect();
        let question = question(Against::Baseline(0));
        prop_assert_eq!(analyse(&data, &question).unwrap(), analyse(&resumed, &question).unwrap());
    }

    #[test]
    fn duplicated_runs_only_narrow_what_runs_explain(data in data()) {
        // Every run twice: the cells' means stay, and so does every difference of balanced data.
        let twice: Vec<Observation> = data.iter().chain(&data).copied().collect();
        let even = |data: &[Observation]| analyse(data, &alone(0)).unwrap();
        let (one, other) = (even(&data), even(&twice));
        if !matches!(one.error, ErrorTerm::Reml) && !matches!(other.error, ErrorTerm::Reml) {
            for ((low, high), (other_low, other_high)) in intervals(&one).into_iter().zip(intervals(&other)) {
                let tolerance = 1e-9 * (1.0 + high - low);
                prop_assert!((low - other_low).abs() <= tolerance && (high - other_high).abs() <= tolerance);
            }
        }
    }
}
