//! How often looks err, and by how much the differences that they choose are off.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use serde_json::{Value, json};
use stats::sequential::{Bounds, Schedule};
use stats::simulate::{Estimates, Looking, Plan, Shape, World, look_often};
use stats::{Against, Design, Look, Margin, Observation, Question, Spending, Verdict, analyse_with};

use crate::bench::Bench;
use crate::failure::Failure;
use crate::random::normal;
use crate::report::{Goal, Report};
use crate::table::Table;

/// The most that the error rate may be off, in %.
const OFF: f64 = 0.2;
/// So many experiments of one comparison take as long as one that is judged as a study is.
const CHEAPER: u32 = 50;
/// Boots and looks of the default design.
const BOOTS: u32 = 10;
const LOOKS: u32 = 5;

/// `netassay-bench verdict --looks`
pub(crate) fn run(bench: &Bench<'_>, experiments: u32) -> Result<Report, Failure> {
    let heading = [
        "what",
        "design",
        "bounds",
        "boots",
        "looks",
        "% of experiments (95 %)",
        "off by %, above in %: measured",
        "stated",
    ];
    let mut report = Report::begin("verdict --looks", Table::new(3, heading));
    let experiments = if bench.common.smoke { 4 } else { experiments };
    let many = experiments.saturating_mul(CHEAPER).min(10_000_000);
    let mut all = Vec::new();
    for looking in [Looking::ObrienFleming, Looking::Pocock] {
        for looks in 2..=9 {
            all.push(one(&mut report, looking, (Design::Crossed, 2), (BOOTS, looks), many)?);
        }
        all.push(one(&mut report, looking, (Design::Crossed, 2), (20, 10), many)?);
        for (design, conditions) in [(Design::Nested, 2), (Design::Crossed, 4), (Design::Nested, 8)] {
            all.push(one(&mut report, looking, (design, conditions), (BOOTS, LOOKS), many)?);
        }
    }
    for bounds in Bounds::ALL {
        let schedule = Schedule { bounds, looks: LOOKS, boots: BOOTS };
        for case in CASES {
            if bench.interrupt.is_tripped() {
                return Err(Failure::Interrupted);
            }
            let rate = case.rate(schedule, experiments)?;
            report.table.row(
                [case.what, design_words(case.design, case.conditions).as_str(), bounds.as_str()]
                    .map(str::to_owned)
                    .into_iter()
                    .chain([BOOTS.to_string(), LOOKS.to_string(), rate.0, "-".to_owned(), "-".to_owned()]),
            );
            all.push(json!({"what": case.what, "bounds": bounds, "rate": rate.1}));
        }
    }
    report.results = Value::Array(all);
    Ok(report.finish())
}

fn design_words(design: Design, conditions: usize) -> String {
    let word = match design {
        Design::Nested => "nested",
        Design::Crossed => "crossed",
    };
    format!("{word}, {conditions} conditions")
}

/// One comparison without a difference, and with those that are found in about a tenth to nine
/// tenths of experiments.
fn one(
    report: &mut Report,
    looking: Looking,
    (design, conditions): (Design, usize),
    (boots, looks): (u32, u32),
    experiments: u32,
) -> Result<Value, Failure> {
    let world = World {
        design,
        conditions,
        boots: boots as usize,
        runs: 1,
        mean: 100.0,
        between: 0.0,
        shared: 0.0,
        within: 1.0,
        shape: Shape::Normal,
    };
    // In standard errors of the last look: 1, 2, 3 and 5.
    let differences = [1.0, 2.0, 3.0, 5.0].map(|errors| errors * (2.0 / f64::from(boots)).sqrt()).to_vec();
    let plan = Plan { world, between: vec![0.0], differences, methods: Vec::new(), experiments, seed: 1 };
    let found = look_often(&plan, looks, 2).map_err(|error| Failure::Internal(error.to_string()))?;
    let place = Looking::ALL.iter().position(|one| *one == looking).unwrap_or_default();
    let cells: Vec<_> =
        found.cells.iter().map(|cell| (cell, cell.rates[place], cell.estimates[place])).collect();
    for (cell, rate, estimates) in &cells {
        let errors = cell.difference / (2.0 / f64::from(boots)).sqrt();
        let what =
            if errors == 0.0 { "nothing differs".to_owned() } else { format!("{errors:.0} standard errors") };
        let off = |found: f64, above: f64| {
            format!("{:+.1}, {:.0}", 100.0 * (found / cell.difference - 1.0), 100.0 * above)
        };
        let [measured, stated] = if errors == 0.0 {
            ["-", "-"].map(str::to_owned)
        } else {
            let Estimates { measured, adjusted, measured_above, adjusted_above } = *estimates;
            [off(measured, measured_above), off(adjusted, adjusted_above)]
        };
        let (low, high) = rate.interval;
        let rate = format!("{:.2} ({:.2} to {:.2})", 100.0 * rate.rate, 100.0 * low, 100.0 * high);
        report.table.row(
            [what, design_words(design, conditions), looking.as_str().to_owned()].into_iter().chain([
                boots.to_string(),
                looks.to_string(),
                rate,
                measured,
                stated,
            ]),
        );
    }
    let rate = cells.first().map_or(f64::NAN, |(_, rate, _)| 100.0 * rate.rate);
    let what = format!(
        "{}, {}, {looks} looks at {boots} boots: error rate off 5 %",
        looking.as_str(),
        design_words(design, conditions)
    );
    report.goals.push(Goal::under(what, (rate - 5.0).abs(), OFF, "%"));
    Ok(
        json!({"looking": looking, "design": design, "conditions": conditions, "boots": boots, "found": found.cells}),
    )
}

/// What is judged as `netassay run` judges it.
struct Case {
    what: &'static str,
    design: Design,
    conditions: usize,
    /// How many times as much the last condition spreads.
    spread: f64,
    against: Against,
    /// The true difference of condition 1 and the margin, in %: `equivalent` is then wrong.
    margin: Option<f64>,
}

const CASES: [Case; 6] = {
    const ALONE: Case = Case {
        what: "",
        design: Design::Crossed,
        conditions: 2,
        spread: 1.0,
        against: Against::Baseline(0),
        margin: None,
    };
    [
        Case { what: "any of 3 against a baseline", conditions: 4, ..ALONE },
        Case { what: "any of 7 against a baseline", conditions: 8, ..ALONE },
        Case { what: "any of 6 pairs", conditions: 4, against: Against::AllPairs, ..ALONE },
        Case { what: "any of 7 against a baseline", design: Design::Nested, conditions: 8, ..ALONE },
        Case { what: "one, which spreads 3 times as much", design: Design::Nested, spread: 3.0, ..ALONE },
        Case { what: "equivalent at the margin", margin: Some(1.0), ..ALONE },
    ]
};

impl Case {
    /// How often the verdict is wrong at any look, in words and in %.
    fn rate(&self, schedule: Schedule, experiments: u32) -> Result<(String, f64), Failure> {
        let spending = Spending::default();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut wrong = 0_u32;
        for _ in 0..experiments {
            wrong += u32::from(self.is_wrong(schedule, &mut random, &spending)?);
        }
        let share = f64::from(wrong) / f64::from(experiments);
        let half = 1.96 * (share * (1.0 - share) / f64::from(experiments)).sqrt();
        let words =
            format!("{:.1} ({:.1} to {:.1})", 100.0 * share, 100.0 * (share - half), 100.0 * (share + half));
        Ok((words, 100.0 * share))
    }

    fn is_wrong(
        &self,
        schedule: Schedule,
        random: &mut ChaCha8Rng,
        spending: &Spending,
    ) -> Result<bool, Failure> {
        let mut observations = Vec::new();
        let mut boot = 0;
        for (number, last) in (1..).zip(schedule.after()) {
            while boot < last {
                boot += 1;
                for condition in 0..self.conditions {
                    let spread = if condition + 1 == self.conditions { self.spread } else { 1.0 };
                    let higher = if condition == 1 { self.margin.unwrap_or(0.0) } else { 0.0 };
                    let value = 100.0 + higher + 0.5 * spread * normal(random);
                    observations.push(Observation { condition, boot, value });
                }
            }
            let question = Question {
                against: self.against,
                margin: self.margin.map(Margin::Percent),
                design: Some(self.design),
                look: Some(Look { number, schedule }),
                ..Question::against(0)
            };
            let analysis = analyse_with(&observations, &question, |_| true, spending)
                .map_err(|error| Failure::Internal(error.to_string()))?;
            let is =
                |wanted: &[Verdict]| analysis.comparisons.iter().any(|one| wanted.contains(&one.verdict));
            let differs = is(&[Verdict::Higher, Verdict::Lower]);
            match self.margin {
                None if differs => return Ok(true),
                Some(_) if is(&[Verdict::Equivalent]) => return Ok(true),
                Some(_) if differs => return Ok(false),
                _ => {}
            }
        }
        Ok(false)
    }
}
