//! Every kind of plot of any names and values.

use netassay_report::chart::{
    Arrow, ArrowCost, Bar, Bars, Bucket, Curve, Curves, Dots, DotsCondition, Figure, Flame, Forest,
    ForestRow, Histogram, HistoryPlot, Id, Interval, LanePlot, Panel, Plot, Quantity, SampleSet, Scale,
};
use stats::change::Level;

/// Names and values that are handed out again and again.
pub(crate) struct Odd<'a> {
    pub(crate) names: &'a [String],
    pub(crate) values: &'a [f64],
    next: usize,
}

fn show(value: f64) -> String {
    format!("{value:.3e}")
}

/// A level of a history that begins at a point.
pub(crate) fn level_from(first: usize, mean: f64) -> Level {
    Level { first, points: 1, mean, interval: None }
}

impl<'a> Odd<'a> {
    pub(crate) fn new(names: &'a [String], values: &'a [f64]) -> Self {
        Self { names, values, next: 0 }
    }

    fn name(&mut self) -> String {
        self.next += 1;
        self.names[self.next % self.names.len()].clone()
    }

    fn value(&mut self) -> f64 {
        self.next += 1;
        self.values[self.next % self.values.len()]
    }

    fn interval(&mut self) -> Interval {
        let mut ends = [self.value(), self.value(), self.value()];
        ends.sort_by(|a, b| a.total_cmp(b));
        self.next += 1;
        let open = |odd: usize, end| (!self.next.is_multiple_of(odd)).then_some(end);
        Interval { estimate: ends[1], low: open(5, ends[0]), high: open(7, ends[2]) }
    }

    fn quantity(&mut self) -> Quantity {
        Quantity::new(&self.name(), &self.name(), show).relative(&self.name())
    }

    fn many<T>(&mut self, count: usize, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..count).map(|_| one(self)).collect()
    }

    /// Figures of each kind, numbered, with `count` parts each.
    pub(crate) fn figures(&mut self, count: usize) -> Vec<Figure> {
        let plots = self.plots(count);
        let figure = |(number, plot): (usize, Box<dyn Plot>)| Figure {
            id: Id::new(&format!("odd {number}")),
            title: self.name(),
            description: self.name(),
            panels: vec![Panel { title: self.name(), plot }],
        };
        plots.into_iter().enumerate().map(figure).collect()
    }

    fn plots(&mut self, count: usize) -> Vec<Box<dyn Plot>> {
        let scales = [Scale::Linear, Scale::FromZero, Scale::Logarithmic];
        let mut plots: Vec<Box<dyn Plot>> = vec![self.dots(count), self.bars(count, 0), self.bars(count, 3)];
        for scale in scales {
            plots.push(Box::new(Curves {
                across: (self.quantity(), scale),
                up: (self.quantity(), scale),
                curves: self.many(count, |odd| {
                    let mut points = odd.many(count + 1, |odd| (odd.value(), odd.value()));
                    points.sort_by(|a, b| a.0.total_cmp(&b.0));
                    Curve { name: odd.name(), points, measured: true }
                }),
                flags: self.many(count, |odd| (odd.value(), odd.name())),
            }));
        }
        plots.push(Box::new(Forest {
            quantity: self.quantity(),
            interval: self.name(),
            margin: Some(self.value()),
            effects: self.many(count, |odd| ForestRow {
                name: odd.name(),
                interval: (!odd.next.is_multiple_of(3)).then(|| odd.interval()),
                size: odd.next.is_multiple_of(4).then(|| odd.name()),
                verdict: odd.name(),
            }),
        }));
        plots.push(self.histogram(count));
        plots.push(self.lanes(count));
        plots.push(self.flame(count, true));
        plots.push(self.flame(count, false));
        plots.push(Box::new(HistoryPlot {
            tags: self.name(),
            quantity: self.quantity(),
            interval: self.name(),
            points: self.many(count, |odd| (odd.name(), odd.interval())),
            levels: (0..count / 2).map(|level| (level_from(2 * level, self.value()), self.name())).collect(),
        }));
        plots
    }

    fn dots(&mut self, count: usize) -> Box<dyn Plot> {
        Box::new(Dots {
            quantity: self.quantity(),
            interval: self.name(),
            conditions: self.many(count, |odd| DotsCondition {
                name: odd.name(),
                boots: odd.many(count, |odd| (odd.name(), odd.many(5, Self::value))),
                interval: Some(odd.interval()),
            }),
        })
    }

    fn bars(&mut self, count: usize, parts: usize) -> Box<dyn Plot> {
        Box::new(Bars {
            quantity: self.quantity(),
            interval: self.name(),
            parts: self.many(parts, Self::name),
            bars: self.many(2 * count, |odd| Bar {
                group: odd.name(),
                name: odd.name(),
                whole: odd.interval(),
                parts: odd.many(parts, Self::value),
            }),
        })
    }

    fn histogram(&mut self, count: usize) -> Box<dyn Plot> {
        Box::new(Histogram {
            quantity: self.quantity(),
            noun: "samples",
            series: self.many(count, |odd| SampleSet {
                name: odd.name(),
                about: odd.name(),
                buckets: {
                    let mut edges = odd.many(6, Self::value);
                    edges.sort_by(|a, b| a.total_cmp(b));
                    let bucket = |pair: &[f64]| Bucket { low: pair[0], high: pair[1], count: u64::MAX / 3 };
                    edges.windows(2).map(bucket).collect()
                },
            }),
        })
    }

    fn lanes(&mut self, count: usize) -> Box<dyn Plot> {
        let lanes = self.many(count, Self::name);
        let stages: Vec<(String, usize)> =
            (0..2 * count).map(|stage| (self.name(), stage * 5 % count.max(1))).collect();
        let ends = (0..stages.len()).flat_map(|from| [[from, from + 1], [from, from * 3 % stages.len()]]);
        let arrows = ends.filter(|ends| ends[1] < stages.len()).collect::<Vec<_>>();
        let arrow = |ends: [usize; 2]| Arrow {
            ends,
            costs: self.many(2, |odd| ArrowCost {
                name: odd.name(),
                value: odd.value(),
                share: Some(odd.value()).filter(|share| *share > 0.0),
                spread: odd.name(),
            }),
            waits: ends[0].is_multiple_of(2),
        };
        let arrows = arrows.into_iter().map(arrow).collect();
        Box::new(LanePlot { quantity: self.quantity(), lanes, stages, arrows })
    }

    fn flame(&mut self, count: usize, is_compared: bool) -> Box<dyn Plot> {
        let stacks =
            self.many(3 * count, |odd| (odd.many(odd.next % 5, Self::name), [odd.value(), odd.value()]));
        let baseline = is_compared.then(|| self.name());
        Box::new(Flame::new(self.quantity(), baseline, stacks))
    }
}
