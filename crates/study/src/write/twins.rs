//! A study of one condition under two labels, made from another study: what differs in it is
//! chance.

use std::fmt::Write;
use words::{KEYS, Value};

use crate::model::factor::RUNNING;
use crate::model::limit;
use crate::model::protocol::Protocol;
use crate::model::study::Study;
use crate::plan::condition::Condition;

/// The text of a study that measures `condition` of `study` under the labels `a` and `b`, by
/// `protocol` (`stop` is left out: an A/A study is not to end on what it finds). A study file like
/// any other: it can be stored, read and resumed.
pub fn twins(study: &Study, condition: &Condition, protocol: &Protocol) -> String {
    let workload = &condition.workload;
    let mut text = format!(
        "# Made from the study {:?}: one of its conditions under two labels.\n\n\
         name = \"{}\"\n\
         question = \"How often do two labels of the same condition seem to differ?\"\n\
         {}{}\n\
         [[workload]]\nkind = \"{}\"\nname = \"{}\"\n",
        study.name(),
        name(study.name()),
        scenario(condition),
        place(study),
        workload.traffic.kind,
        workload.name,
    );
    let is_factor = |key: &str| condition.levels.iter().any(|(factor, _)| factor == key);
    for key in KEYS.iter().filter(|key| key.kinds.contains(&workload.traffic.kind) && !is_factor(key.name)) {
        let value = key.get(workload);
        let written = if key.is_number() { value.to_string() } else { quoted(&value.to_string()) };
        if value != Value::Default {
            text.push_str(&format!("{} = {written}\n", key.name));
        }
    }
    text.push_str(&testbed(study, condition));
    text.push_str("\n[factors]\n");
    // The only workload that is left needs no factor; a study's own twins are replaced by ours.
    let kept = condition.levels.iter().filter(|(factor, _)| factor != "workload" && factor != "twin");
    for (factor, level) in kept {
        let is_text = factor == "kernel" || factor == "command_line";
        let is_number = level.parse::<u32>().is_ok() && !is_text;
        let level = if is_number { level.clone() } else { quoted(level) };
        text.push_str(&format!("{factor} = [{level}]\n"));
    }
    text.push_str("twin = [\"a\", \"b\"]\n");
    let Protocol { boots, warmup, runs, order, seed, .. } = protocol;
    // Writing to a text cannot fail.
    let _ = write!(
        text,
        "\n[protocol]\nboots = {boots}\nwarmup = {warmup}\nruns = {runs}\norder = \"{order}\"\nseed = {seed}\n"
    );
    text.push_str(&study.machine().toml());
    text
}

/// The kind of testbed, unless a factor says it.
fn scenario(condition: &Condition) -> String {
    let is_factor = condition.levels.iter().any(|(factor, _)| factor == "scenario");
    if is_factor { String::new() } else { format!("scenario = \"{}\"\n", condition.boot.scenario) }
}

/// Where the testbed stands.
fn place(study: &Study) -> &'static str {
    match (study.exact(), study.inside_guest()) {
        (true, _) => "exact = true\n",
        (false, true) => "inside = \"guest\"\n",
        (false, false) => "",
    }
}

/// The tables of its testbed: what no factor says.
fn testbed(study: &Study, condition: &Condition) -> String {
    let is_factor = |key: &str| condition.levels.iter().any(|(factor, _)| factor == key);
    let mut text = String::new();
    if let Some(guest) = &condition.boot.guest {
        text.push_str("\n[guest]\n");
        let nic = condition.boot.scenario.has_guests().then(|| quoted(guest.nic.word()));
        for (key, value) in [
            ("kernel", Some(quoted(guest.kernel.as_deref().unwrap_or(RUNNING)))),
            ("command_line", Some(quoted(&guest.command_line))),
            ("vcpus", Some(guest.vcpus.to_string())),
            ("nic", nic),
            ("memory", Some(quoted(&format!("{}MiB", guest.memory_mib)))),
            ("acceleration", Some(quoted(guest.acceleration.word()))),
            ("pin", Some(guest.pin.to_string())),
            ("copies", study.exact().then(|| quoted(guest.copies.word()))),
        ] {
            if let Some(value) = value.filter(|_| !is_factor(key)) {
                text.push_str(&format!("{key} = {value}\n"));
            }
        }
    }
    if condition.boot.scenario.has_tunnel() {
        text.push_str("\n[underlay]\n");
        if !is_factor("underlay.family") {
            text.push_str(&format!("family = \"{}\"\n", condition.boot.underlay_family));
        }
        if let Some(mtu) = condition.underlay.mtu.filter(|_| !is_factor("underlay.mtu")) {
            text.push_str(&format!("mtu = {mtu}\n"));
        }
    }
    text
}

/// A text as TOML has it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The study's name with `-aa`, cut to the length that a name may have.
fn name(of: &str) -> String {
    let suffix = "-aa";
    let kept: String = of.chars().take(limit::NAME - suffix.len()).collect();
    format!("{kept}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundled;

    #[test]
    fn every_condition_of_every_bundled_study_has_twins() {
        for bundled in bundled::list() {
            let study = bundled.study();
            let protocol = Protocol { boots: 9, stop: None, ..study.protocol().clone() };
            for condition in study.plan().conditions {
                let text = twins(&study, &condition, &protocol);
                let made = Study::parse("aa", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
                assert_eq!(made.protocol(), &protocol);
                assert_eq!(made.scenarios(), [condition.boot.scenario]);
                let plan = made.plan();
                let labels: Vec<Option<&str>> = plan.conditions.iter().map(Condition::twin).collect();
                assert_eq!(labels, [Some("a"), Some("b")], "{text}");
                for twin in &plan.conditions {
                    assert_eq!(twin.workload, condition.workload, "{text}");
                    assert_eq!(
                        (&twin.boot, &twin.underlay, made.exact(), made.inside_guest()),
                        (&condition.boot, &condition.underlay, study.exact(), study.inside_guest())
                    );
                    assert_eq!(
                        (twin.family, twin.mtu, &twin.transmitter, &twin.receiver),
                        (condition.family, condition.mtu, &condition.transmitter, &condition.receiver)
                    );
                }
                assert_eq!(plan.comparisons.len(), 1);
            }
        }
    }

    #[test]
    fn factors_of_every_kind_are_kept() {
        let text = "name = \"n\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"udp_rr\"\nport = 7000\n\
                    [[workload]]\nkind = \"udp_stream\"\nname = \"bulk\"\nsocket_buffer = 65536\n\
                    [factors]\nchecksum = [\"on\", \"off\"]\nreceiver.gro = [true, false]\ntx-tcp6-segmentation = \"off\"\n\
                    mtu = [1500, \"default\"]\nmessage = [100]\ntwin = [\"x\", \"y\"]\n";
        let study = Study::parse("n.toml", text).unwrap();
        let conditions = study.plan().conditions;
        assert_eq!(conditions.len(), 32);
        for condition in conditions {
            let made = Study::parse("aa", &twins(&study, &condition, study.protocol())).unwrap().plan();
            assert_eq!(made.conditions.len(), 2);
            assert_eq!(made.conditions[0].workload, condition.workload);
            assert_eq!(made.conditions[0].receiver, condition.receiver);
            assert_eq!(made.conditions[0].mtu, condition.mtu);
        }
    }

    #[test]
    fn a_long_name_stays_a_name() {
        assert_eq!(name(&"x".repeat(64)).len(), 64);
        assert_eq!(name("quick"), "quick-aa");
    }
}
