//! Axes: scale, ticks, and the place of each value.

use crate::chart::measure::{LINE, fit, width};
use crate::chart::quantity::Quantity;
use results::in_thousands;

/// The rule by which values become places on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equal lengths.
    Linear,
    /// A linear scale that includes zero.
    FromZero,
    /// Equal ratios are equal lengths. Values at or below zero are at the low end.
    Logarithmic,
}

/// The length of an axis in px, and how it lies.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AxisRoom {
    Across(f64),
    Up(f64),
}

/// An axis: a stretch of values and the ticks on it.
#[derive(Debug)]
pub(crate) struct Axis {
    scale: Scale,
    // Values are divided by it before they are placed, so that no difference overflows.
    unit: f64,
    low: f64,
    high: f64,
    /// Rising places, from 0, the low end of the axis, to 1, each with its value as it is written.
    pub(crate) ticks: Vec<(f64, String)>,
    /// The power of ten that the labels are in units of.
    pub(crate) factor: i32,
}

// Values whose ends differ by less than this share of the larger one are all equal: a label could
// not tell them apart.
const EQUAL: f64 = 1e-9;
// The largest size that counts as zero.
const NOTHING: f64 = 1e-300;
// The fewest px between two labels of an axis that lies.
const GAP: f64 = 14.0;
// The longest name on an axis, in px.
const LONGEST: f64 = 110.0;

impl Axis {
    pub(crate) fn new(
        scale: Scale,
        values: impl IntoIterator<Item = f64>,
        quantity: &Quantity,
        room: AxisRoom,
    ) -> Self {
        let values = values.into_iter().chain(quantity.reach.iter().copied());
        let values = values.filter(|value| value.is_finite());
        match scale {
            Scale::Linear => linear(values, false, room),
            Scale::FromZero => linear(values, true, room),
            Scale::Logarithmic => logarithmic(values, quantity, room),
        }
    }

    /// An axis of names, the first at 0. Names without room are left out.
    pub(crate) fn names(names: &[String], room: AxisRoom) -> Self {
        // The last, mostly the newest study, keeps its name: the others are counted from it.
        let last = names.len().saturating_sub(1);
        let axis = |every: usize| {
            let kept = names.iter().enumerate().filter(|(index, _)| (last - index).is_multiple_of(every));
            let ticks = kept.map(|(index, name)| (index as f64, fit(name, LONGEST)));
            Self::between(Scale::Linear, (-0.5, last as f64 + 0.5), ticks)
        };
        (1..=last.max(1)).map(axis).find(|axis| axis.fits(room)).unwrap_or_else(|| axis(last + 1))
    }

    /// The place of a value: from 0, the low end, to 1.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let at = self.scale.position(value, self.unit);
        ((at - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    fn fits(&self, room: AxisRoom) -> bool {
        let is_apart = |pair: &[(f64, String)]| {
            let [(before, left), (after, right)] = pair else { return true };
            let (length, least) = match room {
                AxisRoom::Across(length) => (length, (width(left) + width(right)) / 2.0 + GAP),
                AxisRoom::Up(length) => (length, 2.0 * LINE),
            };
            (after - before) * length >= least
        };
        self.ticks.len() > 1 && self.ticks.windows(2).all(is_apart)
    }

    fn between(scale: Scale, (low, high): (f64, f64), ticks: impl Iterator<Item = (f64, String)>) -> Self {
        let ticks = ticks.map(|(at, label)| ((at - low) / (high - low), label)).collect();
        Self { scale, unit: 1.0, low, high, ticks, factor: 0 }
    }
}

impl Scale {
    fn position(self, value: f64, unit: f64) -> f64 {
        match self {
            Self::Linear | Self::FromZero => value / unit,
            Self::Logarithmic => value.max(NOTHING).log10(),
        }
    }
}

/// The least and the largest; `None` without a value.
pub(crate) fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |ends, value| {
        let (low, high) = ends.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    })
}

fn ten_to(exponent: i32) -> f64 {
    // `powi` is not exact.
    format!("1e{exponent}").parse().unwrap_or(1.0)
}

fn linear(values: impl Iterator<Item = f64>, zero: bool, room: AxisRoom) -> Axis {
    let (mut low, mut high) = ends(values).unwrap_or((0.0, if zero { 0.0 } else { 1.0 }));
    if zero {
        (low, high) = (low.min(0.0), high.max(0.0));
    }
    let size = low.abs().max(high.abs());
    let exponent = if size < NOTHING { 0 } else { size.log10().floor() as i32 };
    let unit = ten_to(exponent);
    (low, high) = if size < NOTHING { (0.0, 0.0) } else { (low / unit, high / unit) };
    // An axis from a value to itself has no length.
    if high - low <= EQUAL * low.abs().max(high.abs()) {
        let pad = if size < NOTHING { 1.0 } else { low.abs() / 20.0 };
        (low, high) = (if zero { low } else { low - pad }, high + pad);
    }
    // Labels of more digits would not fit: they are in units of a power of a thousand.
    let factor = if (-4..7).contains(&exponent) { 0 } else { exponent.div_euclid(3) * 3 };
    let axis = |steps: u8, encloses: bool| {
        let step = TickStep::near((high - low) / f64::from(steps));
        let (first, last) =
            if encloses { (step.floor(low), step.ceil(high)) } else { (step.ceil(low), step.floor(high)) };
        // A tick may lie a rounding beyond the values: the axis reaches it too.
        let ends = (low.min(step.value(first)), high.max(step.value(last)));
        let ticks = (first..=last).map(|index| (step.value(index), step.label(index, exponent - factor)));
        Axis { unit, factor, ..Axis::between(Scale::Linear, ends, ticks) }
    };
    let fitting = (2..=8).rev().map(|steps| axis(steps, false)).find(|axis| axis.fits(room));
    fitting.unwrap_or_else(|| axis(1, true))
}

struct TickStep {
    times: i64,
    exponent: i32,
}

impl TickStep {
    fn near(size: f64) -> Self {
        let exponent = size.log10().floor() as i32;
        let power = ten_to(exponent);
        let times = [1, 2, 5].into_iter().find(|times| *times as f64 * power >= size * (1.0 - 1e-9));
        times.map_or(Self { times: 1, exponent: exponent + 1 }, |times| Self { times, exponent })
    }

    fn value(&self, index: i64) -> f64 {
        let whole = (index * self.times) as f64;
        // Division by a whole power of ten rounds once.
        if self.exponent < 0 { whole / ten_to(-self.exponent) } else { whole * ten_to(self.exponent) }
    }

    fn floor(&self, value: f64) -> i64 {
        (value / self.value(1) + 1e-6).floor() as i64
    }

    fn ceil(&self, value: f64) -> i64 {
        (value / self.value(1) - 1e-6).ceil() as i64
    }

    /// A tick's value times a power of ten.
    fn label(&self, index: i64, power: i32) -> String {
        if index == 0 {
            return "0".to_owned();
        }
        let exponent = self.exponent + power;
        // The digits come from whole numbers: a float would show the error of its last place.
        let digits = (index * self.times).abs().to_string();
        let decimals = usize::try_from(-exponent).unwrap_or(0);
        let digits = format!("{digits}{}", "0".repeat(usize::try_from(exponent).unwrap_or(0)));
        let digits = format!("{digits:0>width$}", width = decimals + 1);
        let (whole, part) = digits.split_at(digits.len() - decimals);
        let sign = if index < 0 { "-" } else { "" };
        let point = if part.is_empty() { "" } else { "." };
        format!("{sign}{}{point}{part}", in_thousands(whole))
    }
}

fn logarithmic(values: impl Iterator<Item = f64>, quantity: &Quantity, room: AxisRoom) -> Axis {
    let (low, high) = ends(values.filter(|value| *value >= NOTHING)).unwrap_or((1.0, 10.0));
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil().min(307.0) as i32);
    let all: Vec<(i32, i32)> =
        (first..=last.max(first + 1)).flat_map(|exponent| [1, 2, 5].map(|times| (times, exponent))).collect();
    let near = |(times, exponent): &(i32, i32)| f64::from(*times) * ten_to(*exponent);
    let below = all.iter().rposition(|mark| near(mark) <= low * (1.0 + EQUAL)).unwrap_or(0);
    let above = all.iter().position(|mark| near(mark) >= high * (1.0 - EQUAL)).unwrap_or(all.len() - 1);
    let (below, above) = if below < above { (below, above) } else { (below.saturating_sub(1), above + 1) };
    let around = &all[below..=above.min(all.len() - 1)];
    let at = |mark: &(i32, i32)| f64::from(mark.0).log10() + f64::from(mark.1);
    let within = |mark: &&(i32, i32)| (low..=high).contains(&near(mark));
    // Between the ends of the data, if two ticks are there.
    let encloses = around.iter().filter(within).count() < 2;
    let ends =
        if encloses { (at(&around[0]), at(&around[around.len() - 1])) } else { (low.log10(), high.log10()) };
    let axis = |every: i32| {
        let named = around.iter().filter(|mark| encloses || within(mark));
        let named = named.filter(|(times, exponent)| match every {
            0 => true,
            every => *times == 1 && exponent.rem_euclid(every) == 0,
        });
        Axis::between(Scale::Logarithmic, ends, named.map(|mark| (at(mark), (quantity.show)(near(mark)))))
    };
    let levels = [0, 1, 2, 3, 5, 10, 20, 50, 100, 200];
    let fitting = levels.into_iter().map(axis).find(|axis| axis.fits(room));
    let fewest = || levels.into_iter().rev().map(axis).find(|axis| !axis.ticks.is_empty());
    fitting.or_else(fewest).unwrap_or_else(|| axis(0))
}

#[cfg(test)]
mod tests;
