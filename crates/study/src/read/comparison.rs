//! `[[comparison]]`.

use std::ops::Range;
use words::{
    Kind, Scenario,
    metric::{self, METRICS, Metric, MetricNeeds},
    suggest::{self, quoted},
};

use crate::model::selection::ComparisonRequest;
use crate::model::tables::COMPARISON;
use crate::plan::comparison::Unresolved;
use crate::read::diagnostic::Problem;
use crate::read::problems::Problems;
use crate::read::selection::{self, Scope};
use crate::read::table::Table;
use crate::read::value::Value;

/// A comparison with the places that later checks may report.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) request: ComparisonRequest,
    pub(crate) place: Range<usize>,
    pub(crate) baseline: Option<Range<usize>>,
}

/// The properties of a study's traffic that decide which metrics exist.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offer<'k> {
    pub(crate) kinds: &'k [Kind],
    /// Whether a stream flows both ways in any condition.
    pub(crate) both_ways: bool,
    /// Whether a workload searches for a rate.
    pub(crate) searches: bool,
    /// The scenarios that could be read: there are metrics of virtual machines.
    pub(crate) scenarios: &'k [Scenario],
    /// Whether instructions are counted.
    pub(crate) exact: bool,
    /// Whether conditions take turns in one flow.
    pub(crate) turns: bool,
}

impl Offer<'_> {
    /// Whether the metric can be counted on one of the testbeds.
    fn meets(&self, metric: &Metric) -> bool {
        let met = |scenario: &Scenario| metric.needs.is_met(*scenario, self.exact);
        self.scenarios.is_empty() || self.scenarios.iter().any(met)
    }

    /// Whether conditions take turns, in which the metric is not counted.
    fn misses_in_turns(&self, metric: &Metric) -> bool {
        self.turns && self.scenarios.iter().any(|scenario| metric.is_of_whole_run(*scenario))
    }

    fn has(&self, metric: &Metric) -> bool {
        let both_ways = self.both_ways || !metric.is_both_ways();
        let searched = self.searches || !metric.is_of_search();
        both_ways
            && searched
            && !self.misses_in_turns(metric)
            && self.meets(metric)
            && self.kinds.iter().any(|kind| kind.produces(metric))
    }
}

/// One table of `[[comparison]]`; `None` if anything in it is wrong.
pub(crate) fn read(
    mut table: Table<'_>,
    scope: Scope<'_>,
    offer: Offer<'_>,
    problems: &mut Problems,
) -> Option<Read> {
    let found = problems.count();
    let place = table.span.clone();
    let metric = table.take("metric").and_then(|entry| metric(Value::from_entry(&entry), offer, problems));
    let baseline = table.take("baseline");
    let baseline_place = baseline.as_ref().map(|entry| entry.span());
    let baseline = baseline.and_then(|entry| selection::inline(&entry, scope, problems));
    let only =
        table.take("only").and_then(|entry| selection::inline(&entry, scope, problems)).unwrap_or_default();
    let equivalent = table.take("equivalent").and_then(|entry| Value::from_entry(&entry).percent(problems));
    table.finish(&COMPARISON.keys(), problems);
    let request = ComparisonRequest { metric, baseline, only, equivalent };
    (problems.count() == found).then_some(Read { request, place, baseline: baseline_place })
}

fn metric(value: Value<'_>, offer: Offer<'_>, problems: &mut Problems) -> Option<&'static Metric> {
    let key = value.text(problems)?;
    let Some(metric) = metric::find(key) else {
        let near = problems.nearest(key, metric::keys());
        let help = near.map(|near| format!("did you mean `{near}`?"));
        let help = help.unwrap_or_else(|| format!("this study's traffic yields {}", yields(offer)));
        problems.report(value.span(), format!("`{}` is not a metric", quoted(key)), help);
        return None;
    };
    let kinds = offer.kinds;
    if !kinds.is_empty() && !offer.has(metric) {
        let words: Vec<String> = kinds.iter().map(ToString::to_string).collect();
        if !offer.meets(metric) && kinds.iter().any(|kind| kind.produces(metric)) {
            problems.push(unmet(key, metric, value.span()));
            return None;
        }
        let can = kinds.iter().any(|kind| kind.produces(metric));
        let help = if can && metric.is_both_ways() {
            "the traffic flows one way: set `direction = \"both\"`, or use `throughput`".to_owned()
        } else if can && offer.misses_in_turns(metric) {
            "it is counted for whole flows, and conditions take turns in theirs: write `alternate = \"off\"`"
                .to_owned()
        } else if can && metric.is_of_search() {
            "no workload searches for a rate: set `find_rate = true`, or use `throughput`".to_owned()
        } else {
            format!("use one of {}", yields(offer))
        };
        let problem = Problem::new(value.span(), format!("{} yields no `{key}`", suggest::list(&words)))
            .label(metric.meaning)
            .help(help);
        problems.push(problem);
        return None;
    }
    Some(metric)
}

/// The problem of a metric that needs another testbed.
fn unmet(key: &str, metric: &Metric, place: Range<usize>) -> Problem {
    let (why, help) = match metric.needs {
        MetricNeeds::Exact => (
            "it is counted in exact mode only",
            "write `exact = true` at the top, or use `service_demand_byte`, `_packet` or `_transaction`",
        ),
        MetricNeeds::Tunnel => (
            "it is counted at the interface under a tunnel",
            "use the scenario `vxlan` or `vm-vxlan`, or the metric without `underlay_`",
        ),
        MetricNeeds::Guests | MetricNeeds::Nothing => (
            "it is counted on the host of virtual machines",
            "use the scenario `vm` or `vm-vxlan`, or the metric without `host_`",
        ),
    };
    Problem::new(place, format!("this study yields no `{key}`")).label(why).help(help)
}

/// The metrics of a run as a whole that the traffic yields, and a note on the others.
fn yields(offer: Offer<'_>) -> String {
    let keys: Vec<&str> = METRICS
        .iter()
        .filter(|metric| metric.side.is_none() && offer.has(metric))
        .map(|metric| metric.key)
        .collect();
    format!("{}, or one of a side, such as `transmitter.cpu`", suggest::list(&keys))
}

/// The problem of a comparison that cannot be made.
pub(crate) fn explain(read: &Read, why: Unresolved) -> Problem {
    let at_baseline = read.baseline.clone().unwrap_or(read.place.clone());
    match why {
        Unresolved::NoBaseline => Problem::new(at_baseline, "the baseline matches no condition")
            .help("`netassay run --dry-run` lists the conditions, and those excluded with the reason"),
        Unresolved::ManyBaselines(labels) => {
            let shown: Vec<&String> = labels.iter().take(4).collect();
            let more = if labels.len() > shown.len() { ", …" } else { "" };
            let message =
                format!("the baseline matches {} conditions: {}{more}", labels.len(), suggest::list(&shown));
            Problem::new(at_baseline, message).help("name the level of every factor that varies")
        }
        Unresolved::NothingToCompare => Problem::new(read.place.clone(), "there is nothing to compare")
            .label("it has no condition beside the baseline"),
    }
}
