//! Whole data sets beside what R says of them (`fixtures/inference.R`).

use netassay_stats::{Against, Comparison, Design, ErrorTerm, Observation, Question, analyse};
use serde::Deserialize;

use crate::{alone, close};

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
    let fixture: Fixture = serde_json::from_str(include_str!("../fixtures/inference.json")).unwrap();
    assert_eq!(fixture.script, "inference.R");
    fixture
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
