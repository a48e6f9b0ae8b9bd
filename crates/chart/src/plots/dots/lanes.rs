//! The lanes of a condition: its runs by boot.

use super::boot::Boot;
use crate::colour::series;
use crate::drawing::Drawing;
use crate::finite::Finite;
use crate::path::Path;
use crate::thin;

/// The lanes of a condition while they are drawn.
pub(super) struct Lanes<'a> {
    /// Of all conditions, in the order of their colours.
    pub(super) boots: &'a [&'a str],
    /// Where the first begins, in px.
    pub(super) top: f64,
    /// How high each is, in px.
    pub(super) high: f64,
    /// How many there are; the boots beyond them are in the last.
    pub(super) count: usize,
}

impl Lanes<'_> {
    fn class(&self, boot: &Boot) -> &'static str {
        series(self.boots.iter().position(|name| *name == boot.name).unwrap_or(0))
    }

    fn middle(&self, index: usize) -> f64 {
        self.top + (index.min(self.count.saturating_sub(1)) as f64 + 0.5) * self.high
    }

    /// The line at a boot's mean, unless that is its only run.
    fn mean(&self, path: &mut Path, boot: &Boot, index: usize, x: impl Fn(Finite) -> f64) {
        if let Some(mean) = boot.mean().filter(|_| boot.runs.len() > 1) {
            let (x, middle) = (x(mean), self.middle(index));
            path.from(x, middle - self.high / 2.0).to(x, middle + self.high / 2.0);
        }
    }

    /// A boot by itself, each run with its words if there are any; gives how many dots that took.
    pub(super) fn alone(
        &self,
        mark: &mut Drawing,
        boot: &Boot,
        index: usize,
        x: impl Fn(Finite) -> f64,
        words: Option<&dyn Fn(Finite) -> String>,
    ) -> usize {
        let (middle, mut drawn) = (self.middle(index), boot.runs.len());
        mark.shared(&format!("dots {}", self.class(boot)), |dots| {
            if let Some(words) = words {
                boot.runs.iter().for_each(|run| dots.dot(x(*run), middle, &words(*run)));
            } else {
                let kept = thin::dots(&boot.runs.iter().map(|run| (x(*run), middle)).collect::<Vec<_>>());
                drawn = kept.len();
                dots.dots(&kept);
            }
        });
        let mut means = Path::new();
        self.mean(&mut means, boot, index, x);
        mark.path("stroke ink", &means);
        drawn
    }

    /// All boots of a condition, a path for each colour; gives how many dots that took.
    pub(super) fn together(&self, mark: &mut Drawing, boots: &[Boot], x: impl Fn(Finite) -> f64) -> usize {
        let (mut drawn, mut means) = (0, Path::new());
        let mut colours: Vec<(&'static str, Path)> = Vec::new();
        for (index, boot) in boots.iter().enumerate() {
            let (class, middle) = (self.class(boot), self.middle(index));
            let runs: Vec<(f64, f64)> = boot.runs.iter().map(|run| (x(*run), middle)).collect();
            let kept = thin::dots(&runs);
            drawn += kept.len();
            let place = colours.iter().position(|(known, _)| *known == class);
            let place = place.unwrap_or_else(|| {
                colours.push((class, Path::new()));
                colours.len() - 1
            });
            kept.iter().for_each(|(x, y)| colours[place].1.dot(*x, *y));
            self.mean(&mut means, boot, index, &x);
        }
        for (class, path) in &colours {
            mark.path(&format!("dots {class}"), path);
        }
        mark.path("stroke ink", &means);
        drawn
    }
}
