//! What a pilot knows of how boots differ, and what plans from it are worth.

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use stats::planning::{Cost, PlannedFamily, PowerGoal, SampleSizePlan};
use stats::{Design, Observation, Question, analyse};

use super::protocol::{CONDITIONS, ERROR_RATE};
use crate::bench::Bench;
use crate::failure::Failure;
use crate::goal::{Bound, Goal as Limit};
use crate::normal::normal;
use crate::report::Report;

/// Runs of each condition in each boot of the pilot, with a standard deviation of 1.
const RUNS: u32 = 10;
/// What is planned for: a difference as large as that, with this power.
const DIFFERENCE: f64 = 1.0;
const POWER: f64 = 0.8;
/// How often an upper limit holds.
const ASSURANCE: f64 = 0.8;
/// A boot costs as much as so many runs.
const COST: Cost = Cost { boot: 4.0, run: 1.0 };

pub(super) fn run(bench: &Bench, pilots: u32) -> Result<Report, Failure> {
    let heading = [
        "condition x boot",
        "boots",
        "estimated 0 %",
        "limit holds %",
        "power of what would have been seen %",
        "power of the cheapest size %",
        "cheapest enough %",
        "power of the assured size %",
        "assured enough %",
    ];
    let mut report = Report::begin("verdict --pilots", &heading);
    report.note(format!(
        "pilots of {RUNS} runs of {CONDITIONS} conditions in each boot; sizes for a difference of one standard deviation of runs with \
         {:.0} % power; powers are those of the true spread, for 5 and 95 % of pilots at most; enough: of {:.0} % or more",
        100.0 * POWER,
        100.0 * POWER
    ));
    for cell in [0.25, 0.5, 1.0, 2.0] {
        for boots in [3, 5, 10] {
            bench.check()?;
            Seen::of(cell, boots, pilots)?.tell(&mut report, cell, boots);
        }
    }
    Ok(report.finish())
}

#[derive(Default)]
struct Seen {
    unseen: u32,
    held: u32,
    /// True powers.
    detectable: Vec<f64>,
    cheapest: Vec<f64>,
    assured: Vec<f64>,
}

impl Seen {
    fn of(cell: f64, boots: u32, pilots: u32) -> Result<Seen, Failure> {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let plan = |cell: f64| SampleSizePlan {
            design: Design::Crossed,
            conditions: CONDITIONS,
            cell,
            run: 1.0,
            family: PlannedFamily::Alone,
            alpha: ERROR_RATE,
            looks: None,
        };
        let truth = plan(cell);
        let goal = PowerGoal { delta: DIFFERENCE, power: POWER, boots_at_most: 10_000, runs_at_most: 100 };
        let power_of_plan = |cell: f64| {
            let choice = plan(cell).cheapest(goal, COST)?;
            truth.power(goal.delta, choice.boots, choice.runs)
        };
        let lacks = || Failure::failed("a pilot told nothing");
        let mut seen = Seen::default();
        for _ in 0..pilots {
            let mut observations = Vec::new();
            for boot in 1..=boots {
                for condition in 0..CONDITIONS {
                    let own = 100.0 + cell * normal(&mut random);
                    let run = |_| Observation { condition, boot, value: own + normal(&mut random) };
                    observations.extend((0..RUNS).map(run));
                }
            }
            // The upper end of an interval of 60 % is a limit of 80 %.
            let question = Question { level: 2.0 * ASSURANCE - 1.0, ..Question::against(0) };
            let analysed = |question: &Question| analyse(&observations, question).map_err(Failure::failed);
            let interaction = analysed(&question)?.components.interaction.ok_or_else(lacks)?;
            let (_, most) = interaction.interval.ok_or_else(lacks)?;
            let detectable =
                analysed(&Question::against(0))?.comparisons.first().and_then(|one| one.detectable);
            seen.unseen += u32::from(interaction.sd == 0.0);
            seen.held += u32::from(most >= cell);
            seen.detectable.extend(detectable.and_then(|size| truth.power(size, boots, RUNS)));
            seen.cheapest.extend(power_of_plan(interaction.sd));
            seen.assured.extend(power_of_plan(most));
        }
        Ok(seen)
    }

    fn tell(self, report: &mut Report, cell: f64, boots: u32) {
        let pilots = self.cheapest.len() as f64;
        let share = |count: u32| 100.0 * f64::from(count) / pilots;
        let enough = |powers: &[f64]| {
            // A power planned to be 80 % may be a rounding below it.
            100.0 * powers.iter().filter(|power| **power >= POWER - 1e-9).count() as f64 / powers.len() as f64
        };
        let ends = |mut powers: Vec<f64>| {
            powers.sort_by(f64::total_cmp);
            let at = |share: f64| 100.0 * powers[((powers.len() - 1) as f64 * share).round() as usize];
            (at(0.05), at(0.95))
        };
        let (likely, assured) = (enough(&self.cheapest), enough(&self.assured));
        let ranges = [self.detectable, self.cheapest, self.assured].map(ends);
        let words = ranges.map(|(low, high)| format!("{low:.0} to {high:.0}"));
        let [seen, of_cheapest, of_assured] = words;
        let figure = |value: f64| format!("{value:.0}");
        let [unseen, held] = [self.unseen, self.held].map(share);
        report.row([
            cell.to_string(),
            boots.to_string(),
            figure(unseen),
            figure(held),
            seen,
            of_cheapest,
            figure(likely),
            of_assured,
            figure(assured),
        ]);
        let what = format!("condition x boot {cell}, {boots} boots");
        let goal = Bound::AtLeast(100.0 * ASSURANCE - 3.0);
        report.goals.push(Limit::new(format!("{what}: assured sizes that are enough"), assured, goal, "%"));
        let result = json!({
            "estimated_zero_percent": unseen, "limit_holds_percent": held,
            "power_percent": {"would_have_been_seen": ranges[0], "cheapest": ranges[1], "assured": ranges[2]},
            "enough_percent": {"cheapest": likely, "assured": assured},
        });
        report.result(what, result);
    }
}
