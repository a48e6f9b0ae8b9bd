//! The settings of one host: its commands, their reasons, and the recommendations that are left
//! out.

use results::FactorLevel;
use results::advice::{Advice, AdviceRow, HostCommand};
use study::{Side, Switch};

use super::{CONDITIONAL, phrase, row_note, texts};

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

/// A command with the recommendation that it is of.
type PlannedCommand<'a> = (&'a AdviceRow, &'a HostCommand);

/// The settings of the host of a side that all advice together makes (`None`: of a host that is
/// both), sorted so that each setting's requirements come first; and the recommendations that are
/// left out with the reason, without full stops.
///
/// A switch is set if at least one case recommends it, over all scenarios, kinds of traffic and
/// goals, and no case recommends the opposite. A recommendation that needs another switch at some
/// level is left out if a larger gain sets that switch otherwise.
pub fn planned_settings(advice: &Advice, side: Option<Side>) -> (Vec<PlannedSetting>, Vec<String>) {
    // The last summary is over all scenarios.
    let rows = advice.summaries.last().map_or(&[][..], |summary| &summary.rows[..]);
    let (kept, excluded) = compatible(rows);
    let is_here = |of: Option<Side>| of.is_none() || side.is_none() || of == side;
    let mut planned: Vec<PlannedCommand<'_>> = Vec::new();
    for row in &kept {
        let own = row.apply.iter().filter(|command| is_here(command.side()));
        planned.extend(own.map(|command| (*row, command)));
    }
    planned.sort_by_key(|(_, command)| command.order());
    let mut settings: Vec<PlannedSetting> = Vec::new();
    for (_, command) in &planned {
        let same = assignment(command);
        if settings.iter().any(|known| assignment(&known.command) == same) {
            continue;
        }
        let own = planned.iter().filter(|(_, other)| assignment(other) == same);
        let mut own: Vec<&AdviceRow> = own.map(|(row, _)| *row).collect();
        // A row that sets both ends separately has the same command for each end.
        own.dedup_by(|one, other| std::ptr::eq(*one, *other));
        settings.push(setting(command, &own, &planned));
    }
    let mut left = Vec::new();
    for (row, why) in excluded.iter().filter(|(row, _)| is_here(row.side)) {
        let [kind, goal, set, ..] = texts(row);
        left.push(format!("{kind}, {goal}: {set}: {why}"));
    }
    let is_open = |row: &&AdviceRow| row.to.is_none() && !row.factors.is_empty() && is_here(row.side);
    for row in rows.iter().filter(is_open) {
        let [kind, goal, set, _, change] = texts(row);
        let why = row_note(row).unwrap_or_else(|| format!("{set}, {change}"));
        left.push(format!("{kind}, {goal}: {why}"));
    }
    (settings, left)
}

fn setting(command: &HostCommand, own: &[&AdviceRow], planned: &[PlannedCommand<'_>]) -> PlannedSetting {
    let mut needed: Vec<FactorLevel> = own.iter().flat_map(|row| needs(row)).collect();
    needed.dedup();
    let set = phrase::set(&own[0].factors, own[0].to.as_deref().unwrap_or_default());
    let need =
        |one: FactorLevel| format!("{set} is proven only with {}", phrase::set_at(&one.factor, &one.level));
    let reason = |row: &&AdviceRow| {
        let [kind, goal, set, _, change] = texts(row);
        // The note on other switches is in `needs`, so its mark is cut.
        format!("{kind}, {goal}: {set} {}", change.trim_end_matches(CONDITIONAL))
    };
    let (target, value) = assignment(command);
    let mut rivals = planned.iter().map(|(row, other)| (row, assignment(other)));
    // Two commands contradict each other if they give one setting different values.
    let rival = rivals.find(|(_, other)| other.0 == target && other.1 != value);
    PlannedSetting {
        command: command.clone(),
        reasons: own.iter().map(reason).collect(),
        needs: needed.into_iter().map(need).collect(),
        is_trade_off: own.iter().all(|one| !one.loses.is_empty()),
        against: rival
            .map(|(row, _)| format!("for {} of {} the opposite is recommended", row.goal, row.kind)),
    }
}

/// The setting of a command, and its value.
fn assignment(command: &HostCommand) -> (String, String) {
    match command {
        HostCommand::Feature { interface, name, on, .. } => {
            (format!("{} {name}", interface.variable()), on.to_string())
        }
        HostCommand::Mtu { interface, bytes, .. } => {
            (format!("{} mtu", interface.variable()), bytes.to_string())
        }
        HostCommand::Sysctl { key, value, .. } => ((*key).to_owned(), value.clone()),
    }
}

fn needs(row: &AdviceRow) -> Vec<FactorLevel> {
    let with = row.proven_with.iter().filter(|one| Switch::named(&one.factor).is_some());
    let own = row.depends_on.iter().filter(|_| row.to.is_some());
    own.chain(with).cloned().collect()
}

/// The switch and level that a row needs and another row sets otherwise.
fn broken_need(row: &AdviceRow, other: &AdviceRow) -> Option<String> {
    let is_broken = |FactorLevel { factor, level }: &FactorLevel| {
        other.factors.contains(factor) && other.to.as_ref().is_some_and(|to| to != level)
    };
    let broken = needs(row).into_iter().find(is_broken);
    broken.map(|one| phrase::set_at(&one.factor, &one.level))
}

/// The rows that hold beside each other, and the others with the reason.
fn compatible(rows: &[AdviceRow]) -> (Vec<&AdviceRow>, Vec<(&AdviceRow, String)>) {
    let (mut kept, mut excluded): (Vec<&AdviceRow>, Vec<(&AdviceRow, String)>) = (Vec::new(), Vec::new());
    for row in rows.iter().filter(|row| row.to.is_some()) {
        let against = |known: &&AdviceRow| match broken_need(row, known) {
            Some(needed) => {
                Some(format!("it is proven only with {needed}, and another setting changes that"))
            }
            None => Some(format!("another setting is proven only with {}", broken_need(known, row)?)),
        };
        // Of two the first stays: rows go by traffic, goal and gain.
        match kept.iter().find_map(against) {
            Some(why) => excluded.push((row, why)),
            None => kept.push(row),
        }
    }
    (kept, excluded)
}
