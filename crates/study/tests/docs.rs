//! `docs/studies.md` and `docs/which-offloads.md` say what the code does.

use netassay_study::{Assignment, Reader, Sender, Study, bundled, feature, metric};
use serde_json::Value;

const DOCS: &str = include_str!("../../../docs/studies.md");
/// The page of what the bundled studies found.
const FOUND: &str = include_str!("../../../docs/which-offloads.md");
const GLOSSARY: &str = include_str!("../../../docs/glossary.md");

fn is_defined(word: &str) -> bool {
    GLOSSARY.contains(&format!("\n| **{word}** "))
}

/// The examples of the page.
fn examples() -> Vec<&'static str> {
    DOCS.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn two_kernels_with_two_command_lines_are_four_states() {
    let plan =
        Study::parse("docs/studies.md", examples()[1]).unwrap_or_else(|problems| panic!("{problems}")).plan();
    assert_eq!((plan.conditions.len(), plan.states().len()), (4, 4));
}

#[test]
fn the_example_is_what_the_text_says() {
    let [example, _] = examples()[..] else { panic!("two examples are expected") };
    let study = Study::parse("docs/studies.md", example).unwrap_or_else(|problems| panic!("{problems}"));
    let plan = study.plan();
    assert_eq!((plan.conditions.len(), plan.excluded.len()), (6, 2));
    assert_eq!(plan.comparisons.len(), 1);
}

#[test]
fn every_key_metric_and_group_is_explained() {
    let schema: Value = serde_json::from_str(&netassay_study::schema()).unwrap();
    let keys = [
        "/properties",
        "/$defs/Workload/properties",
        "/$defs/Protocol/properties",
        "/$defs/Comparison/properties",
        "/$defs/BootsOfAKind/properties",
        "/$defs/Stop/properties",
        "/$defs/Guest/properties",
        "/$defs/Underlay/properties",
        "/$defs/Design/properties",
        "/$defs/Machine/properties",
        "/$defs/Trace/properties",
    ]
    .iter()
    .flat_map(|path| schema.pointer(path).unwrap().as_object().unwrap().keys().cloned());
    let metrics = metric::keys().filter(|key| !key.contains('.'));
    let groups = feature::GROUPS.iter().map(|group| group.short);
    let defined: Vec<&str> = metrics.chain(groups).collect();
    for word in keys.chain(defined.iter().map(|word| (*word).to_owned())) {
        let named = [format!("`{word}`"), format!("`[{word}]`"), format!("`[[{word}]]`")];
        assert!(named.iter().any(|named| DOCS.contains(named)), "docs/studies.md does not name `{word}`");
    }
    for word in defined {
        assert!(is_defined(word), "docs/glossary.md does not define `{word}`");
    }
    for group in feature::GROUPS.iter() {
        assert!(GLOSSARY.contains(&format!("(also {}", group.long)), "{}", group.long);
    }
}

/// A row of a table: what the page says of a key.
fn row(key: &str, section: &str) -> &'static str {
    let part = DOCS.split("\n## ").find(|part| part.starts_with(section));
    let part = part.unwrap_or_else(|| panic!("no section {section}"));
    part.lines()
        .find(|line| line.starts_with(&format!("| `{key}`")))
        .unwrap_or_else(|| panic!("no row for {key}"))
}

#[test]
fn the_limits_are_those_of_the_schema() {
    let schema: Value = serde_json::from_str(&netassay_study::schema()).unwrap();
    for (section, keys, path) in [
        ("`[protocol]`", ["boots", "warmup", "runs"].as_slice(), "Protocol"),
        ("`[protocol]`", &["count"], "BootsOfAKind"),
        ("`[protocol]`", &["looks"], "Stop"),
        ("The study", &["vcpus"], "Guest"),
        ("`[design]`", &["most"], "Design"),
        ("`[trace]`", &["batch", "rounds"], "Trace"),
    ] {
        for key in keys {
            let property = &schema["$defs"][path]["properties"][key];
            // `boots` may be a table too.
            let number = property.pointer("/$ref").or(property.pointer("/anyOf/0/$ref"));
            let part = number.and_then(Value::as_str).unwrap().rsplit('/').next().unwrap();
            let limits = &schema["$defs"][part];
            let range = format!("{} to {}", limits["minimum"], limits["maximum"]);
            assert!(row(key, section).contains(&range), "{key}: {range}");
        }
    }
}

#[test]
fn the_defaults_are_those_of_the_code() {
    let text = "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\n";
    let study = Study::parse("x.toml", text).unwrap();
    let protocol = &study.protocol;
    for (key, value) in [("boots", protocol.boots), ("warmup", protocol.warmup), ("runs", protocol.runs)] {
        assert!(row(key, "`[protocol]`").ends_with(&format!("| {value} |")), "{key} = {value}");
    }
}

#[test]
fn every_sender_and_reader_is_named_and_explained() {
    let words = Sender::ALL.map(Sender::word).into_iter().chain(Reader::ALL.map(Reader::word));
    for word in words {
        assert!(DOCS.contains(&format!("`{word}`")) && is_defined(word), "{word}");
    }
}

#[test]
fn the_command_of_every_bundled_study_is_on_the_page_of_their_results() {
    for study in bundled::list() {
        assert!(FOUND.contains(&format!("    netassay run {}", study.name)), "{}", study.name);
    }
}

/// Every command of the pages with `--set` is of a bundled study and changes it to a valid one, but
/// for the example of an error.
#[test]
fn every_change_on_the_pages_can_be_made() {
    let mut made = 0;
    let lines = DOCS.lines().chain(FOUND.lines());
    for line in lines.filter(|line| line.contains("netassay run ") && line.contains(" --set ")) {
        let line = line.split(" # ").next().unwrap_or(line);
        let words: Vec<&str> = line.split_whitespace().collect();
        let study =
            words.iter().skip_while(|word| **word != "run").nth(1).and_then(|name| bundled::find(name));
        let Some(study) = study else { continue };
        let set = words.windows(2).filter(|pair| pair[0] == "--set").map(|pair| pair[1].parse());
        let set: Vec<Assignment> =
            set.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{line}: {error}"));
        Study::parse_with(study.name, study.text, &set).unwrap_or_else(|error| panic!("{line}\n{error}"));
        made += 1;
    }
    assert!(made >= 20, "only {made} found");
}

#[test]
fn every_bundled_study_is_listed() {
    for study in bundled::list() {
        assert!(DOCS.contains(&format!("\n{} (", study.name)), "{}", study.name);
    }
}
