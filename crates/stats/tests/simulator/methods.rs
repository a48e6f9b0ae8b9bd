//! Methods that decide whether two conditions differ.

use std::fmt;

use rand_chacha::ChaCha8Rng;
use stats::distribution::{normal, student};
use stats::{Correction, Design, Observation, Question, Spending, Verdict, analyse_with};

use super::bootstrap::Pair;
use super::means::{Anova, Spread, mean, squares};
use super::ranks;
use super::world::ALPHA;
use super::world::World;

/// A way to decide whether condition 1 differs from condition 0, at 5 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// Student's t on all runs, as ministat does.
    PooledT,
    /// Mann and Whitney's U on all runs, as benchstat does.
    MannWhitney,
    /// The percentile interval of resampled runs.
    RunBootstrap,
    /// The percentile interval of resampled boots, and runs inside them.
    HierarchicalBootstrap,
    /// REML's estimate of the error with the normal quantile (Wald).
    RemlWald,
    /// REML's estimate with Student's t and Satterthwaite's degrees of freedom.
    RemlSatterthwaite,
    /// Fieller's interval of the ratio of the means of boots (Kalibera and Jones 2013).
    Ratio,
    /// Student's t on the boot means of the two conditions; crossed designs: paired.
    BootMeans,
    /// Student's t on the boot means, with the mean square pooled over all conditions.
    PooledBootMeans,
    /// Crossed designs only: boots as blocks, and the spread between runs as the error (an additive
    /// model).
    Additive,
    /// [`stats::analyse`] itself: each condition's own spread.
    Netassay,
}

impl Method {
    /// All of them.
    pub(crate) const ALL: [Method; 11] = [
        Method::PooledT,
        Method::MannWhitney,
        Method::RunBootstrap,
        Method::HierarchicalBootstrap,
        Method::RemlWald,
        Method::RemlSatterthwaite,
        Method::Ratio,
        Method::BootMeans,
        Method::PooledBootMeans,
        Method::Additive,
        Method::Netassay,
    ];

    /// The methods for a design.
    pub(crate) fn of(design: Design) -> Vec<Method> {
        let fits = |method: &Method| design == Design::Crossed || *method != Method::Additive;
        Method::ALL.into_iter().filter(fits).collect()
    }

    /// The name in messages.
    fn as_str(self) -> &'static str {
        match self {
            Method::PooledT => "pooled t on the runs (ministat)",
            Method::MannWhitney => "Mann-Whitney on the runs (benchstat)",
            Method::RunBootstrap => "bootstrap of the runs",
            Method::HierarchicalBootstrap => "hierarchical bootstrap, percentile",
            Method::RemlWald => "REML, Wald z",
            Method::RemlSatterthwaite => "REML, Satterthwaite df",
            Method::Ratio => "Kalibera-Jones ratio (Fieller)",
            Method::BootMeans => "t on boot means",
            Method::PooledBootMeans => "t on boot means, MSB pooled",
            Method::Additive => "additive model, error of the runs",
            Method::Netassay => "netassay: own spreads",
        }
    }

    pub(super) fn is_bootstrap(self) -> bool {
        matches!(self, Method::RunBootstrap | Method::HierarchicalBootstrap)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

/// Draws experiments, and decides each by any method.
pub(super) struct Decider<'a> {
    world: &'a World,
    values: Vec<f64>,
    ranks: Vec<(f64, bool)>,
    pair: Critical,
    all: Critical,
    runs: f64,
}

/// Quantiles of Student's t for the mean squares of these conditions; they depend only on the
/// world.
#[derive(Clone, Copy)]
struct Critical {
    boots: f64,
    /// Boots and runs pooled.
    both: f64,
}

impl Critical {
    fn of(world: &World, conditions: usize) -> Critical {
        let (a, b, n) = (conditions as f64, world.boots as f64, world.runs as f64);
        let boots = match world.design {
            Design::Nested => a * (b - 1.0),
            Design::Crossed => (a - 1.0) * (b - 1.0),
        };
        let runs = a * b * (n - 1.0);
        Critical { boots: critical(boots), both: critical(boots + runs) }
    }
}

/// The two-sided quantile; infinite without degrees of freedom.
fn critical(df: f64) -> f64 {
    student::upper_quantile(ALPHA / 2.0, df).unwrap_or(f64::INFINITY)
}

impl Decider<'_> {
    pub(super) fn new(world: &World) -> Decider<'_> {
        let runs = 2.0 * (world.boots * world.runs) as f64 - 2.0;
        Decider {
            world,
            values: Vec::new(),
            ranks: Vec::new(),
            pair: Critical::of(world, 2),
            all: Critical::of(world, world.conditions),
            runs: critical(runs),
        }
    }

    /// Draws the next experiment.
    pub(super) fn draw(&mut self, random: &mut ChaCha8Rng, difference: f64) {
        self.world.draw(random, difference, &mut self.values);
    }

    /// Whether `method` finds a difference in it.
    pub(super) fn decides(&mut self, method: Method, random: &mut ChaCha8Rng) -> bool {
        let runs_of_one = self.world.boots * self.world.runs;
        let (baseline, treated) = self.values[..2 * runs_of_one].split_at(runs_of_one);
        let pair = || Pair { baseline, treated, runs: self.world.runs, design: self.world.design };
        let anova = || Anova::of(self.world, &self.values, 2);
        match method {
            Method::PooledT => {
                let (one, other) = (mean(treated), mean(baseline));
                let df = 2.0 * runs_of_one as f64 - 2.0;
                let square = (squares(treated, one) + squares(baseline, other)) / df;
                (one - other).abs() > self.runs * (2.0 * square / runs_of_one as f64).sqrt()
            }
            Method::MannWhitney => ranks::differ(treated, baseline, &mut self.ranks),
            Method::RunBootstrap => pair().runs_differ(random),
            Method::HierarchicalBootstrap => pair().boots_differ(random),
            Method::RemlWald => {
                let z = normal::upper_quantile(ALPHA / 2.0).unwrap_or(f64::INFINITY);
                differs(&anova(), anova().reml(), z)
            }
            Method::RemlSatterthwaite => {
                let (anova, critical) = (anova(), self.pair);
                let error = anova.reml();
                differs(&anova, error, if error == anova.boots { critical.boots } else { critical.both })
            }
            Method::Ratio => {
                let (anova, t) = (anova(), self.pair.boots);
                let of_baseline = match self.world.design {
                    Design::Nested => anova.boots,
                    Design::Crossed => anova.baseline_boots,
                };
                // Fieller's interval is bounded if zero is not in the baseline's; it then excludes
                // a ratio of 1 exactly if Student's t rejects a difference of 0.
                let is_bounded =
                    anova.baseline.abs() > t * (anova.per_condition * of_baseline.variance).sqrt();
                is_bounded && differs(&anova, anova.boots, t)
            }
            Method::BootMeans => {
                let anova = anova();
                differs(&anova, anova.boots, self.pair.boots)
            }
            Method::PooledBootMeans => {
                let anova = Anova::of(self.world, &self.values, self.world.conditions);
                differs(&anova, anova.boots, self.all.boots)
            }
            Method::Additive => {
                let anova = anova();
                differs(&anova, anova.pooled(), self.pair.both)
            }
            Method::Netassay => self.netassay_differs(),
        }
    }

    fn netassay_differs(&self) -> bool {
        let World { design, boots, runs, .. } = *self.world;
        let cells = self.values.chunks_exact(runs).enumerate();
        let observations: Vec<Observation> = cells
            .flat_map(|(cell, values)| {
                let boot = if design == Design::Crossed { cell % boots } else { cell } as u32;
                values.iter().map(move |value| Observation { condition: cell / boots, boot, value: *value })
            })
            .collect();
        // The first two are compared; the others only contribute to the effects of boots.
        let question = Question {
            design: Some(design),
            level: 1.0 - ALPHA,
            correction: Correction::None,
            ..Question::against(0)
        };
        let answer = analyse_with(&observations, &question, |condition| condition < 2, &Spending::default());
        let verdict = answer.ok().and_then(|analysis| Some(analysis.comparisons.first()?.verdict));
        matches!(verdict, Some(Verdict::Higher | Verdict::Lower))
    }
}

fn differs(anova: &Anova, error: Spread, critical: f64) -> bool {
    anova.difference.abs() > critical * anova.standard_error(error)
}
