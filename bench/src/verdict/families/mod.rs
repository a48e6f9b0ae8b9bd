//! Whether intervals of several comparisons hold together where conditions spread unequally, and
//! what that costs.

mod world;

use std::thread;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use serde_json::{Value, json};
use stats::distribution::beta::binomial_interval;
use stats::{Question, Verdict, analyse};

use super::simulation::THREADS;
use crate::bench::Bench;
use crate::failure::Failure;
use crate::report::{Bound, Goal, Report};
use crate::table::Table;
use crate::verdict::options::Options;
use world::{Layout, POWER, Spreads, World};

const CONDITIONS: [usize; 5] = [2, 3, 4, 8, 20];
const BOOTS: [usize; 4] = [3, 5, 10, 20];
/// False positives of a family, in %.
const MOST_WRONG: f64 = 6.0;
/// The part of an oracle's power that is to be had.
const LEAST_POWER: f64 = 0.9;
/// From so many boots on.
const POWER_FROM: usize = 5;
const SEED: u64 = 1;

/// What came of one world.
struct Cell {
    spreads: Spreads,
    /// Studies of no difference.
    studies: u64,
    wrong: u64,
    found: u64,
    of_ratios: f64,
}

impl Cell {
    /// In %, with its interval.
    fn wrong(&self) -> (f64, (f64, f64)) {
        let (low, high) = binomial_interval(self.wrong, self.studies, 0.95).unwrap_or((0.0, 1.0));
        (100.0 * self.wrong as f64 / self.studies as f64, (100.0 * low, 100.0 * high))
    }

    fn power(&self) -> f64 {
        self.found as f64 / self.studies as f64
    }
}

/// The worst of something, and where it was.
struct Worst<'a> {
    cell: &'a Cell,
    place: String,
}

/// `netassay-bench verdict --families`
pub(super) fn run(bench: &Bench<'_>, options: &Options) -> Result<Report, Failure> {
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
        "log-normal",
        "lowest",
        "equal / ratios known",
        "lowest",
    ];
    let mut report = Report::begin("verdict --families", Table::new(1, heading));
    let experiments = if bench.common.smoke { 20 } else { options.experiments };
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
    let mut rows: Vec<(Layout, usize, usize, Vec<Cell>)> = Vec::new();
    for layout in Layout::ALL {
        for conditions in CONDITIONS {
            for boots in BOOTS {
                let cell = |spreads| self::cell(bench, experiments, layout, spreads, conditions, boots);
                let cells = Spreads::ALL.into_iter().map(cell).collect::<Result<Vec<Cell>, Failure>>()?;
                bench.say(&format!(
                    "verdict --families, {}: {conditions} conditions, {boots} boots",
                    layout.name()
                ));
                tell(&mut report, layout, conditions, boots, &cells);
                rows.push((layout, conditions, boots, cells));
            }
        }
    }
    judge(&mut report, &rows);
    report.results = rows
        .iter()
        .map(|(layout, conditions, boots, cells)| json(*layout, *conditions, *boots, cells))
        .collect();
    Ok(report.finish())
}

/// Simulates one world.
fn cell(
    bench: &Bench<'_>,
    experiments: u32,
    layout: Layout,
    spreads: Spreads,
    conditions: usize,
    boots: usize,
) -> Result<Cell, Failure> {
    let none = || Failure::Internal("an oracle has no critical value".to_owned());
    let world = World::new(layout, spreads, conditions, boots, SEED).ok_or_else(none)?;
    let studies = if layout.is_ragged() { experiments.div_ceil(2) } else { experiments };
    let part = |thread: u32| {
        let (mut wrong, mut found) = (0, 0);
        for number in (thread..studies).step_by(THREADS as usize) {
            if bench.interrupt.is_tripped() {
                return Err(Failure::Interrupted);
            }
            wrong += u64::from(claims(&world, number, false)?.iter().any(|verdict| is_claim(*verdict)));
            let is_sought = !layout.is_ragged();
            found += u64::from(is_sought && claims(&world, number, true)?.first() == Some(&Verdict::Higher));
        }
        Ok((wrong, found))
    };
    let (wrong, found) = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || part(thread))).collect();
        threads.into_iter().try_fold((0, 0), |(wrong, found), thread| {
            let panicked = |_| Failure::Internal("a study panicked".to_owned());
            let (more_wrong, more_found) = thread.join().map_err(panicked)??;
            Ok::<_, Failure>((wrong + more_wrong, found + more_found))
        })
    })?;
    Ok(Cell { spreads, studies: u64::from(studies), wrong, found, of_ratios: world.of_ratios() })
}

/// The verdicts on all conditions of a study but the baseline.
fn claims(world: &World, number: u32, differs: bool) -> Result<Vec<Verdict>, Failure> {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    // A stream for each study of each world.
    let size = (world.layout as u64) << 16 | (world.conditions as u64) << 8 | world.boots as u64;
    let place = Spreads::ALL.iter().position(|spreads| *spreads == world.spreads).unwrap_or(0) as u64;
    random.set_stream(size << 40 | place << 34 | u64::from(differs) << 33 | u64::from(number));
    let question = Question { design: Some(world.layout.design()), ..Question::against(0) };
    let analysis = analyse(&world.study(number, differs, &mut random), &question)
        .map_err(|error| Failure::Environment(error.to_string()))?;
    Ok(analysis.comparisons.iter().map(|one| one.verdict).collect())
}

fn is_claim(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Higher | Verdict::Lower)
}

/// A row of the table.
fn tell(report: &mut Report, layout: Layout, conditions: usize, boots: usize, cells: &[Cell]) {
    let worst_of = |is_meant: &dyn Fn(Spreads) -> bool| {
        let shares = cells.iter().filter(|cell| is_meant(cell.spreads)).map(|cell| cell.wrong().0);
        format!("{:.1}", shares.fold(0.0, f64::max))
    };
    let worst = cells.iter().max_by(|one, other| one.wrong().0.total_cmp(&other.wrong().0));
    let worst = worst.map_or(String::new(), |cell| {
        let (share, (low, high)) = cell.wrong();
        format!("{share:.1} ({low:.1} to {high:.1})")
    });
    let power = |of: &dyn Fn(&Cell) -> f64, is_meant: &dyn Fn(Spreads) -> bool| {
        let shares = cells.iter().filter(|cell| is_meant(cell.spreads)).map(of);
        if layout.is_ragged() {
            "-".to_owned()
        } else {
            format!("{:.0}", 100.0 * shares.fold(f64::INFINITY, f64::min))
        }
    };
    let of_ratios = |cell: &Cell| cell.power() / cell.of_ratios;
    let is_equal = |spreads| spreads == Spreads::Equal;
    report.table.row([
        layout.name().to_owned(),
        conditions.to_string(),
        boots.to_string(),
        worst_of(&is_equal),
        worst_of(&|spreads| matches!(spreads, Spreads::Baseline(_))),
        worst_of(&|spreads| matches!(spreads, Spreads::Treatment(_))),
        worst_of(&|spreads| spreads == Spreads::LogNormal),
        worst,
        power(&Cell::power, &is_equal),
        power(&Cell::power, &|spreads| spreads == Spreads::LogNormal),
        power(&Cell::power, &|_| true),
        power(&of_ratios, &is_equal),
        power(&of_ratios, &|_| true),
    ]);
}

/// The goals: by layout and number of boots, the worst of all numbers of conditions and spreads.
fn judge(report: &mut Report, rows: &[(Layout, usize, usize, Vec<Cell>)]) {
    for layout in Layout::ALL {
        for boots in BOOTS {
            let worst = |badness: &dyn Fn(&Cell) -> f64| {
                let of_it = rows.iter().filter(|row| (row.0, row.2) == (layout, boots));
                let cells = of_it.flat_map(|(_, conditions, _, cells)| {
                    cells.iter().map(move |cell| {
                        let place = format!(
                            "{}, {boots} boots, worst of all: {conditions} conditions, {}",
                            layout.name(),
                            cell.spreads.name()
                        );
                        Worst { cell, place }
                    })
                });
                cells.max_by(|one, other| badness(one.cell).total_cmp(&badness(other.cell)))
            };
            if let Some(Worst { cell, place }) = worst(&|cell| cell.wrong().0) {
                let (_, (low, _)) = cell.wrong();
                let what = format!("{place}: false positives, lower end of the interval");
                report.goals.push(Goal::new(what, low, (Bound::AtMost, MOST_WRONG), "%"));
            }
            if layout.is_ragged() || boots < POWER_FROM {
                continue;
            }
            if let Some(Worst { cell, place }) = worst(&|cell| -cell.power()) {
                let what = format!("{place}: power / oracle that knows the spreads");
                report.goals.push(Goal::ratio(what, cell.power() / POWER, LEAST_POWER));
            }
            if let Some(Worst { cell, place }) = worst(&|cell| -cell.power() / cell.of_ratios) {
                let what = format!("{place}: power / oracle that knows their ratios");
                report.goals.push(Goal::ratio(what, cell.power() / cell.of_ratios, LEAST_POWER));
            }
        }
    }
}

fn json(layout: Layout, conditions: usize, boots: usize, cells: &[Cell]) -> Value {
    let each: Vec<Value> = cells
        .iter()
        .map(|cell| {
            let (wrong, interval) = cell.wrong();
            let power = (!layout.is_ragged()).then(|| cell.power());
            json!({
                "spreads": cell.spreads.name(), "studies": cell.studies, "wrong_percent": wrong, "wrong_interval": interval,
                "power": power, "power_of_ratios": cell.of_ratios,
            })
        })
        .collect();
    json!({"layout": layout, "conditions": conditions, "boots": boots, "worlds": each})
}
