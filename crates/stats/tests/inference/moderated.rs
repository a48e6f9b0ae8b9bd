//! Standard errors and degrees of freedom beside those of `fixtures/moderated.py`.

use netassay_stats::effects::{DesignMatrix, factorial};
use netassay_stats::{Design, Observation, Question, analyse};
use serde::Deserialize;

use crate::{alone, close};

#[derive(Deserialize)]
struct Fixture {
    script: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    crossed: bool,
    /// The means of the boots of each condition.
    table: Vec<Vec<Option<f64>>>,
    pairs: Vec<Expected>,
    /// The pairs, each with its level by itself.
    alone: Vec<Expected>,
    /// The second half of the conditions against the first.
    effect: Option<Expected>,
}

#[derive(Deserialize)]
struct Expected {
    value: f64,
    se: f64,
    df: f64,
}

impl Case {
    /// Two runs in every cell, at either side of its mean.
    fn observations(&self) -> Vec<Observation> {
        let mut runs = Vec::new();
        for (condition, cells) in self.table.iter().enumerate() {
            for (number, mean) in cells.iter().enumerate() {
                let boot = if self.crossed { number } else { 100 * condition + number } as u32;
                let values = mean.iter().flat_map(|mean| [mean - 0.25, mean + 0.25]);
                runs.extend(values.map(|value| Observation { condition, boot, value }));
            }
        }
        runs
    }
}

#[test]
fn errors_and_degrees_of_freedom_are_those_of_the_formulas() {
    let fixture: Fixture = serde_json::from_str(include_str!("../fixtures/moderated.json")).unwrap();
    assert_eq!(fixture.script, "moderated.py");
    for case in fixture.cases {
        let (runs, name) = (case.observations(), &case.name);
        for (question, pairs) in [(Question::against(0), &case.pairs), (alone(0), &case.alone)] {
            let analysis = analyse(&runs, &question).unwrap();
            assert_eq!(analysis.design == Design::Crossed, case.crossed, "{name}");
            for (got, expected) in analysis.comparisons.iter().zip(pairs) {
                close(name, got.difference, expected.value, 1e-9);
                close(name, got.standard_error.unwrap(), expected.se, 1e-8 * expected.se);
                close(name, got.df, expected.df, 1e-7 * expected.df);
            }
        }
        let Some(expected) = case.effect else { continue };
        let half = case.table.len() / 2;
        if half == 3 {
            // Three places are no switch.
            continue;
        }
        let bits = |place: usize| vec![place >= half, place % half % 2 == 1, place % half > 1];
        let levels: Vec<Vec<bool>> = (0..2 * half).map(bits).collect();
        let factors = ["half", "first", "second"].map(str::to_owned);
        let effects = factorial(&runs, &DesignMatrix { factors: &factors, levels: &levels }, 2, 0.95);
        // Of fewer conditions the place is no factor, or one.
        let effect = effects.unwrap().remove(0).effect;
        close(name, effect.value, expected.value, 1e-9);
        close(name, effect.standard_error.unwrap(), expected.se, 1e-8 * expected.se);
        close(name, effect.df, expected.df, 1e-7 * expected.df);
    }
}
