//! Credit for people: a table for each combination, and sentences.

use stats::effects::Estimated;
use stats::signed;
use study::DesignKind;

use super::combination::MissingState;
use super::gain::{gain, interval};
use super::parts::SwitchingOrders;
use super::{Credit, Credits};
use crate::data::truth;
use crate::words::layout::Layout;
use crate::words::number::{figure, percent, plain, range};
use crate::words::phrases::{heading, listed, metric_words};
use crate::words::table::Table;

// The most unreachable states that are listed; the JSON has all.
const LISTED: usize = 12;

impl Credits {
    /// The page's section: one table for each combination with all metrics side by side; of many
    /// combinations a line each.
    pub(crate) fn text(&self, layout: Layout) -> String {
        if !layout.wide && self.needs_overview() {
            return self.overview(layout);
        }
        let mut text = String::new();
        for group in self.by_combination() {
            text.push_str(&format!(
                "\nCredit ({}{}){}\n",
                self.title(),
                from_orders(group),
                group[0].place()
            ));
            text.push_str(&table(group, layout));
            text.push_str(&truth::line(self.truth));
            text.push_str(&sentences(group));
        }
        text + &self.unreachable()
    }

    /// The figures of each metric, with the conditions' own units and interactions.
    pub(crate) fn details(&self) -> String {
        let mut text = String::new();
        for credit in &self.credits {
            let orders = from_orders(std::slice::from_ref(credit));
            text.push_str(&format!(
                "\nCredit ({}{orders}){}: {}\n",
                self.title(),
                credit.place(),
                credit.metric
            ));
            text.push_str(&credit.table());
            text.push_str(&truth::line(self.truth));
            text.push_str(&credit.effects());
            text.push_str(&sentences(std::slice::from_ref(credit)));
        }
        text + &self.unreachable()
    }

    pub(super) fn title(&self) -> &'static str {
        match self.design {
            DesignKind::Factorial => "factorial, Shapley shares",
            DesignKind::Fractional => "fraction of a factorial, main effects",
            DesignKind::Ladder => "ladder",
        }
    }

    pub(super) fn by_combination(&self) -> impl Iterator<Item = &[Credit]> {
        self.credits.chunk_by(|one, other| (&one.workload, &one.at) == (&other.workload, &other.at))
    }

    fn unreachable(&self) -> String {
        let mut text = String::new();
        for dropped in &self.dropped {
            text.push_str(&format!("\nNot in the design: {}: {}\n", dropped.label, dropped.why));
        }
        if !self.unreachable.is_empty() {
            text.push_str("\nStates that cannot be reached:\n");
        }
        let state = |on: &[String]| match on {
            [] => "all off".to_owned(),
            on => format!("only {} on", listed(on)),
        };
        for one in self.unreachable.iter().take(LISTED) {
            text.push_str(&format!("  {} reads back as {}\n", state(&one.asked), state(&one.reads)));
        }
        if self.unreachable.len() > LISTED {
            text.push_str(&format!("  and {} more\n", self.unreachable.len() - LISTED));
        }
        text
    }
}

/// The metrics of one combination side by side, in % of the base.
fn table(group: &[Credit], layout: Layout) -> String {
    let confidence = format!("{} % interval", stats::confidence(group[0].level));
    let first = group.iter().find(|credit| !credit.parts.is_empty());
    let Some(base) = first.and_then(Credit::base) else { return String::new() };
    let unit = format!("% of {base}");
    let heads: Vec<String> = group.iter().map(|credit| heading(credit.metric, layout.wide)).collect();
    let (mut head, mut under) = (vec![""], vec![""]);
    for name in &heads {
        head.extend([name.as_str(), confidence.as_str()]);
        under.extend([unit.as_str(), name.as_str()]);
    }
    let columns: Vec<usize> = (3..head.len()).rev().collect();
    let mut table = Table::new(&head).units(&under).named(0).optional(&columns);
    let names = first.map_or(&[][..], |credit| &credit.parts[..]).iter().map(|part| part.name.as_str());
    for name in names {
        let mut row = vec![name.to_owned()];
        for credit in group {
            let part = credit.parts.iter().find(|part| part.name == name);
            row.extend(sized(part.map(|part| &part.change), credit.unit));
        }
        table.row(&row.iter().map(String::as_str).collect::<Vec<_>>());
    }
    // The whole has the base of the parts only where these are gains over off.
    if base == "off" && group.iter().any(|credit| credit.whole.is_some()) {
        let mut row = vec!["all on".to_owned()];
        for credit in group {
            row.extend(sized(credit.whole.as_ref().map(|whole| &whole.gain), credit.unit));
        }
        table.row(&row.iter().map(String::as_str).collect::<Vec<_>>());
    }
    table.fit(layout)
}

/// A change in %, or in the metric's unit if there is no percentage.
fn sized(change: Option<&Estimated>, unit: &str) -> [String; 2] {
    match change {
        Some(change) if change.relative.is_none() => {
            let shown = |value| format!("{} {}", figure(value), plain(unit)).trim_end().to_owned();
            [shown(change.value), range(change.interval, shown)]
        }
        _ => cells(change),
    }
}

fn cells(change: Option<&Estimated>) -> [String; 2] {
    let Some(change) = change else { return ["-".to_owned(), "-".to_owned()] };
    [
        change.relative.map_or_else(|| "-".to_owned(), |value| signed(percent(value))),
        range(change.relative_interval, percent),
    ]
}

/// The number of orders in the average of shares, if fewer than planned: ` from 7 of 24 orders`.
pub(super) fn from_orders(group: &[Credit]) -> String {
    let mut lacking: Vec<String> =
        group.iter().filter_map(|credit| credit.orders.as_ref()?.lacking()).collect();
    lacking.dedup();
    if lacking.is_empty() { String::new() } else { format!(" from {}", listed(&lacking)) }
}

/// The sentences of all metrics of a combination, what was not measured, then the notes, each once.
fn sentences(group: &[Credit]) -> String {
    let mut text = String::new();
    for sentence in group.iter().flat_map(|credit| &credit.sentences) {
        text.push_str(&format!("{sentence}.\n"));
    }
    let mut named: Vec<&MissingState> = Vec::new();
    for missing in group.iter().flat_map(|credit| &credit.missing) {
        if !named.contains(&missing) {
            named.push(missing);
            text.push_str(&format!("Not measured: {} ({}).\n", missing.state, missing.why));
        }
    }
    let mut said: Vec<&str> = Vec::new();
    for remark in group.iter().flat_map(|credit| &credit.remarks) {
        if !said.contains(&remark.as_str()) {
            said.push(remark);
            text.push_str(&format!("Note: {remark}.\n"));
        }
    }
    text
}

impl Credit {
    /// `, tcp_stream mtu=1500`.
    fn place(&self) -> String {
        format!(", {} {}", self.workload, self.at).trim_end().to_owned()
    }

    /// The credit in sentences without full stops, the whole first.
    pub(super) fn sentences(&self) -> Vec<String> {
        let metric = metric_words(self.metric);
        let mut sentences = Vec::new();
        if let Some(limit) = &self.saturated {
            sentences.push(format!(
                "{metric}: saturated, all on and all off both ran at the limit of {limit}, which hides what the offloads gain; the answer is in the CPU per unit of work"
            ));
            return sentences;
        }
        if let Some(why) = &self.whole_is_not_known {
            sentences.push(format!("{metric}: the whole gain, all on less all off, is not known: {why}"));
        }
        if let Some(whole) = &self.whole {
            let of_whole = interval(&whole.gain, self.unit, self.level);
            let interval =
                of_whole.filter(|_| !self.exact).map_or(String::new(), |shown| format!(" ({shown})"));
            let there = gain(&whole.gain, self.unit, "off");
            sentences.push(if self.is_proven(&whole.gain) {
                let back = gain(&whole.loss, self.unit, "on");
                format!("{metric}: all on is {there}{interval}; all off is {back}{}", self.of_whole(whole))
            } else {
                format!("{metric}: no difference between all on and all off is proven, {there}{interval}")
            });
        }
        // Shares of a whole are in its sentence.
        let has_gain = self.whole.as_ref().is_some_and(|whole| self.is_proven(&whole.gain));
        let is_said = self.base() == Some("off") && self.adds_up && has_gain;
        let proven: Vec<String> = self
            .parts
            .iter()
            .filter(|part| {
                !is_said && self.is_proven(&part.change) && !self.saturated_parts.contains(&part.name)
            })
            .map(|part| format!("{} {}", part.name, gain(&part.change, self.unit, part.base)))
            .collect();
        if !proven.is_empty() {
            sentences.push(format!("{metric}: {}", listed(&proven)));
        }
        let open: Vec<&str> = self
            .parts
            .iter()
            .filter(|part| !self.is_proven(&part.change) && !self.saturated_parts.contains(&part.name))
            .map(|part| part.name.as_str())
            .collect();
        if !open.is_empty() {
            sentences.push(format!("{metric}: no difference is proven for {}", listed(&open)));
        }
        if !self.saturated_parts.is_empty() {
            sentences.push(format!(
                "{metric}: saturated for {}: both conditions ran at the same limit from outside, so look at the CPU per unit of work",
                listed(&self.saturated_parts)
            ));
        }
        sentences
    }

    /// The part of a proven whole that each offload has, where the parts add up: `; of this tso
    /// 61.2 %, gro 38.8 %`.
    fn of_whole(&self, whole: &super::CombinedGain) -> String {
        // A ladder's steps go down, from on to off.
        let total: f64 = self.parts.iter().map(|part| part.change.value).sum();
        if !self.adds_up || self.parts.len() < 2 || whole.gain.value == 0.0 || total == 0.0 {
            return String::new();
        }
        let of_total = |part: &super::CreditPart| 100.0 * part.change.value / total;
        // Parts of opposite signs are no shares, though they add up.
        let are_shares = self.parts.iter().all(|part| (0.0..=100.0).contains(&of_total(part)));
        let size = |part: &super::CreditPart| match (are_shares, plain(self.unit)) {
            (true, _) => format!("{} %", percent(of_total(part))),
            (false, "") => figure(part.change.value),
            (false, unit) => format!("{} {unit}", figure(part.change.value)),
        };
        let share = |part: &super::CreditPart| {
            let open = if self.is_proven(&part.change) { "" } else { " (not proven)" };
            format!("{} {}{open}", part.name, size(part))
        };
        let orders = self.orders.as_ref().and_then(SwitchingOrders::lacking);
        let orders = orders.map_or(String::new(), |orders| format!("(from {orders}) "));
        format!("; of this {orders}{}", listed(&self.parts.iter().map(share).collect::<Vec<_>>()))
    }

    /// The base of the percentages of its parts.
    pub(super) fn base(&self) -> Option<&'static str> {
        self.parts.first().map(|part| part.base)
    }

    fn table(&self) -> String {
        let confidence = format!("{} % interval", stats::confidence(self.level));
        let unit = format!("% of {}", self.base().unwrap_or("off"));
        let head = ["", "change", &confidence, "change", &confidence, "in words"];
        let mut table = Table::new(&head).units(&["", self.unit, self.unit, &unit, &unit]);
        let mut row = |name: &str, change: &Estimated, base: &str| {
            let [relative, relative_interval] = cells(Some(change));
            let absolute = range(change.interval, figure);
            let in_words = gain(change, self.unit, base);
            table.row(&[name, &figure(change.value), &absolute, &relative, &relative_interval, &in_words]);
        };
        for part in &self.parts {
            row(&part.name, &part.change, part.base);
        }
        if let Some(whole) = &self.whole {
            row("all on against all off", &whole.gain, "off");
            row("all off against all on", &whole.loss, "on");
        }
        table.render()
    }

    /// Main effects and interactions; empty without any.
    fn effects(&self) -> String {
        if self.effects.is_empty() {
            return String::new();
        }
        let confidence = format!("{} % interval", stats::confidence(self.level));
        let unit = plain(self.unit);
        let mut table = Table::new(&["effect", "size", &confidence, "size", &confidence]).units(&[
            "",
            unit,
            unit,
            "% of the mean of all states",
            "%",
        ]);
        for view in &self.effects {
            let [relative, relative_interval] = cells(Some(&view.effect));
            let absolute = range(view.effect.interval, figure);
            table.row(&[&view.name, &figure(view.effect.value), &absolute, &relative, &relative_interval]);
        }
        format!("\n{}", table.render())
    }
}
