//! The false-positive rate of methods, from an A/A study: differences between a condition and
//! itself.

use std::collections::BTreeSet;

use ministat::{Level, Set};
use serde::Serialize;
use stats::distribution::beta::binomial_interval;
use stats::{Components, Design, Observation, Question, Verdict};
use store::StoredStudy;

use crate::data::error::Error;
use crate::data::missing::hint;
use crate::render::spread;
use crate::words::layout::Layout;
use crate::words::number::{counted, percent};
use crate::words::phrases::levels_without;
use crate::words::table::Table;
use study::{Plan, metric::Metric};

// The confidence of every method, and of the intervals of their rates.
const LEVEL: f64 = 0.95;

// The runs of each condition that every method takes: ministat's needs three.
const FEWEST: usize = 3;

// The methods compared, netassay's own first, the usual ones last.
const METHODS: [(TestMethod, &str); 3] = [
    (TestMethod::Crossed, "netassay: differences inside boots"),
    (TestMethod::Nested, "Welch's t on boot means, boots taken apart"),
    (TestMethod::Pooled, "t on pooled runs (ministat)"),
];

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum TestMethod {
    Crossed,
    Nested,
    Pooled,
}

/// The result of an A/A study.
#[derive(Debug, Serialize)]
pub struct FalsePositives {
    study: i64,
    name: String,
    /// The condition that was measured under both labels.
    condition: String,
    /// Boots of one experiment.
    boots: u32,
    /// The number of whole experiments.
    experiments: usize,
    metrics: Vec<MetricRates>,
}

#[derive(Debug, Serialize)]
struct MetricRates {
    metric: &'static str,
    unit: &'static str,
    rates: Vec<FalsePositiveRate>,
    /// The spread of boots and runs, from all boots together.
    spread: Components,
    mean: f64,
}

/// The false-positive rate of one method.
#[derive(Debug, Serialize)]
struct FalsePositiveRate {
    method: TestMethod,
    found: u64,
    of: u64,
    /// In %.
    rate: f64,
    /// Clopper and Pearson's, in %.
    interval: (f64, f64),
}

impl FalsePositives {
    /// Divides the boots of a stored study of two twins into experiments of `boots` each, in order,
    /// and lets each method judge each. A boot without one of the two labels is left out.
    ///
    /// # Errors
    /// [`Error::NoTwins`] for another study, [`Error::NothingRecorded`] with less than one whole
    /// experiment.
    pub fn new(stored: &StoredStudy, boots: u32) -> Result<Self, Error> {
        let [one, other] = stored.plan.conditions.as_slice() else { return Err(no_twins(stored)) };
        if one.twin().is_none() || one.workload != other.workload {
            return Err(no_twins(stored));
        }
        let metrics = metrics(&stored.plan);
        let rates = metrics
            .iter()
            .map(|metric| rates(stored, metric, boots))
            .collect::<Result<Vec<Option<MetricRates>>, Error>>()?;
        let metrics: Vec<MetricRates> = rates.into_iter().flatten().collect();
        let Some(first) = metrics.first() else {
            let has_values = stored.measurements().next().is_some();
            let hint = if has_values {
                format!("an experiment needs {boots} complete boots; continue the study with --resume")
            } else {
                hint(stored, 0)
            };
            let metric = one.workload.traffic.kind.primary_metric().key.to_owned();
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

    /// The rates as text.
    #[must_use]
    pub fn text(&self, layout: Layout) -> String {
        let mut text = format!(
            "study {} ({}): {} of {} each, every one a comparison of a condition with itself{}\n\n",
            self.study,
            self.name,
            counted(self.experiments, "experiment"),
            counted(self.boots as usize, "boot"),
            if self.condition.is_empty() { String::new() } else { format!(" ({})", self.condition) },
        );
        let mut table = Table::new(&["metric", "method", "differences", "rate %", "95 % interval"])
            .named(0)
            .optional(&[2]);
        for metric in &self.metrics {
            for (rate, (_, words)) in metric.rates.iter().zip(METHODS) {
                let (low, high) = rate.interval;
                table.row(&[
                    metric.metric,
                    words,
                    &format!("{} of {}", rate.found, rate.of),
                    &percent(rate.rate),
                    &format!("{} to {}", percent(low), percent(high)),
                ]);
            }
        }
        text.push_str(&table.fit(layout));
        text.push_str(
            "\nA method with correct 95 % intervals has a rate of 5 %. The interval of the rate is that of the count (Clopper and Pearson): more experiments narrow it.\n",
        );
        if let Some(first) = self.metrics.first() {
            text.push_str(&format!(
                "\n{}",
                spread::text(&first.spread, first.unit, first.mean, LEVEL, layout)
            ));
        }
        text
    }
}

/// The metrics to judge: the workload's main one, then the costs.
fn metrics(plan: &Plan) -> Vec<&'static Metric> {
    let kind = plan.conditions[0].workload.traffic.kind;
    let costs = ["service_demand_byte", "service_demand_transaction"];
    let costs =
        ["transmitter", "receiver"].iter().flat_map(|side| costs.map(|cost| format!("{side}.{cost}")));
    let keys = std::iter::once(kind.primary_metric().key.to_owned())
        .chain(["latency_p50".to_owned(), "latency_p99".to_owned()])
        .chain(costs);
    keys.filter_map(|key| study::metric::find(&key)).filter(|metric| kind.produces(metric)).collect()
}

fn rates(stored: &StoredStudy, metric: &'static Metric, boots: u32) -> Result<Option<MetricRates>, Error> {
    let all: Vec<Observation> = stored
        .values(metric.key)
        .map(|(condition, boot, value)| Observation { condition, boot, value })
        .collect();
    let measured = |condition: usize| -> BTreeSet<u32> {
        all.iter().filter(|run| run.condition == condition).map(|run| run.boot).collect()
    };
    let whole: Vec<u32> = measured(0).intersection(&measured(1)).copied().collect();
    let mut experiments: Vec<Vec<Observation>> = whole
        .chunks_exact(boots.max(1) as usize)
        .map(|numbers| all.iter().filter(|run| numbers.contains(&run.boot)).copied().collect())
        .collect();
    // A run that others disturbed has no CPU time, so that an experiment may have too few.
    let has_enough = |experiment: &Vec<Observation>| {
        let runs = |condition| experiment.iter().filter(|run| run.condition == condition).count();
        (0..2).all(|condition| runs(condition) >= FEWEST)
    };
    let main = stored.plan.conditions[0].workload.traffic.kind.primary_metric().key;
    if metric.key != main || experiments.iter().any(has_enough) {
        experiments.retain(has_enough);
    }
    if experiments.is_empty() {
        return Ok(None);
    }
    let mut rates = Vec::new();
    for (method, _) in METHODS {
        let mut found = 0;
        for experiment in &experiments {
            found += u64::from(differs(method, experiment)?);
        }
        let of = experiments.len() as u64;
        let (low, high) = binomial_interval(found, of, LEVEL).unwrap_or((0.0, 1.0));
        let rate = 100.0 * found as f64 / of as f64;
        rates.push(FalsePositiveRate { method, found, of, rate, interval: (100.0 * low, 100.0 * high) });
    }
    let analysis = stats::analyse(&all, &Question::against(0))?;
    let mean = analysis.conditions.iter().map(|one| one.mean).sum::<f64>() / analysis.conditions.len() as f64;
    Ok(Some(MetricRates { metric: metric.key, unit: metric.unit, rates, spread: analysis.components, mean }))
}

/// Does this method see a difference?
fn differs(method: TestMethod, experiment: &[Observation]) -> Result<bool, Error> {
    let design = match method {
        TestMethod::Pooled => {
            let set = |condition: usize| {
                let runs = experiment.iter().filter(|run| run.condition == condition);
                Set::new("", runs.map(|run| run.value).collect())
            };
            return Ok(set(1)?.against(&set(0)?, Level::default()).is_proven);
        }
        TestMethod::Crossed => Design::Crossed,
        TestMethod::Nested => Design::Nested,
    };
    let question = Question { design: Some(design), level: LEVEL, ..Question::against(0) };
    let analysis = stats::analyse(experiment, &question)?;
    Ok(analysis.comparisons.iter().any(|one| matches!(one.verdict, Verdict::Higher | Verdict::Lower)))
}

fn no_twins(stored: &StoredStudy) -> Error {
    Error::NoTwins { study: stored.row.id.0, name: stored.row.name.clone() }
}
