//! The lanes of a condition: its runs by boot.

use super::DotsBoot;
use crate::chart::colour::series;
use crate::chart::drawing::Drawing;
use crate::chart::path::{SvgPath, thinned_dots};

/// The lanes of a condition while they are drawn.
pub(super) struct BootLanes<'a> {
    /// The boots of all conditions, in the order of their colours.
    pub(super) boots: &'a [&'a str],
    pub(super) top: f64,
    pub(super) high: f64,
    /// The number of lanes; boots beyond it share the last.
    pub(super) count: usize,
}

impl BootLanes<'_> {
    fn class(&self, boot: &DotsBoot) -> &'static str {
        series(self.boots.iter().position(|name| *name == boot.name).unwrap_or(0))
    }

    fn middle(&self, index: usize) -> f64 {
        self.top + (index.min(self.count.saturating_sub(1)) as f64 + 0.5) * self.high
    }

    /// The line at a boot's mean, unless that is its only run.
    fn mean(&self, path: &mut SvgPath, boot: &DotsBoot, index: usize, x: impl Fn(f64) -> f64) {
        if let Some(mean) = boot.mean().filter(|_| boot.runs.len() > 1) {
            let (x, middle) = (x(mean), self.middle(index));
            path.from(x, middle - self.high / 2.0).to(x, middle + self.high / 2.0);
        }
    }

    /// A boot by itself, each run with its words if there are any; gives how many dots that took.
    pub(super) fn alone(
        &self,
        mark: &mut Drawing,
        boot: &DotsBoot,
        index: usize,
        x: impl Fn(f64) -> f64,
        words: Option<&dyn Fn(f64) -> String>,
    ) -> usize {
        let (middle, mut drawn) = (self.middle(index), boot.runs.len());
        mark.shared(&format!("dots {}", self.class(boot)), |dots| {
            if let Some(words) = words {
                boot.runs.iter().for_each(|run| dots.dot(x(*run), middle, &words(*run)));
            } else {
                let kept = thinned_dots(&boot.runs.iter().map(|run| (x(*run), middle)).collect::<Vec<_>>());
                drawn = kept.len();
                dots.dots(&kept);
            }
        });
        let mut means = SvgPath::new();
        self.mean(&mut means, boot, index, x);
        mark.path("stroke ink", &means);
        drawn
    }

    /// All boots of a condition, a path for each colour; gives how many dots that took.
    pub(super) fn together(&self, mark: &mut Drawing, boots: &[DotsBoot], x: impl Fn(f64) -> f64) -> usize {
        let (mut colours, mut means) = (DotPaths::default(), SvgPath::new());
        let drawn = self.gather(&mut colours, boots, &x);
        boots.iter().enumerate().for_each(|(index, boot)| self.mean(&mut means, boot, index, &x));
        colours.draw(mark);
        mark.path("stroke ink", &means);
        drawn
    }

    /// Adds the dots of boots to the paths of their colours; returns the number of dots.
    pub(super) fn gather(&self, colours: &mut DotPaths, boots: &[DotsBoot], x: impl Fn(f64) -> f64) -> usize {
        let mut drawn = 0;
        for (index, boot) in boots.iter().enumerate() {
            let middle = self.middle(index);
            let runs: Vec<(f64, f64)> = boot.runs.iter().map(|run| (x(*run), middle)).collect();
            let kept = thinned_dots(&runs);
            drawn += kept.len();
            let path = colours.path_of(self.class(boot));
            kept.iter().for_each(|(x, y)| path.dot(*x, *y));
        }
        drawn
    }
}

/// Dots by colour, in the order in which the colours appear.
#[derive(Default)]
pub(super) struct DotPaths(Vec<(&'static str, SvgPath)>);

impl DotPaths {
    fn path_of(&mut self, class: &'static str) -> &mut SvgPath {
        let place = self.0.iter().position(|(known, _)| *known == class);
        let place = place.unwrap_or_else(|| {
            self.0.push((class, SvgPath::new()));
            self.0.len() - 1
        });
        &mut self.0[place].1
    }

    pub(super) fn draw(&self, drawing: &mut Drawing) {
        for (class, path) in &self.0 {
            drawing.path(&format!("dots {class}"), path);
        }
    }
}
