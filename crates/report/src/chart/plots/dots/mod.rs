//! Every run of each condition, in lanes by boot.

mod lanes;

use self::lanes::{BootLanes, DotPaths};
use crate::Table;
use crate::chart::axis::Scale;
use crate::chart::colour::{SERIES, series};
use crate::chart::drawing::Drawing;
use crate::chart::figure::Plot;
use crate::chart::frame::Frame;
use crate::chart::legend::{LegendSign, legend};
use crate::chart::path::drawn_note;
use crate::chart::quantity::{Interval, Quantity};
use crate::chart::table::figure_table;
use results::{counted, distinct};

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
    /// Its boots, in order of time.
    pub boots: Vec<DotsBoot>,
    /// Its mean; none where it has no interval.
    pub interval: Option<Interval>,
}

/// The runs of a condition in one boot.
#[derive(Debug, Clone)]
pub struct DotsBoot {
    /// The boot's name: the same one in every condition.
    pub name: String,
    /// The value of each run.
    pub runs: Vec<f64>,
}

// With more runs each has no words of its own: its boot has, and the table has the boots.
const TOLD: usize = 200;
// With more lanes the marks that the keyboard reaches are the conditions, not their boots.
const MARKED: usize = 24;
// With more lanes a condition has one: its dots are the means of its boots.
const SEPARATE: usize = 240;
// The height of a lane is at most this, in px, and that of all lanes of a condition together that.
const LANE: f64 = 11.0;
const LANES: f64 = 150.0;

impl DotsBoot {
    /// The mean of its runs; none without any.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        // Divided first, the sum of finite numbers cannot overflow.
        let count = self.runs.len() as f64;
        (count > 0.0).then(|| self.runs.iter().map(|run| run / count).sum())
    }
}

impl DotsCondition {
    /// Its boots with one run each: their mean.
    fn means(&self) -> Vec<DotsBoot> {
        let mean = |boot: &DotsBoot| Some(DotsBoot { name: boot.name.clone(), runs: vec![boot.mean()?] });
        self.boots.iter().filter_map(mean).collect()
    }
}

impl Dots {
    /// The names of all boots: by their numbers where these are all that differs, else in the order
    /// in which they appear.
    fn boots(&self) -> Vec<&str> {
        let boots = self.conditions.iter().flat_map(|condition| &condition.boots);
        let mut names = distinct(boots.map(|boot| boot.name.as_str()));
        let word = names.first().and_then(|name| numbered(name)).map(|(word, _)| word);
        if word.is_some() && names.iter().all(|name| numbered(name).map(|(word, _)| word) == word) {
            names.sort_by_key(|name| numbered(name));
        }
        names
    }

    fn runs(&self) -> usize {
        self.conditions.iter().flat_map(|condition| &condition.boots).map(|boot| boot.runs.len()).sum()
    }

    fn lanes(&self) -> usize {
        self.conditions.iter().map(|condition| condition.boots.len()).sum()
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.conditions.iter().flat_map(|condition| {
            let runs = condition.boots.iter().flat_map(|boot| boot.runs.iter().copied());
            runs.chain(condition.interval.iter().flat_map(Interval::points))
        })
    }

    fn signs(&self, boots: &[&str]) -> Vec<(LegendSign, String)> {
        let mut signs: Vec<(LegendSign, String)> = if boots.len() <= SERIES {
            boots
                .iter()
                .enumerate()
                .map(|(index, name)| (LegendSign::Dot(series(index)), (*name).to_owned()))
                .collect()
        } else {
            vec![(LegendSign::Dot(series(0)), self.of_colours(boots.len()))]
        };
        if self.lanes() <= SEPARATE {
            signs.push((LegendSign::Mean, "mean of a boot".to_owned()));
        }
        if self.conditions.iter().any(|condition| condition.interval.is_some()) {
            signs.push((LegendSign::Interval, self.interval.clone()));
        }
        signs
    }

    fn of_colours(&self, boots: usize) -> String {
        let place = if self.lanes() > SEPARATE { "" } else { " from top to bottom" };
        format!("{boots} boots{place}, colours repeat")
    }

    fn about(&self, condition: &DotsCondition, boot: &DotsBoot, mean: f64) -> String {
        let (mean, runs) = (self.quantity.shown(mean), counted(boot.runs.len(), "run"));
        format!("{}, {}: mean {mean} of {runs}", condition.name, boot.name)
    }

    fn about_all(&self, condition: &DotsCondition) -> String {
        let show = self.quantity.show;
        let of = |boot: &DotsBoot| Some(format!("{} {}", boot.name, show(boot.mean()?)));
        let whole = condition.interval.map(|shown| format!("{}; ", self.words(&shown)));
        let whole = whole.unwrap_or_default();
        if condition.boots.len() <= SERIES {
            let means: Vec<String> = condition.boots.iter().filter_map(of).collect();
            return format!("{}: {whole}means: {}", condition.name, means.join(", "));
        }
        // Of more boots the table has each.
        let means: Vec<f64> = condition.boots.iter().filter_map(DotsBoot::mean).collect();
        let end = |most: fn(f64, f64) -> f64| self.quantity.cell(means.iter().copied().reduce(most));
        let (low, high) = (end(f64::min), end(f64::max));
        format!("{}: {whole}means of {} boots: {low} to {high}", condition.name, means.len())
    }

    fn words(&self, shown: &Interval) -> String {
        format!("{}, {}", self.quantity.interval(shown, self.quantity.show), self.interval)
    }

    fn value(&self, condition: &DotsCondition) -> String {
        condition.interval.map_or_else(String::new, |shown| self.quantity.shown(shown.estimate))
    }
}

/// Splits a name into the text before its final number, and the number: `boot 12`.
fn numbered(name: &str) -> Option<(&str, u64)> {
    let (before, number) = name.rsplit_once(' ')?;
    Some((before, number.parse().ok()?))
}

impl Plot for Dots {
    fn draw(&self, width: f64) -> Drawing {
        let mut drawing = Drawing::new(width);
        let boots = self.boots();
        let top = legend(&mut drawing, 0.0, &self.signs(&boots));
        let names = self.conditions.iter().map(|condition| condition.name.as_str());
        let values = self.conditions.iter().map(|condition| self.value(condition));
        let mut frame = Frame::new(width, top, names, values, [0.0, 0.0]);
        let axis = frame.axis(Scale::Linear, self.values(), &self.quantity);
        let (all, lanes) = (self.runs(), self.lanes());
        // Of very many conditions those of a colour are one path: a path for each would be most of
        // the drawing.
        let (mut drawn, mut far) = (0, DotPaths::default());
        for condition in &self.conditions {
            // Of very many boots the means are drawn, in one lane.
            let merged = (lanes > SEPARATE).then(|| condition.means());
            let count = if merged.is_some() { 1 } else { condition.boots.len() };
            let high = (LANES / count.max(1) as f64).clamp(3.0, LANE);
            let lanes_end = high * count as f64;
            let bar = if condition.interval.is_some() { 14.0 } else { 0.0 };
            let y = frame.row(&mut drawing, &condition.name, &self.value(condition), lanes_end + bar);
            let own = BootLanes { boots: &boots, top: y, high, count };
            let x = |run| frame.x(&axis, run);
            let interval = |mark: &mut Drawing, shown: &Interval| {
                frame.interval(mark, "ink", &axis, y + lanes_end + 7.0, shown);
            };
            if let (Some(means), Some(shown)) = (&merged, &condition.interval) {
                drawn += own.gather(&mut far, means, x);
                drawing.mark(&self.about_all(condition), |mark| interval(mark, shown));
                continue;
            }
            if lanes > MARKED {
                drawing.mark(&self.about_all(condition), |mark| {
                    drawn += own.together(mark, merged.as_deref().unwrap_or(&condition.boots), x);
                    condition.interval.iter().for_each(|shown| interval(mark, shown));
                });
                continue;
            }
            for (index, boot) in condition.boots.iter().enumerate() {
                if let Some(mean) = boot.mean() {
                    let about = self.about(condition, boot, mean);
                    let words = |run| format!("{}: {}", boot.name, self.quantity.shown(run));
                    let words = (all <= TOLD).then_some(&words as &dyn Fn(f64) -> String);
                    drawing.mark(&about, |mark| drawn += own.alone(mark, boot, index, x, words));
                }
            }
            if let Some(shown) = &condition.interval {
                let about = format!("{}: {}", condition.name, self.words(shown));
                drawing.mark(&about, |mark| interval(mark, shown));
            }
        }
        far.draw(&mut drawing);
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
        let is_one_each = self.conditions.iter().all(|one| one.boots.iter().all(|boot| boot.runs.len() < 2));
        let is_short = self.runs() > TOLD || is_one_each && self.boots().len() > 1;
        if is_short { self.table_of_conditions() } else { self.table_of_boots() }
    }
}

impl Dots {
    fn table_of_boots(&self) -> Table {
        let show = self.quantity.show;
        let mut rows = Vec::new();
        for condition in &self.conditions {
            let mut row = |of: &str, values: [Option<f64>; 3], runs: String| {
                let [mean, low, high] = values.map(|value| self.quantity.cell(value));
                rows.push(vec![condition.name.clone(), of.to_owned(), mean, low, high, runs]);
            };
            if let Some(shown) = &condition.interval {
                row(&self.interval, shown.values(), String::new());
            }
            for boot in &condition.boots {
                let runs: Vec<String> = boot.runs.iter().map(|run| show(*run)).collect();
                row(&boot.name, [boot.mean(), None, None], format!("({})", runs.join(", ")));
            }
        }
        let head = ["condition", "boot", &self.quantity.title(0), "lower end", "upper end", "runs"];
        figure_table(&head, rows)
    }

    /// A row for each condition, with the means of its boots: of very many runs nobody reads each.
    fn table_of_conditions(&self) -> Table {
        let (quantity, boots) = (self.quantity.title(0), self.boots());
        let means: Vec<String> = boots.iter().map(|boot| format!("mean of {boot}")).collect();
        let head = ["condition", &quantity, "lower end", "upper end", "runs"].into_iter();
        let head: Vec<&str> = head.chain(means.iter().map(String::as_str)).collect();
        let row = |condition: &DotsCondition| -> Vec<String> {
            let cell = |value| self.quantity.cell(value);
            let values = condition.interval.map_or([None; 3], |shown| shown.values()).map(cell);
            let runs: usize = condition.boots.iter().map(|boot| boot.runs.len()).sum();
            let mean = |name: &&str| {
                let boot = condition.boots.iter().find(|boot| boot.name == *name);
                cell(boot.and_then(DotsBoot::mean))
            };
            let name = [condition.name.clone()].into_iter();
            name.chain(values).chain([runs.to_string()]).chain(boots.iter().map(mean)).collect()
        };
        figure_table(&head, self.conditions.iter().map(row))
    }
}
