//! Advice as a script of the shell. It does nothing unless it is told to apply or to undo.

use results::advice::{Advice, HostCommand};
use study::Side;
use words::shell_command;

use super::phrase;
use super::planned::{PlannedSetting, planned_settings};

// The parts of the script. A part is left out if no other part calls it, because shellcheck reports
// it. The first line is here because the parts alone are no scripts.
const START: &str = concat!("#!/bin/sh\n", include_str!("script_parts/start.txt"));
const NAMED: &str = include_str!("script_parts/named.txt");
const FEATURE: &str = include_str!("script_parts/feature.txt");
const MTU: &str = include_str!("script_parts/mtu.txt");
const KERNEL: &str = include_str!("script_parts/kernel.txt");
const TRADE_OFF: &str = include_str!("script_parts/trade_off.txt");
const END: &str = include_str!("script_parts/end.txt");

const HEAD: &str = "# HEAD\n";

/// A script for `sh` that makes the settings of one host ([`planned_settings`]), notes the state
/// before, and restores it. Trade-offs are set only if the user asks for them.
pub fn advice_script(advice: &Advice) -> String {
    let mut head = String::new();
    for study in &advice.studies {
        head.push_str(&comment(&super::study_title(study)));
        head.extend(phrase::judged(study).map(|line| comment(&format!("{line}."))));
    }
    for case in advice.studies.iter().flat_map(|study| &study.cases) {
        let (context, settings) = (phrase::workload_context(case), phrase::constant_settings(case));
        head.push_str(&comment(&format!("{context} holds for: {settings}.")));
    }
    let goals: Vec<String> = advice.goals.iter().map(ToString::to_string).collect();
    head.push_str(&comment(&format!("Goals: {}.", goals.join(", "))));
    let hosts = Side::BOTH.map(|side| (side, planned_settings(advice, Some(side))));
    let is_set = |is: fn(&PlannedSetting) -> bool| {
        let mut all = hosts.iter().flat_map(|(_, (settings, _))| settings);
        all.any(|one| one.against.is_none() && is(one))
    };
    let feature = is_set(|one| matches!(one.command, HostCommand::Feature { .. }));
    let mtu = is_set(|one| matches!(one.command, HostCommand::Mtu { .. }));
    let kernel = is_set(|one| matches!(one.command, HostCommand::Sysctl { .. }));
    let mut script = START.replacen(HEAD, &head, 1);
    let (named, trade_off) = (feature || mtu, is_set(|one| one.is_trade_off));
    let parts = [(NAMED, named), (FEATURE, feature), (MTU, mtu), (KERNEL, kernel), (TRADE_OFF, trade_off)];
    script.extend(parts.into_iter().filter(|(_, is_called)| *is_called).map(|(part, _)| part));
    script.extend(hosts.iter().map(|(side, (settings, left))| function(*side, settings, left)));
    script + END
}

fn function(side: Side, settings: &[PlannedSetting], left: &[String]) -> String {
    let mut text = format!("{side}() {{\n");
    let mut reasons: &[String] = &[];
    for one in settings {
        // Several commands in sequence may have the same reason.
        if one.reasons != reasons {
            text.extend(one.reasons.iter().map(|reason| format!("    {}", comment(reason))));
            // The user must see it, not only the reader of the script.
            let shown = |need: &String| format!("    {}\n", shell_command(["printf", "%s\\n", need]));
            text.extend(one.needs.iter().map(shown));
        }
        reasons = &one.reasons;
        text.push_str(&match &one.against {
            Some(why) => format!("    {}", comment(&format!("Not set: {why}."))),
            None => {
                format!("    {}{}\n", if one.is_trade_off { "trade_off " } else { "" }, call(&one.command))
            }
        });
    }
    text.extend(left.iter().map(|one| format!("    {}", comment(&format!("Not set: {one}.")))));
    if settings.iter().all(|one| one.against.is_some()) {
        text.push_str("    echo \"$0: nothing is recommended for this host\"\n");
    }
    text + "}\n\n"
}

fn comment(text: &str) -> String {
    // A text of others must not get out of its comment: the script runs as root.
    format!("# {}\n", words::sanitised_line(text).trim_end())
}

fn call(one: &HostCommand) -> String {
    match one {
        HostCommand::Feature { interface, name, shown_as, on, .. } => format!(
            "feature \"${}\" {}",
            interface.variable(),
            shell_command([name.as_str(), shown_as, if *on { "on" } else { "off" }])
        ),
        HostCommand::Mtu { interface, bytes, .. } => format!("mtu \"${}\" {bytes}", interface.variable()),
        HostCommand::Sysctl { key, value, .. } => shell_command(["kernel", key, value]),
    }
}
