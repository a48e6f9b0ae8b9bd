//! Advice as a script of the shell. It does nothing unless it is told to apply or to undo.

use std::fmt;

use study::Side;

use crate::advice::Advice;
use crate::command::Command;
use crate::phrase::{self, quoted};
use crate::row::{Condition, Row};
use crate::summary::Summary;

/// A text of others in a comment: one line.
struct Comment<'t>(&'t str);

impl fmt::Display for Comment<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "# {}", text::line(self.0).trim_end())
    }
}

/// The parts of the script, each of which is there if something before or after it calls it:
/// shellcheck reports what nothing calls.
/// The first line stands here: the parts are no scripts by themselves.
const START: &str = concat!("#!/bin/sh\n", include_str!("script_parts/start.txt"));
const NAMED: &str = include_str!("script_parts/named.txt");
const FEATURE: &str = include_str!("script_parts/feature.txt");
const MTU: &str = include_str!("script_parts/mtu.txt");
const KERNEL: &str = include_str!("script_parts/kernel.txt");
const TRADE_OFF: &str = include_str!("script_parts/trade_off.txt");
const END: &str = include_str!("script_parts/end.txt");

/// The place of the studies' names in the first part.
const HEAD: &str = "# HEAD\n";

impl Advice {
    /// A script for `sh` that sets what is recommended on one host, notes the state before, and
    /// restores it.
    ///
    /// A switch is set if it is recommended in at least one case, over all scenarios and kinds of
    /// traffic and for all goals, and no case recommends its opposite; trade-offs only where the
    /// user asks for them. What holds only with another switch at some level names that switch, and
    /// is not set beside a larger gain that sets the other switch otherwise.
    #[must_use]
    pub fn script(&self) -> String {
        let mut head = String::new();
        for study in &self.studies {
            let line = format!("Study {} ({}): {}", study.study, study.name, study.question);
            head.push_str(&format!("{}\n{}.\n", Comment(&line), Comment(&phrase::judged(study))));
        }
        for under in self.studies.iter().flat_map(|study| &study.under) {
            let line = format!("{} holds for: {}.", phrase::under(under), phrase::held(under));
            head.push_str(&format!("{}\n", Comment(&line)));
        }
        let goals: Vec<String> = self.goals.iter().map(ToString::to_string).collect();
        head.push_str(&format!("{}\n", Comment(&format!("Goals: {}.", goals.join(", ")))));
        let (settings, calls) = self.settings();
        let mut script = START.replacen(HEAD, &head, 1);
        for (part, is_called) in [
            (NAMED, calls.feature || calls.mtu),
            (FEATURE, calls.feature),
            (MTU, calls.mtu),
            (KERNEL, calls.kernel),
            (TRADE_OFF, calls.trade_off),
        ] {
            script.push_str(if is_called { part } else { "" });
        }
        script + &settings + END
    }

    /// One function for each host, and what they call.
    fn settings(&self) -> (String, Calls) {
        let rows: Vec<&Row> =
            self.summaries.last().map_or_else(Vec::new, |summary: &Summary| summary.rows.iter().collect());
        let (rows, excluded) = compatible(rows);
        let (mut text, mut calls) = (String::new(), Calls::default());
        for side in Side::BOTH {
            text.push_str(&format!("{side}() {{\n"));
            let is_of = |command: &&Command| command.side().is_none_or(|of| of == side);
            let mut planned: Vec<(&Row, &Command)> = Vec::new();
            for row in &rows {
                planned.extend(row.apply.iter().filter(is_of).map(|command| (*row, command)));
            }
            planned.sort_by_key(|(_, command)| command.turn());
            let (mut told, mut said): (Vec<&Command>, Vec<String>) = (Vec::new(), Vec::new());
            let mut lines = 0;
            for (_, command) in &planned {
                if told.contains(command) {
                    continue;
                }
                told.push(command);
                let own: Vec<&Row> =
                    planned.iter().filter(|(_, other)| other == command).map(|(row, _)| *row).collect();
                let reasons: Vec<String> = own.iter().map(|one| reason(one)).collect();
                // Several commands in sequence may have the same reason.
                if reasons != said {
                    text.extend(reasons.iter().map(|reason| format!("    {}\n", Comment(reason))));
                }
                if reasons != said {
                    // The user must see it, not only the reader of the script.
                    let mut needs: Vec<Condition> = own.iter().flat_map(|row| row.needs()).collect();
                    needs.dedup();
                    for needed in needs {
                        let set = phrase::set(&own[0].factors, own[0].to.as_deref().unwrap_or_default());
                        let with = phrase::set_at(&needed.factor, &needed.level);
                        let line = format!("{set} is proven only with {with}");
                        text.push_str(&format!("    printf '%s\\n' {}\n", quoted(&line)));
                    }
                }
                said = reasons;
                let rival =
                    planned.iter().find(|(_, other)| other.target() == command.target() && other != command);
                if let Some((against, _)) = rival {
                    let line = format!(
                        "Not set: for {} of {} the opposite is recommended.",
                        against.goal, against.kind
                    );
                    text.push_str(&format!("    {}\n", Comment(&line)));
                    continue;
                }
                let is_trade_off = own.iter().all(|one| !one.loses.is_empty());
                let guard = if is_trade_off { "trade_off " } else { "" };
                calls.trade_off |= is_trade_off;
                match command {
                    Command::Feature { .. } => calls.feature = true,
                    Command::Mtu { .. } => calls.mtu = true,
                    Command::Sysctl { .. } => calls.kernel = true,
                }
                text.push_str(&format!("    {guard}{}\n", call(command)));
                lines += 1;
            }
            for (row, why) in &excluded {
                if row.side.is_none_or(|of| of == side) {
                    let [kind, goal, set, ..] = row.cells();
                    let line = format!("Not set: {kind}, {goal}: {set}: {why}.");
                    text.push_str(&format!("    {}\n", Comment(&line)));
                }
            }
            let is_open = |row: &&&Row| {
                row.to.is_none() && !row.factors.is_empty() && row.side.is_none_or(|of| of == side)
            };
            for row in rows.iter().filter(is_open) {
                let [kind, goal, set, _, change] = row.cells();
                let why = row.note().unwrap_or_else(|| format!("{set}, {change}"));
                text.push_str(&format!("    {}\n", Comment(&format!("Not set: {kind}, {goal}: {why}."))));
            }
            if lines == 0 {
                text.push_str("    echo \"$0: nothing is recommended for this host\"\n");
            }
            text.push_str("}\n\n");
        }
        (text, calls)
    }
}

/// The functions that the settings call.
#[derive(Debug, Default)]
struct Calls {
    feature: bool,
    mtu: bool,
    kernel: bool,
    trade_off: bool,
}

/// The rows that hold beside each other, and the rest with the reason. Of two that do not, the
/// first one stays: rows are ordered by traffic, goal and gain.
fn compatible(rows: Vec<&Row>) -> (Vec<&Row>, Vec<(&Row, String)>) {
    let (mut kept, mut excluded): (Vec<&Row>, Vec<(&Row, String)>) = (Vec::new(), Vec::new());
    for row in rows.iter().filter(|row| row.to.is_some()).copied() {
        let with = |needed: Condition| phrase::set_at(&needed.factor, &needed.level);
        let against = |known: &&Row| {
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
    let is_kept = |row: &&Row| !excluded.iter().any(|(gone, _)| std::ptr::eq(*gone, *row));
    (rows.into_iter().filter(is_kept).collect(), excluded)
}

/// Why a command is there.
fn reason(row: &Row) -> String {
    let [kind, goal, set, _, change] = row.cells();
    // The line below it says what it needs.
    let change = change.trim_end_matches(Row::CONDITIONAL);
    format!("{kind}, {goal}: {set} {change}")
}

/// A command as a call of the script's functions, every word quoted.
fn call(command: &Command) -> String {
    match command {
        Command::Feature { interface, name, shown_as, on, .. } => format!(
            "feature \"${}\" {} {} {}",
            interface.variable(),
            quoted(&text::line(name)),
            quoted(&text::line(shown_as)),
            if *on { "on" } else { "off" }
        ),
        Command::Mtu { interface, bytes, .. } => format!("mtu \"${}\" {bytes}", interface.variable()),
        Command::Sysctl { key, value, .. } => {
            format!("kernel {} {}", quoted(key), quoted(&text::line(value)))
        }
    }
}
