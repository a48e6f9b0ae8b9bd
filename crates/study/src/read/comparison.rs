//! `[[comparison]]`.

use std::collections::HashSet;
use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;
use words::metric::{METRICS, Metric, MetricNeeds};
use words::suggest::quoted;
use words::{Kind, Scenario, Shape, metric, suggest};

use crate::model::tables::COMPARISON;
use crate::model::{ComparisonRequest, Exclusion, Factor, Selection, Subject};
use crate::plan::Unresolved;
use crate::read::factor::{flatten, level};
use crate::read::value::{entries, kind};
use crate::read::{Entry, Named, Problem, Problems, Table};

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
    pub(crate) both_ways: bool,
    pub(crate) searches: bool,
    /// The scenarios that could be read: there are metrics of virtual machines.
    pub(crate) scenarios: &'k [Scenario],
    pub(crate) exact: bool,
    pub(crate) turns: bool,
}

impl Offer<'_> {
    /// Whether the metric can be counted on one of the testbeds.
    fn meets(&self, metric: Metric) -> bool {
        let met = |scenario: &Scenario| metric.needs.is_met(*scenario, self.exact);
        self.scenarios.is_empty() || self.scenarios.iter().any(met)
    }

    /// Whether conditions take turns, in which the metric is not counted.
    fn misses_in_turns(&self, metric: Metric) -> bool {
        self.turns && self.scenarios.iter().any(|scenario| metric.is_of_whole_run(*scenario))
    }

    fn yields(&self, metric: Metric) -> bool {
        self.kinds.iter().any(|kind| kind.produces(metric))
    }

    fn has(&self, metric: Metric) -> bool {
        (self.both_ways || !metric.is_both_ways())
            && (self.searches || !metric.is_of_search())
            && !self.misses_in_turns(metric)
            && self.meets(metric)
            && self.yields(metric)
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
    let metric = table.take("metric").and_then(|entry| metric(&entry, offer, problems));
    let baseline = table.take("baseline");
    let baseline_place = baseline.as_ref().map(|entry| entry.span());
    let baseline = baseline.and_then(|entry| inline(&entry, scope, problems));
    let only = table.take("only").and_then(|entry| inline(&entry, scope, problems)).unwrap_or_default();
    let equivalent = table.take("equivalent").and_then(|entry| entry.get(Shape::Share, problems));
    table.finish(&COMPARISON.keys(), problems);
    let request = ComparisonRequest { metric, baseline, only, equivalent };
    (problems.count() == found).then_some(Read { request, place, baseline: baseline_place })
}

fn metric(value: &Entry<'_>, offer: Offer<'_>, problems: &mut Problems) -> Option<Metric> {
    let key = value.text(problems)?;
    let Some(metric) = metric::find(key) else {
        let near = suggest::nearest(key, metric::keys());
        let help = near.map(|near| format!("did you mean `{near}`?"));
        let help = help.unwrap_or_else(|| format!("this study's traffic yields {}", yields(offer)));
        let message = format!("`{}` is not a metric", quoted(key));
        return Problem::new(value.span(), message).help(help).reject(problems);
    };
    if offer.kinds.is_empty() || offer.has(metric) {
        return Some(metric);
    }
    let can = offer.yields(metric);
    let (subject, label, help) = if can && !offer.meets(metric) {
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
        ("this study".to_owned(), why, help.to_owned())
    } else {
        let kinds: Vec<&str> = offer.kinds.iter().map(|kind| kind.word()).collect();
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
        (suggest::list(&kinds), metric.meaning, help)
    };
    let message = format!("{subject} yields no `{key}`");
    Problem::new(value.span(), message).label(label).help(help).reject(problems)
}

/// The metrics of a run as a whole that the traffic yields, and a note on the others.
fn yields(offer: Offer<'_>) -> String {
    let keys: Vec<&str> = METRICS
        .iter()
        .filter(|metric| metric.side.is_none() && offer.has(**metric))
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

#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope<'f> {
    pub(crate) factors: &'f [Factor],
    /// Whether all factors of the file could be read. If not, a missing name is not reported.
    pub(crate) whole: bool,
}

pub(crate) fn exclusion(
    mut table: Table<'_>,
    scope: Scope<'_>,
    problems: &mut Problems,
) -> Option<Exclusion> {
    let reason = table.take("reason").and_then(|entry| entry.sentence(problems));
    let place = table.span.clone();
    let rest = table.rest();
    if rest.is_empty() {
        let help = "name levels, such as `family = \"ipv6\"`, or remove it";
        return Problem::new(place, "this excludes every condition").help(help).reject(problems);
    }
    let selection = select(rest, scope, problems)?;
    Some(Exclusion { selection, reason })
}

pub(crate) fn inline(entry: &Entry<'_>, scope: Scope<'_>, problems: &mut Problems) -> Option<Selection> {
    match entry.value.get_ref() {
        DeValue::Table(table) => select(entries(table), scope, problems),
        other => {
            let message = format!("`{}` must be a table of levels, not {}", quoted(entry.key), kind(other));
            let help = format!("write it as `{} = {{ family = \"ipv4\" }}`", quoted(entry.key));
            Problem::new(entry.span(), message).help(help).reject(problems)
        }
    }
}

/// The selection of these entries; `None` if anything in it is wrong.
fn select(rest: Vec<Entry<'_>>, scope: Scope<'_>, problems: &mut Problems) -> Option<Selection> {
    let mut chosen = Vec::new();
    let mut seen = HashSet::new();
    let mut whole = true;
    for named in flatten(rest, problems) {
        let Some((index, factor)) = factor(&named, scope, problems) else {
            whole = false;
            continue;
        };
        if !seen.insert(index) {
            let message = format!("the factor `{}` is named twice", factor.name);
            problems.push(Problem::new(named.place, message));
            whole = false;
            continue;
        }
        match levels(&named, factor, scope, problems) {
            Some(levels) => chosen.push((index, levels)),
            None => whole = false,
        }
    }
    whole.then(|| Selection::new(chosen))
}

/// The factor of a key, by any of its names.
fn factor<'f>(named: &Named<'_>, scope: Scope<'f>, problems: &mut Problems) -> Option<(usize, &'f Factor)> {
    let subject = match named.full().as_str() {
        "workload" => Some(Subject::Workload),
        _ => named.subject(),
    };
    let factors = || scope.factors.iter().enumerate();
    let found = subject.and_then(|subject| factors().find(|(_, factor)| factor.subject == subject));
    if found.is_none() && scope.whole {
        let full = named.full();
        let message = format!("this study has no factor `{}`", quoted(&full));
        let help = if scope.factors.is_empty() {
            Some("add it to `[factors]`: the study has none yet".to_owned())
        } else {
            problems.help(&full, scope.factors.iter().map(|factor| factor.name.as_str()))
        };
        problems.push(Problem::new(named.place.clone(), message).maybe_help(help));
    }
    found
}

fn levels(
    named: &Named<'_>,
    factor: &Factor,
    scope: Scope<'_>,
    problems: &mut Problems,
) -> Option<Vec<usize>> {
    let known: Vec<String> = factor.levels().collect();
    let mut one = |value: &Spanned<DeValue<'_>>| {
        let text = match &factor.subject {
            // Its levels may be tables or lists.
            Subject::Tuning(..) if scope.whole => {
                level(&Entry::item(named.name, value), &factor.subject, problems)?.to_string()
            }
            subject => subject.spelling(text(value, named, problems)?),
        };
        // A kernel may be named by its release, as in labels.
        let level = known.iter().position(|level| *level == text).or_else(|| factor.called(&text));
        if level.is_none() && scope.whole {
            let message = format!("`{}` has no level `{}`", factor.name, quoted(&text));
            let help = problems.help(&text, known.iter().map(String::as_str));
            problems.push(Problem::new(value.span(), message).maybe_help(help));
        }
        level
    };
    match named.value.get_ref() {
        // Reads each, so that all wrong ones are reported.
        DeValue::Array(array) => {
            let levels: Vec<Option<usize>> = array.iter().map(one).collect();
            let levels: Option<Vec<usize>> = levels.into_iter().collect();
            if levels.as_ref().is_some_and(Vec::is_empty) {
                let message = format!("no level of `{}` is named", factor.name);
                return Problem::new(named.value.span(), message).reject(problems);
            }
            levels
        }
        _ => one(named.value).map(|level| vec![level]),
    }
}

/// A level in the spelling of [`Factor::levels`].
fn text(value: &Spanned<DeValue<'_>>, named: &Named<'_>, problems: &mut Problems) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Boolean(on) => Some(if *on { "on" } else { "off" }.to_owned()),
        _ => {
            let value = Entry::item(named.name, value);
            value.decimal().or_else(|| value.wrong_type("a level", problems))
        }
    }
}
