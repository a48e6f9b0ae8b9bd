//! One study on many pairs of machines.

use results::{
    EffectOverPairs, FleetReference, FleetResults, PairApart, PairOfFleet, counted, figure, first_of,
    grouped, metric_name, metric_words, percent, proven_for, quality_word, range, with_unit,
};
use stats::fleet::{GroupDifference, GroupedEffect, JudgedEffect};
use stats::{Verdict, signed};
use study::{Name, Quality};

use super::history::studies_of;
use super::stage_ranges;
use crate::cells;
use crate::document::{Block, Cell, Table};

// The largest number of pairs, differences and effects that are named, unless all are asked for.
const TOLD: usize = 8;

/// The largest number of rows of a table of pairs, groups or effects, unless all are asked for. A
/// larger fleet is shown by the distribution over its pairs.
pub(crate) const LISTED: usize = 40;

pub(super) const ONE_PAIR: &str =
    "One pair was measured: intervals and verdicts are of its own boots, and say nothing of other machines.";

const EACH_PAIR: &str = "Each pair counts once: the intervals of the effect have degrees of freedom by pairs. A pair's own \
     verdict is corrected for the number of pairs (Holm), so that the counts hold together.";

/// The pairs that failed, the effects over machines, and the pairs that stand apart; all of them if
/// `is_whole`.
pub fn fleet(found: &FleetResults, is_whole: bool) -> Vec<Block<'static>> {
    let most = if is_whole { usize::MAX } else { TOLD };
    let mut blocks = Vec::new();
    let (measured, missing) = (found.pairs.len(), found.not_measured.len());
    let not_measured: Vec<&PairOfFleet> = found.not_measured.iter().collect();
    blocks.extend(named(&not_measured, measured + missing, "not measured", most));
    let in_part: Vec<&PairOfFleet> = found.pairs.iter().filter(|pair| pair.why.is_some()).collect();
    blocks.extend(named(&in_part, measured + missing, "measured in part", most));
    if measured == 0 {
        return blocks;
    }
    blocks.extend(found.reference.iter().flat_map(|reference| drift(reference, most)));
    blocks.push(Block::Text(format!("{} on {}: {}", found.name, counted(measured, "pair"), found.question)));
    blocks.extend(leads(found, most));
    blocks.extend(effects(found, is_whole).into_iter().map(Block::Table));
    blocks.extend(distribution(found, most).filled().map(Block::Table));
    blocks.extend(pairs_apart(found, most));
    for effect in found.effects.iter().take(most) {
        let groups = effect.groups.as_ref().and_then(|groups| groups_of(effect, groups, is_whole));
        blocks.extend(groups.map(Block::Table));
    }
    blocks.extend(found.stages.iter().flat_map(|stages| stage_ranges(stages, most)));
    blocks.extend(found.reference.iter().flat_map(|reference| over_campaign(reference, most)));
    blocks.extend(Block::list(lacks(found, most)));
    let method = if measured == 1 { ONE_PAIR } else { EACH_PAIR };
    blocks.push(Block::Text(method.to_owned()));
    blocks
}

/// A warning that names the pairs of one kind, each with its reason.
fn named(pairs: &[&PairOfFleet], of: usize, how: &str, most: usize) -> Option<Block<'static>> {
    let mut lines = vec![format!("{} of {} {how}:", pairs.len(), counted(of, "pair"))];
    lines.extend(pairs.iter().take(most).map(|pair| why(pair)));
    lines.extend((pairs.len() > most).then(|| format!("--wide shows {} more", pairs.len() - most)));
    (!pairs.is_empty()).then_some(Block::Warning(lines))
}

fn why(one: &PairOfFleet) -> String {
    format!("{}: {}", one.name, one.why.as_deref().unwrap_or_default())
}

/// A warning if the site drifted, or if measurements of the reference pair are missing.
fn drift(reference: &FleetReference, most: usize) -> Option<Block<'static>> {
    let FleetReference { name, measurements, drift, not_measured, .. } = reference;
    let mut lines = Vec::new();
    if !drift.is_empty() {
        lines.push(format!(
            "the site drifted: the reference pair {name} changed over its {}. Compare no rates of pairs that were measured at other times; an effect is of conditions within a pair's boots",
            counted(*measurements, "measurement")
        ));
    }
    lines.extend(drift.iter().take(most).cloned());
    lines.extend((drift.len() > most).then(|| format!("--wide shows {} more", drift.len() - most)));
    lines.extend(not_measured.iter().take(most).map(why));
    (!lines.is_empty()).then_some(Block::Warning(lines))
}

/// The reference pair over the campaign: a table of its measurements for each baseline.
fn over_campaign(reference: &FleetReference, most: usize) -> Vec<Block<'static>> {
    let FleetReference { name, measurements, confidence, drift, history, .. } = reference;
    let verdict = if drift.is_empty() { "no drift is proven" } else { "the site drifted" };
    let mut blocks = vec![Block::Text(format!(
        "Reference pair {name}, {} over the campaign: {verdict}. Each is compared with the first, and changes of level are searched for, all at {} % together.",
        counted(*measurements, "measurement"),
        stats::confidence(*confidence)
    ))];
    // More are in the figure.
    if let Some(history) = history.as_ref().filter(|_| most > TOLD || *measurements <= LISTED) {
        let tables = history.series.iter().take(most).map(|series| {
            let table = studies_of(history, series);
            Block::Table(table.titled(format!("Reference pair {name}, {}", series.title())))
        });
        blocks.extend(tables);
    }
    blocks
}

/// The effects each by itself, and those that no pair proves either together.
fn leads(found: &FleetResults, most: usize) -> Vec<Block<'static>> {
    let key = |effect: &EffectOverPairs| {
        (effect.workload.clone(), effect.baseline.clone(), metric_words(&effect.metric))
    };
    let is_open = |effect: &EffectOverPairs| {
        let count = effect.sizes.count;
        effect.sizes.mean.verdict == Verdict::NoDifferenceProven && count.holds + count.contradicts == 0
    };
    let (open, told): (Vec<&EffectOverPairs>, Vec<&EffectOverPairs>) =
        found.effects.iter().partition(|effect| is_open(effect));
    let open = grouped(open.into_iter().map(|effect| (key(effect), effect.condition.as_str())));
    let open = open.iter().map(|(of, conditions)| {
        let all = found.effects.iter().filter(|effect| key(effect) == *of).count();
        let (_, baseline, metric) = of;
        let subject = format!("no difference in {metric} over machines or on any pair");
        format!("Against {baseline}, {}", proven_for(&subject, conditions, all))
    });
    let told = told.into_iter().map(sentence);
    told.chain(open).take(most).map(Block::Lead).collect()
}

/// The runs that do not count, and the effects that some pairs lack, in sentences.
fn lacks(found: &FleetResults, most: usize) -> Vec<String> {
    let all = || found.pairs.iter().chain(&found.not_measured);
    let failed: u32 = all().map(|pair| pair.failed_runs).sum();
    let disturbed: u32 = all().map(|pair| pair.disturbed_runs).sum();
    let is_lacking = |pair: &&PairOfFleet| pair.failed_runs + pair.disturbed_runs > 0;
    let names: Vec<&str> = all().filter(is_lacking).map(|pair| pair.name.as_str()).collect();
    let runs = (!names.is_empty()).then(|| {
        let (pairs, names) = (counted(names.len(), "pair"), first_of(&names, most));
        format!(
            "Note: runs that do not count: {failed} failed, {disturbed} disturbed, on {pairs} ({names}): netassay show NUMBER --runs lists those of a pair's study."
        )
    });
    let pairs = found.pairs.len();
    let partial = found.effects.iter().filter(|effect| effect.pairs.len() < pairs);
    let partial = partial.map(|effect| {
        let (metric, own) = (metric_name(&effect.metric), effect.pairs.len());
        format!("{metric} of {} against {} ({own} of {pairs})", effect.condition, effect.baseline)
    });
    let partial: Vec<String> = partial.collect();
    let partial = (!partial.is_empty())
        .then(|| format!("Note: not measured on every pair: {}.", first_of(&partial, most)));
    runs.into_iter().chain(partial).collect()
}

/// `throughput: gso=off against gso=on: -57.6 % (-64.2 to -49.7) over machines, slower; holds on 5
/// of 5 pairs`.
pub(crate) fn sentence(effect: &EffectOverPairs) -> String {
    let mean = &effect.sizes.mean;
    let (size, interval) = size(effect, mean);
    let interval = interval.map_or_else(String::new, |interval| format!(" ({interval})"));
    let EffectOverPairs { metric, condition, baseline, .. } = effect;
    let (metric, verdict) = (metric_name(metric), verdict(effect, mean));
    let (holds, pairs) = (effect.sizes.count.holds, counted(effect.pairs.len(), "pair"));
    format!(
        "{metric}: {condition} against {baseline}: {size}{interval} over machines, {verdict}; holds on {holds} of {pairs}"
    )
}

fn size(effect: &EffectOverPairs, own: &JudgedEffect) -> (String, Option<String>) {
    let shown = |value: f64| signed(number(effect, value));
    let size = with_unit(shown(effect.in_unit(own.estimate)), effect.unit());
    (size, effect.interval(own.interval).map(|ends| range(Some(ends), shown)))
}

fn number(effect: &EffectOverPairs, value: f64) -> String {
    if effect.is_log_ratio { percent(value) } else { figure(value) }
}

pub(crate) fn verdict(effect: &EffectOverPairs, own: &JudgedEffect) -> &'static str {
    let quality = effect.metric.known().map(Quality::from_metric);
    let word = quality.and_then(|quality| quality_word(quality, own.verdict));
    word.unwrap_or(own.verdict.as_str())
}

/// A table for each baseline: a condition can be compared with several.
fn effects(found: &FleetResults, is_whole: bool) -> Vec<Table> {
    let most = if is_whole { usize::MAX } else { LISTED };
    let listed = found.effects.iter().take(most).map(|effect| (effect.baseline.as_str(), effect));
    let by_baseline = grouped(listed);
    let confidence = stats::confidence(found.confidence);
    let tables = by_baseline.iter().map(|(baseline, own)| {
        let against = if by_baseline.len() > 1 { format!(" against {baseline}") } else { String::new() };
        let title = format!("Effects over machines{against}, {confidence} % intervals");
        effects_on_baseline(own, is_whole).titled(title)
    });
    let mut tables: Vec<Table> = tables.collect();
    let hidden = found.effects.len().saturating_sub(most);
    if let Some(last) = tables.last_mut().filter(|_| hidden > 0) {
        last.notes.push(format!("--wide shows {hidden} more"));
    }
    tables
}

fn effects_on_baseline(effects: &[&EffectOverPairs], is_whole: bool) -> Table {
    let head =
        ["metric", "condition", "over machines", "interval", "one more pair", "holds", "apart", "verdict"];
    let rows = effects.iter().copied().map(|effect| {
        let shown = |value: f64| signed(number(effect, value));
        let both = |ends: Option<(f64, f64)>| Cell::interval(effect.interval(ends), shown);
        let sizes = &effect.sizes;
        let holds = format!("{} of {}", sizes.count.holds, effect.pairs.len());
        let names: Vec<&str> = effect.apart.iter().map(|pair| pair.name.as_str()).collect();
        cells![
            metric_name(&effect.metric),
            &Name::from(effect.condition.as_str()),
            Cell::with_unit(shown(effect.in_unit(sizes.mean.estimate)), effect.unit()),
            both(sizes.mean.interval),
            both(sizes.prediction),
            holds,
            first_of(&names, if is_whole { usize::MAX } else { TOLD }),
            Cell::verdict(verdict(effect, &sizes.mean), sizes.mean.verdict, effect.better),
        ]
    });
    let explained = "\"one more pair\": where the effect of a pair lies that was not measured".to_owned();
    Table::with_rows(head, rows).optional(&[4, 3]).noted(is_whole.then_some(explained)).compact()
}

/// The effects on the pairs of a large fleet, from the smallest to the largest.
fn distribution(found: &FleetResults, most: usize) -> Table {
    let shares = [
        ("least", 0.0),
        ("5 %", 0.05),
        ("25 %", 0.25),
        ("median", 0.5),
        ("75 %", 0.75),
        ("95 %", 0.95),
        ("most", 1.0),
    ];
    let large = found.effects.iter().filter(|effect| effect.pairs.len() > LISTED);
    let rows = large.take(most).map(|effect| {
        let mut sizes: Vec<f64> = effect.sizes.pairs.iter().map(|pair| pair.estimate).collect();
        sizes.sort_by(f64::total_cmp);
        let last = (sizes.len() - 1) as f64;
        let size = |(_, share): (&str, f64)| {
            let size = effect.in_unit(sizes[(share * last).round() as usize]);
            Cell::with_unit(signed(number(effect, size)), effect.unit())
        };
        let mut row = cells![metric_name(&effect.metric), &Name::from(effect.condition.as_str())];
        row.extend(shares.map(size));
        row
    });
    let head = ["metric", "condition"].into_iter().chain(shares.map(|(name, _)| name));
    Table::with_rows(head, rows).titled("Effects on the pairs, by their share below").compact()
}

/// The pairs that stand apart, each once, those that do so in most effects first.
fn pairs_apart(found: &FleetResults, most: usize) -> Vec<Block<'static>> {
    let apart = found.effects.iter().flat_map(|effect| effect.apart.iter().map(move |pair| (effect, pair)));
    let mut by_pair = grouped(apart.map(|(effect, pair)| (pair.name.as_str(), (effect, pair))));
    by_pair.sort_by_key(|(_, own)| std::cmp::Reverse(own.len()));
    let mut blocks: Vec<Block<'static>> =
        by_pair.iter().take(most).map(|(_, own)| pair_apart(own, most)).collect();
    let hidden: Vec<&str> = by_pair.iter().skip(most).map(|(name, _)| *name).collect();
    if !hidden.is_empty() {
        let names = first_of(&hidden, LISTED);
        blocks.push(Block::Text(format!("Further pairs that stand apart (--wide shows by what): {names}.")));
    }
    blocks
}

/// One pair, in each of these effects.
fn pair_apart(own: &[(&EffectOverPairs, &PairApart)], most: usize) -> Block<'static> {
    let name_of =
        |effect: &EffectOverPairs| format!("{} of {}", metric_name(&effect.metric), effect.condition);
    let of: Vec<String> = own.iter().map(|(effect, _)| name_of(effect)).collect();
    let of = first_of(&of, if own.len() > TOLD { 1 } else { TOLD });
    // By the most that is recorded of it alone: in another effect others may stand apart.
    let pair = own.iter().map(|(_, pair)| *pair).max_by_key(|pair| pair.differences.len());
    let Some(pair) = pair.filter(|pair| !pair.differences.is_empty()) else {
        let name = own.first().map_or("", |(_, pair)| pair.name.as_str());
        return Block::Text(format!(
            "Pair {name} stands apart in {of}: nothing is recorded of it that is not recorded of another pair."
        ));
    };
    let mut table = Table::new(["recorded of it alone", &pair.name, "another pair"])
        .titled(format!("Pair {} stands apart in {of}.", pair.name));
    for one in pair.differences.iter().take(most) {
        let [other, own] = one.values();
        table.row(cells![&Name::from(one.what.as_str()), own, other]);
    }
    let hidden = pair.differences.len().saturating_sub(most);
    Block::Table(table.noted((hidden > 0).then(|| format!("--wide shows {hidden} more"))))
}

fn groups_of(effect: &EffectOverPairs, groups: &GroupedEffect<String>, is_whole: bool) -> Option<Table> {
    let EffectOverPairs { metric, condition, baseline, .. } = effect;
    let of = format!("{} of {condition} against {baseline}", metric_name(metric));
    let most = if is_whole { usize::MAX } else { LISTED / 2 };
    let mut table = Table::new(["group", "pairs", "effect", "interval"]).titled(format!("{of}, by group"));
    for group in groups.groups.iter().take(most) {
        let (size, interval) = size(effect, &group.mean);
        table.row(cells![&Name::from(group.label.as_str()), group.pairs, size, interval]);
    }
    // Of very many differences the proven ones are told.
    let (all, differences) = (groups.differences.len(), groups.differences.iter());
    let is_told = |one: &&GroupDifference| {
        all <= most || matches!(one.difference.verdict, Verdict::Higher | Verdict::Lower)
    };
    let mut told = 0;
    for one in differences.filter(is_told).take(most) {
        told += 1;
        let [group, baseline] = [one.group, one.baseline].map(|place| groups.groups[place].label.as_str());
        let (size, interval) = size(effect, &one.difference);
        let words = format!("{group} against {baseline}: {}", one.difference.verdict);
        table.row(cells![words, Cell::EMPTY, size, interval]);
    }
    let hidden = groups.groups.len().saturating_sub(most) + all - told;
    let note = (hidden > 0).then(|| format!("--wide shows {hidden} more groups and differences"));
    table.noted(note).filled()
}
