//! `[[comparison]]`.

use std::collections::HashSet;
use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;
use words::metric::{METRICS, Metric, Source};
use words::suggest::quoted;
use words::{Scenario, Shape, Traffic, metric, suggest};

use crate::model::tables::COMPARISON;
use crate::model::{ComparisonSpec, Factor, Selection, Varied};
use crate::plan::Unresolved;
use crate::read::factor::{flatten, level};
use crate::read::{Named, Problem, Problems, Section, Stale, TomlEntry};

#[derive(Debug)]
pub(crate) struct ParsedComparison {
    pub(crate) request: ComparisonSpec,
    pub(crate) place: Range<usize>,
    pub(crate) baseline: Option<Range<usize>>,
}

/// The properties of a study that decide which metrics exist.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offer<'k> {
    pub(crate) traffic: &'k [Traffic],
    pub(crate) scenarios: &'k [Scenario],
    pub(crate) exact: bool,
    pub(crate) turns: bool,
}

impl Offer<'_> {
    fn meets(&self, metric: Metric) -> bool {
        let met = |scenario: &Scenario| metric.needs.is_met(*scenario, self.exact);
        self.scenarios.is_empty() || self.scenarios.iter().any(met)
    }

    fn yields(&self, metric: Metric) -> bool {
        self.traffic.iter().any(|traffic| traffic.produces(metric))
    }

    fn has(&self, metric: Metric) -> bool {
        self.yields(metric)
            && self.meets(metric)
            && !(self.turns && self.scenarios.iter().any(|scenario| metric.is_of_whole_run(*scenario)))
    }
}

pub(crate) fn read(
    mut table: Section<'_>,
    scope: FactorScope<'_>,
    offer: Offer<'_>,
    problems: &mut Problems,
) -> Option<ParsedComparison> {
    let found = problems.count();
    let place = table.span.clone();
    let metric = table.take("metric").and_then(|entry| metric(&entry, offer, problems));
    let baseline = table.take("baseline");
    let baseline_place = baseline.as_ref().map(|entry| entry.span());
    let baseline = baseline.and_then(|entry| inline(&entry, scope, problems));
    let only = table.take("only").and_then(|entry| inline(&entry, scope, problems)).unwrap_or_default();
    let equivalent = table.take("equivalent").and_then(|entry| entry.get(Shape::Share, problems));
    table.finish(&COMPARISON.keys(), problems);
    let request = ComparisonSpec { metric, baseline, only, equivalent };
    (problems.count() == found).then_some(ParsedComparison { request, place, baseline: baseline_place })
}

fn metric(value: &TomlEntry<'_>, offer: Offer<'_>, problems: &mut Problems) -> Option<Metric> {
    let key = value.text(problems)?;
    let Some(metric) = metric::find(key) else {
        let near = metric::nearest(key).map(|near| format!("did you mean `{near}`?"));
        let help = near.unwrap_or_else(|| format!("use one of {}", yields(offer)));
        let message = format!("`{}` is not a metric", quoted(key));
        return Problem::new(value.span(), message).help(help).reject(problems);
    };
    if offer.traffic.is_empty() || offer.has(metric) {
        return Some(metric);
    }
    let why = if !offer.yields(metric) {
        match metric.source {
            _ if !offer.traffic.iter().any(|traffic| traffic.kind.produces(metric)) => metric.meaning,
            Source::BothWays => "it is of traffic that flows both ways (`direction = \"both\"`)",
            _ => "it is of a search for a rate (`find_rate = true`)",
        }
    } else if offer.meets(metric) {
        "it is counted for whole flows, and conditions take turns in theirs (`alternate = \"off\"`)"
    } else {
        metric.needs.meaning()
    };
    let message = format!("this study yields no `{key}`");
    let help = format!("use one of {}", yields(offer));
    Problem::new(value.span(), message).label(why).help(help).reject(problems)
}

fn yields(offer: Offer<'_>) -> String {
    let offered = METRICS.iter().filter(|metric| metric.side.is_none() && offer.has(**metric));
    let keys: Vec<&str> = offered.map(|metric| metric.key).collect();
    format!("{}, or one of a side, such as `transmitter.cpu`", suggest::list(&keys))
}

pub(crate) fn explain(read: &ParsedComparison, why: Unresolved) -> Problem {
    let at_baseline = read.baseline.clone().unwrap_or(read.place.clone());
    match why {
        Unresolved::NoBaseline => Problem::new(at_baseline, "the baseline matches no condition")
            .help("`netassay run --dry-run` lists the conditions, and those excluded with the reason"),
        Unresolved::ManyBaselines(count) => {
            Problem::new(at_baseline, format!("the baseline matches {count} conditions"))
                .help("name the level of every factor that varies")
        }
        Unresolved::NothingToCompare => Problem::new(read.place.clone(), "there is nothing to compare")
            .label("it has no condition beside the baseline"),
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct FactorScope<'f> {
    pub(crate) factors: &'f [Factor],
    /// Whether all factors of the file could be read. If not, a missing name is not reported.
    pub(crate) whole: bool,
    /// The array of tables that selects conditions, and the place in it.
    pub(crate) table: (&'static str, usize),
    /// The key of the selection in its table; an exclusion is one itself.
    pub(crate) part: Option<&'f str>,
}

impl FactorScope<'_> {
    fn stale(&self, named: &Named<'_>, level: Option<usize>) -> Stale {
        let path = self.part.iter().chain(&named.path).map(ToString::to_string).collect();
        Stale { table: self.table, path, level }
    }
}

pub(crate) fn exclusion(
    mut table: Section<'_>,
    scope: FactorScope<'_>,
    problems: &mut Problems,
) -> Option<(Selection, String)> {
    let reason = table.take("reason").and_then(|entry| entry.sentence(problems));
    let place = table.span.clone();
    let rest = table.rest();
    if rest.is_empty() {
        let help = "name levels, such as `family = \"ipv6\"`, or remove it";
        return Problem::new(place, "this excludes every condition").help(help).reject(problems);
    }
    Some((select(rest, scope, problems)?, reason.unwrap_or_else(|| "excluded by the study".to_owned())))
}

pub(crate) fn inline(
    entry: &TomlEntry<'_>,
    scope: FactorScope<'_>,
    problems: &mut Problems,
) -> Option<Selection> {
    let table = Section::from_entry("{ family = \"ipv4\" }", entry, problems)?;
    select(table.rest(), FactorScope { part: Some(entry.key), ..scope }, problems)
}

fn select(rest: Vec<TomlEntry<'_>>, scope: FactorScope<'_>, problems: &mut Problems) -> Option<Selection> {
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
            Some(levels) => chosen.push((index, levels.into_iter().collect())),
            None => whole = false,
        }
    }
    whole.then_some(chosen)
}

fn factor<'f>(
    named: &Named<'_>,
    scope: FactorScope<'f>,
    problems: &mut Problems,
) -> Option<(usize, &'f Factor)> {
    let full = named.full();
    let subject = if full == "workload" { Some(Varied::Workload) } else { named.subject() };
    let factors = || scope.factors.iter().enumerate();
    let found = subject.and_then(|subject| factors().find(|(_, factor)| factor.subject == subject));
    if found.is_none() && scope.whole {
        let message = format!("this study has no factor `{}`", quoted(&full));
        let help = if scope.factors.is_empty() {
            Some("add it to `[factors]`: the study has none yet".to_owned())
        } else {
            problems.help(&full, scope.factors.iter().map(|factor| factor.name.as_str()))
        };
        problems.push(Problem::new(named.place.clone(), message).maybe_help(help));
        problems.stale.push(scope.stale(named, None));
    }
    found
}

fn levels(
    named: &Named<'_>,
    factor: &Factor,
    scope: FactorScope<'_>,
    problems: &mut Problems,
) -> Option<Vec<usize>> {
    let known: Vec<String> = factor.levels().collect();
    let one = |(place, value): (usize, &Spanned<DeValue<'_>>)| {
        let text = level(&TomlEntry::item(named.name, value), &factor.subject, problems)?.to_string();
        let level = known.iter().position(|level| *level == text);
        if level.is_none() && scope.whole {
            let message = format!("`{}` has no level `{}`", factor.name, quoted(&text));
            let help = problems.help(&text, known.iter().map(String::as_str));
            problems.push(Problem::new(value.span(), message).maybe_help(help));
            problems.stale.push(scope.stale(named, Some(place)));
        }
        level
    };
    // Reads each, so that all wrong ones are reported.
    let levels: Vec<Option<usize>> = TomlEntry::items(named.value).iter().enumerate().map(one).collect();
    if levels.is_empty() {
        let message = format!("no level of `{}` is named", factor.name);
        return Problem::new(named.value.span(), message).reject(problems);
    }
    levels.into_iter().collect()
}
