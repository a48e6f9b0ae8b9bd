//! Every run of each condition, in lanes by boot.

use crate::axis::Scale;
use crate::colour::{SERIES, series};
use crate::drawing::{Drawing, Path};
use crate::figure::Plot;
use crate::finite::{Finite, Interval};
use crate::frame::Frame;
use crate::legend::{Sign, legend};
use crate::quantity::Quantity;
use crate::table::{Cell, Table};
use crate::thin;

/// Runs per condition. Each boot has a lane and a colour, so that a boot that differs is seen.
#[derive(Debug, Clone)]
pub struct Dots {
    /// What was measured.
    pub quantity: Quantity,
    /// What the intervals are: `95 % interval of the mean over boots`.
    pub interval: String,
    /// In the order of the study.
    pub conditions: Vec<Condition>,
}

/// A condition.
#[derive(Debug, Clone)]
pub struct Condition {
    /// Its name.
    pub name: String,
    /// Its boots, in order of time.
    pub boots: Vec<Boot>,
    /// Its mean; none where it has no interval.
    pub interval: Option<Interval>,
}

/// The runs of a condition in one boot.
#[derive(Debug, Clone)]
pub struct Boot {
    /// The boot's name: the same one in every condition.
    pub name: String,
    /// What each run measured.
    pub runs: Vec<Finite>,
}

/// With more runs each has no words of its own: its boot has.
const TOLD: usize = 200;
/// With more lanes the marks that the keyboard reaches are the conditions, not their boots.
const MARKED: usize = 24;
/// The height of all lanes of a condition together is at most this, in px.
const LANES: f64 = 150.0;

impl Boot {
    /// The mean of its runs; none without any.
    #[must_use]
    pub fn mean(&self) -> Option<Finite> {
        // Divided first, the sum of finite numbers cannot overflow.
        let count = self.runs.len() as f64;
        Finite::new(self.runs.iter().map(|run| run.value() / count).sum()).filter(|_| count > 0.0)
    }
}

impl Dots {
    /// The names of all boots, in the order in which they appear.
    pub(crate) fn boots(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for boot in self.conditions.iter().flat_map(|condition| &condition.boots) {
            if !names.contains(&boot.name.as_str()) {
                names.push(&boot.name);
            }
        }
        names
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = Finite> {
        self.conditions.iter().flat_map(|condition| {
            let runs = condition.boots.iter().flat_map(|boot| boot.runs.iter().copied());
            runs.chain(condition.interval.iter().flat_map(Interval::points))
        })
    }

    fn signs(&self, boots: &[&str]) -> Vec<(Sign, String)> {
        let mut signs: Vec<(Sign, String)> = if boots.len() <= SERIES {
            boots
                .iter()
                .enumerate()
                .map(|(index, name)| (Sign::Dot(series(index)), (*name).to_owned()))
                .collect()
        } else {
            vec![(Sign::Dot(series(0)), format!("{} boots from top to bottom, colours repeat", boots.len()))]
        };
        signs.push((Sign::Mean, "mean of a boot".to_owned()));
        if self.conditions.iter().any(|condition| condition.interval.is_some()) {
            signs.push((Sign::Interval, self.interval.clone()));
        }
        signs
    }

    fn about(&self, condition: &Condition, boot: &Boot, mean: Finite) -> String {
        let (mean, runs) = (self.quantity.shown(mean), boot.runs.len());
        format!("{}, {}: mean {mean} of {runs} runs", condition.name, boot.name)
    }

    fn about_all(&self, condition: &Condition) -> String {
        let of = |boot: &Boot| Some(format!("{} {}", boot.name, self.quantity.plain(boot.mean()?)));
        let means: Vec<String> = condition.boots.iter().filter_map(of).collect();
        let whole = condition.interval.map(|shown| format!("{}; ", self.words(&shown)));
        format!("{}: {}means: {}", condition.name, whole.unwrap_or_default(), means.join(", "))
    }

    fn words(&self, shown: &Interval) -> String {
        format!("{}, {}", self.quantity.interval(shown, |value| self.quantity.plain(value)), self.interval)
    }

    fn value(&self, condition: &Condition) -> String {
        condition.interval.map_or_else(String::new, |shown| self.quantity.shown(shown.estimate))
    }
}

/// Where the runs of a boot are drawn, and how.
struct Lane {
    class: &'static str,
    middle: f64,
    half: f64,
    /// Each run has words of its own.
    told: bool,
}

impl Lane {
    /// Draws runs and their mean, and gives how many dots that took.
    fn draw(
        &self,
        mark: &mut Drawing,
        boot: &Boot,
        mean: Finite,
        x: impl Fn(Finite) -> f64,
        words: impl Fn(Finite) -> String,
    ) -> usize {
        let class = format!("dots {}", self.class);
        let mut drawn = boot.runs.len();
        if self.told {
            for run in &boot.runs {
                mark.hint(&words(*run), |hint| {
                    let mut dot = Path::new();
                    dot.dot(x(*run), self.middle);
                    hint.path(&class, &dot);
                });
            }
        } else {
            let places: Vec<(f64, f64)> = boot.runs.iter().map(|run| (x(*run), self.middle)).collect();
            let kept = thin::dots(&places);
            drawn = kept.len();
            let mut path = Path::new();
            kept.iter().for_each(|place| path.dot(place.0, place.1));
            mark.path(&class, &path);
        }
        // The mean of one run is that run.
        if boot.runs.len() > 1 {
            let (top, bottom) = (self.middle - self.half, self.middle + self.half);
            mark.line("stroke ink", (x(mean), top), (x(mean), bottom));
        }
        drawn
    }
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
        let all: usize = self.conditions.iter().flat_map(|one| &one.boots).map(|boot| boot.runs.len()).sum();
        let lanes: usize = self.conditions.iter().map(|one| one.boots.len()).sum();
        let mut drawn = 0;
        for condition in &self.conditions {
            let high = (LANES / condition.boots.len().max(1) as f64).clamp(3.0, 11.0);
            let lanes_end = high * condition.boots.len() as f64;
            let bar = if condition.interval.is_some() { 14.0 } else { 0.0 };
            let y = frame.row(&mut drawing, &condition.name, &self.value(condition), lanes_end + bar);
            let of_boot = |(boot, index): (&'_ Boot, u16)| {
                let number = boots.iter().position(|name| *name == boot.name).unwrap_or(0);
                let middle = y + (f64::from(index) + 0.5) * high;
                (
                    Lane {
                        class: series(number),
                        middle,
                        half: high / 2.0,
                        told: all <= TOLD && lanes <= MARKED,
                    },
                    boot.mean(),
                )
            };
            let draw = |mark: &mut Drawing, boot: &Boot, lane: &Lane, mean: Finite| {
                let x = |run| frame.x(&axis, run);
                lane.draw(mark, boot, mean, x, |run| format!("{}: {}", boot.name, self.quantity.shown(run)))
            };
            if lanes <= MARKED {
                for (boot, index) in condition.boots.iter().zip(0_u16..) {
                    let (lane, Some(mean)) = of_boot((boot, index)) else { continue };
                    let about = self.about(condition, boot, mean);
                    drawing.mark(&about, |mark| drawn += draw(mark, boot, &lane, mean));
                }
                if let Some(shown) = &condition.interval {
                    let about = format!("{}: {}", condition.name, self.words(shown));
                    let y = y + lanes_end + 7.0;
                    drawing.mark(&about, |mark| frame.interval(mark, "ink", &axis, y, shown));
                }
                continue;
            }
            drawing.mark(&self.about_all(condition), |mark| {
                for (boot, index) in condition.boots.iter().zip(0_u16..) {
                    if let (lane, Some(mean)) = of_boot((boot, index)) {
                        drawn += draw(mark, boot, &lane, mean);
                    }
                }
                if let Some(shown) = &condition.interval {
                    frame.interval(mark, "ink", &axis, y + lanes_end + 7.0, shown);
                }
            });
        }
        let remark: Vec<String> = thin::said(drawn, all, "runs").into_iter().collect();
        frame.close(&mut drawing, &axis, &self.quantity, false, &remark);
        drawing
    }

    fn plain(&self, columns: usize) -> Option<String> {
        Some(self.text(columns))
    }

    fn table(&self) -> Table {
        let quantity = self.quantity.title(0);
        let mut table = Table::new(&["condition", "boot", &quantity, "lower end", "upper end", "runs"]);
        let plain = |value| self.quantity.plain(value);
        for condition in &self.conditions {
            if let Some(shown) = &condition.interval {
                table.row([
                    Cell::text(&condition.name),
                    Cell::text(&self.interval),
                    Cell::number(Some(shown.estimate), plain),
                    Cell::number(shown.low, plain),
                    Cell::number(shown.high, plain),
                    Cell::Empty,
                ]);
            }
            for boot in &condition.boots {
                let runs: Vec<String> = boot.runs.iter().map(|run| plain(*run)).collect();
                table.row([
                    Cell::text(&condition.name),
                    Cell::text(&boot.name),
                    Cell::number(boot.mean(), plain),
                    Cell::Empty,
                    Cell::Empty,
                    Cell::Text(runs.join(" ")),
                ]);
            }
        }
        table
    }
}
