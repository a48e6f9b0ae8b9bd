//! Every run of each condition, in lanes by boot.

use results::{distinct, grouped};

use crate::cells;
use crate::chart::axis::Scale;
use crate::chart::colour::{SERIES, series};
use crate::chart::drawing::Drawing;
use crate::chart::figure::Plot;
use crate::chart::frame::Frame;
use crate::chart::legend::{LegendSign, legend};
use crate::chart::path::{SvgPath, drawn_note, thinned_dots};
use crate::chart::quantity::{Interval, Quantity};
use crate::document::Table;

/// Runs per condition. Each boot has a lane and a colour, so that a boot that differs is seen.
#[derive(Debug, Clone)]
pub struct Dots {
    /// The measured quantity.
    pub quantity: Quantity,
    /// The kind of the intervals: `95 % interval of the mean over boots`.
    pub interval: String,
    /// In the order of the study.
    pub conditions: Vec<DotsCondition>,
}

/// A condition.
#[derive(Debug, Clone)]
pub struct DotsCondition {
    /// Its name.
    pub name: String,
    /// Its boots in order of time, each with the value of each run. A boot has the same name in
    /// every condition.
    pub boots: Vec<(String, Vec<f64>)>,
    /// Its mean; none where it has no interval.
    pub interval: Option<Interval>,
}

// With more runs each has no words of its own: its boot has, and the table has the boots.
const TOLD: usize = 200;
// With more lanes a condition has one: its dots are the means of its boots.
const SEPARATE: usize = 240;
// The height of a lane is at most this, in px, and that of all lanes of a condition together that.
const LANE: f64 = 11.0;
const LANES: f64 = 150.0;

fn mean(runs: &[f64]) -> Option<f64> {
    // Divided first, the sum of finite numbers cannot overflow.
    let count = runs.len() as f64;
    (count > 0.0).then(|| runs.iter().map(|run| run / count).sum())
}

impl Dots {
    fn boots(&self) -> Vec<&str> {
        let boots = self.conditions.iter().flat_map(|condition| &condition.boots);
        let mut names = distinct(boots.map(|(name, _)| name.as_str()));
        // By number where the names differ in that alone: a condition may lack the first boots.
        let word = names.first().and_then(|name| numbered(name)).map(|(word, _)| word);
        if word.is_some() && names.iter().all(|name| numbered(name).map(|(word, _)| word) == word) {
            names.sort_by_key(|name| numbered(name));
        }
        names
    }

    fn runs(&self) -> usize {
        self.conditions.iter().flat_map(|condition| &condition.boots).map(|(_, runs)| runs.len()).sum()
    }

    fn lanes(&self) -> usize {
        self.conditions.iter().map(|condition| condition.boots.len()).sum()
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.conditions.iter().flat_map(|condition| {
            let runs = condition.boots.iter().flat_map(|(_, runs)| runs.iter().copied());
            runs.chain(condition.interval.iter().flat_map(Interval::points))
        })
    }

    fn signs(&self, boots: &[&str]) -> Vec<(LegendSign, String)> {
        let mut signs: Vec<(LegendSign, String)> = if boots.len() <= SERIES {
            let named = boots.iter().enumerate();
            named.map(|(index, name)| (LegendSign::Dot(series(index)), (*name).to_owned())).collect()
        } else {
            let place = if self.lanes() > SEPARATE { "" } else { " from top to bottom" };
            vec![(LegendSign::Dot(series(0)), format!("{} boots{place}, colours repeat", boots.len()))]
        };
        if self.lanes() <= SEPARATE {
            signs.push((LegendSign::Mean, "mean of a boot".to_owned()));
        }
        if self.conditions.iter().any(|condition| condition.interval.is_some()) {
            signs.push((LegendSign::Interval, self.interval.clone()));
        }
        signs
    }

    fn about(&self, condition: &DotsCondition) -> String {
        let show = self.quantity.show;
        let boot_mean = |(name, runs): &(String, Vec<f64>)| Some(format!("{name} {}", show(mean(runs)?)));
        let whole = condition.interval.map(|shown| {
            format!("{}, {}; ", self.quantity.interval(&shown, self.quantity.show), self.interval)
        });
        let whole = whole.unwrap_or_default();
        if condition.boots.len() <= SERIES {
            let means: Vec<String> = condition.boots.iter().filter_map(boot_mean).collect();
            return format!("{}: {whole}means: {}", condition.name, means.join(", "));
        }
        // Of more boots the table has each.
        let means: Vec<f64> = condition.boots.iter().filter_map(|(_, runs)| mean(runs)).collect();
        let end =
            |most: fn(f64, f64) -> f64| means.iter().copied().reduce(most).map_or_else(String::new, show);
        let (low, high) = (end(f64::min), end(f64::max));
        format!("{}: {whole}means of {} boots: {low} to {high}", condition.name, means.len())
    }

    fn value(&self, condition: &DotsCondition) -> String {
        condition.interval.map_or_else(String::new, |shown| self.quantity.text(shown.estimate))
    }

    fn table_of_boots(&self) -> Table {
        let head = ["condition", "boot", &self.quantity.title(0), "lower end", "upper end", "runs"];
        let mut table = Table::new(head);
        for condition in &self.conditions {
            if let Some(shown) = condition.interval {
                let [mean, low, high] = Interval::cells(Some(shown), self.quantity.show);
                table.row(cells![&condition.name, &self.interval, mean, low, high]);
            }
            for (name, runs) in &condition.boots {
                let mean = self.quantity.cell(mean(runs));
                let runs: Vec<String> = runs.iter().map(|run| (self.quantity.show)(*run)).collect();
                let runs = format!("({})", runs.join(", "));
                table.row(cells![&condition.name, name, mean, "", "", runs]);
            }
        }
        table
    }

    /// A row for each condition, with the means of its boots.
    fn table_of_conditions(&self) -> Table {
        let (quantity, boots) = (self.quantity.title(0), self.boots());
        let head = ["condition", &quantity, "lower end", "upper end", "runs"].map(str::to_owned).into_iter();
        let head = head.chain(boots.iter().map(|boot| format!("mean of {boot}")));
        let row = |condition: &DotsCondition| {
            let mut cells = cells![&condition.name];
            cells.extend(Interval::cells(condition.interval, self.quantity.show));
            cells.push(condition.boots.iter().map(|(_, runs)| runs.len()).sum::<usize>().into());
            cells.extend(boots.iter().map(|name| {
                let boot = condition.boots.iter().find(|(own, _)| own == name);
                self.quantity.cell(boot.and_then(|(_, runs)| mean(runs)))
            }));
            cells
        };
        Table::with_rows(head, self.conditions.iter().map(row))
    }
}

/// Splits a name into the text before its final number, and the number: `boot 12`.
fn numbered(name: &str) -> Option<(&str, u64)> {
    let (before, number) = name.rsplit_once(' ')?;
    Some((before, number.parse().ok()?))
}

impl Plot for Dots {
    fn draw(&self, width: f64) -> Drawing {
        let boots = self.boots();
        let (mut drawing, top) = legend(width, &self.signs(&boots));
        let names = self.conditions.iter().map(|condition| condition.name.as_str());
        let values = self.conditions.iter().map(|condition| self.value(condition));
        let mut frame = Frame::new(width, top, names, values, [0.0, 0.0]);
        let axis = frame.axis(Scale::Linear, self.values(), &self.quantity);
        let (all, lanes, mut drawn) = (self.runs(), self.lanes(), 0);
        for condition in &self.conditions {
            // Of very many boots the means are drawn, in one lane.
            let one_mean = |(name, runs): &(String, Vec<f64>)| Some((name.clone(), vec![mean(runs)?]));
            let means = || condition.boots.iter().filter_map(one_mean).collect::<Vec<_>>();
            let merged = (lanes > SEPARATE).then(means);
            let count = if merged.is_some() { 1 } else { condition.boots.len() };
            let own = merged.as_ref().unwrap_or(&condition.boots).iter().enumerate();
            let high = (LANES / count.max(1) as f64).clamp(3.0, LANE);
            let lanes_end = high * count as f64;
            let bar = if condition.interval.is_some() { 14.0 } else { 0.0 };
            let y = frame.row(&mut drawing, &condition.name, &self.value(condition), lanes_end + bar);
            let x = |run| frame.x(&axis, run);
            let middle = |lane: usize| y + (lane.min(count.saturating_sub(1)) as f64 + 0.5) * high;
            let colour = |boot: &str| series(boots.iter().position(|name| *name == boot).unwrap_or(0));
            // A path for each colour: one for each boot would be most of a drawing of many boots.
            let coloured = grouped(own.clone().map(|(lane, boot)| (colour(&boot.0), (lane, boot))));
            drawing.mark(&self.about(condition), |mark| {
                for (colour, boots) in coloured {
                    let class = format!("dots {colour}");
                    let mut path = SvgPath::new();
                    mark.shared(&class, |dots| {
                        for (lane, (name, runs)) in boots {
                            let y = middle(lane);
                            if all <= TOLD {
                                drawn += runs.len();
                                for run in runs {
                                    let words = format!("{name}: {}", self.quantity.text(*run));
                                    dots.dot(x(*run), y, &words);
                                }
                                continue;
                            }
                            let places: Vec<(f64, f64)> = runs.iter().map(|run| (x(*run), y)).collect();
                            let kept = thinned_dots(&places);
                            kept.iter().for_each(|(x, y)| path.dot(*x, *y));
                            drawn += kept.len();
                        }
                    });
                    mark.path(&class, &path);
                }
                // Above all dots; a boot's only run is its mean.
                let mut means = SvgPath::new();
                for (lane, (_, runs)) in own.filter(|(_, (_, runs))| runs.len() > 1) {
                    if let Some(mean) = mean(runs) {
                        means.from(x(mean), middle(lane) - high / 2.0).to(x(mean), middle(lane) + high / 2.0);
                    }
                }
                mark.path("stroke ink", &means);
                if let Some(shown) = &condition.interval {
                    frame.interval(mark, "ink", &axis, y + lanes_end + 7.0, shown);
                }
            });
        }
        let remark = if lanes > SEPARATE {
            Some(format!("A dot is the mean of a boot: {all} runs in {lanes} lanes would not be told apart."))
        } else {
            drawn_note(drawn, all, "runs")
        };
        frame.close(&mut drawing, &axis, &self.quantity, false, remark.as_slice());
        drawing
    }

    fn table(&self) -> Table {
        // A boot's only run is its mean.
        let is_one_each = self.conditions.iter().all(|one| one.boots.iter().all(|(_, runs)| runs.len() < 2));
        // Of very many runs nobody reads each.
        let is_short = self.runs() > TOLD || is_one_each && self.boots().len() > 1;
        if is_short { self.table_of_conditions() } else { self.table_of_boots() }
    }
}
