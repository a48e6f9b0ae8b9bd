//! Whole data sets beside what R says of them (`fixtures/inference.R`).

use netassay_stats::distribution::student;
use netassay_stats::{Design, ErrorTerm, Observation, Question, analyse};
use serde::Deserialize;

use crate::{alone, close};

#[derive(Deserialize)]
struct Fixture {
    script: String,
    balanced: Vec<Balanced>,
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

    /// The rounding error of a difference of means of such values.
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
}

fn fixture() -> Fixture {
    let fixture: Fixture = serde_json::from_str(include_str!("../fixtures/inference.json")).unwrap();
    assert_eq!(fixture.script, "inference.R");
    fixture
}

/// Only the first condition and one other.
fn pair(runs: &[Observation], condition: usize) -> Vec<Observation> {
    runs.iter().copied().filter(|run| [0, condition].contains(&run.condition)).collect()
}

#[test]
fn two_conditions_that_share_boots_give_what_aov_gives() {
    let cases = fixture().balanced.into_iter().filter(|case| case.crossed && case.interval.len() == 1);
    let mut count = 0;
    for case in cases {
        count += 1;
        let (data, name) = (case.runs.observations(), &case.name);
        let analysis = analyse(&data, &alone(0)).unwrap();
        assert_eq!((analysis.design, analysis.error), (Design::Crossed, ErrorTerm::Paired), "{name}");
        let (got, expected) = (&analysis.comparisons[0], case.interval[0]);
        let (rounding, interval) = (case.runs.rounding(), got.interval.unwrap());
        let tolerance = rounding + 1e-9 * (expected.1 - expected.0);
        close(name, got.difference, case.difference.at(0), tolerance);
        close(name, got.standard_error.unwrap(), case.standard_error.at(0), tolerance);
        close(name, interval.0, expected.0, tolerance);
        close(name, interval.1, expected.1, tolerance);
        close(name, got.df, case.df, 1e-9);
        // p moves by about p * df times the relative change of t.
        let relative = rounding / got.standard_error.unwrap();
        close(name, got.p.unwrap(), case.p.at(0), 1e-9 + 10.0 * relative);
    }
    assert!(count > 0);
}

#[test]
fn two_conditions_of_their_own_boots_have_the_error_of_welchs_test_and_fewer_degrees_of_freedom() {
    for case in fixture().welch {
        let (data, name) = (case.runs.observations(), &case.name);
        for (condition, expected) in (1..).zip(&case.comparisons) {
            let analysis = analyse(&pair(&data, condition), &alone(0)).unwrap();
            assert_eq!(analysis.error, ErrorTerm::Boots);
            let got = &analysis.comparisons[0];
            let tolerance = 1e-9 * expected.se;
            let least = got.boots as f64 - 1.0;
            let df = least * (1.0 + 3.0 * (expected.df / least - 1.0).powi(3));
            let half = student::upper_quantile(0.025, df).unwrap() * expected.se;
            close(name, got.difference, expected.difference, tolerance);
            close(name, got.standard_error.unwrap(), expected.se, tolerance);
            close(name, got.df, df, 1e-9 * df);
            close(name, got.interval.unwrap().0, expected.difference - half, 1e3 * tolerance);
            close(name, got.interval.unwrap().1, expected.difference + half, 1e3 * tolerance);
        }
    }
}

/// The means of balanced data are what every analysis takes, whatever it says of their error.
#[test]
fn differences_of_balanced_data_are_those_of_aov() {
    for case in fixture().balanced {
        let analysis = analyse(&case.runs.observations(), &Question::against(0)).unwrap();
        for (place, got) in analysis.comparisons.iter().enumerate() {
            close(&case.name, got.difference, case.difference.at(place), case.runs.rounding());
        }
    }
}
