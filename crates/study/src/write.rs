//! Study files that netassay writes.

use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value, value};
use words::{Key, Shape, format_duration};

use crate::edit::workload_name;
use crate::model::{Alternate, Protocol, Scope, Study, WhetherTurns, limit};
use crate::plan::Condition;

/// A commented study file of this name, valid as it stands. A name may consist of letters, digits,
/// `-`, `_` and `.`; other characters become `-`.
pub fn starter(name: &str) -> String {
    include_str!("starter.toml").replace("@name@", &usable(name))
}

fn usable(name: &str) -> String {
    let is_usable = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let usable: String = name.chars().take(limit::NAME).map(|c| if is_usable(c) { c } else { '-' }).collect();
    let usable = usable.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    if usable.is_empty() { "my-study".to_owned() } else { usable.to_owned() }
}

/// The text of a study that measures `condition` of `study` under the labels `a` and `b`, by
/// `protocol`: differences in it are chance. It can be stored, read and resumed like any other.
pub fn twins(study: &Study, condition: &Condition, protocol: &Protocol) -> String {
    let mut file: DocumentMut = study.text.parse().expect("a study was read from its text");
    let has_tunnel = condition.boot.scenario.has_tunnel();
    let absent = [("guest", condition.boot.guest.is_none()), ("underlay", !has_tunnel)];
    let absent = absent.into_iter().filter(|(_, is_absent)| *is_absent).map(|(table, _)| table);
    for table in ["factors", "design", "exclude", "protocol", "comparison", "trace"].into_iter().chain(absent)
    {
        file.remove(table);
    }
    file["name"] = value(suffixed(&study.name, "-aa"));
    file["question"] = value("How often do two labels of the same condition seem to differ?");
    let is_own = |table: &dyn TableLike| workload_name(table) == Some(&condition.workload.name);
    match &mut file["workload"] {
        Item::ArrayOfTables(tables) => tables.retain(|table| is_own(table)),
        Item::Value(Value::Array(array)) => {
            array.retain(|one| one.as_inline_table().is_some_and(|table| is_own(table)));
        }
        _ => {}
    }
    // The only workload that is left needs no factor; a study's own twins are replaced by ours.
    // Nor has a factor of the interfaces under a tunnel a meaning in a scenario without one.
    let is_absent = |factor: &str| Scope::split(factor).0.underlay && !has_tunnel;
    let is_kept = |factor: &str| factor != "workload" && factor != "twin" && !is_absent(factor);
    let kept = condition.levels.iter().filter(|(factor, _)| is_kept(factor));
    let mut factors = table(kept.map(|(factor, level)| (factor.as_str(), level.clone())));
    factors.insert("twin", value(toml_value("twin", &["a".to_owned(), "b".to_owned()])));
    file.insert("factors", Item::Table(factors));
    // An A/A study is not to end on what it finds, and all of its runs are of one kind.
    let Protocol { boots, how, warmup, runs, order, seed, stop: _, alternate, apart: _ } = protocol;
    let protocol = [
        ("boots", boots.to_string()),
        ("warmup", warmup.to_string()),
        ("runs", runs.to_string()),
        ("order", order.to_string()),
        ("seed", seed.to_string()),
    ];
    let mut protocol = table(protocol);
    let alternate = alternate.filter(|_| condition.flow_key().is_some());
    if let Some(Alternate { turn, settle }) = alternate {
        protocol.insert("alternate", value(format_duration(turn)));
        protocol.insert("settle", value(format_duration(settle)));
    } else {
        protocol.insert("alternate", value(WhetherTurns::Off.word()));
    }
    if !how.is_reset() {
        let [count, kind] = [("count", boots.to_string()), ("how", how.to_string())]
            .map(|(key, text)| (key, toml_value(key, &[text])));
        protocol.insert("boots", value([count, kind].into_iter().collect::<InlineTable>()));
    }
    file.insert("protocol", Item::Table(protocol));
    format!("# Made from the study {:?}: one of its conditions under two labels.\n\n{file}", study.name)
}

fn table<'k>(values: impl IntoIterator<Item = (&'k str, String)>) -> Table {
    let mut table = Table::new();
    for (key, text) in values {
        table.insert(key, value(toml_value(key, &[text])));
    }
    table
}

fn suffixed(name: &str, suffix: &str) -> String {
    let kept: String = name.chars().take(limit::NAME.saturating_sub(suffix.len())).collect();
    format!("{kept}{suffix}")
}

/// Keys whose values are texts even if they look like numbers.
const TEXTS: &[&str] = &["name", "question", "twin", "kernel", "command_line"];

/// The values of a key as TOML: one as itself, several as an array.
pub(crate) fn toml_value(key: &str, values: &[String]) -> Value {
    let is_text =
        TEXTS.contains(&key) || Key::find(key).is_some_and(|key| matches!(key.shape, Shape::Name(_)));
    match values {
        [one] => single(one, is_text),
        several => several.iter().map(|one| single(one, is_text)).collect(),
    }
}

fn single(value: &str, is_text: bool) -> Value {
    // Text that TOML would read otherwise (`007`, `1_000`) stays a text, and the reader reports it.
    let number = value.parse::<i64>().ok().filter(|number| number.to_string() == value);
    match (number, value) {
        (Some(number), _) if !is_text => number.into(),
        (None, "true" | "false") if !is_text => (value == "true").into(),
        _ => value.into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Study;

    #[test]
    fn the_name_is_kept_where_it_can_be() {
        let study = Study::parse("a.toml", &starter("tso-2.b_c")).unwrap();
        assert_eq!(study.name, "tso-2.b_c");
        assert_eq!(Study::parse("a.toml", &starter("-ä /")).unwrap().name, "my-study");
    }

    /// Commented-out lines must be valid too: uncommented line by line, the file stays valid.
    #[test]
    fn every_suggestion_in_a_comment_is_valid() {
        let text = starter("x");
        let lines: Vec<&str> = text.lines().collect();
        let mut tried = 0;
        for (index, line) in lines.iter().enumerate() {
            // Suggestions are written `#key = …`, prose `# Words`.
            let Some(suggestion) =
                line.strip_prefix('#').filter(|rest| !rest.is_empty() && !rest.starts_with(' '))
            else {
                continue;
            };
            if suggestion.starts_with(':') {
                continue;
            }
            let mut changed = lines.clone();
            changed[index] = suggestion;
            // A suggested table brings the keys below it.
            let mut next = index + 1;
            while suggestion.starts_with('[') && next < lines.len() && lines[next].starts_with('#') {
                changed[next] = &lines[next][1..];
                next += 1;
            }
            if lines[..index]
                .iter()
                .rev()
                .take_while(|line| line.starts_with('#'))
                .any(|line| line.starts_with("#["))
            {
                continue;
            }
            tried += 1;
            Study::parse("a.toml", &changed.join("\n"))
                .unwrap_or_else(|error| panic!("{suggestion}\n{error}"));
        }
        assert!(tried >= 8, "only {tried} suggestions found");
    }

    proptest! {
        #[test]
        fn any_name_makes_a_valid_file(name in "\\PC{0,80}") {
            prop_assert!(Study::parse("a.toml", &starter(&name)).is_ok());
        }
    }
}

#[cfg(test)]
mod twins_tests {
    use super::*;
    use crate::bundled;

    #[test]
    fn every_condition_of_every_bundled_study_has_twins() {
        for bundled in bundled::list() {
            let study = bundled.study();
            let protocol = Protocol { boots: 9, stop: None, ..study.protocol.clone() };
            for condition in study.plan().conditions {
                let text = twins(&study, &condition, &protocol);
                let made = Study::parse("aa", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
                assert_eq!(made.protocol, protocol);
                assert_eq!(made.scenarios(), [condition.boot.scenario]);
                let plan = made.plan();
                let labels: Vec<Option<&str>> = plan.conditions.iter().map(Condition::twin).collect();
                assert_eq!(labels, [Some("a"), Some("b")], "{text}");
                for twin in &plan.conditions {
                    assert_eq!(twin.workload, condition.workload, "{text}");
                    assert_eq!(
                        (&twin.boot, &twin.underlay, made.exact, made.inside_guest),
                        (&condition.boot, &condition.underlay, study.exact, study.inside_guest)
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
            let made = Study::parse("aa", &twins(&study, &condition, &study.protocol)).unwrap().plan();
            assert_eq!(made.conditions.len(), 2);
            assert_eq!(made.conditions[0].workload, condition.workload);
            assert_eq!(made.conditions[0].receiver, condition.receiver);
            assert_eq!(made.conditions[0].mtu, condition.mtu);
        }
    }

    #[test]
    fn a_long_name_stays_a_name() {
        assert_eq!(suffixed(&"x".repeat(64), "-aa").len(), 64);
        assert_eq!(suffixed("quick", "-aa"), "quick-aa");
    }
}

#[cfg(test)]
mod literal_tests {
    use proptest::prelude::*;

    use super::*;
    use crate::edit::assignment::Assignment;

    #[test]
    fn numbers_switches_and_texts() {
        let of = |key: &str, values: &[&str]| {
            super::toml_value(key, &values.iter().map(ToString::to_string).collect::<Vec<_>>()).to_string()
        };
        assert_eq!(of("boots", &["2"]), "2");
        assert_eq!(of("name", &["2"]), "\"2\"");
        assert_eq!(of("seed", &["007"]), "\"007\"");
        assert_eq!(of("verify", &["true"]), "true");
        assert_eq!(of("sender", &["send", "gso"]), "[\"send\", \"gso\"]");
        assert_eq!(of("mtu", &["1500", "default"]), "[1500, \"default\"]");
        assert_eq!(of("question", &["a \"b\" \\ c"]), "'a \"b\" \\ c'");
    }

    proptest! {
        #[test]
        fn any_value_is_toml(text in "\\PC{1,20}") {
            if let Ok(assignment) = format!("x={text}").parse::<Assignment>() {
                let toml = format!("x = {}\n", toml_value("x", &assignment.values));
                prop_assert!(toml::de::DeTable::parse(&toml).is_ok(), "{}", toml);
            }
        }
    }
}
