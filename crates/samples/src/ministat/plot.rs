//! ministat's plot: stacks of symbols, and bars for mean, median and deviation.

use std::io::{self, Write};

use crate::ministat::refusal::MinistatError;
use crate::ministat::set::Set;

/// The widest plot that is drawn.
pub const MAX_WIDTH: usize = 1 << 24;

pub(crate) const SYMBOLS: &[u8; MAX_SETS] = b"x+*%#@O";

/// The most sets that ministat compares: it has a symbol for each.
pub const MAX_SETS: usize = 7;

/// A plot of sets, with its dimensions.
#[derive(Debug)]
pub struct MinistatPlot {
    width: usize,
    height: usize,
    /// One number for each column, set after set.
    stacks: Vec<usize>,
    bars: Vec<Vec<u8>>,
}

impl MinistatPlot {
    /// Computes the plot, with `width` columns between its frames, of at most [`MAX_SETS`] sets
    /// that kept their points. `None` if all values are the same.
    ///
    /// # Errors
    /// [`MinistatError::NotFinite`] and [`MinistatError::NoScale`] where values are not finite or
    /// too far apart, and [`MinistatError::Width`] for a width that cannot be drawn.
    pub fn new(sets: &[Set], width: usize, separate_bars: bool) -> Result<Option<Self>, MinistatError> {
        let Some(axis) = MinistatAxis::new(sets, width)? else { return Ok(None) };
        let mut stacks = Vec::new();
        let too_wide = |_| MinistatError::Width { width, limit: MAX_WIDTH };
        stacks.try_reserve_exact(axis.width * sets.len()).map_err(too_wide)?;
        stacks.resize(axis.width * sets.len(), 0);
        for (set, counts) in sets.iter().zip(stacks.chunks_mut(axis.width)) {
            set.points.iter().for_each(|point| counts[axis.column(*point)] += 1);
        }
        let height = cut(&mut stacks, axis.width);
        let bars = bars(sets, &axis, separate_bars);
        Ok(Some(MinistatPlot { width: axis.width, height, stacks, bars }))
    }

    /// Writes the plot row by row: ten million values can make 43 megabytes.
    ///
    /// # Errors
    /// The errors of `out`.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let frame = format!("+{}+\n", "-".repeat(self.width));
        out.write_all(frame.as_bytes())?;
        // A row equals the one above unless a stack ends in it.
        let mut tops: Vec<usize> = self.stacks.clone();
        tops.sort_unstable();
        tops.dedup();
        let mut line = Vec::new();
        for row in (1..=self.height).rev() {
            if tops.last().is_some_and(|top| *top >= row) {
                tops.retain(|top| *top < row);
                self.draw(row, &mut line);
            }
            out.write_all(&line)?;
        }
        for bar in &self.bars {
            out.write_all(b"|")?;
            out.write_all(bar)?;
            out.write_all(b"|\n")?;
        }
        out.write_all(frame.as_bytes())
    }

    fn draw(&self, row: usize, line: &mut Vec<u8>) {
        line.clear();
        line.push(b'|');
        for column in 0..self.width {
            let stacks = self.stacks.iter().skip(column).step_by(self.width).zip(1..);
            // ministat ors the numbers of sets in one place: two of them look like a third.
            let ored = stacks.filter(|(count, _)| **count >= row).fold(0, |ored, (_, set)| ored | set);
            line.push(if ored == 0 { b' ' } else { SYMBOLS[ored - 1] });
        }
        line.extend_from_slice(b"|\n");
    }
}

struct MinistatAxis {
    width: usize,
    start: f64,
    step: f64,
}

impl MinistatAxis {
    fn new(sets: &[Set], width: usize) -> Result<Option<MinistatAxis>, MinistatError> {
        // ministat's own infinities: larger values do not move the ends of the axis.
        let (mut low, mut high) = (999e99, -999e99);
        for set in sets {
            for value in [set.min, set.max, set.mean - set.sd(), set.mean + set.sd()] {
                low = if value < low { value } else { low };
                high = if value > high { value } else { high };
            }
        }
        let span: f64 = high - low;
        if span == 0.0 {
            return Ok(None);
        }
        // An infinity or NaN among the values takes over the sum.
        if let Some(set) = sets.iter().find(|set| !set.mean.is_finite()) {
            return Err(MinistatError::NotFinite(set.name.clone()));
        }
        if !(2..=MAX_WIDTH).contains(&width) {
            return Err(MinistatError::Width { width, limit: MAX_WIDTH });
        }
        let step = span / (width as f64 - 1.0);
        let start = low - 0.5 * step;
        if !span.is_finite() || step == 0.0 {
            return Err(MinistatError::NoScale(span));
        }
        Ok(Some(MinistatAxis { width, start, step }))
    }

    fn column(&self, value: f64) -> usize {
        // Rounding may leave the frame of narrow columns: there ministat writes into the next row.
        (((value - self.start) / self.step) as usize).min(self.width - 1)
    }
}

/// Returns the last set's height.
fn cut(stacks: &mut [usize], width: usize) -> usize {
    let mut limit = usize::MAX;
    for counts in stacks.chunks_mut(width).rev() {
        // As in ministat, parts of earlier sets above the height of a later one are lost.
        limit = limit.min(counts.iter().copied().max().unwrap_or(0));
        counts.iter_mut().for_each(|count| *count = limit.min(*count));
    }
    stacks.chunks(width).next_back().and_then(|last| last.iter().copied().max()).unwrap_or(0)
}

fn bars(sets: &[Set], axis: &MinistatAxis, separate: bool) -> Vec<Vec<u8>> {
    let mut bars = vec![vec![b' '; axis.width]; if separate { sets.len() } else { 1 }];
    for (place, set) in sets.iter().enumerate() {
        let bar = &mut bars[if separate { place } else { 0 }];
        if !set.sd().is_nan() {
            let (left, right) = (axis.column(set.mean - set.sd()), axis.column(set.mean + set.sd()));
            bar[left] = b'|';
            bar[right] = b'|';
            bar[left + 1..right.max(left + 1)]
                .iter_mut()
                // Later sets overwrite earlier ones, except for this line between the ends.
                .filter(|cell| **cell == b' ')
                .for_each(|cell| *cell = b'_');
        }
        bar[axis.column(set.median)] = b'M';
        bar[axis.column(set.mean)] = b'A';
    }
    bars
}

#[cfg(test)]
mod tests;
