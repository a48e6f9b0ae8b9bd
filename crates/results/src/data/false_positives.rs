//! The false-positive rate of methods, from an A/A study: differences between a condition and
//! itself.

use std::collections::BTreeSet;

use samples::ministat::{ConfidenceLevel, Set};
use serde::Serialize;
use stats::distribution::beta::binomial_interval;
use stats::{Components, Design, Observation, Question, Verdict};
use store::StoredStudy;

use crate::data::error::Error;
use crate::data::missing::hint;
use crate::data::subject::observation;
use crate::words::phrases::levels_without;
use study::metric::{self, Metric};
use study::{Plan, Side};

// The runs of each condition that every method takes: ministat's needs three.
const FEWEST: usize = 3;

// The methods compared, netassay's own first, the usual ones last.
const METHODS: [TestMethod; 3] = [TestMethod::Crossed, TestMethod::Nested, TestMethod::Pooled];

/// A method that judges differences.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TestMethod {
    /// netassay's own: differences inside boots.
    Crossed,
    /// Welch's t on boot means.
    Nested,
    /// Student's t on the runs of all boots.
    Pooled,
}

impl TestMethod {
    /// In words.
    pub fn description(self) -> &'static str {
        match self {
            Self::Crossed => "netassay: differences inside boots",
            Self::Nested => "Welch's t on boot means, boots taken apart",
            Self::Pooled => "t on pooled runs (ministat)",
        }
    }
}

/// The result of an A/A study.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct FalsePositives {
    pub study: i64,
    pub name: String,
    /// The condition that was measured under both labels.
    pub condition: String,
    /// Boots of one experiment.
    pub boots: u32,
    pub experiments: usize,
    pub metrics: Vec<MetricRates>,
}

/// The false-positive rates in a metric.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct MetricRates {
    pub metric: Metric,
    pub unit: &'static str,
    pub rates: Vec<FalsePositiveRate>,
    /// The spread of boots and runs, from all boots together.
    pub spread: Components,
    pub mean: f64,
}

/// The false-positive rate of one method.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct FalsePositiveRate {
    pub method: TestMethod,
    /// The number of experiments in which it found a difference.
    pub found: u64,
    pub of: u64,
    pub rate: f64,
    /// Clopper and Pearson's, in %.
    pub interval: (f64, f64),
}

impl FalsePositives {
    /// The confidence of every method, and of the intervals of their rates.
    pub const LEVEL: f64 = 0.95;

    /// Divides the boots of a stored study of two twins into experiments of `boots` each, in order,
    /// and lets each method judge each. A boot without one of the two labels is left out.
    ///
    /// # Errors
    /// [`Error::NoTwins`], [`Error::NothingRecorded`] with less than one whole experiment.
    pub fn new(stored: &StoredStudy, boots: u32) -> Result<Self, Error> {
        let no_twins = || Error::NoTwins { study: stored.row.id.0, name: stored.row.name.clone() };
        let [one, other] = stored.plan.conditions.as_slice() else { return Err(no_twins()) };
        if one.twin().is_none() || one.workload != other.workload {
            return Err(no_twins());
        }
        let rates = metrics(&stored.plan).into_iter().map(|metric| rates(stored, metric, boots));
        let metrics = rates.filter_map(Result::transpose).collect::<Result<Vec<MetricRates>, Error>>()?;
        let Some(first) = metrics.first() else {
            let has_values = stored.measurements().next().is_some();
            let hint = if has_values {
                format!("an experiment needs {boots} complete boots; continue the study with --resume")
            } else {
                hint(stored, 0)
            };
            let metric = one.workload.traffic.kind.primary_metric().to_string();
            return Err(Error::NothingRecorded { study: stored.row.id.0, metric, hint });
        };
        Ok(Self {
            study: stored.row.id.0,
            name: stored.row.name.clone(),
            condition: levels_without("twin", &one.levels),
            boots,
            experiments: first.rates.first().map_or(0, |rate| usize::try_from(rate.of).unwrap_or(usize::MAX)),
            metrics,
        })
    }
}

fn metrics(plan: &Plan) -> Vec<Metric> {
    let kind = plan.conditions[0].workload.traffic.kind;
    let costs = [metric::SERVICE_DEMAND_BYTE, metric::SERVICE_DEMAND_TRANSACTION];
    let costs = Side::BOTH.into_iter().flat_map(|side| costs.map(|cost| cost[side]));
    let metrics = [kind.primary_metric(), metric::LATENCY_P50, metric::LATENCY_P99].into_iter().chain(costs);
    metrics.filter(|metric| kind.produces(*metric)).collect()
}

fn rates(stored: &StoredStudy, metric: Metric, boots: u32) -> Result<Option<MetricRates>, Error> {
    let all: Vec<Observation> = stored.values(metric).map(observation).collect();
    // A boot without one of the two labels is in no experiment.
    let measured = |condition: usize| -> BTreeSet<u32> {
        all.iter().filter(|run| run.condition == condition).map(|run| run.boot).collect()
    };
    let whole: Vec<u32> = measured(0).intersection(&measured(1)).copied().collect();
    let runs_of = |boots: &[u32]| all.iter().filter(|run| boots.contains(&run.boot)).copied().collect();
    let experiments = whole.chunks_exact(boots.max(1) as usize).map(runs_of);
    let mut experiments: Vec<Vec<Observation>> = experiments.collect();
    // A run that others disturbed has no CPU time, so that an experiment may have too few.
    let has_enough = |experiment: &Vec<Observation>| {
        let runs = |condition| experiment.iter().filter(|run| run.condition == condition).count();
        (0..2).all(|condition| runs(condition) >= FEWEST)
    };
    // Where no experiment of the main metric has enough, the error of ministat tells it.
    let main = stored.plan.conditions[0].workload.traffic.kind.primary_metric();
    if metric != main || experiments.iter().any(has_enough) {
        experiments.retain(has_enough);
    }
    if experiments.is_empty() {
        return Ok(None);
    }
    let mut rates = Vec::new();
    for method in METHODS {
        let mut found = 0;
        for experiment in &experiments {
            found += u64::from(differs(method, experiment)?);
        }
        let of = experiments.len() as u64;
        let (low, high) = binomial_interval(found, of, FalsePositives::LEVEL).unwrap_or((0.0, 1.0));
        let rate = 100.0 * found as f64 / of as f64;
        rates.push(FalsePositiveRate { method, found, of, rate, interval: (100.0 * low, 100.0 * high) });
    }
    let analysis = stats::analyse(&all, &Question::against(0))?;
    let mean = analysis.conditions.iter().map(|one| one.mean).sum::<f64>() / analysis.conditions.len() as f64;
    Ok(Some(MetricRates { metric, unit: metric.unit, rates, spread: analysis.components, mean }))
}

fn differs(method: TestMethod, experiment: &[Observation]) -> Result<bool, Error> {
    let design = match method {
        TestMethod::Pooled => {
            let set = |condition: usize| {
                let runs = experiment.iter().filter(|run| run.condition == condition);
                Set::new("", &runs.map(|run| run.value).collect::<Vec<_>>())
            };
            return Ok(set(1)?.against(&set(0)?, ConfidenceLevel::default()).is_proven);
        }
        TestMethod::Crossed => Design::Crossed,
        TestMethod::Nested => Design::Nested,
    };
    let question = Question { design: Some(design), level: FalsePositives::LEVEL, ..Question::against(0) };
    let analysis = stats::analyse(experiment, &question)?;
    Ok(analysis.comparisons.iter().any(|one| matches!(one.verdict, Verdict::Higher | Verdict::Lower)))
}
