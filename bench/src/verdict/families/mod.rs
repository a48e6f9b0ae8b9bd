//! Whether intervals of several comparisons hold together where conditions spread unequally, and
//! what that costs.

mod world;

use serde_json::{Value, json};
use stats::{Question, Verdict, analyse};

use super::experiment::experiments;
use super::tally::in_percent;
use crate::bench::Bench;
use crate::failure::Failure;
use crate::goal::{Bound, Goal};
use crate::report::Report;
use crate::simulator::Rate;
use world::{LAYOUTS, Layout, POWER, SPREADS, Spreads, World};

const CONDITIONS: [usize; 5] = [2, 3, 4, 8, 20];
const BOOTS: [usize; 4] = [3, 5, 10, 20];
/// False positives of a family, in %.
const MOST_WRONG: f64 = 6.0;
/// The part of an oracle's power that is to be had.
const LEAST_POWER: f64 = 0.9;
/// From so many boots on.
const POWER_FROM: usize = 5;

/// What came of one world.
struct Cell {
    spreads: Spreads,
    /// Of studies without a difference.
    wrong: Rate,
    /// The share of studies that found the difference.
    power: f64,
    /// The same of the oracle that knows the ratios.
    of_ratios: f64,
}

impl Cell {
    fn of(bench: &Bench, world: &World, studies: u32) -> Result<Self, Failure> {
        let found = experiments(
            studies,
            &bench.interrupt,
            || (),
            |(), number| {
                let is_claim = |verdict: &Verdict| matches!(verdict, Verdict::Higher | Verdict::Lower);
                let wrong = verdicts(world, number, false)?.iter().any(is_claim);
                let is_sought = !world.layout.is_ragged;
                Ok((wrong, is_sought && verdicts(world, number, true)?.first() == Some(&Verdict::Higher)))
            },
        )?;
        let wrong = found.iter().filter(|(wrong, _)| *wrong).count() as u64;
        let power = found.iter().filter(|(_, found)| *found).count() as f64 / f64::from(studies);
        let wrong = Rate::new(wrong, studies.into());
        Ok(Self { spreads: world.spreads, wrong, power, of_ratios: world.of_ratios() })
    }

    /// As a share of that of the oracle that knows the ratios.
    fn relative_power(&self) -> f64 {
        self.power / self.of_ratios
    }
}

/// The verdicts on all conditions of a study but the baseline.
fn verdicts(world: &World, number: u32, differs: bool) -> Result<Vec<Verdict>, Failure> {
    let question = Question { design: Some(world.layout.design), ..Question::against(0) };
    let analysis = analyse(&world.study(number, differs), &question).map_err(Failure::environment)?;
    Ok(analysis.comparisons.iter().map(|one| one.verdict).collect())
}

/// All spreads of one layout and size.
struct Row {
    layout: Layout,
    conditions: usize,
    boots: usize,
    cells: Vec<Cell>,
}

pub(super) fn run(bench: &Bench, experiments: u32) -> Result<Report, Failure> {
    let heading = [
        "layout",
        "conditions",
        "boots",
        "equal",
        "baseline x2 to x6",
        "treatment x2 to x6",
        "log-normal",
        "worst (95 %)",
        "power, equal",
        "power, log-normal",
        "power, lowest",
        "equal / ratios known",
        "lowest / ratios known",
    ];
    let mut report = Report::begin("verdict --families", &heading);
    report.note(format!(
        "{experiments} studies for each layout, number of conditions and of boots, and spread, half of them of ragged layouts; every condition is compared with \
         condition 0. Columns 4 to 8: % of studies without any difference that claim one, the worst of spreads 2, 3 and 6 times as wide; log-normal spreads \
         have 0.94 as the sd of their logarithm; ragged: one cell in ten lost, the others of 1 to 6 runs"
    ));
    report.note(
        "power: % of studies that find a difference of condition 1 which an oracle finds in 80 %. The oracle knows all spreads, so its tests are normal, \
         with the exact critical value of the family (Dunnett's with infinite degrees of freedom and the true correlations). The last two columns are the power as a share of that of an \
         oracle that knows the ratios of the spreads and estimates their common scale from all boots: Dunnett's test at all degrees of freedom",
    );
    let mut rows = Vec::new();
    for layout in LAYOUTS {
        let studies = if layout.is_ragged { experiments.div_ceil(2) } else { experiments };
        for (conditions, boots) in
            CONDITIONS.into_iter().flat_map(|conditions| BOOTS.map(|boots| (conditions, boots)))
        {
            let none = || Failure::failed("an oracle has no critical value");
            let cell = |spreads| {
                let world = World::new(layout, spreads, conditions, boots).ok_or_else(none)?;
                Cell::of(bench, &world, studies)
            };
            let cells = SPREADS.into_iter().map(cell).collect::<Result<Vec<Cell>, Failure>>()?;
            let name = layout.name;
            bench.say(&format!("verdict --families, {name}: {conditions} conditions, {boots} boots"));
            let row = Row { layout, conditions, boots, cells };
            report.row(row.cells_in_words());
            report.result(format!("{name}, {conditions} conditions, {boots} boots"), row.worlds());
            rows.push(row);
        }
    }
    judge(&mut report, &rows);
    Ok(report.finish())
}

impl Row {
    fn cells_in_words(&self) -> [String; 13] {
        type Meant = fn(Spreads) -> bool;
        let meant = |is_meant: Meant| self.cells.iter().filter(move |cell| is_meant(cell.spreads));
        let wrong = |is_meant| {
            let rates = meant(is_meant).map(|cell| cell.wrong.rate);
            format!("{:.1}", 100.0 * rates.fold(0.0, f64::max))
        };
        let least = |of: fn(&Cell) -> f64, is_meant| match self.layout.is_ragged {
            true => "-".to_owned(),
            false => format!("{:.0}", 100.0 * meant(is_meant).map(of).fold(f64::INFINITY, f64::min)),
        };
        let worst = self.cells.iter().max_by(|one, other| one.wrong.rate.total_cmp(&other.wrong.rate));
        let equal: Meant = |spreads| spreads == Spreads(Some([1.0, 1.0]));
        let log_normal: Meant = |spreads| spreads.0.is_none();
        [
            self.layout.name.to_owned(),
            self.conditions.to_string(),
            self.boots.to_string(),
            wrong(equal),
            wrong(|spreads| spreads.0.is_some_and(|[baseline, _]| baseline > 1.0)),
            wrong(|spreads| spreads.0.is_some_and(|[_, treatment]| treatment > 1.0)),
            wrong(log_normal),
            worst.map_or(String::new(), |cell| in_percent(&cell.wrong, 1)),
            least(|cell| cell.power, equal),
            least(|cell| cell.power, log_normal),
            least(|cell| cell.power, |_| true),
            least(Cell::relative_power, equal),
            least(Cell::relative_power, |_| true),
        ]
    }

    fn worlds(&self) -> Vec<Value> {
        let world = |cell: &Cell| {
            let power = (!self.layout.is_ragged).then_some(cell.power);
            json!({
                "spreads": cell.spreads.name(), "wrong": cell.wrong, "power": power, "power_of_ratios": cell.of_ratios,
            })
        };
        self.cells.iter().map(world).collect()
    }
}

/// The goals: by layout and number of boots, the worst of all numbers of conditions and spreads.
fn judge(report: &mut Report, rows: &[Row]) {
    for (layout, boots) in LAYOUTS.into_iter().flat_map(|layout| BOOTS.map(|boots| (layout, boots))) {
        let worst = |badness: fn(&Cell) -> f64| {
            let of_it = rows.iter().filter(|row| (row.layout.name, row.boots) == (layout.name, boots));
            let cells = of_it.flat_map(|row| row.cells.iter().map(move |cell| (row.conditions, cell)));
            let worst = cells.max_by(|(_, one), (_, other)| badness(one).total_cmp(&badness(other)));
            worst.map(|(conditions, cell)| {
                let (layout, spreads) = (layout.name, cell.spreads.name());
                (cell, format!("{layout}, {boots} boots, worst of all: {conditions} conditions, {spreads}"))
            })
        };
        if let Some((cell, place)) = worst(|cell| cell.wrong.rate) {
            let what = format!("{place}: false positives, lower end of the interval");
            let low = 100.0 * cell.wrong.interval.0;
            report.goals.push(Goal::new(what, low, Bound::AtMost(MOST_WRONG), "%"));
        }
        if layout.is_ragged || boots < POWER_FROM {
            continue;
        }
        if let Some((cell, place)) = worst(|cell| -cell.power) {
            let what = format!("{place}: power / oracle that knows the spreads");
            report.goals.push(Goal::ratio(what, cell.power / POWER, LEAST_POWER));
        }
        if let Some((cell, place)) = worst(|cell| -cell.relative_power()) {
            let what = format!("{place}: power / oracle that knows their ratios");
            report.goals.push(Goal::ratio(what, cell.relative_power(), LEAST_POWER));
        }
    }
}
