//! Flags: seldom on clean campaigns, often on spoilt ones, and equal to other programs' figures.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod flag_kinds;

use std::f64::consts::TAU;

use netassay_stats::Observation;
use netassay_stats::diagnostics::{Flag, FlagKind, FlagNames, LEVEL, diagnose};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;

use self::flag_kinds::FLAG_KINDS;

#[derive(Clone, Copy, Debug)]
struct Clean {
    conditions: usize,
    boots: u32,
    runs: usize,
    /// sd between boots, that of runs being 1.
    between: f64,
    /// sd of what a boot does to one condition and not to another; crossed only.
    interaction: f64,
    crossed: bool,
}

const CROSSED: Clean =
    Clean { conditions: 8, boots: 5, runs: 10, between: 1.0, interaction: 0.0, crossed: true };
const NESTED: Clean = Clean { crossed: false, boots: 3, ..CROSSED };

impl Clean {
    /// A campaign in the order of measurement. Crossed: each boot's runs in blocks of one run of
    /// each condition. Nested: one boot of each condition after the other. Conditions differ in
    /// size by powers of ten.
    fn draw(self, random: &mut ChaCha8Rng) -> Vec<Observation> {
        let mut observations = Vec::new();
        for boot in 1..=self.boots {
            let shared = self.between * normal(random);
            let spread = if self.crossed { self.interaction } else { self.between };
            let own: Vec<f64> = (0..self.conditions).map(|_| spread * normal(random)).collect();
            let mut run = |condition: usize, boot, effect: f64| {
                let value = 10.0_f64.powi(condition as i32 - 2) * (100.0 + effect + normal(random));
                observations.push(Observation { condition, boot, value });
            };
            if self.crossed {
                (0..self.runs).for_each(|_| (0..self.conditions).for_each(|c| run(c, boot, shared + own[c])));
            } else {
                let number = |c: usize| boot + self.boots * c as u32;
                (0..self.conditions).for_each(|c| (0..self.runs).for_each(|_| run(c, number(c), own[c])));
            }
        }
        observations
    }
}

/// Box and Muller's transformation.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (radius, angle) = (1.0 - random.random::<f64>(), random.random::<f64>());
    (-2.0 * radius.ln()).sqrt() * (TAU * angle).cos()
}

/// In how many of `campaigns` each kind is flagged.
fn flagged(campaigns: usize, mut draw: impl FnMut() -> Vec<Observation>) -> [usize; FLAG_KINDS.len()] {
    let mut counts = [0; FLAG_KINDS.len()];
    for _ in 0..campaigns {
        let flags = diagnose(&draw()).unwrap();
        for (count, kind) in counts.iter_mut().zip(FLAG_KINDS) {
            *count += usize::from(flags.iter().any(|flag| flag.kind == kind));
        }
    }
    counts
}

/// The number of 200 campaigns that show the kind, after `spoil`.
fn found(kind: FlagKind, clean: Clean, spoil: impl Fn(&mut Vec<Observation>, &mut ChaCha8Rng)) -> usize {
    let mut random = ChaCha8Rng::seed_from_u64(kind as u64 + 100);
    let counts = flagged(200, || {
        let mut runs = clean.draw(&mut random);
        spoil(&mut runs, &mut random);
        runs
    });
    counts[FLAG_KINDS.iter().position(|other| *other == kind).unwrap()]
}

/// The spread between runs of a condition in [`Clean::draw`].
fn sd(condition: usize) -> f64 {
    10.0_f64.powi(condition as i32 - 2)
}

#[test]
fn what_is_planted_is_found() {
    let drift = |runs: &mut Vec<Observation>, change: f64| {
        let count = runs.len() as f64;
        for (place, run) in runs.iter_mut().enumerate() {
            run.value += change * sd(run.condition) * place as f64 / count;
        }
    };
    // From boot to boot a drift must stand out from boots that differ, so it takes boots.
    let many = Clean { between: 0.5, boots: 12, conditions: 2, ..CROSSED };
    let count = found(FlagKind::Drift, many, |runs, _| drift(runs, 3.0));
    assert!(count > 180, "drift: {count}");
    // Inside boots it must not, and a fifth of it there is enough.
    let count = found(FlagKind::DriftInBoots, Clean { between: 5.0, ..CROSSED }, |runs, _| drift(runs, 4.0));
    assert!(count > 180, "drift in boots: {count}");
    for clean in [CROSSED, NESTED] {
        // A condition's own boots must tell where it has boots of its own.
        let boots = if clean.crossed { 8 } else { 12 };
        let count = found(FlagKind::OutlyingBoot, Clean { boots, ..clean }, |runs, _| {
            runs.iter_mut().filter(|run| run.boot == 2).for_each(|run| run.value -= 12.0 * sd(run.condition));
        });
        assert!(count > 180, "outlying boot: {count} in {clean:?}");
        let count =
            found(FlagKind::OutlyingRun, clean, |runs, _| runs[17].value += 7.0 * sd(runs[17].condition));
        assert!(count > 180, "outlying run: {count} in {clean:?}");
        let count = found(FlagKind::FirstRun, Clean { between: 5.0, ..clean }, |runs, _| {
            let mut seen = std::collections::BTreeSet::new();
            for run in runs.iter_mut().filter(|run| seen.insert((run.condition, run.boot))) {
                run.value -= 1.5 * sd(run.condition);
            }
        });
        assert!(count > 180, "first run: {count} in {clean:?}");
    }
    let count = found(FlagKind::SeveralModes, Clean { runs: 40, between: 5.0, ..NESTED }, |runs, random| {
        for run in runs.iter_mut().filter(|run| run.condition == 3) {
            run.value += if random.random::<bool>() { 6.0 * sd(3) } else { 0.0 };
        }
    });
    assert!(count > 180, "several modes: {count}");
}

#[test]
fn two_outliers_do_not_hide_each_other_and_each_has_its_place() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut runs = Clean { conditions: 2, boots: 2, runs: 15, ..NESTED }.draw(&mut random);
    // Recorded boot by boot: condition 0 in boot 1 first, then condition 1 in boot 3.
    for place in [4, 11] {
        runs[place].value += 25.0 * sd(0);
    }
    let flags = diagnose(&runs).unwrap();
    let mut places: Vec<_> = flags
        .iter()
        .filter(|flag| flag.kind == FlagKind::OutlyingRun)
        .map(|flag| (flag.condition, flag.boot, flag.run))
        .collect();
    places.sort();
    assert_eq!(places, [(Some(0), Some(1), Some(5)), (Some(0), Some(1), Some(12))], "{flags:?}");
}

#[test]
fn coarse_values_are_no_modes() {
    // Whole numbers of five or six kinds, as a count of losses is.
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let counts = flagged(300, || {
        let mut runs = Clean { conditions: 3, runs: 30, ..NESTED }.draw(&mut random);
        for run in &mut runs {
            run.value = (run.value / sd(run.condition)).round();
        }
        runs
    });
    for (kind, count) in FLAG_KINDS.into_iter().zip(counts) {
        let is_meant = matches!(kind, FlagKind::SeveralModes | FlagKind::Constant);
        assert!(!is_meant || count == 0, "{counts:?}");
    }
}

#[derive(Deserialize)]
struct Fixture {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    kind: String,
    runs: Vec<(usize, u32, f64)>,
    statistic: f64,
    p: Option<f64>,
}

#[test]
fn equals_scipy_and_plain_definitions() {
    let fixture: Fixture = serde_json::from_str(include_str!("fixtures/diagnostics.json")).unwrap();
    // What is constant has no test.
    assert_eq!(fixture.cases.len(), FLAG_KINDS.len() - 1);
    for case in fixture.cases {
        let runs = case.runs.iter().map(|(condition, boot, value)| Observation {
            condition: *condition,
            boot: *boot,
            value: *value,
        });
        let flags = diagnose(&runs.collect::<Vec<_>>()).unwrap();
        let is_meant = |flag: &&Flag| serde_json::to_value(flag.kind).unwrap() == case.kind;
        let flag = flags.iter().find(is_meant).unwrap_or_else(|| panic!("{} in {flags:?}", case.kind));
        // Values of 1e10 with a spread of 1 keep six digits of it.
        let is_close = |one: f64, other: f64, most: f64| (one - other).abs() <= most * other.abs();
        assert!(is_close(flag.statistic, case.statistic, 1e-6), "{}: {}", case.kind, flag.statistic);
        assert!(case.p.is_none_or(|p| is_close(flag.p, p, 1e-5)), "{}: p {}", case.kind, flag.p);
    }
}

#[test]
fn a_drift_inside_boots_has_the_sign_of_its_change() {
    for sign in [1.0, -1.0] {
        let run = |boot, place| Observation { condition: 0, boot, value: 100.0 + sign * f64::from(place) };
        let boot = |boot| (0..12).map(move |place| run(boot, place));
        let flags = diagnose(&(1..5).flat_map(boot).collect::<Vec<_>>()).unwrap();
        let drift = flags.iter().find(|flag| flag.kind == FlagKind::DriftInBoots).unwrap();
        assert_eq!((drift.statistic.signum(), drift.size.signum()), (sign, sign));
    }
}

/// The names of a stored study.
const STUDY: FlagNames<'_> = FlagNames {
    condition: &|condition| format!("ipv{}", 4 + 2 * condition),
    boot: &|boot| format!("boot {boot}"),
    knows_boots: true,
    knows_order: true,
};

fn flag(kind: FlagKind) -> Flag {
    let is_whole = matches!(kind, FlagKind::Drift | FlagKind::DriftInBoots | FlagKind::FirstRun);
    let is_boot = kind == FlagKind::OutlyingBoot;
    Flag {
        kind,
        condition: (!is_whole).then_some(1),
        boot: Some(2),
        run: (!is_boot).then_some(7),
        statistic: -4.2,
        p: if is_boot { 1e-9 } else { 0.0012 },
        size: match kind {
            FlagKind::DriftInBoots | FlagKind::SeveralModes => 0.12,
            _ => -5.08,
        },
    }
}

#[test]
fn sentences_say_what_where_how_sure_and_what_to_do() {
    let starts = [
        "drift: values fall by 5.1 sd of a run from a condition's first boot to its last, on the mean of the conditions (trend over boots, p 0.0012). ",
        "drift in boots: values tend to rise from run to run inside boots, Kendall's tau 0.12 (Mann-Kendall, p 0.0012). ",
        "ipv6: outlying boot: boot 2 lies 5.1 sd of a run below the mean of the boots (Grubbs, p < 0.0001). ",
        "ipv6: outlying run: run 7 of boot 2 lies 5.1 sd below the mean of its boot (Grubbs, p 0.0012). ",
        "ipv6: several modes: this looks like two or more clusters of runs, dip 0.120 (dip test, p 0.0012). ",
        "first run: the first recorded run of a boot is on average 5.1 sd of a run lower than those after it (paired t, ",
        "ipv6: constant: no run differs from another of its condition. ",
    ];
    for (kind, start) in FLAG_KINDS.into_iter().zip(starts) {
        let sentence = flag(kind).sentence(STUDY);
        assert!(sentence.starts_with(start), "{sentence}");
        assert!(sentence.len() > start.len() + 30 && !sentence.contains("  "), "{sentence}");
    }
}

#[test]
fn files_say_only_what_they_know() {
    let files = FlagNames { knows_order: false, ..STUDY };
    let values =
        FlagNames { knows_boots: false, knows_order: false, boot: &|boot| format!("value {boot}"), ..STUDY };
    for kind in FLAG_KINDS {
        let rests_on_order = matches!(kind, FlagKind::Drift | FlagKind::DriftInBoots | FlagKind::FirstRun);
        let sentence = flag(kind).sentence(files);
        assert_eq!(sentence.contains("The order is that of the files"), rests_on_order, "{sentence}");
    }
    let drift = flag(FlagKind::Drift).sentence(values);
    assert!(drift.contains("first value to its last") && !drift.contains("boot "), "{drift}");
    let outlier = flag(FlagKind::OutlyingBoot).sentence(values);
    assert!(
        outlier
            .starts_with("ipv6: outlying value: value 2 lies 5.1 sd of a run below the mean of the values"),
        "{outlier}"
    );
}

#[test]
fn nothing_and_next_to_nothing_give_no_flag() {
    let run = |condition, boot, value| Observation { condition, boot, value };
    let constant: Vec<Observation> = (0..60).map(|i| run(i % 2, i as u32 / 20, 0.1)).collect();
    let rounding: Vec<Observation> =
        (0..60).map(|i| run(i % 2, i as u32 / 20, 0.1 * (1.0 + f64::EPSILON * (i % 3) as f64))).collect();
    for runs in [vec![], vec![run(0, 1, 5.0)], vec![run(0, 1, 5.0), run(1, 1, 6.0)], rounding] {
        assert_eq!(diagnose(&runs), Ok(Vec::new()));
    }
    // That nothing varies is told, and nothing else of it: once if it is so of all conditions.
    let told = |runs: &[Observation]| -> Vec<(FlagKind, Option<usize>)> {
        diagnose(runs).unwrap().iter().map(|flag| (flag.kind, flag.condition)).collect()
    };
    assert_eq!(told(&constant), [(FlagKind::Constant, None)]);
    let mut one = constant;
    one[0].value = 0.2;
    assert!(told(&one).contains(&(FlagKind::Constant, Some(1))), "{:?}", told(&one));
    let error = diagnose(&[run(0, 1, 5.0), run(0, 1, f64::NAN)]).unwrap_err();
    assert!(error.to_string().starts_with("value 2 is NaN"), "{error}");
}

proptest! {
    #[test]
    fn any_numbers_are_taken(
        values in proptest::collection::vec((0..4usize, 0..5u32, any::<f64>()), 0..80),
    ) {
        let runs: Vec<Observation> = values
            .into_iter()
            .filter(|(_, _, value)| value.is_finite())
            .map(|(condition, boot, value)| Observation { condition, boot, value })
            .collect();
        for flag in diagnose(&runs).unwrap() {
            prop_assert!((0.0..LEVEL).contains(&flag.p), "{:?}", flag);
        }
    }

    #[test]
    fn the_unit_does_not_matter(
        seed in 0..1000u64,
        power in -40..40i32,
        shift in -1000..1000i32,
    ) {
        let mut runs = Clean { conditions: 3, ..CROSSED }.draw(&mut ChaCha8Rng::seed_from_u64(seed));
        runs[3].value += 1.0;
        let before = diagnose(&runs).unwrap();
        for run in &mut runs {
            run.value = 2.0_f64.powi(power) * (run.value + f64::from(shift) * sd(run.condition));
        }
        let after = diagnose(&runs).unwrap();
        prop_assert_eq!(before.len(), after.len());
        for (one, other) in before.iter().zip(&after) {
            prop_assert_eq!((one.kind, one.condition, one.boot, one.run), (other.kind, other.condition, other.boot, other.run));
            prop_assert!((one.statistic - other.statistic).abs() <= 1e-6 * one.statistic.abs());
        }
    }
}
