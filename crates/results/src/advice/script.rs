//! Advice as a script of the shell. It does nothing unless it is told to apply or to undo.

use std::fmt;

use study::Side;
use words::shell_command;

use crate::advice::advise::Advice;
use crate::advice::command::HostCommand;
use crate::advice::phrase;
use crate::advice::planned::PlannedSetting;

/// A text of others in a comment: one line.
struct ShellComment<'t>(&'t str);

impl fmt::Display for ShellComment<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "# {}", words::sanitised_line(self.0).trim_end())
    }
}

// The parts of the script. A part is left out if no other part calls it, because shellcheck reports
// it. The first line is here because the parts alone are no scripts.
const START: &str = concat!("#!/bin/sh\n", include_str!("script_parts/start.txt"));
const NAMED: &str = include_str!("script_parts/named.txt");
const FEATURE: &str = include_str!("script_parts/feature.txt");
const MTU: &str = include_str!("script_parts/mtu.txt");
const KERNEL: &str = include_str!("script_parts/kernel.txt");
const TRADE_OFF: &str = include_str!("script_parts/trade_off.txt");
const END: &str = include_str!("script_parts/end.txt");

// The place of the studies' names in the first part.
const HEAD: &str = "# HEAD\n";

impl Advice {
    /// A script for `sh` that makes the settings of one host ([`Advice::planned`]), notes the state
    /// before, and restores it. Trade-offs are set only if the user asks for them.
    #[must_use]
    pub fn script(&self) -> String {
        let mut head = String::new();
        for study in &self.studies {
            let line = format!("Study {} ({}): {}", study.study, study.name, study.question);
            head.push_str(&format!("{}\n", ShellComment(&line)));
            let judged = phrase::judged(study).map(|line| format!("{}.\n", ShellComment(&line)));
            head.push_str(&judged.unwrap_or_default());
        }
        for under in self.studies.iter().flat_map(|study| &study.under) {
            let line = format!("{} holds for: {}.", phrase::workload_context(under), phrase::held(under));
            head.push_str(&format!("{}\n", ShellComment(&line)));
        }
        let goals: Vec<String> = self.goals.iter().map(ToString::to_string).collect();
        head.push_str(&format!("{}\n", ShellComment(&format!("Goals: {}.", goals.join(", ")))));
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

    /// The functions of the script, one for each host, and the helpers that they call.
    fn settings(&self) -> (String, CalledFunctions) {
        let (mut text, mut calls) = (String::new(), CalledFunctions::default());
        for side in Side::BOTH {
            text.push_str(&format!("{side}() {{\n"));
            let planned = self.planned(Some(side));
            let mut said: &[String] = &[];
            let mut lines = 0;
            for one in &planned.settings {
                // Several commands in sequence may have the same reason.
                if one.reasons != said {
                    text.extend(one.reasons.iter().map(|reason| format!("    {}\n", ShellComment(reason))));
                    // The user must see it, not only the reader of the script.
                    let needs = one.needs.iter();
                    text.extend(
                        needs.map(|need| format!("    {}\n", shell_command(["printf", "%s\\n", need]))),
                    );
                }
                said = &one.reasons;
                if let Some(why) = &one.against {
                    text.push_str(&format!("    {}\n", ShellComment(&format!("Not set: {why}."))));
                    continue;
                }
                let guard = if one.is_trade_off { "trade_off " } else { "" };
                calls.add(one);
                text.push_str(&format!("    {guard}{}\n", call(&one.command)));
                lines += 1;
            }
            let left = planned.left.iter();
            text.extend(left.map(|one| format!("    {}\n", ShellComment(&format!("Not set: {one}.")))));
            if lines == 0 {
                text.push_str("    echo \"$0: nothing is recommended for this host\"\n");
            }
            text.push_str("}\n\n");
        }
        (text, calls)
    }
}

#[derive(Debug, Default)]
struct CalledFunctions {
    feature: bool,
    mtu: bool,
    kernel: bool,
    trade_off: bool,
}

impl CalledFunctions {
    fn add(&mut self, setting: &PlannedSetting) {
        self.trade_off |= setting.is_trade_off;
        match setting.command {
            HostCommand::Feature { .. } => self.feature = true,
            HostCommand::Mtu { .. } => self.mtu = true,
            HostCommand::Sysctl { .. } => self.kernel = true,
        }
    }
}

/// A command as a call of the script's functions, every word quoted.
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
