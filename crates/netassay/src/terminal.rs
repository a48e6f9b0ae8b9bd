//! Progress on standard error.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle as BarStyle};
use runner::{Event, Invalid};

use crate::cli::ProgressStyle;
use crate::failure::say;

pub(crate) struct ProgressDisplay {
    /// `Auto` is a bar.
    style: ProgressStyle,
    bar: Option<ProgressBar>,
    own_cpu: bool,
}

impl ProgressDisplay {
    pub(crate) fn new(style: ProgressStyle, own_cpu: bool) -> Self {
        let is_plain = style == ProgressStyle::Auto && !std::io::stderr().is_terminal();
        Self { style: if is_plain { ProgressStyle::Plain } else { style }, bar: None, own_cpu }
    }

    pub(crate) fn show(&mut self, event: &Event) {
        match self.style {
            ProgressStyle::Auto => draw(&mut self.bar, event, self.own_cpu),
            ProgressStyle::Plain => line(event).iter().for_each(|line| say(line)),
            ProgressStyle::Json => {
                if let (false, Ok(json)) = (matches!(event, Event::Tick), serde_json::to_string(event)) {
                    say(&words::escaped_json(&json));
                }
            }
            ProgressStyle::None => {}
        }
    }
}

/// A bar on a terminal, which is cleared when it is dropped. It never draws by itself.
fn bar(length: u64, template: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    if let Ok(style) = BarStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

pub(crate) fn windows(what: &str, count: u32, flow: Duration) -> ProgressBar {
    say(&format!("{what}, which take {}", results::duration(count * flow)));
    let bar = bar(u64::from(count), "{bar:30} {pos}/{len}");
    bar.tick();
    bar
}

fn draw(slot: &mut Option<ProgressBar>, event: &Event, own_cpu: bool) {
    if let Event::Planned { runs, .. } = event {
        *slot = Some(bar(*runs as u64, "{bar:30} {pos}/{len} runs, {prefix} left  {wide_msg}"));
    }
    let Some(bar) = slot else { return };
    let is_counted = matches!(event, Event::RunFinished { failed: None, invalid: None, .. });
    if let Some(line) = line(event).filter(|_| !is_counted) {
        // Labels and reasons may hold foreign text.
        bar.println(words::sanitised_lines(&line));
    }
    match event {
        Event::Planned { expected_s, .. } => bar.set_prefix(results::duration_of(*expected_s)),
        Event::RunStarted { label, run } => {
            let kind = if run.warmup { "warm-up" } else { "run" };
            let message = format!("boot {}, {kind}: {label}", run.boot);
            bar.set_message(words::sanitised_line(&message).into_owned());
        }
        Event::RunFinished { done, of, left_s, .. } => {
            bar.set_length(*of as u64);
            bar.set_prefix(results::duration_of(*left_s));
            bar.set_position(*done as u64);
        }
        // On a CPU of the hosts, drawing would disturb the window that is open.
        Event::Tick if own_cpu => bar.tick(),
        _ => {}
    }
}

fn line(event: &Event) -> Option<String> {
    Some(match event {
        Event::Planned { study, conditions, lacking, boots, runs, expected_s } => {
            let lacking = lacking.iter().map(|one| format!("\n  not measured: {}: {}", one.label, one.why));
            format!(
                "study {study}: {}, {}, {}, about {}{}",
                results::counted(conditions.len(), "condition"),
                results::counted(*boots as usize, "boot"),
                results::counted(*runs, "run"),
                results::duration_of(*expected_s),
                lacking.collect::<String>()
            )
        }
        Event::Restarting { boot, of, kernel } => {
            let kernel = kernel.as_ref().map_or_else(String::new, |kernel| format!(" with kernel {kernel}"));
            format!(
                "boot {boot} of {of}: both machines restart{kernel}; waiting until each answers over ssh from another boot, with its addresses"
            )
        }
        Event::DefaultKernels => "both machines restart with their default kernels".to_owned(),
        Event::BootStarted { boot, of, build_ms, notes } => {
            let notes: String = notes.iter().map(|note| format!("\n  note: {note}")).collect();
            format!("boot {boot} of {of}: testbed built in {build_ms:.0} ms{notes}")
        }
        Event::RunFinished { run, label, primary, failed, invalid, done, of, left_s } => {
            let kind = if run.warmup { "warm-up" } else { "run" };
            let head = format!("[{done}/{of}] boot {} {kind} {}: ", run.boot, run.repeat);
            if let (None, Some(invalid)) = (failed, invalid) {
                return disturbed(&head, invalid);
            }
            let result = match (failed, primary) {
                (Some(why), _) => format!("failed: {why}"),
                (None, Some((metric, value))) => {
                    let unit = if metric.unit == "1" { String::new() } else { format!(" {}", metric.unit) };
                    format!("{metric} {value:.1}{unit}")
                }
                (None, None) => "done".to_owned(),
            };
            format!("{head}{label}: {result} ({} left)", results::duration_of(*left_s))
        }
        Event::Apart { labels, why } => {
            format!("measured in runs of their own, not in turns: {}: {why}", labels.join(", "))
        }
        Event::BootLost { boot, why, retried, crashed } => {
            let next = if *retried { "runs on a new testbed" } else { "is not measured" };
            let waits = if *crashed { "; waiting until each machine answers" } else { "" };
            format!("boot {boot}: {why}; the rest of this boot {next}{waits}")
        }
        Event::Looked { look, of, boot, boots, decided } => {
            let state = match decided {
                true => "every comparison is decided, so the study ends here",
                false => "not every comparison is decided yet",
            };
            format!("look {look} of {of}, after {boot} of at most {boots} boots: {state}")
        }
        Event::RunStarted { .. } | Event::Tick | Event::Finished { .. } => return None,
    })
}

/// A disturbed run behind `head`; that of a flow with its first run.
fn disturbed(head: &str, invalid: &Invalid) -> Option<String> {
    let (label, others) = invalid.labels.split_first()?;
    let others = match others.len() {
        0 => String::new(),
        more => format!(" and {more} more in turns"),
    };
    let next = if invalid.repeated { "repeated" } else { "not repeated again" };
    let after = format!("{others}: disturbed, {next}: {}", words::sanitised_line(&invalid.brief));
    // A long label gives way first.
    let room = WIDEST.saturating_sub(head.chars().count() + after.chars().count()).max(SHORTEST);
    Some(cut(&format!("{head}{}{after}", cut(&words::sanitised_line(label), room)), WIDEST))
}

/// Columns of the line of a disturbed run, and the fewest of its label.
const WIDEST: usize = 100;
const SHORTEST: usize = 16;

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disturbed_run_is_one_line_and_that_of_a_flow_is_told_once() {
        let invalid = |brief: &str, labels: &[&str]| Invalid {
            why: "a long story".repeat(50),
            brief: brief.to_owned(),
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
            repeated: true,
        };
        let head = "[3/40] boot 1 run 1: ";
        let told = |brief, labels: &[&str]| disturbed(head, &invalid(brief, labels));
        assert_eq!(
            told("other processes (dd)", &["ipv4"]).as_deref(),
            Some("[3/40] boot 1 run 1: ipv4: disturbed, repeated: other processes (dd)")
        );
        assert_eq!(
            told("other processes (dd)", &["dscp=0", "dscp=8"]).as_deref(),
            Some(
                "[3/40] boot 1 run 1: dscp=0 and 1 more in turns: disturbed, repeated: other processes (dd)"
            )
        );
        assert_eq!(told("other processes (dd)", &[]), None);
        let long = told("other processes (dd)", &["tso=off ".repeat(40).as_str()]).unwrap_or_default();
        assert!(long.chars().count() == WIDEST && long.ends_with("repeated: other processes (dd)"), "{long}");
        let long = told(&"a setting ".repeat(40), &["tso=off ".repeat(40).as_str()]).unwrap_or_default();
        assert!(long.chars().count() == WIDEST && long.contains("tso=off tso=off…: disturbed"), "{long}");
    }
}
