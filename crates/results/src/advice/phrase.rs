//! Words and figures that all renderings share.

use crate::{
    ChangeEstimate, ChangeOutcome, EffectMethod, MetricChange, figure, listed, metric_words, percent, plain,
    range,
};
use stats::signed;
use study::Side;

use crate::advice::command::{bare, lines};
use crate::advice::goal::side;
use crate::advice::recommendation::{AsLeft, Recommendation};
use crate::advice::study_advice::StudyAdvice;
use crate::advice::workload_advice::WorkloadAdvice;

pub(crate) fn switches(factors: &[String]) -> String {
    let name = |factor: &String| {
        let name = words::sanitised_line(bare(factor)).into_owned();
        if factor.contains("underlay.") { format!("underlay {name}") } else { name }
    };
    listed(&factors.iter().map(name).collect::<Vec<_>>())
}

/// A setting: `tso on`, `mtu 9000`.
pub(crate) fn set(factors: &[String], to: &str) -> String {
    format!("{} {}", switches(factors), words::sanitised_line(to))
}

/// The host of a switch: `at the transmitter`, `at both ends`.
pub(crate) fn place(side: Option<Side>) -> String {
    side.map_or_else(|| "at both ends".to_owned(), |side| format!("at the {side}"))
}

/// A setting with its place: `gro on at the receiver`.
pub(crate) fn set_at(factor: &String, to: &str) -> String {
    let factors = std::slice::from_ref(factor);
    format!("{} {}", set(factors, to), place(side(factors)))
}

/// The state of a switch: `gro at the receiver is on`.
pub(crate) fn is_at(factor: &String, level: &str) -> String {
    format!("{} is {}", switches_at([factor]), words::sanitised_line(level))
}

/// Switches with their places: `gro at the receiver and tso at the transmitter`.
pub(crate) fn switches_at<'f>(factors: impl IntoIterator<Item = &'f String>) -> String {
    let name = |factor: &String| {
        let factors = std::slice::from_ref(factor);
        format!("{} {}", switches(factors), place(side(factors)))
    };
    listed(&factors.into_iter().map(name).collect::<Vec<_>>())
}

/// The state that advice leaves the other switches in: `gro off at the receiver, all others on`.
pub(crate) fn state_left(one: &AsLeft) -> String {
    match one.off.as_slice() {
        [] => "all others on".to_owned(),
        off => {
            let off: Vec<String> = off.iter().map(|factor| set_at(factor, "off")).collect();
            format!("{}, all others on", listed(&off))
        }
    }
}

/// Changes in a state: `throughput +45.1 % (30.0 to 60.1) of all off`, and whether they are proven.
pub(crate) fn changes(all: &[MetricChange]) -> String {
    let words = |change: &MetricChange| {
        let open = match &change.outcome {
            ChangeOutcome::Proven => String::new(),
            ChangeOutcome::Saturated(limit) => format!("saturated ({}), ", words::sanitised_line(limit)),
            ChangeOutcome::NotProven | ChangeOutcome::Unknown(_) => "no difference proven, ".to_owned(),
        };
        open + &expected(change)
    };
    all.iter().map(words).collect::<Vec<_>>().join("; ")
}

/// The smallest and the largest of several changes in `unit`, nearest to zero first.
pub(crate) fn sizes((low, high): (f64, f64), unit: &str) -> String {
    let show = |size| signed(if unit == "%" { percent(size) } else { figure(size) });
    let ends = if high <= 0.0 { [high, low] } else { [low, high] };
    let [one, other] = ends.map(show);
    if one == other { format!("{one} {unit}") } else { format!("{one} to {other} {unit}") }
}

pub(crate) fn interval(ends: (f64, f64), unit: &str) -> String {
    range(Some(ends), if unit == "%" { percent } else { figure })
}

/// A change without its interval: `+45.1 %`.
pub(crate) fn size(estimate: &ChangeEstimate, unit: &str) -> String {
    match estimate.relative {
        Some(relative) => format!("{} %", signed(percent(relative))),
        None => format!("{} {}", signed(figure(estimate.value)), plain(unit)).trim_end().to_owned(),
    }
}

/// A change with its interval: `+45.1 % (30.0 to 60.1)`.
pub(crate) fn sized(estimate: &ChangeEstimate, unit: &str) -> String {
    let interval = match (estimate.relative, estimate.relative_interval, estimate.interval) {
        (Some(_), Some(interval), _) => format!(" ({})", range(Some(interval), percent)),
        (None, _, Some(interval)) => format!(" ({})", range(Some(interval), figure)),
        _ => String::new(),
    };
    size(estimate, unit) + &interval
}

/// A change of the goal's metric with its base: `throughput +45.1 % (30.0 to 60.1) of all off`.
pub(crate) fn expected(change: &MetricChange) -> String {
    let of = if change.there.relative.is_some() { "of" } else { "from" };
    format!(
        "{} {} {of} {}",
        metric_words(change.metric.key),
        sized(&change.there, change.metric.unit),
        words::sanitised_line(&change.there.base)
    )
}

/// The way in which a change was found, to stand after its figures; empty where the base says it.
pub(crate) fn how(how: EffectMethod) -> &'static str {
    match how {
        EffectMethod::Share => ", its fair share",
        EffectMethod::MainEffect => ", its main effect",
        EffectMethod::Step => ", as a step of the ladder",
        EffectMethod::OthersOn | EffectMethod::Alone => "",
    }
}

/// The changes of other metrics; `None` if no other metric was measured.
pub(crate) fn elsewhere(one: &Recommendation) -> Option<String> {
    let mut parts = Vec::new();
    for change in one.elsewhere.iter().filter(|change| change.is_better().is_some()) {
        let loss = if change.is_better() == Some(false) { ", a loss" } else { "" };
        let words = metric_words(change.metric.key);
        parts.push(format!("{words} {}{loss}", sized(&change.there, change.metric.unit)));
    }
    let open: Vec<String> = one
        .elsewhere
        .iter()
        .filter(|change| change.is_better().is_none())
        .map(|change| metric_words(change.metric.key))
        .collect();
    if !open.is_empty() {
        parts.push(format!("no difference proven: {}", listed(&open)));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The context in words: `veth, tcp-1450 (tcp_stream), mtu=1500`.
pub(crate) fn workload_context(one: &WorkloadAdvice) -> String {
    let at = one
        .at
        .iter()
        .map(|(name, level)| format!(", {}={}", words::sanitised_line(name), words::sanitised_line(level)));
    let kind = one.kind.to_string();
    let workload = match words::sanitised_line(&one.workload) {
        name if name == kind => kind,
        name => format!("{name} ({kind})"),
    };
    format!("{}, {workload}{}", one.scenario, at.collect::<String>())
}

/// The settings that all runs share: `message 1450 bytes, flows 1`.
pub(crate) fn held(one: &WorkloadAdvice) -> String {
    let held = one.held.iter().map(|held| format!("{} {}", held.what, words::sanitised_line(&held.value)));
    held.collect::<Vec<_>>().join(", ")
}

// From this many boots on there are better ways.
const MANY: u32 = 100;

/// The study that would settle an open question; `None` if there is none.
pub(crate) fn more(one: &Recommendation, study: &StudyAdvice) -> Option<String> {
    let more = one.more.as_ref()?;
    let time = crate::duration_of(more.seconds);
    let held = more.set.iter().map(|(name, level)| format!("{name}={level}"));
    let set: Vec<String> = held.chain([format!("boots={}", more.boots)]).collect();
    let set = set.iter().flat_map(|one| ["--set", one]);
    let command = words::shell_command(["netassay", "run", &study.name].into_iter().chain(set));
    Some(match more.detects {
        Some(size) => {
            let hint = if more.boots > MANY { "; longer runs or a quieter machine need fewer" } else { "" };
            format!(
                "{} boots (about {time}: {command}) prove a difference of {size} % with 80 % power{hint}",
                more.boots
            )
        }
        None => format!("{} boots are the least (about {time}: {command})", more.boots),
    })
}

/// The lines that set and undo a recommendation, each with its head: `apply`, `undo at the
/// receiver`.
pub(crate) fn commands(one: &Recommendation) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (what, commands) in [("apply", &one.apply), ("undo", &one.undo)] {
        for (side, line) in lines(commands) {
            // Where it is the recommendation's own side, the head of that says it.
            let at =
                side.filter(|_| side != one.side).map_or_else(String::new, |side| format!(" at the {side}"));
            found.push((format!("{what}{at}"), line));
        }
    }
    found
}

/// The need of a study of a single boot, said once; `None` for other studies.
pub(crate) fn settling(study: &StudyAdvice) -> Option<String> {
    let mut all = study.under.iter().flat_map(|under| &under.recommendations).flat_map(|(_, all)| all);
    let one = all.find(|one| one.more.as_ref().is_some_and(|more| more.detects.is_none()))?;
    more(one, study).map(|more| format!("One boot tells nothing of how boots differ: {more}"))
}

/// The checks against the other switches, as a sentence without a full stop.
pub(crate) fn checked(study: &StudyAdvice) -> Option<String> {
    let checked = study.checked.filter(|_| !study.exact)?;
    Some(format!(
        "Whether a recommended switch depends on another one was judged by itself, with {} % together (Holm, over {}); each of these intervals has {} %",
        stats::confidence(study.confidence),
        crate::counted(checked.pairs, "pair"),
        stats::confidence(checked.level)
    ))
}

/// The confidence of all that a study proves, as a sentence without a full stop; `None` where there
/// was nothing to judge.
pub(crate) fn judged(study: &StudyAdvice) -> Option<String> {
    if study.exact {
        return Some("Instructions were counted: a difference above the resolution of counts is real".into());
    }
    (study.judged > 0).then(|| format!(
        "All that is called proven holds together with {} % (Holm, over {}); each interval by itself has {} %",
        stats::confidence(study.confidence),
        crate::counted(study.judged, "change"),
        stats::confidence(study.level)
    ))
}
