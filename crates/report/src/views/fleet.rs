//! One study on many pairs of machines.

use results::{
    EffectOverPairs, FleetResults, PairApart, PairOfFleet, counted, figure, metric_name, percent,
    quality_word, range, with_unit,
};
use stats::fleet::{GroupedEffect, JudgedEffect};
use stats::signed;
use study::{Name, Quality};

use crate::cells;
use crate::document::{Block, Cell, Table};

// The largest number of pairs, differences and effects that are named, unless all are asked for.
const TOLD: usize = 8;

/// The pairs that failed, the effects over machines, and the pairs that stand apart; all of them if
/// `is_whole`.
pub fn fleet(found: &FleetResults, is_whole: bool) -> Vec<Block<'static>> {
    let most = if is_whole { usize::MAX } else { TOLD };
    let mut blocks = Vec::new();
    let (measured, missing) = (found.pairs.len(), found.not_measured.len());
    if missing > 0 {
        let mut lines = vec![format!("{missing} of {} not measured:", counted(measured + missing, "pair"))];
        let line = |one: &PairOfFleet| format!("{}: {}", one.name, one.why.as_deref().unwrap_or_default());
        lines.extend(found.not_measured.iter().take(most).map(line));
        lines.extend((missing > most).then(|| format!("--wide shows {} more", missing - most)));
        blocks.push(Block::Warning(lines));
    }
    if measured == 0 {
        return blocks;
    }
    blocks.push(Block::Text(format!("{} on {}: {}", found.name, counted(measured, "pair"), found.question)));
    blocks.extend(found.effects.iter().take(most).map(|effect| Block::Lead(sentence(effect))));
    blocks.extend(effects(found, is_whole).filled().map(Block::Table));
    for effect in &found.effects {
        blocks.extend(effect.apart.iter().flat_map(|pair| pair_apart(effect, pair, most)));
        blocks.extend(effect.groups.as_ref().and_then(|groups| groups_of(effect, groups)).map(Block::Table));
    }
    let method = "Each pair counts once: the intervals of the effect have degrees of freedom by pairs. A pair's own \
                  verdict is corrected for the number of pairs (Holm), so that the counts hold together.";
    blocks.push(Block::Text(method.to_owned()));
    blocks
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

fn effects(found: &FleetResults, is_whole: bool) -> Table {
    let head =
        ["metric", "condition", "over machines", "interval", "one more pair", "holds", "apart", "verdict"];
    let rows = found.effects.iter().map(|effect| {
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
            names.join(", "),
            Cell::verdict(verdict(effect, &sizes.mean), sizes.mean.verdict, effect.better),
        ]
    });
    let explained = "\"one more pair\": where the effect of a pair lies that was not measured".to_owned();
    Table::with_rows(head, rows)
        .optional(&[4, 3])
        .titled(format!("Effects over machines, {} % intervals", stats::confidence(found.confidence)))
        .noted(is_whole.then_some(explained))
        .compact()
}

fn pair_apart(effect: &EffectOverPairs, pair: &PairApart, most: usize) -> Vec<Block<'static>> {
    let of = format!("{} of {}", metric_name(&effect.metric), effect.condition);
    if pair.differences.is_empty() {
        return vec![Block::Text(format!(
            "Pair {} stands apart in {of}: nothing is recorded of it that is not recorded of another pair.",
            pair.name
        ))];
    }
    let mut table = Table::new(["recorded of it alone", &pair.name, "another pair"])
        .titled(format!("Pair {} stands apart in {of}.", pair.name));
    for one in pair.differences.iter().take(most) {
        let [other, own] = one.values();
        table.row(cells![&Name::from(one.what.as_str()), own, other]);
    }
    let hidden = pair.differences.len().saturating_sub(most);
    vec![Block::Table(table.noted((hidden > 0).then(|| format!("--wide shows {hidden} more"))))]
}

fn groups_of(effect: &EffectOverPairs, groups: &GroupedEffect<String>) -> Option<Table> {
    let of = format!("{} of {}", metric_name(&effect.metric), effect.condition);
    let mut table = Table::new(["group", "pairs", "effect", "interval"]).titled(format!("{of}, by group"));
    for group in &groups.groups {
        let (size, interval) = size(effect, &group.mean);
        table.row(cells![&Name::from(group.label.as_str()), group.pairs, size, interval]);
    }
    for one in &groups.differences {
        let [group, baseline] = [one.group, one.baseline].map(|place| groups.groups[place].label.as_str());
        let (size, interval) = size(effect, &one.difference);
        let words = format!("{group} against {baseline}: {}", one.difference.verdict);
        table.row(cells![words, Cell::EMPTY, size, interval]);
    }
    table.filled()
}
