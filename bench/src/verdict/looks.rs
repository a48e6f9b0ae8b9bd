//! How often looks err, and by how much the differences that they choose are off.

use serde_json::{Value, json};
use stats::Design;
use stats::simulate::{Estimates, Looking, Plan, Shape, World, look_often};

use super::tally::in_percent;
use crate::bench::Bench;
use crate::failure::Failure;
use crate::report::{Goal, Report};

/// The most that the error rate may be off, in %.
const OFF: f64 = 0.2;
/// So many experiments of one comparison take as long as one of the other simulations.
const CHEAPER: u32 = 50;

/// What a single comparison is part of, and when it is looked at.
#[derive(Clone, Copy)]
struct Studied {
    design: Design,
    conditions: usize,
    boots: u32,
    looks: u32,
}

impl Studied {
    const DEFAULT: Self = Self { design: Design::Crossed, conditions: 2, boots: 10, looks: 5 };

    fn all() -> Vec<Self> {
        let mut all: Vec<Self> = (2..=9).map(|looks| Self { looks, ..Self::DEFAULT }).collect();
        all.extend([
            Self { boots: 20, looks: 10, ..Self::DEFAULT },
            Self { design: Design::Nested, ..Self::DEFAULT },
            Self { conditions: 4, ..Self::DEFAULT },
            Self { design: Design::Nested, conditions: 8, ..Self::DEFAULT },
        ]);
        all
    }

    fn design(&self) -> String {
        let design = match self.design {
            Design::Nested => "nested",
            Design::Crossed => "crossed",
        };
        format!("{design}, {} conditions", self.conditions)
    }
}

/// `netassay-bench verdict --looks`
pub(super) fn run(bench: &Bench, experiments: u32) -> Result<Report, Failure> {
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
    let mut report = Report::begin("verdict --looks", &heading);
    let many = experiments.saturating_mul(CHEAPER).min(10_000_000);
    let mut all = Vec::new();
    for (place, looking) in Looking::ALL.into_iter().enumerate() {
        if !matches!(looking, Looking::ObrienFleming | Looking::Pocock) {
            continue;
        }
        for studied in Studied::all() {
            bench.check()?;
            all.push(single(&mut report, (place, looking), &studied, many)?);
        }
    }
    Ok(report.finish(all))
}

/// One comparison without a difference, and with those that are found in about a tenth to nine
/// tenths of experiments.
fn single(
    report: &mut Report,
    (place, looking): (usize, Looking),
    studied: &Studied,
    experiments: u32,
) -> Result<Value, Failure> {
    let Studied { design, conditions, boots, looks } = *studied;
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
    let error = (2.0 / f64::from(boots)).sqrt();
    let differences = [1.0, 2.0, 3.0, 5.0].map(|errors| errors * error).to_vec();
    let plan = Plan { world, between: vec![0.0], differences, methods: Vec::new(), experiments, seed: 1 };
    let found = look_often(&plan, looks, 2).map_err(Failure::failed)?;
    for cell in &found.cells {
        let errors = cell.difference / error;
        let off = |found: f64, above: f64| {
            format!("{:+.1}, {:.0}", 100.0 * (found / cell.difference - 1.0), 100.0 * above)
        };
        let Estimates { measured, adjusted, measured_above, adjusted_above } = cell.estimates[place];
        let (what, measured, stated) = match errors {
            0.0 => ("nothing differs".to_owned(), "-".to_owned(), "-".to_owned()),
            _ => {
                let what = format!("{errors:.0} standard errors");
                (what, off(measured, measured_above), off(adjusted, adjusted_above))
            }
        };
        let rate = in_percent(&cell.rates[place], 2);
        let [boots, looks] = [boots, looks].map(|count| count.to_string());
        report.row([
            what,
            studied.design(),
            looking.as_str().to_owned(),
            boots,
            looks,
            rate,
            measured,
            stated,
        ]);
    }
    let rate = found.cells.first().map_or(f64::NAN, |cell| 100.0 * cell.rates[place].rate);
    let (bounds, design) = (looking.as_str(), studied.design());
    let what = format!("{bounds}, {design}, {looks} looks at {boots} boots: error rate off 5 %");
    report.goals.push(Goal::under(what, (rate - 5.0).abs(), OFF, "%"));
    Ok(json!({
        "looking": looking, "design": studied.design, "conditions": conditions, "boots": boots, "found": found.cells,
    }))
}
