//! Runs in the order of time.

use crate::Table;
use crate::chart::axis::Scale;
use crate::chart::colour::series;
use crate::chart::drawing::Drawing;
use crate::chart::figure::Plot;
use crate::chart::legend::{LegendSign, legend};
use crate::chart::path::{drawn_note, thinned_dots};
use crate::chart::plane::{Plane, PlaneAxis, remark};
use crate::chart::quantity::Quantity;
use crate::chart::table::figure_table;
use results::counted;

/// Every run of a campaign when it was, coloured by boot: drift, and boots that differ.
#[derive(Debug, Clone)]
pub struct Timeline {
    /// Time since the campaign began.
    pub time: Quantity,
    /// The measured quantity: with several conditions best relative to the mean of each.
    pub quantity: Quantity,
    /// The value without any difference, drawn as a line.
    pub reference: Option<f64>,
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
    pub at: f64,
}

/// A run.
#[derive(Debug, Clone)]
pub struct TimelineRun {
    /// Its condition.
    pub name: String,
    /// The time of the run.
    pub at: f64,
    /// The value of the run.
    pub value: f64,
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
    pub fn means(&self) -> Vec<(&str, f64)> {
        self.boots().filter_map(|boot| Some((self.name(boot), self.mean(boot)?))).collect()
    }

    fn boots(&self) -> std::ops::Range<usize> {
        0..self.starts.len().max(1)
    }

    /// The values of the runs that count of a boot.
    fn values(&self, boot: usize) -> Vec<f64> {
        self.runs_of_boot(boot).filter(|run| run.counts).map(|run| run.value).collect()
    }

    fn mean(&self, boot: usize) -> Option<f64> {
        let values = self.values(boot);
        // Divided first, the sum of finite numbers cannot overflow.
        (!values.is_empty()).then(|| values.iter().map(|value| value / values.len() as f64).sum())
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
        for boot in self.boots() {
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
                    let kept = thinned_dots(&valid.iter().map(place).collect::<Vec<_>>());
                    drawn += kept.len();
                    dots.dots(&kept);
                });
            });
        }
        let said = drawn_note(drawn, self.runs.len(), "runs");
        remark(&mut drawing, said.as_slice());
        drawing
    }

    fn table(&self) -> Table {
        let (time, value) = (&self.time, &self.quantity);
        if self.runs.len() <= TOLD {
            let runs = self.boots().flat_map(|boot| self.runs_of_boot(boot).map(move |run| (boot, run)));
            let row = |(boot, run): (usize, &TimelineRun)| {
                let counts = if run.counts { "yes" } else { "no" }.to_owned();
                let (at, value) = (time.cell(Some(run.at)), value.cell(Some(run.value)));
                vec![self.name(boot).to_owned(), at, run.name.clone(), value, counts]
            };
            let head = ["boot", &time.title(0), "condition", &value.title(0), "counts"];
            return figure_table(&head, runs.map(row));
        }
        // A row for each boot: of very many runs nobody reads each.
        let row = |boot: usize| {
            let values = self.values(boot);
            let end = |most: fn(f64, f64) -> f64| value.cell(values.iter().copied().reduce(most));
            vec![
                self.name(boot).to_owned(),
                time.cell(self.starts.get(boot).map(|start| start.at)),
                self.runs_of_boot(boot).count().to_string(),
                values.len().to_string(),
                value.cell(self.mean(boot)),
                end(f64::min),
                end(f64::max),
            ]
        };
        let (begin, mean) = (format!("begin: {}", time.title(0)), format!("mean: {}", value.title(0)));
        let head = ["boot", &begin, "runs", "runs that count", &mean, "lowest", "highest"];
        figure_table(&head, self.boots().map(row))
    }
}
