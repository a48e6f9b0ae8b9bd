//! Dots, forests, histograms and histories as plain text, for terminals and Markdown.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr as _;

use crate::axis::{Axis, Room, Scale};
use crate::finite::{Finite, Interval};
use crate::plots::dots::Dots;
use crate::plots::forest::{Effect, Forest};
use crate::plots::histogram::{Histogram, Series};
use crate::plots::history::{History, NOTED, Point};
use crate::quantity::Quantity;

/// How many columns a character of an axis' label takes, in px of [`Axis::new`]: ticks are as far
/// apart as on a drawing.
const COLUMN: f64 = 8.0;
/// The fewest columns of a plot.
const LEAST: usize = 20;
/// Names take at most so many columns.
const NAMES: usize = 32;

/// The columns of names, then those of a plot, in a text of so many columns.
struct Sheet {
    names: usize,
    plot: usize,
    axis: Axis,
    out: String,
}

impl Dots {
    /// A plot of at most so many columns (52 are the least), a row for each boot: `o` is a run, `8`
    /// several in one place, `M` the mean of the boot; below them the interval of the condition,
    /// `<--*-->`.
    #[must_use]
    pub fn text(&self, columns: usize) -> String {
        let names = self.conditions.iter().flat_map(|one| {
            one.boots.iter().map(|boot| format!("  {}", boot.name)).chain([one.name.clone()])
        });
        let mut sheet =
            Sheet::new(columns, names, |room| Axis::new(Scale::Linear, self.values(), &self.quantity, room));
        for condition in &self.conditions {
            let mut row = sheet.blank();
            if let Some(shown) = &condition.interval {
                sheet.interval(&mut row, shown);
            }
            sheet.row(&condition.name, &row);
            for boot in &condition.boots {
                let mut row = sheet.blank();
                for run in &boot.runs {
                    let place = &mut row[sheet.column(*run)];
                    *place = if *place == ' ' { 'o' } else { '8' };
                }
                if let Some(mean) = boot.mean() {
                    row[sheet.column(mean)] = 'M';
                }
                sheet.row(&format!("  {}", boot.name), &row);
            }
        }
        let signs = format!("o run, 8 several, M mean of a boot, <--*--> {}", self.interval);
        sheet.close(&self.quantity, &signs)
    }
}

impl Forest {
    /// A plot of at most so many columns (52 are the least): `<--*-->` is an effect's interval, `|`
    /// is at zero, `:` is where the margin ends. What each effect proves stands below it. Where no
    /// effect has an interval, names and words are all.
    #[must_use]
    pub fn text(&self, columns: usize) -> String {
        if !self.has_marks() {
            let row = |effect: &Effect| {
                format!("{}\n  {}\n", text::line(&effect.name), text::reason(&self.words(effect)))
            };
            return self.effects.iter().map(row).collect();
        }
        let names = self.effects.iter().map(|effect| effect.name.clone());
        let mut sheet = Sheet::new(columns, names, |room| {
            Axis::new(Scale::FromZero, self.values(), &self.quantity, room)
        });
        for effect in &self.effects {
            let mut row = sheet.blank();
            for margin in
                self.margin.into_iter().flat_map(|margin| [Some(margin), Finite::new(-margin.value())])
            {
                row[sheet.column(margin.unwrap_or(Finite::ZERO))] = ':';
            }
            row[sheet.column(Finite::ZERO)] = '|';
            if let Some(shown) = &effect.interval {
                sheet.interval(&mut row, shown);
            }
            sheet.row(&effect.name, &row);
            let words = text::reason(&self.words(effect));
            let _ = writeln!(sheet.out, "  {words}");
        }
        let mut signs = format!("<--*--> {}, | zero", self.interval);
        if let Some(practical) = self.practical() {
            let _ = write!(signs, ", : {practical}");
        }
        sheet.close(&self.quantity, &signs)
    }
}

impl History {
    /// A plot of at most so many columns (52 are the least), a row for each study, the oldest
    /// first: `<--*-->` is its interval, `|` its level, `~` after its name that its environment
    /// differs from that of the study before. What changed stands before the row where a level
    /// begins.
    #[must_use]
    pub fn text(&self, columns: usize) -> String {
        let name = |point: &Point| format!("{}{}", point.name, if point.note.is_empty() { "" } else { " ~" });
        let mut sheet = Sheet::new(columns, self.points.iter().map(name), |room| {
            Axis::new(Scale::Linear, self.values(), &self.quantity, room)
        });
        for (index, point) in self.points.iter().enumerate() {
            let level = self.levels.iter().rfind(|level| level.first <= index);
            if let Some(begins) = level.filter(|level| level.first == index && !level.change.is_empty()) {
                let blanks = " ".repeat(sheet.names + 2);
                let _ = writeln!(sheet.out, "{blanks}-- {}", text::line(&begins.change));
            }
            let mut row = sheet.blank();
            sheet.interval(&mut row, &point.value);
            if let Some(level) = level {
                let place = &mut row[sheet.column(level.value)];
                // The estimate and the ends of its interval are what is read.
                if [' ', '-'].contains(place) {
                    *place = '|';
                }
            }
            sheet.row(&name(point), &row);
        }
        let mut signs = format!("<--*--> {}, | level", self.interval);
        if self.points.iter().any(|point| !point.note.is_empty()) {
            let _ = write!(signs, ", ~ {NOTED}");
        }
        sheet.close(&self.quantity, &signs)
    }
}

/// Heights of a column of characters, from the lowest on.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

impl Histogram {
    /// A plot of at most so many columns (52 are the least), a row for each set: a block is as high
    /// as the largest bucket in its column. How many samples a set has stands below it.
    #[must_use]
    pub fn text(&self, columns: usize) -> String {
        let names = self.series.iter().map(|one| one.name.clone());
        let mut sheet =
            Sheet::new(columns, names, |room| Axis::new(self.across.1, self.values(), &self.across.0, room));
        let most = self.most().value();
        for one in &self.series {
            let row = sheet.heights(one, most);
            sheet.row(&one.name, &row);
            let words = text::reason(&self.words(one));
            let _ = writeln!(sheet.out, "  {words}");
        }
        let (noun, share) = (&self.noun, (self.percent)(most));
        let signs =
            format!("█ a bucket with {share} % of the {noun}, . one with less than a sixteenth of that");
        sheet.close(&self.across.0, &signs)
    }
}

impl Sheet {
    /// A row of blocks; the highest stands for `most` %.
    fn heights(&self, one: &Series, most: f64) -> Vec<char> {
        let mut shares = vec![0.0_f64; self.plot];
        for bucket in one.buckets.iter().filter(|bucket| bucket.count > 0) {
            let (from, to) = (self.column(bucket.low), self.column(bucket.high));
            for place in &mut shares[from..to.max(from + 1)] {
                *place = place.max(one.share(bucket).value());
            }
        }
        let block = |share: f64| match share / most {
            _ if share <= 0.0 => ' ',
            part if part < 1.0 / 16.0 => '.',
            part => BLOCKS[((part * 8.0).round() as usize).clamp(1, BLOCKS.len()) - 1],
        };
        shares.into_iter().map(block).collect()
    }

    fn new(columns: usize, names: impl Iterator<Item = String>, axis: impl Fn(Room) -> Axis) -> Self {
        let most = NAMES.min(columns.saturating_sub(LEAST + 2));
        let names = names.map(|name| text::line(&name).width()).max().unwrap_or(0).min(most);
        let plot = columns.saturating_sub(names + 2).max(LEAST);
        Self { names, plot, axis: axis(Room::Across(plot as f64 * COLUMN)), out: String::new() }
    }

    fn blank(&self) -> Vec<char> {
        vec![' '; self.plot]
    }

    fn column(&self, value: Finite) -> usize {
        (self.axis.place(value) * (self.plot - 1) as f64).round() as usize
    }

    fn interval(&self, row: &mut [char], shown: &Interval) {
        let low = shown.low.map_or(0, |low| self.column(low));
        let high = shown.high.map_or(self.plot - 1, |high| self.column(high));
        for place in &mut row[low.min(high)..=low.max(high)] {
            *place = '-';
        }
        (row[low], row[high]) = ('<', '>');
        row[self.column(shown.estimate)] = '*';
    }

    fn row(&mut self, name: &str, plot: &[char]) {
        let mut name = text::line(name).into_owned();
        if name.width() > self.names {
            while name.width() + 1 > self.names && name.pop().is_some() {}
            name.push('…');
        }
        let blanks = " ".repeat(self.names.saturating_sub(name.width()) + 2);
        let plot: String = plot.iter().collect();
        let row = format!("{name}{blanks}{plot}");
        self.out.push_str(row.trim_end());
        self.out.push('\n');
    }

    fn close(mut self, quantity: &Quantity, signs: &str) -> String {
        let (mut ticks, mut labels) = (vec!['-'; self.plot], self.blank());
        let mut free = 0;
        for tick in &self.axis.ticks {
            let column = (tick.at * (self.plot - 1) as f64).round() as usize;
            ticks[column] = '+';
            let from = column.saturating_sub(tick.label.len() / 2);
            let from = from.min(self.plot.saturating_sub(tick.label.len()));
            if from < free || tick.label.len() > self.plot {
                continue;
            }
            for (place, letter) in labels[from..].iter_mut().zip(tick.label.chars()) {
                *place = letter;
            }
            free = from + tick.label.len() + 1;
        }
        self.row("", &ticks);
        self.row("", &labels);
        let _ =
            writeln!(self.out, "{}\n{}", text::line(&quantity.title(self.axis.factor)), text::line(signs));
        self.out
    }
}
