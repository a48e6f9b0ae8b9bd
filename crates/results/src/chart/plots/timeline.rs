//! Runs in the order of time.

use crate::chart::axis::Scale;
use crate::chart::colour::series;
use crate::chart::drawing::Drawing;
use crate::chart::figure::Plot;
use crate::chart::finite::Finite;
use crate::chart::legend::{LegendSign, legend};
use crate::chart::plane::{Plane, PlaneAxis, remark};
use crate::chart::quantity::{Quantity, counted};
use crate::chart::table::{FigureCell, FigureTable};
use crate::chart::thin;

/// Every run of a campaign when it was, coloured by boot: drift, and boots that differ.
#[derive(Debug, Clone)]
pub struct Timeline {
    /// Time since the campaign began.
    pub time: Quantity,
    /// The measured quantity: with several conditions best relative to the mean of each.
    pub quantity: Quantity,
    /// The value without any difference, drawn as a line.
    pub reference: Option<Finite>,
    /// The begin of each boot, in order of time.
    pub starts: Vec<BootStart>,
    /// The runs.
    pub runs: Vec<TimelineRun>,
}

/// The beginning of a boot.
#[derive(Debug, Clone)]
pub struct BootStart {
    /// The boot's name.
    pub name: String,
    /// The time of the begin.
    pub at: Finite,
}

/// A run.
#[derive(Debug, Clone)]
pub struct TimelineRun {
    /// Its condition.
    pub name: String,
    /// The time of the run.
    pub at: Finite,
    /// The value of the run.
    pub value: Finite,
    /// The run is valid and counts.
    pub counts: bool,
}

// With more runs each has no words of its own.
const TOLD: usize = 200;

impl Timeline {
    fn runs_of_boot(&self, boot: usize) -> impl Iterator<Item = &TimelineRun> {
        let from = if boot == 0 { None } else { self.starts.get(boot).map(|start| start.at) };
        let to = self.starts.get(boot + 1).map(|start| start.at);
        self.runs
            .iter()
            .filter(move |run| from.is_none_or(|from| run.at >= from) && to.is_none_or(|to| run.at < to))
    }

    fn name(&self, boot: usize) -> &str {
        self.starts.get(boot).map_or("all runs", |start| &start.name)
    }

    /// The mean of the runs that count of each boot that has any, with the boot's name.
    #[must_use]
    pub fn means(&self) -> Vec<(&str, Finite)> {
        let boots = 0..self.starts.len().max(1);
        boots.filter_map(|boot| Some((self.name(boot), self.mean(boot)?))).collect()
    }

    fn mean(&self, boot: usize) -> Option<Finite> {
        let counted: Vec<&TimelineRun> = self.runs_of_boot(boot).filter(|run| run.counts).collect();
        // Divided first, the sum of finite numbers cannot overflow.
        let share = |run: &&TimelineRun| run.value.value() / counted.len() as f64;
        Finite::new(counted.iter().map(share).sum()).filter(|_| !counted.is_empty())
    }

    fn words(&self, run: &TimelineRun) -> String {
        let counts = if run.counts { "" } else { ", does not count" };
        format!("{}, {}: {}{counts}", run.name, self.time.shown(run.at), self.quantity.shown(run.value))
    }
}

impl Plot for Timeline {
    fn draw(&self, width: f64) -> Drawing {
        let mut drawing = Drawing::new(width);
        let mut signs = vec![
            (LegendSign::Dot(series(0)), "run, coloured by boot".to_owned()),
            (LegendSign::Line(0), "mean of a boot".to_owned()),
        ];
        if self.runs.iter().any(|run| !run.counts) {
            signs.push((LegendSign::Hollow, "run that does not count".to_owned()));
        }
        let top = legend(&mut drawing, 0.0, &signs);
        let starts = self.starts.iter().map(|start| start.at);
        let times = self.runs.iter().map(|run| run.at).chain(starts).collect();
        let across = PlaneAxis { quantity: &self.time, scale: Scale::Linear, values: times, names: &[] };
        let values = self.runs.iter().map(|run| run.value).chain(self.reference).collect();
        let up = PlaneAxis { quantity: &self.quantity, scale: Scale::Linear, values, names: &[] };
        let flags: Vec<_> = self.starts.iter().map(|start| (start.at, start.name.clone())).collect();
        let plane = Plane::new(&mut drawing, top, &across, &up, 0.0, &flags);
        if let Some(reference) = self.reference {
            plane.level(&mut drawing, "axis", reference);
        }
        let mut drawn = 0;
        for boot in 0..self.starts.len().max(1) {
            let runs: Vec<&TimelineRun> = self.runs_of_boot(boot).collect();
            let valid: Vec<&TimelineRun> = runs.iter().copied().filter(|run| run.counts).collect();
            let mean = self.mean(boot);
            let about = mean.map_or_else(String::new, |mean| format!(", mean {}", self.quantity.shown(mean)));
            if runs.is_empty() {
                continue;
            }
            let class = series(boot);
            let words = format!("{}: {}{about}", self.name(boot), counted(runs.len(), "run"));
            drawing.mark(&words, |mark| {
                if let (Some(mean), Some(first), Some(last)) = (mean, valid.first(), valid.last()) {
                    let ((from, y), (to, _)) = (plane.place(first.at, mean), plane.place(last.at, mean));
                    let (from, to) = (from.min(to - 4.0), to.max(from + 4.0));
                    mark.line(&format!("stroke {class}"), (from, y), (to, y));
                }
                let place = |run: &&TimelineRun| plane.place(run.at, run.value);
                for run in runs.iter().filter(|run| !run.counts) {
                    let (x, y) = place(run);
                    mark.ring(&format!("hollow {class}"), x, y, 3.0, Some(&self.words(run)));
                }
                drawn += runs.len() - valid.len();
                mark.shared(&format!("dots {class}"), |dots| {
                    if self.runs.len() <= TOLD {
                        for run in &valid {
                            let (x, y) = place(run);
                            dots.dot(x, y, &self.words(run));
                        }
                        drawn += valid.len();
                        return;
                    }
                    let kept = thin::dots(&valid.iter().map(place).collect::<Vec<_>>());
                    drawn += kept.len();
                    dots.dots(&kept);
                });
            });
        }
        let said = thin::drawn_note(drawn, self.runs.len(), "runs");
        remark(&mut drawing, &said.into_iter().collect::<Vec<_>>());
        drawing
    }

    fn table(&self) -> FigureTable {
        if self.runs.len() > TOLD { self.table_of_boots() } else { self.table_of_runs() }
    }
}

impl Timeline {
    fn table_of_runs(&self) -> FigureTable {
        let mut table =
            FigureTable::new(&["boot", &self.time.title(0), "condition", &self.quantity.title(0), "counts"]);
        for boot in 0..self.starts.len().max(1) {
            for run in self.runs_of_boot(boot) {
                table.row([
                    FigureCell::text(self.name(boot)),
                    FigureCell::number(Some(run.at), |value| self.time.plain(value)),
                    FigureCell::text(&run.name),
                    FigureCell::number(Some(run.value), |value| self.quantity.plain(value)),
                    FigureCell::text(if run.counts { "yes" } else { "no" }),
                ]);
            }
        }
        table
    }

    /// A row for each boot: of very many runs nobody reads each.
    fn table_of_boots(&self) -> FigureTable {
        let (time, value) = (self.time.title(0), self.quantity.title(0));
        let head = ["boot", &format!("begin: {time}"), "runs", "runs that count", &format!("mean: {value}")];
        let mut table = FigureTable::new(&[&head[..], &["lowest", "highest"]].concat());
        for boot in 0..self.starts.len().max(1) {
            let mut counted: Vec<Finite> =
                self.runs_of_boot(boot).filter(|run| run.counts).map(|run| run.value).collect();
            counted.sort_by(|one, other| one.value().total_cmp(&other.value()));
            let number = |count: usize| {
                FigureCell::number(u32::try_from(count).ok().map(Finite::from), |_| count.to_string())
            };
            let plain = |value| self.quantity.plain(value);
            table.row([
                FigureCell::text(self.name(boot)),
                FigureCell::number(self.starts.get(boot).map(|start| start.at), |value| {
                    self.time.plain(value)
                }),
                number(self.runs_of_boot(boot).count()),
                number(counted.len()),
                FigureCell::number(self.mean(boot), plain),
                FigureCell::number(counted.first().copied(), plain),
                FigureCell::number(counted.last().copied(), plain),
            ]);
        }
        table
    }
}
