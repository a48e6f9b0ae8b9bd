//! Progress on standard error.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle as BarStyle};
use runner::{Event, Invalid};
use study::{BootKind, Dropped, LooksDropped};

use crate::cli::ProgressStyle;
use crate::failure::say;

/// Shows the events. Nothing is drawn while a window is open, unless the controller has its own
/// CPU: drawing uses a measured CPU.
pub(crate) struct Progress {
    style: Style,
    own_cpu: bool,
    /// The testbeds' notes that were shown: most boots have the same.
    noted: BTreeSet<String>,
}

enum Style {
    Bar(Option<ProgressBar>),
    Plain,
    Json,
    Silent,
}

impl Progress {
    pub(crate) fn new(style: ProgressStyle, own_cpu: bool) -> Self {
        let style = match style {
            ProgressStyle::Auto if std::io::stderr().is_terminal() => Style::Bar(None),
            ProgressStyle::Auto | ProgressStyle::Plain => Style::Plain,
            ProgressStyle::Json => Style::Json,
            ProgressStyle::None => Style::Silent,
        };
        Self { style, own_cpu, noted: BTreeSet::new() }
    }

    pub(crate) fn show(&mut self, event: &Event) {
        let news;
        let event = match (&self.style, event) {
            (Style::Bar(_) | Style::Plain, Event::BootStarted { boot, of, build_ms, notes }) => {
                let notes = notes.iter().filter(|note| self.noted.insert((*note).clone())).cloned().collect();
                news = Event::BootStarted { boot: *boot, of: *of, build_ms: *build_ms, notes };
                &news
            }
            _ => event,
        };
        match &mut self.style {
            Style::Bar(bar) => draw(bar, event, self.own_cpu),
            Style::Plain => {
                if let Some(line) = line(event) {
                    say(&line);
                }
            }
            Style::Json => {
                if let (false, Ok(json)) = (matches!(event, Event::Tick), serde_json::to_string(event)) {
                    say(&text::escaped_json(&json));
                }
            }
            Style::Silent => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Style::Bar(Some(bar)) = &self.style {
            bar.finish_and_clear();
        }
    }
}

/// Windows of one workload, one after the other. Drawn between them.
pub(crate) struct Windows(ProgressBar);

impl Windows {
    /// Says what there is, and how long so many flows take.
    pub(crate) fn begin(what: &str, count: u32, flow: Duration) -> Self {
        say(&format!("{what}, which take {}", report::duration(count * flow)));
        let bar = if std::io::stderr().is_terminal() {
            ProgressBar::with_draw_target(Some(u64::from(count)), ProgressDrawTarget::stderr())
        } else {
            ProgressBar::hidden()
        };
        if let Ok(style) = BarStyle::with_template("{bar:30} {pos}/{len}") {
            bar.set_style(style);
        }
        bar.tick();
        Self(bar)
    }

    /// One more of them is over.
    pub(crate) fn count_one(&self) {
        self.0.inc(1);
    }
}

impl Drop for Windows {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn draw(slot: &mut Option<ProgressBar>, event: &Event, own_cpu: bool) {
    if let Event::Planned { runs, .. } = event {
        // Once for each run is enough; the bar never draws by itself.
        let bar = ProgressBar::with_draw_target(Some(*runs as u64), ProgressDrawTarget::stderr());
        if let Ok(style) = BarStyle::with_template("{bar:30} {pos}/{len} runs, {prefix} left  {wide_msg}") {
            bar.set_style(style);
        }
        *slot = Some(bar);
    }
    let Some(bar) = slot else { return };
    match event {
        Event::Planned { expected_s, lacking, looks_dropped, .. } => {
            for line in left_out(looks_dropped.as_ref(), lacking) {
                above(bar, line);
            }
            bar.set_prefix(duration(*expected_s));
        }
        Event::RunStarted { label, run } => {
            let kind = if run.warmup { "warm-up" } else { "run" };
            bar.set_message(text::line(&format!("boot {}, {kind}: {label}", run.boot)).into_owned());
        }
        Event::RunFinished { done, of, left_s, failed, invalid, label, .. } => {
            if let Some(why) = failed {
                above(bar, format!("  failed: {label}: {why}"));
            }
            if let Some(invalid) = invalid {
                above(bar, format!("  {}: {label}", disturbed(invalid)));
            }
            bar.set_length(*of as u64);
            bar.set_prefix(duration(*left_s));
            bar.set_position(*done as u64);
        }
        Event::Tick if own_cpu => bar.tick(),
        Event::Restarting { .. }
        | Event::DefaultKernels
        | Event::BootStarted { .. }
        | Event::BootLost { .. }
        | Event::Apart { .. }
        | Event::Settles { .. }
        | Event::Looked { .. } => {
            if let Some(line) = line(event) {
                above(bar, line);
            }
        }
        Event::Tick | Event::Finished { .. } => {}
    }
}

/// Prints lines above the bar. Labels and reasons may hold foreign text.
#[expect(clippy::needless_pass_by_value, reason = "lines are made where they are told")]
fn above(bar: &ProgressBar, lines: String) {
    bar.println(text::lines(&lines));
}

/// The parts of a study that are not measured here, one line each.
fn left_out(looks: Option<&LooksDropped>, lacking: &[Dropped]) -> Vec<String> {
    let looks = looks.map(|dropped| format!("  looks: {dropped}"));
    let lacking = lacking.iter().map(|one| format!("  not measured: {}: {}", one.label, one.why));
    looks.into_iter().chain(lacking).collect()
}

/// An event as one line; `None` for minor ones.
fn line(event: &Event) -> Option<String> {
    Some(match event {
        Event::Planned { study, conditions, lacking, looks_dropped, boots, runs, expected_s } => {
            let mut text = format!(
                "study {study}: {}, {}, {}, about {}",
                report::counted(conditions.len(), "condition"),
                report::counted(*boots as usize, "boot"),
                report::counted(*runs, "run"),
                duration(*expected_s)
            );
            for line in left_out(looks_dropped.as_ref(), lacking) {
                text.push_str(&format!("\n{line}"));
            }
            text
        }
        Event::Restarting { boot, of, how, kernel } => {
            let kernel = kernel.as_ref().map_or_else(String::new, |kernel| format!(" with kernel {kernel}"));
            let what = match how {
                BootKind::Reload => "the drivers of both interfaces are taken down and up".to_owned(),
                _ => format!(
                    "both machines restart{kernel}; waiting until each answers over ssh from another boot, with its addresses"
                ),
            };
            format!("boot {boot} of {of}: {what}")
        }
        Event::DefaultKernels => "both machines restart with their default kernels".to_owned(),
        Event::BootStarted { boot, of, build_ms, notes } => {
            let mut text = format!("boot {boot} of {of}: testbed built in {build_ms:.0} ms");
            for note in notes {
                text.push_str(&format!("\n  note: {note}"));
            }
            text
        }
        Event::RunFinished { run, label, primary, failed, invalid, done, of, left_s } => {
            let kind = if run.warmup { "warm-up" } else { "run" };
            let result = match (failed, invalid, primary) {
                (Some(why), ..) => format!("failed: {why}"),
                (None, Some(invalid), _) => disturbed(invalid),
                (None, None, Some((metric, value))) => {
                    let unit = study::metric::find(metric).map_or("1", |metric| metric.unit);
                    let unit = if unit == "1" { String::new() } else { format!(" {unit}") };
                    format!("{metric} {value:.1}{unit}")
                }
                (None, None, None) => "done".to_owned(),
            };
            format!(
                "[{done}/{of}] boot {} {kind} {}: {label}: {result} ({} left)",
                run.boot,
                run.repeat,
                duration(*left_s)
            )
        }
        Event::Apart { labels, why } => {
            format!("measured in runs of their own, not in turns: {}: {why}", labels.join(", "))
        }
        Event::Settles { labels, after_s, why } => {
            format!(
                "{}: from now on the first {:.0} ms of each turn are not counted: {why}",
                labels.join(", "),
                after_s * 1e3
            )
        }
        Event::BootLost { boot, why, retried } => {
            let next = if *retried {
                "the rest of this boot runs on a new testbed"
            } else {
                "the rest of this boot is not measured"
            };
            format!("boot {boot}: {why}; {next}")
        }
        Event::Looked { look, of, boot, boots, decided } => {
            let state = if *decided {
                "every comparison is decided, so the study ends here"
            } else {
                "not every comparison is decided yet"
            };
            format!("look {look} of {of}, after {boot} of at most {boots} boots: {state}")
        }
        Event::RunStarted { .. } | Event::Tick | Event::Finished { .. } => return None,
    })
}

fn disturbed(invalid: &Invalid) -> String {
    let next = if invalid.repeated { "repeated" } else { "not repeated again" };
    format!("disturbed, {next}: {}", invalid.why)
}

fn duration(seconds: f64) -> String {
    report::duration(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}
