//! The simulated experiment: stated on the command line, or taken from a stored study.

use serde::Serialize;
use stats::simulate::{Shape, World};
use stats::{Component, Design, Observation, Question};
use store::StoredStudy;

use crate::cli::Simulate;
use crate::commands::stored::load;
use crate::failure::Failure;

/// The parameters of the experiment, and where they come from.
#[derive(Debug, Serialize)]
pub(super) struct Origin {
    #[serde(skip)]
    pub(super) world: World,
    #[serde(skip)]
    pub(super) between: Vec<f64>,
    /// The differences to look for by default.
    #[serde(skip)]
    pub(super) differences: Vec<f64>,
    /// The stored study; `None` if all is stated.
    pub(super) study: Option<i64>,
    pub(super) metric: Option<String>,
    pub(super) unit: &'static str,
}

impl Origin {
    pub(super) fn of(flags: &Simulate) -> Result<Origin, Failure> {
        let mut origin = match flags.from_study.as_deref() {
            Some(word) => {
                Origin::measured(&load(&flags.stored.database.db, Some(word))?, flags.metric.as_deref())?
            }
            None => Origin::stated(flags),
        };
        let world = &mut origin.world;
        world.design = flags.design.unwrap_or(world.design);
        world.boots = flags.boots.unwrap_or(world.boots);
        world.runs = flags.runs.unwrap_or(world.runs);
        world.conditions = flags.conditions.unwrap_or(world.conditions);
        let shape = Shape::ALL.into_iter().find(|shape| shape.as_str() == flags.shape);
        world.shape = shape.unwrap_or(world.shape);
        Ok(origin)
    }

    fn stated(flags: &Simulate) -> Origin {
        let within = flags.within.unwrap_or(1.0);
        let between =
            if flags.between.is_empty() { vec![0.0, 0.25, 0.5, 1.0, 2.0] } else { flags.between.clone() };
        // Far from zero, so that ratios have a meaning.
        let spread = between.iter().copied().fold(within, f64::max);
        let world = World {
            design: Design::Nested,
            conditions: 8,
            boots: 3,
            runs: 10,
            mean: 100.0 * spread,
            between: 0.0,
            shared: flags.shared.unwrap_or(0.0),
            within,
            shape: Shape::Normal,
        };
        let differences = [1.0, 2.0, 4.0].map(|times| times * within).to_vec();
        Origin { world, between, differences, study: None, metric: None, unit: "" }
    }

    /// The parameters of a stored study's first comparison.
    fn measured(stored: &StoredStudy, metric: Option<&str>) -> Result<Origin, Failure> {
        let comparison = stored.plan.comparisons.first();
        let word = metric.or(comparison.map(|comparison| comparison.metric.as_str())).unwrap_or("throughput");
        let metric = report::resolve_metric(word)?;
        let takes_part = |condition: usize| {
            comparison.is_none_or(|of| of.baseline == condition || of.conditions.contains(&condition))
        };
        let runs: Vec<Observation> = stored
            .values(metric)
            .filter(|(condition, ..)| takes_part(*condition))
            .map(|(condition, boot, value)| Observation { condition, boot, value })
            .collect();
        let lacks = |what: &str| {
            Failure::Nothing(format!(
                "study {} does not show the spread between {what} of {metric}: measure two boots of two runs or more, or \
                 state it with --between and --within",
                stored.row.id.0
            ))
        };
        let first = runs.first().ok_or_else(|| lacks("runs"))?;
        let question =
            Question::against(comparison.map_or(first.condition, |comparison| comparison.baseline));
        let analysis = stats::analyse(&runs, &question).map_err(|error| Failure::Usage(error.to_string()))?;
        let spread = analysis.components;
        let within = spread.runs.ok_or_else(|| lacks("runs"))?.sd;
        let between = match analysis.design {
            Design::Nested => spread.boots,
            Design::Crossed => spread.interaction,
        };
        let Component { sd, interval, .. } = between.ok_or_else(|| lacks("boots"))?;
        let (low, high) = interval.unwrap_or((sd, sd));
        let mut between = vec![low, sd, high];
        between.dedup();
        let conditions = analysis.conditions.len();
        let mean = analysis.conditions.iter().map(|one| one.mean).sum::<f64>() / conditions as f64;
        let (boots, all_runs) = analysis
            .conditions
            .iter()
            .fold((0, 0), |(boots, runs), one| (boots + one.boots, runs + one.runs));
        let world = World {
            design: analysis.design,
            conditions,
            boots: (boots / conditions).max(2),
            runs: (all_runs / boots.max(1)).max(1),
            mean,
            between: sd,
            shared: if analysis.design == Design::Crossed {
                spread.boots.map_or(0.0, |boots| boots.sd)
            } else {
                0.0
            },
            within,
            shape: Shape::Normal,
        };
        let differences = [0.01, 0.02, 0.05].map(|share| share * mean.abs()).to_vec();
        let unit = report::unit_of(metric).unwrap_or("");
        Ok(Origin {
            world,
            between,
            differences,
            study: Some(stored.row.id.0),
            metric: Some(metric.to_owned()),
            unit,
        })
    }
}
