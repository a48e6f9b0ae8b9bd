//! The settings of one host: its commands, their reasons, and the recommendations that are left
//! out.

use study::Side;

use crate::advice::advice_row::{AdviceRow, SwitchLevel};
use crate::advice::advise::Advice;
use crate::advice::command::HostCommand;
use crate::advice::phrase;
use crate::advice::summary::AdviceSummary;

/// The settings of a host that all advice together makes.
///
/// A switch is set if at least one case recommends it, over all scenarios, kinds of traffic and
/// goals, and no case recommends the opposite. A recommendation that needs another switch at some
/// level is left out if a larger gain sets that switch otherwise.
#[derive(Debug, Clone)]
pub struct PlannedSettings {
    /// The commands, sorted so that each setting's requirements come first.
    pub settings: Vec<PlannedSetting>,
    /// The recommendations that are left out and the reason, without a full stop.
    pub left: Vec<String>,
}

/// One command, and why.
#[derive(Debug, Clone)]
pub struct PlannedSetting {
    /// The command.
    pub command: HostCommand,
    /// The traffic, goal and change of each recommendation: `tcp_stream, throughput: tso on +31 %`.
    pub reasons: Vec<String>,
    /// The conditions of the recommendations, as sentences without full stops.
    pub needs: Vec<String>,
    /// Whether something is proven to lose by it in every case.
    pub is_trade_off: bool,
    /// The reason not to set it: the opposite is recommended too. Without a full stop.
    pub against: Option<String>,
}

impl Advice {
    /// The settings for the host of a side; `None`: for a host that is both.
    #[must_use]
    pub fn planned(&self, side: Option<Side>) -> PlannedSettings {
        let rows: Vec<&AdviceRow> = self
            .summaries
            .last()
            .map_or_else(Vec::new, |summary: &AdviceSummary| summary.rows.iter().collect());
        let (rows, excluded) = compatible(rows);
        let is_here = |of: Option<Side>| of.is_none_or(|of| side.is_none_or(|side| of == side));
        let mut planned: Vec<(&AdviceRow, &HostCommand)> = Vec::new();
        for row in &rows {
            let own = row.apply.iter().filter(|command| is_here(command.side()));
            planned.extend(own.map(|command| (*row, command)));
        }
        planned.sort_by_key(|(_, command)| command.turn());
        let mut settings: Vec<PlannedSetting> = Vec::new();
        for (_, command) in &planned {
            if settings.iter().any(|known| is_same(&known.command, command)) {
                continue;
            }
            let mut own: Vec<&AdviceRow> = Vec::new();
            for (row, _) in planned.iter().filter(|(_, other)| is_same(other, command)) {
                // A row that sets both ends separately has the same command for each end.
                if !own.iter().any(|known| std::ptr::eq(*known, *row)) {
                    own.push(row);
                }
            }
            settings.push(setting(command, &own, &planned));
        }
        let mut left = Vec::new();
        for (row, why) in excluded.iter().filter(|(row, _)| is_here(row.side)) {
            let [kind, goal, set, _, _, _] = row.cells();
            left.push(format!("{kind}, {goal}: {set}: {why}"));
        }
        let is_open = |row: &&&AdviceRow| row.to.is_none() && !row.factors.is_empty() && is_here(row.side);
        for row in rows.iter().filter(is_open) {
            let [kind, goal, set, _, change, _] = row.cells();
            let why = row.note().unwrap_or_else(|| format!("{set}, {change}"));
            left.push(format!("{kind}, {goal}: {why}"));
        }
        PlannedSettings { settings, left }
    }
}

fn setting(
    command: &HostCommand,
    own: &[&AdviceRow],
    planned: &[(&AdviceRow, &HostCommand)],
) -> PlannedSetting {
    let mut needs: Vec<SwitchLevel> = own.iter().flat_map(|row| row.needs()).collect();
    needs.dedup();
    let need = |needed: SwitchLevel| {
        let set = phrase::set(&own[0].factors, own[0].to.as_deref().unwrap_or_default());
        format!("{set} is proven only with {}", phrase::set_at(&needed.factor, &needed.level))
    };
    let rival = planned.iter().find(|(_, other)| is_rival(command, other));
    PlannedSetting {
        command: command.clone(),
        reasons: own.iter().map(|one| reason(one)).collect(),
        needs: needs.into_iter().map(need).collect(),
        is_trade_off: own.iter().all(|one| !one.loses.is_empty()),
        against: rival
            .map(|(row, _)| format!("for {} of {} the opposite is recommended", row.goal, row.kind)),
    }
}

/// Whether two commands set the same to the same, though one is of both ends and one of one.
fn is_same(one: &HostCommand, other: &HostCommand) -> bool {
    one.target() == other.target() && one.value() == other.value()
}

fn is_rival(one: &HostCommand, other: &HostCommand) -> bool {
    one.target() == other.target() && one.value() != other.value()
}

/// The rows that hold beside each other, and the rest with the reason. Of two that do not, the
/// first one stays: rows are ordered by traffic, goal and gain.
fn compatible(rows: Vec<&AdviceRow>) -> (Vec<&AdviceRow>, Vec<(&AdviceRow, String)>) {
    let (mut kept, mut excluded): (Vec<&AdviceRow>, Vec<(&AdviceRow, String)>) = (Vec::new(), Vec::new());
    for row in rows.iter().filter(|row| row.to.is_some()).copied() {
        let with = |needed: SwitchLevel| phrase::set_at(&needed.factor, &needed.level);
        let against = |known: &&AdviceRow| {
            let own = row.is_broken_by(known).map(|needed| {
                format!("it is proven only with {}, and another setting changes that", with(needed))
            });
            own.or_else(|| {
                let needed = known.is_broken_by(row)?;
                Some(format!("another setting is proven only with {}", with(needed)))
            })
        };
        match kept.iter().find_map(against) {
            Some(why) => excluded.push((row, why)),
            None => kept.push(row),
        }
    }
    let is_kept = |row: &&AdviceRow| !excluded.iter().any(|(gone, _)| std::ptr::eq(*gone, *row));
    (rows.into_iter().filter(is_kept).collect(), excluded)
}

fn reason(row: &AdviceRow) -> String {
    let [kind, goal, set, _, change, _] = row.cells();
    // The note on other switches is in `needs`, so its mark is cut.
    let change = change.trim_end_matches(AdviceRow::CONDITIONAL);
    format!("{kind}, {goal}: {set} {change}")
}
