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
    pub(super) fn class(&self, boot: &DotsBoot) -> String {
        format!("dots {}", series(self.boots.iter().position(|name| *name == boot.name).unwrap_or(0)))
    }

    pub(super) fn middle(&self, index: usize) -> f64 {
        self.top + (index.min(self.count.saturating_sub(1)) as f64 + 0.5) * self.high
    }

    /// Adds the dots of a boot; returns the number of dots.
    pub(super) fn dots(
        &self,
        paths: &mut ClassedPaths,
        boot: &DotsBoot,
        index: usize,
        x: impl Fn(f64) -> f64,
    ) -> usize {
        let middle = self.middle(index);
        let kept = thinned_dots(&boot.runs.iter().map(|run| (x(*run), middle)).collect::<Vec<_>>());
        let path = paths.path_of(&self.class(boot));
        kept.iter().for_each(|(x, y)| path.dot(*x, *y));
        kept.len()
    }

    /// Adds the line at a boot's mean, unless that is its only run.
    pub(super) fn mean(
        &self,
        paths: &mut ClassedPaths,
        boot: &DotsBoot,
        index: usize,
        x: impl Fn(f64) -> f64,
    ) {
        if let Some(mean) = boot.mean().filter(|_| boot.runs.len() > 1) {
            let (x, middle) = (x(mean), self.middle(index));
            let path = paths.path_of("stroke ink");
            path.from(x, middle - self.high / 2.0).to(x, middle + self.high / 2.0);
        }
    }
}

/// A path for each class, in the order in which the classes appear.
#[derive(Default)]
pub(super) struct ClassedPaths(Vec<(String, SvgPath)>);

impl ClassedPaths {
    fn path_of(&mut self, class: &str) -> &mut SvgPath {
        let place = self.0.iter().position(|(known, _)| known == class);
        let place = place.unwrap_or_else(|| {
            self.0.push((class.to_owned(), SvgPath::new()));
            self.0.len() - 1
        });
        &mut self.0[place].1
    }

    pub(super) fn draw(&self, drawing: &mut Drawing) {
        self.0.iter().for_each(|(class, path)| drawing.path(class, path));
    }
}
