//! Words and figures that the blocks, the script and the settings of a host share.

use results::advice::{AsLeft, HostCommand, HostInterface, Recommendation, StudyAdvice, WorkloadAdvice};
use results::gate::SettlingBoots;
use results::{
    ChangeEstimate, ChangeOutcome, MetricChange, counted, figure, listed, metric_words, percent, plain, range,
};
use stats::signed;
use study::{Side, Switch, feature};

pub(super) fn recommendations(study: &StudyAdvice) -> impl Iterator<Item = &Recommendation> {
    study.cases.iter().flat_map(|case| &case.goals).flat_map(|one| &one.recommendations)
}

/// Switches without their hosts: `tso`, `underlay tso`.
pub(super) fn switches<'f>(factors: impl IntoIterator<Item = &'f String>) -> String {
    let name = |factor: &String| {
        let scope = if factor.contains("underlay.") { "underlay " } else { "" };
        format!("{scope}{}", factor.rsplit('.').next().unwrap_or(factor))
    };
    listed(&factors.into_iter().map(name).collect::<Vec<_>>())
}

/// A setting: `tso on`, `mtu 9000`.
pub(super) fn set<'f>(factors: impl IntoIterator<Item = &'f String>, to: &str) -> String {
    format!("{} {to}", switches(factors))
}

/// The host of a switch: `at the transmitter`, `at both ends`.
pub(super) fn place(side: Option<Side>) -> String {
    side.map_or_else(|| "at both ends".to_owned(), |side| format!("at the {side}"))
}

fn place_of(factor: &str) -> String {
    place(Switch::named(factor).and_then(|switch| switch.side()))
}

/// A setting with its place: `gro on at the receiver`.
pub(super) fn set_at(factor: &String, to: &str) -> String {
    format!("{} {}", set([factor], to), place_of(factor))
}

/// Switches with their places: `gro at the receiver and tso at the transmitter`.
pub(super) fn switches_at<'f>(factors: impl IntoIterator<Item = &'f String>) -> String {
    let name = |factor: &'f String| format!("{} {}", switches([factor]), place_of(factor));
    listed(&factors.into_iter().map(name).collect::<Vec<_>>())
}

/// The state that advice leaves the other switches in: `gro off at the receiver, all others on`.
pub(super) fn state_left(one: &AsLeft) -> String {
    let off: Vec<String> = one.off.iter().map(|factor| set_at(factor, "off")).collect();
    let gap = if off.is_empty() { "" } else { ", " };
    format!("{}{gap}all others on", listed(&off))
}

/// Changes in a state: `throughput +45.1 % (+30.0 to +60.1) of all off`, and whether they are
/// proven.
pub(super) fn changes(all: &[MetricChange]) -> String {
    let words = |change: &MetricChange| {
        let open = match &change.outcome {
            ChangeOutcome::Proven => String::new(),
            ChangeOutcome::Saturated(limit) => format!("saturated ({limit}), "),
            ChangeOutcome::NotProven | ChangeOutcome::Unknown(_) => "no difference proven, ".to_owned(),
        };
        open + &expected(change)
    };
    all.iter().map(words).collect::<Vec<_>>().join("; ")
}

/// The smallest and the largest of several changes in `unit`.
pub(super) fn sizes((low, high): (f64, f64), unit: &str) -> String {
    let show = |size| signed(if unit == "%" { percent(size) } else { figure(size) });
    let [one, other] = [low, high].map(show);
    if one == other { format!("{one} {unit}") } else { format!("{one} to {other} {unit}") }
}

/// Changes in the words of a study's answer: `that is 50.9 to 54.7 % lower with offloads=none`.
pub(super) fn answered((low, high): (f64, f64), base: &str) -> String {
    let (word, ends) = if high <= 0.0 { ("lower", [-high, -low]) } else { ("higher", [low, high]) };
    let [least, most] = ends.map(percent);
    let size = if least == most { least } else { format!("{least} to {most}") };
    format!("that is {size} % {word} with {base}")
}

/// A change with its interval: `+45.1 % (+30.0 to +60.1)`.
fn sized(estimate: &ChangeEstimate, unit: &str) -> String {
    let (value, ends, unit, show) = match estimate.relative {
        Some(relative) => (relative, estimate.relative_interval, "%", percent as fn(f64) -> String),
        None => (estimate.value, estimate.interval, plain(unit), figure as fn(f64) -> String),
    };
    let signed_range = |ends| range(Some(ends), |end| signed(show(end)));
    let ends = ends.map_or_else(String::new, |ends| format!(" ({})", signed_range(ends)));
    format!("{}{ends}", format!("{} {unit}", signed(show(value))).trim_end())
}

/// A change of the goal's metric with its base: `throughput +45.1 % (+30.0 to +60.1) of all off`.
pub(super) fn expected(change: &MetricChange) -> String {
    let of = if change.there.relative.is_some() { "of" } else { "from" };
    let (words, sized) = (metric_words(&change.metric.into()), sized(&change.there, change.metric.unit));
    format!("{words} {sized} {of} {}", change.there.base)
}

/// The changes of other metrics; `None` if no other metric was measured.
pub(super) fn elsewhere(one: &Recommendation) -> Option<String> {
    let (mut parts, mut open) = (Vec::new(), Vec::new());
    for change in &one.elsewhere {
        let words = metric_words(&change.metric.into());
        let Some(is_better) = change.is_better() else {
            open.push(words);
            continue;
        };
        let loss = if is_better { "" } else { ", a loss" };
        parts.push(format!("{words} {}{loss}", sized(&change.there, change.metric.unit)));
    }
    if !open.is_empty() {
        parts.push(format!("no difference proven: {}", listed(&open)));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The context in words: `veth, tcp-1450 (tcp_stream), mtu=1500`.
pub(super) fn workload_context(one: &WorkloadAdvice) -> String {
    let one = &one.context;
    let levels: String = one.levels.iter().map(|level| format!(", {level}")).collect();
    let kind = one.kind.to_string();
    let workload = if one.workload == kind { kind } else { format!("{} ({kind})", one.workload) };
    format!("{}, {workload}{levels}", one.scenario)
}

/// The settings that all runs share: `message 1450 bytes, flows 1`.
pub(super) fn constant_settings(one: &WorkloadAdvice) -> String {
    let settings = one.context.constant_settings.iter().map(|one| format!("{} {}", one.what, one.value));
    settings.collect::<Vec<_>>().join(", ")
}

// From this many boots on there are better ways.
const MANY: u32 = 100;

/// The study that would settle an open question; `None` if there is none.
pub(super) fn more(one: &Recommendation, study: &StudyAdvice) -> Option<String> {
    let more = one.more.as_ref()?;
    let (boots, time) = (more.boots, results::duration_of(more.seconds));
    // A study has no more, as a gate names no more.
    if boots > SettlingBoots::MOST {
        let most = SettlingBoots::MOST;
        return Some(format!(
            "more than {most} boots would be needed; longer runs or a quieter machine need fewer"
        ));
    }
    let held = more.set.iter().map(ToString::to_string);
    let set: Vec<String> = held.chain([format!("boots={boots}")]).collect();
    let set = set.iter().flat_map(|one| ["--set", one]);
    let command = words::shell_command(["netassay", "run", &study.switches.name].into_iter().chain(set));
    Some(match more.detects {
        Some(size) => {
            let hint = if boots > MANY { "; longer runs or a quieter machine need fewer" } else { "" };
            format!(
                "{boots} boots (about {time}: {command}) prove a difference of {size} % with 80 % power{hint}"
            )
        }
        None => format!("{boots} boots are the least (about {time}: {command})"),
    })
}

/// Each with its head: `apply`, `undo at the receiver`.
pub(super) fn commands(one: &Recommendation) -> Vec<(String, String)> {
    commands_at(one.side, &one.apply, &one.undo)
}

/// As [`commands`]. `own`: the side of the recommendation.
pub(super) fn commands_at(
    own: Option<Side>,
    apply: &[HostCommand],
    undo: &[HostCommand],
) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (what, commands) in [("apply", apply), ("undo", undo)] {
        for (side, line) in lines(commands) {
            // Where it is the recommendation's own side, the head of that says it.
            let at = side.filter(|_| side != own).map(|side| format!(" at the {side}"));
            found.push((format!("{what}{}", at.unwrap_or_default()), line));
        }
    }
    found
}

/// The commands of each side and interface, features on one line.
fn lines(commands: &[HostCommand]) -> Vec<(Option<Side>, String)> {
    // A feature without a group is not in a line of groups: without scatter-gather and checksums it
    // has nothing to act on, and the kernel keeps that it is wanted, so that switching the groups
    // on restores the driver's defaults. A line that names it off would lose that.
    let is_group = |name: &str| feature::GROUPS.iter().any(|group| group.short == name);
    let follows = |command: &HostCommand| {
        let HostCommand::Feature { side, interface, name, on, .. } = command else { return false };
        let place = (side, interface, on);
        !is_group(name)
            && commands.iter().any(|other| {
                matches!(other, HostCommand::Feature { side, interface, name, on, .. }
                    if (side, interface, on) == place && ["sg", "tx"].contains(&name.as_str()))
            })
    };
    let mut lines: Vec<(Option<Side>, Option<HostInterface>, String)> = Vec::new();
    for command in commands.iter().filter(|command| !follows(command)) {
        let HostCommand::Feature { side, interface, name, on, .. } = command else {
            lines.push((command.side(), None, command.to_string()));
            continue;
        };
        match lines.iter_mut().find(|(known, of, _)| (known, *of) == (side, Some(*interface))) {
            Some((_, _, line)) => {
                let state = if *on { "on" } else { "off" };
                line.push_str(&format!(" {}", words::shell_command([name.as_str(), state])));
            }
            None => lines.push((*side, Some(*interface), command.to_string())),
        }
    }
    lines.into_iter().map(|(side, _, line)| (side, line)).collect()
}

/// The need of a study of a single boot, said once; `None` for other studies.
pub(super) fn settling(study: &StudyAdvice) -> Option<String> {
    let is_first = |one: &&Recommendation| one.more.as_ref().is_some_and(|more| more.detects.is_none());
    let more = more(recommendations(study).find(is_first)?, study)?;
    Some(format!("One boot tells nothing of how boots differ: {more}"))
}

/// Without a full stop; `None` where there was nothing to judge.
pub(super) fn judged(study: &StudyAdvice) -> Option<String> {
    let study = &study.switches;
    if study.exact {
        return Some("Instructions were counted: a difference above the resolution of counts is real".into());
    }
    let [together, alone] = [study.confidence, study.level].map(stats::confidence);
    let changes = counted(study.judged, "change");
    (study.judged > 0).then(|| format!(
        "All that is called proven holds together with {together} % (Holm, over {changes}); each interval by itself has {alone} %"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(names: &[&str], on: bool) -> Vec<HostCommand> {
        let feature = |name: &&str| HostCommand::Feature {
            side: None,
            interface: HostInterface::Traffic,
            name: (*name).to_owned(),
            shown_as: (*name).to_owned(),
            on,
        };
        names.iter().map(feature).collect()
    }

    #[test]
    fn lines_that_set_and_undo_all_offloads_name_the_groups_of_ethtool() {
        let set =
            |on| features(&["tx-gre-segmentation", "tx", "tx-udp-segmentation", "sg", "tso", "gso"], on);
        let line = "ethtool -K \"$IF\" tx on sg on tso on gso on";
        assert_eq!(lines(&set(true)), [(None, line.to_owned())]);
        assert_eq!(lines(&set(false)), [(None, line.replace(" on", " off"))]);
        let alone = features(&["tx-udp-segmentation"], true);
        assert_eq!(lines(&alone)[0].1, "ethtool -K \"$IF\" tx-udp-segmentation on");
    }

    #[test]
    fn ranges_go_from_low_to_high_and_the_answer_from_small_to_large() {
        assert_eq!(sizes((-65.6, -38.3), "%"), "-65.6 to -38.3 %");
        assert_eq!(sizes((38.3, 65.6), "%"), "+38.3 to +65.6 %");
        assert_eq!(answered((-54.7, -50.9), "tso=off"), "that is 50.9 to 54.7 % lower with tso=off");
        assert_eq!(answered((42.9, 42.9), "tso=off"), "that is 42.9 % higher with tso=off");
    }

    #[test]
    fn a_feature_of_others_is_one_word_of_the_line_to_paste() {
        let commands = features(&["x; touch /tmp/owned", "tso", "$(id)\n"], true);
        assert_eq!(commands[0].to_string(), "ethtool -K \"$IF\" 'x; touch /tmp/owned' on");
        let line = "ethtool -K \"$IF\" 'x; touch /tmp/owned' on tso on '$(id) ' on";
        assert_eq!(lines(&commands), [(None, line.to_owned())]);
    }
}
