//! The plan of a study.

use std::time::Duration;

use serde::Serialize;
use study::{
    Alternate, BootKind, Costs, Dropped, Effective, Expected, Plan, Study, Tracing, format_duration,
};

use crate::words::layout::Layout;
use crate::words::number::{counted, duration};
use crate::words::phrases::listed;
use crate::words::table::Table;

// The longest list of features, in letters; the JSON has it whole.
const LISTED: usize = 100;

/// A study's plan, for `--dry-run`.
#[derive(Debug, Serialize)]
pub struct PlanListing {
    study: String,
    question: String,
    scenario: String,
    /// Were the switches tried, or is this only from the file?
    tried: bool,
    #[serde(flatten)]
    plan: Plan,
    boots: u32,
    /// The parts that a boot starts afresh, between machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    boots_how: Option<BootKind>,
    warmups: u32,
    runs: u32,
    /// The looks at which it may end before its last boot.
    stop: Option<study::Stop>,
    order: String,
    seed: u64,
    total_runs: usize,
    expected_s: f64,
    /// The parts of that time.
    expected: Expected,
    /// For each boot, its runs in order.
    schedule: Vec<Vec<study::PlannedRun>>,
    /// The limitations of the testbed.
    notes: Vec<String>,
}

impl PlanListing {
    /// The listing of a plan (from the runner, or from `study` if nothing was tried), and the cost
    /// of boots and runs if it was measured.
    #[must_use]
    pub fn new(study: &Study, plan: Plan, mut notes: Vec<String>, costs: Option<&Costs>) -> Self {
        let protocol = &study.protocol;
        notes.extend(
            study
                .turns_dropped
                .as_deref()
                .map(|why| format!("each condition has runs of its own, and takes no turns: {why}")),
        );
        let schedule = study::schedule(&plan.states_of_conditions(), protocol);
        let expected = match costs {
            Some(costs) => costs.expect(&plan, protocol),
            None => Costs::stated(&plan).expect(&plan, protocol),
        };
        Self {
            study: study.name.clone(),
            question: study.question.clone(),
            scenario: study.scenario_names(),
            tried: !plan.effective.is_empty(),
            expected_s: expected.total().as_secs_f64(),
            expected,
            plan,
            boots: protocol.boots,
            boots_how: study.plan().how_of_boots(),
            warmups: protocol.warmup,
            runs: protocol.runs,
            stop: protocol.stop,
            order: protocol.order.to_string(),
            seed: protocol.seed,
            total_runs: schedule.iter().map(Vec::len).sum(),
            schedule,
            notes,
        }
    }

    /// The listing for people.
    #[must_use]
    pub fn text(&self, layout: Layout) -> String {
        let expected = duration(self.expected.total());
        let states = self.plan.states().len();
        let of_each =
            if states > 1 { format!(" of each of {states} states of the testbed") } else { String::new() };
        let mut text = format!("{}: {}\n", self.study, self.question);
        text.push_str(&format!(
            "scenario {}, {} x {}{of_each} x ({} warm-up + {} recorded) = {}, {}, seed {}, about {expected}\n",
            self.scenario,
            counted(self.plan.conditions.len(), "condition"),
            counted(self.boots as usize, "boot"),
            self.warmups,
            self.runs,
            counted(self.total_runs, "run"),
            self.order,
            self.seed,
        ));
        if let Some(how) = self.boots_how {
            text.push_str(&format!("boots: {}\n", how.sentence()));
        }
        if let Some(tracing) = &self.plan.tracing {
            text.push_str(&traced(tracing));
        }
        if let Some(alternate) = self.plan.asked.protocol.alternate {
            text.push_str(&self.turns(alternate));
        }
        text.push_str(&self.time());
        if let Some(stop) = self.stop {
            let looks: Vec<String> = stop.after(self.boots).map(|boot| boot.to_string()).collect();
            text.push_str(&format!(
                "ends as soon as every comparison is decided to within {}: looks after boot {} ({})\n",
                stop.detect,
                looks.join(", "),
                stop.bounds
            ));
        }
        if self.plan.conditions.is_empty() {
            text.push_str("\nNothing to run: every condition is excluded.\n");
        } else {
            text.push_str(&self.condition_table(layout));
        }
        text.push_str(&dropped("Not measured", &[&self.plan.excluded[..], &self.plan.lacking].concat()));
        text.push_str(&dropped("Merged, because both ends read back the same state", &self.plan.merged));
        text.push_str(&self.order_of_runs(layout));
        if let Some(dropped) = self.plan.looks_dropped {
            text.push_str(&format!("\nLooks: {dropped}.\n"));
        }
        for note in &self.notes {
            text.push_str(&format!("\nNote: {note}\n"));
        }
        text
    }

    /// The conditions that take turns.
    fn turns(&self, Alternate { turn, settle }: Alternate) -> String {
        let named =
            |flow: &[usize]| flow.iter().map(|index| (index + 1).to_string()).collect::<Vec<_>>().join(", ");
        let flows = self.plan.flows();
        let shared: Vec<&[usize]> = flows.shared().collect();
        if shared.is_empty() {
            return "no two conditions can take turns in one flow here\n".to_owned();
        }
        let grows = |flow: &&[usize]| self.plan.conditions[flow[0]].workload.traffic.has_growing_buffers();
        let buffers = if shared.iter().any(grows) {
            "the turns of a TCP flow share the buffers that TCP sizes, so a difference may be another one than between flows of their own: compare both with `netassay run STUDY --aa --set apart=true`, or set a `socket_buffer`\n"
        } else {
            ""
        };
        let flows: Vec<String> = shared.into_iter().map(named).collect();
        let apart = if self.plan.asked.protocol.apart { " in every second block" } else { "" };
        format!(
            "turns of {}{apart}, of which the first {} are not counted; conditions that share a flow: {}\n{buffers}",
            format_duration(turn),
            format_duration(settle),
            flows.join("; ")
        )
    }

    /// The parts of the time.
    fn time(&self) -> String {
        let Expected { windows, beside, boots, trying } = self.expected;
        let mut parts = Vec::new();
        if !windows.is_zero() {
            parts.push(format!("{} of ramps and windows", brief(windows)));
        }
        let what = if windows.is_zero() { "runs" } else { "setting up and ending runs" };
        parts.push(format!("{} of {what}", brief(beside)));
        parts.push(format!("{} of boots", brief(boots)));
        if !trying.is_zero() {
            parts.push(format!("{} of trying the switches first", brief(trying)));
        }
        let measured =
            if self.tried { "boots as measured when they were tried" } else { "figures of another machine" };
        format!("time on an idle machine, {measured}: {}\n", parts.join(", "))
    }

    fn condition_table(&self, layout: Layout) -> String {
        let head = if self.tried { "switches, against condition 1" } else { "switches (not tried here)" };
        let mut table = Table::new(&["", "condition", "short name", head]).named(1).optional(&[2]);
        let mut details = String::new();
        for (index, condition) in self.plan.conditions.iter().enumerate() {
            let number = (index + 1).to_string();
            let effective = self.plan.effective.get(index);
            let words = match (self.plan.effective.first(), effective) {
                (Some(base), Some(effective)) => shortened_to(&effective.against(base), LISTED),
                _ => String::new(),
            };
            table.row(&[&number, &condition.label, &condition.slug, &words]);
            table.is_of(&condition.label);
            let refused = effective.map(refusals).unwrap_or_default();
            if !refused.is_empty() {
                details.push_str(&format!("  {number}: {refused}\n"));
            }
        }
        let mut text = format!("\n{}", table.fit(layout));
        if !details.is_empty() {
            text.push_str(&format!("\nRequested, but not applied:\n{details}"));
        }
        text
    }

    fn order_of_runs(&self, layout: Layout) -> String {
        let mut text = String::from("\nOrder of runs, by condition:\n");
        for runs in &self.schedule {
            let Some(first) = runs.first() else { continue };
            let mut line = format!("  boot {}:", first.boot);
            let mut block = None;
            for run in runs {
                if block != Some((run.block, run.warmup)) {
                    block = Some((run.block, run.warmup));
                    line.push_str(if run.warmup { "  warm-up" } else { "  |" });
                }
                line.push_str(&format!(" {}", run.condition + 1));
            }
            text.push_str(&if layout.wide { line } else { shortened_to(&line, layout.columns()) });
            text.push('\n');
        }
        text
    }
}

/// The traced path and the number of traced messages.
fn traced(tracing: &Tracing) -> String {
    let paths: Vec<&str> = tracing.paths.iter().map(|path| path.word()).collect();
    let readers: Vec<&str> = tracing.readers.iter().map(|reader| reader.word()).collect();
    let profile = if tracing.profile { "; the functions that take the CPU are sampled" } else { "" };
    format!(
        "each recorded run is followed by traces of {}, readers {}: {} of {} messages without probes, with some, and with all{profile}\n",
        listed(&paths),
        listed(&readers),
        counted(tracing.rounds as usize, "round"),
        tracing.batch
    )
}

fn brief(time: Duration) -> String {
    if time < Duration::from_secs(10) { format!("{:.1} s", time.as_secs_f64()) } else { duration(time) }
}

fn dropped(title: &str, list: &[Dropped]) -> String {
    if list.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = list.iter().map(|one| format!("  {}: {}\n", one.label, one.why)).collect();
    format!("\n{title}:\n{}", lines.concat())
}

/// Features that were asked for but not set, by reason.
fn refusals(effective: &Effective) -> String {
    let mut words = Vec::new();
    for (side, settled) in effective.sides() {
        let mut by_reason: std::collections::BTreeMap<&str, Vec<&str>> = std::collections::BTreeMap::new();
        for (name, why) in settled.unmet() {
            by_reason.entry(why).or_default().push(name);
        }
        for (why, names) in by_reason {
            words.push(format!("{side}: {} ({why})", names.join(" ")));
        }
    }
    words.join("; ")
}

fn shortened_to(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    let cut = kept.rfind(' ').unwrap_or(kept.len());
    format!("{} …", kept[..cut].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut_between_words() {
        assert_eq!(shortened_to("off aa bb cc", 9), "off aa …");
        assert_eq!(shortened_to("off aa bb cc", 8), "off aa …");
        assert_eq!(shortened_to("off aa", 9), "off aa");
    }
}
