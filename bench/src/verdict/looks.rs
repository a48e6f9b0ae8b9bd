//! How often looks err, and by how much the differences that they choose are off.

use serde_json::json;
use stats::Design;

use super::tally::in_percent;
use crate::bench::Bench;
use crate::failure::Failure;
use crate::goal::{Bound, Goal};
use crate::report::Report;
use crate::simulator::{Looking, Plan, SequentialRates, Shape, World, look_often};

/// The most that the error rate may be off, in %.
const OFF: f64 = 0.2;
/// So many experiments of one comparison take as long as one of the other simulations.
const CHEAPER: u32 = 50;

/// What a single comparison is part of, and when it is looked at.
struct Studied {
    design: Design,
    conditions: usize,
    boots: u32,
    looks: u32,
}

/// The default design, looked at five times.
const DEFAULT: Studied = Studied { design: Design::Crossed, conditions: 2, boots: 10, looks: 5 };
const OTHERS: [Studied; 4] = [
    Studied { boots: 20, looks: 10, ..DEFAULT },
    Studied { design: Design::Nested, ..DEFAULT },
    Studied { conditions: 4, ..DEFAULT },
    Studied { design: Design::Nested, conditions: 8, ..DEFAULT },
];

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
    let many = bench.or_smoke(experiments.saturating_mul(CHEAPER).min(10_000_000), experiments);
    let looks = (2..=9).map(|looks| Studied { looks, ..DEFAULT });
    let simulated = looks.chain(OTHERS).map(|studied| {
        bench.check()?;
        Ok(Simulated { found: studied.look_often(many)?, studied })
    });
    let simulated = simulated.collect::<Result<Vec<_>, Failure>>()?;
    for (looking, bounds) in
        [(Looking::ObrienFleming, "O'Brien-Fleming bounds"), (Looking::Pocock, "Pocock bounds")]
    {
        simulated.iter().try_for_each(|one| one.tell(&mut report, looking, bounds))?;
    }
    Ok(report.finish())
}

impl Studied {
    fn world(&self) -> World {
        let Self { design, conditions, boots, .. } = *self;
        let (between, shared, within, shape) = (0.0, 0.0, 1.0, Shape::Normal);
        let boots = boots as usize;
        World { design, conditions, boots, runs: 1, mean: 100.0, between, shared, within, shape }
    }

    /// The standard error of the last look.
    fn error(&self) -> f64 {
        (2.0 / f64::from(self.boots)).sqrt()
    }

    /// One comparison without a difference, and with those that are found in about a tenth to nine
    /// tenths of experiments.
    fn look_often(&self, experiments: u32) -> Result<SequentialRates, Failure> {
        // In standard errors of the last look.
        let differences = [1.0, 2.0, 3.0, 5.0].map(|errors| errors * self.error()).to_vec();
        let (world, methods) = (self.world(), Vec::new());
        let plan = Plan { world, between: vec![0.0], differences, methods, experiments, seed: 1 };
        look_often(&plan, self.looks, 2).map_err(Failure::failed)
    }
}

/// What was found, by every kind of bounds: one simulation has them all.
struct Simulated {
    studied: Studied,
    found: SequentialRates,
}

impl Simulated {
    fn tell(&self, report: &mut Report, looking: Looking, bounds: &str) -> Result<(), Failure> {
        let Self { studied, found } = self;
        let Studied { design, conditions, boots, looks } = *studied;
        let error = studied.error();
        let place = Looking::ALL.iter().position(|one| *one == looking);
        let place = place.ok_or_else(|| Failure::failed("no such bounds"))?;
        let name = format!(
            "{}, {conditions} conditions",
            if design == Design::Nested { "nested" } else { "crossed" }
        );
        for cell in &found.cells {
            let off = |found: f64, above: f64| {
                format!("{:+.1}, {:.0}", 100.0 * (found / cell.difference - 1.0), 100.0 * above)
            };
            let estimates = &cell.estimates[place];
            let none = || "-".to_owned();
            let (what, measured, stated) = match cell.difference / error {
                0.0 => ("nothing differs".to_owned(), none(), none()),
                errors => {
                    let what = format!("{errors:.0} standard errors");
                    (
                        what,
                        off(estimates.measured, estimates.measured_above),
                        off(estimates.adjusted, estimates.adjusted_above),
                    )
                }
            };
            let rate = in_percent(&cell.rates[place], 2);
            let [boots, looks] = [boots, looks].map(|count| count.to_string());
            report.row([what, name.clone(), bounds.to_owned(), boots, looks, rate, measured, stated]);
        }
        let rate = found.cells.first().map_or(f64::NAN, |cell| 100.0 * cell.rates[place].rate);
        let what = format!("{bounds}, {name}, {looks} looks at {boots} boots");
        let off =
            Goal::new(format!("{what}: error rate off 5 %"), (rate - 5.0).abs(), Bound::Under(OFF), "%");
        report.goals.push(off);
        report.result(what, json!({"looking": looking, "found": found.cells}));
        Ok(())
    }
}
