//! Stored studies from outside: called by number, tag or name, noted, removed, packed, compared.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;
#[path = "common/studies.rs"]
mod studies;

use std::fs;

use common::{Bench, expect, json, stderr, stdout};
use store::Store;
use studies::{TOML, five_boots, plan, three};
use study::{Study, bundled};

#[test]
fn a_study_is_tagged_and_called_by_its_tag() {
    let bench = Bench::new();
    three(&bench);
    expect(&bench.run(&["db", "tag", "1", "main"]), 0);
    let list = json(&bench, &["db", "list"]);
    assert_eq!(list["studies"][0]["tags"][0], "main");
    let shown = bench.run(&["show", "main"]);
    expect(&shown, 0);
    let text = stdout(&shown);
    assert!(
        text.contains("Results: study 1, tagged main, in ") || text.contains("study 1, tagged main in"),
        "{text}"
    );
    // A name is its newest study.
    assert_eq!(json(&bench, &["show", "quick"])["study"]["id"], 3);
    let taken = bench.run(&["db", "tag", "2", "main"]);
    expect(&taken, 2);
    assert!(stderr(&taken).contains("names study 1 already") && stderr(&taken).contains("--move"));
    expect(&bench.run(&["db", "tag", "2", "main", "--move"]), 0);
    assert_eq!(json(&bench, &["show", "main"])["study"]["id"], 2);
    expect(&bench.run(&["db", "tag", "--remove", "main"]), 0);
    for (arguments, code) in [
        (&["show", "main"][..], 4),
        (&["db", "tag", "--remove", "main"][..], 4),
        (&["db", "tag", "1", "12"][..], 2),
        (&["db", "tag", "1", "a/b"][..], 2),
        (&["db", "tag", "9", "x"][..], 4),
        (&["db", "tag", "1", "x", "--db", "none.db"][..], 4),
        (&["db", "export", "mian", "--format", "csv"][..], 4),
        (&["run", "quick", "--resume", "77", "--dry-run"][..], 4),
        (&["report", "1", "quick", "1"][..], 2),
    ] {
        let output = bench.run(arguments);
        expect(&output, code);
        assert!(stdout(&output).is_empty() && !stderr(&output).is_empty(), "{arguments:?}");
    }
    expect(&bench.run(&["db", "export", "quick", "--format", "csv"]), 0);
    assert!(!bench.path("none.db").exists());
}

#[test]
fn every_view_of_stored_studies_has_the_json_of_the_schema() {
    let bench = Bench::new();
    three(&bench);
    for arguments in [
        &["show", "1"][..],
        &["compare", "1"],
        &["compare", "1", "--classic"],
        &["compare", "1", "2"],
        &["history"],
        &["advise", "1"],
        &["report", "1", "2", "-o", "-"],
        &["gate", "2", "--baseline", "1", "--fail-if", "throughput < -20%"],
        &["study", "plan", "quick", "--detect", "2%"],
    ] {
        assert_eq!(json(&bench, arguments)["format_version"], 1, "{arguments:?}");
    }
}

#[test]
fn what_would_be_removed_is_said_first() {
    let bench = Bench::new();
    three(&bench);
    let before = json(&bench, &["db", "list"]);
    let dry = bench.run(&["db", "remove", "1", "--dry-run"]);
    expect(&dry, 0);
    assert_eq!(stdout(&dry), "study 1 with 5 boots, 60 runs: would be removed\n");
    assert_eq!(json(&bench, &["db", "list"]), before);
    // A name of several studies is no study to remove.
    let several = bench.run(&["db", "remove", "quick"]);
    expect(&several, 2);
    assert!(stderr(&several).contains("(1, 2, 3)"), "{}", stderr(&several));
    assert_eq!(json(&bench, &["db", "remove", "1"])["contents"]["runs"], 60);
    let left: Vec<u64> = json(&bench, &["db", "list"])["studies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["id"].as_u64().unwrap())
        .collect();
    assert_eq!(left, [2, 3]);
    expect(&bench.run(&["db", "remove", "1"]), 4);
}

#[test]
fn a_packed_study_is_shown_and_compared_like_any_other() {
    let bench = Bench::new();
    three(&bench);
    expect(&bench.run(&["db", "pack", "1", "2", "-o", "packed.netassay"]), 0);
    let again = bench.run(&["db", "pack", "1", "-o", "packed.netassay"]);
    expect(&again, 3);
    let said = stderr(&again);
    assert!(said.contains("exists, and nothing is written over it: choose another name"), "{said}");
    expect(&bench.run(&["show", "1", "--db", "packed.netassay"]), 0);
    expect(&bench.run(&["db", "unpack", "packed.netassay", "--db", "new.db"]), 0);
    let compared = |db: &str| json(&bench, &["compare", "1", "2", "--db", db]);
    assert_eq!(compared("new.db"), compared("netassay.db"));
    let twice = bench.run(&["db", "unpack", "packed.netassay", "--db", "new.db"]);
    expect(&twice, 0);
    assert!(stderr(&twice).contains("study 1 of packed.netassay is in new.db already"), "{}", stderr(&twice));
    // What is no database is refused before one is made for it.
    bench.write("odd", "no database at all");
    expect(&bench.run(&["db", "unpack", "odd", "--db", "other.db"]), 3);
    assert!(!bench.path("other.db").exists());
    let missing = bench.run(&["db", "unpack", "missing", "--db", "other.db"]);
    expect(&missing, 2);
    assert!(stderr(&missing).contains("cannot read missing: No such file"), "{}", stderr(&missing));
    let names: Vec<String> = fs::read_dir(bench.path("."))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("packed"))
        .collect();
    assert_eq!(names, ["packed.netassay"], "a packed study is one file");
}

#[test]
fn plan_takes_the_spread_of_the_nearest_study_and_says_how_near_it_is() {
    let bench = Bench::new();
    bench.write("quick.toml", TOML);
    let shorter = TOML.replace("700ms", "70ms");
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    // In the order in which they serve, which is not that of time.
    let wanted = [
        (TOML, "", ""),
        (&shorter, "", "windows of another length"),
        (TOML, "status = 'failed'", "a study that did not complete"),
        (TOML, "name = 'other'", "another study"),
        (
            &shorter,
            "name = 'other', status = 'interrupted'",
            "another study, a study that did not complete and windows of another length",
        ),
    ];
    for (toml, change, _) in wanted {
        let id = five_boots(&mut store, Study::parse("quick.toml", toml).unwrap().plan(), "6.18", 1.0);
        if !change.is_empty() {
            bench.database().execute(&format!("UPDATE study SET {change} WHERE id = {id}"), []).unwrap();
        }
    }
    drop(store);
    for ((_, _, remark), id) in wanted.into_iter().zip(1..) {
        let sized = bench.run(&["study", "plan", "quick.toml", "--detect", "2%"]);
        expect(&sized, 0);
        let text = stdout(&sized).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&format!("from study {id} (")), "{text}");
        assert_eq!(text.contains("Note: the spread is"), !remark.is_empty(), "{text}");
        assert!(text.contains(&format!("that of {remark}: a complete pilot")) || remark.is_empty(), "{text}");
        let forget = format!("PRAGMA foreign_keys = ON; DELETE FROM study WHERE id = {id};");
        bench.database().execute_batch(&forget).unwrap();
    }
}

#[test]
fn two_studies_are_compared_and_what_cannot_be_is_exit_code_12() {
    let bench = Bench::new();
    three(&bench);
    expect(&bench.run(&["db", "tag", "1", "v6.18"]), 0);
    let output = bench.run(&["compare", "1", "2"]);
    expect(&output, 0);
    let text = stdout(&output);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!("compare_two", text);
    let found = json(&bench, &["compare", "v6.18", "2"]);
    let rows = found["comparisons"][0]["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["verdict"] == "higher"), "{found}");
    assert_eq!(found["differences"][0]["what"], "kernel release (transmitter)");
    for (arguments, code, words) in [
        (&["compare", "1", "3"][..], 12, "kind is tcp_stream in study 1 and udp_stream in study 3"),
        (&["compare", "1", "quick"][..], 12, "study 3 cannot be compared with study 1"),
        (&["compare", "1", "2", "--metric", "transactions"][..], 12, "gives transactions"),
        (&["compare", "1", "2", "--metric", "receiver.cpu"][..], 4, "receiver.cpu"),
        (&["compare", "1", "1"][..], 2, "both are study 1"),
        (&["compare", "1", "2", "3"][..], 2, "name two"),
        (&["compare", "1", "2", "--classic"][..], 2, "--classic"),
        (&["compare", "1", "9"][..], 4, "holds no study \"9\""),
        (&["compare", "1", "mian"][..], 4, "holds no study \"mian\""),
    ] {
        let output = bench.run(arguments);
        expect(&output, code);
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "");
    }
}

#[test]
fn a_bundled_study_is_printed_as_it_is() {
    let bench = Bench::new();
    let output = bench.run(&["study", "print", "quick"]);
    expect(&output, 0);
    assert_eq!(stdout(&output), bundled::find("quick").unwrap().text);
    expect(&bench.run(&["study", "print", "quikc"]), 2);
}

/// Twelve studies, the last five of them 10 % slower, tagged v6.1 to v6.12 in another
/// order of time.
fn twelve(bench: &Bench) {
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    for place in 1..=12_u32 {
        let version = if place % 2 == 0 { place - 1 } else { place + 1 };
        let day = f64::from(place * 5 % 7) / 500.0;
        let factor = if version < 8 { 1.0 + day } else { 0.9 + day };
        let id = five_boots(&mut store, plan(), "6.19", factor);
        store.tag(id, &format!("v6.{version}").parse().unwrap(), false).unwrap();
    }
}

#[test]
fn a_history_is_shown_as_text_json_and_chart() {
    let bench = Bench::new();
    twelve(&bench);
    let one = ["history", "--tags", "v6.*", "--condition", "ipv4 offloads=none"];
    let shown = bench.run(&one);
    expect(&shown, 0);
    insta::assert_snapshot!("history", without_times(&stdout(&shown)));
    let found = json(&bench, &one);
    let points = found["series"][0]["points"].as_array().unwrap();
    let labels: Vec<&str> = points.iter().map(|point| point["label"].as_str().unwrap()).collect();
    assert_eq!((labels[0], labels[1], labels[11]), ("v6.1", "v6.2", "v6.12"));
    let changes = found["series"][0]["changes"].as_array().unwrap();
    assert_eq!((changes.len(), &changes[0]["first"]), (1, &7.into()), "{changes:?}");
    for (name, begin) in [("h.svg", "<svg "), ("h.html", "<!DOCTYPE html>")] {
        expect(&bench.run(&[&one[..], &["-o", name]].concat()), 0);
        let written = fs::read_to_string(bench.path(name)).unwrap();
        assert!(written.starts_with(begin) && written.contains("v6.12"), "{written}");
        // Again, over it; nothing stays beside it.
        expect(&bench.run(&[&one[..], &["-o", name]].concat()), 0);
    }
    let aside: Vec<_> =
        fs::read_dir(bench.path(".")).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(!aside.iter().any(|name| name.to_string_lossy().starts_with('.')), "{aside:?}");
    // By time the versions are mixed.
    let by_time = json(&bench, &["history", "quick", "--order", "time", "--last", "9"]);
    assert_eq!(by_time["studies"].as_array().unwrap().len(), 9);
    assert_eq!(by_time["studies"][8]["label"], "v6.11");
}

#[test]
fn what_is_no_history_is_refused() {
    let bench = Bench::new();
    three(&bench);
    expect(&bench.run(&["history", "1"]), 0);
    for (arguments, code, said) in [
        (&["history", "nothing"][..], 4, "nothing"),
        (&["history", "--tags", "v7.*"][..], 4, "no study \"quick\" of netassay.db has a tag like v7.*"),
        (&["history", "--db", "none.db"][..], 4, "none.db"),
        (&["history", "--metric", "sped"][..], 2, "there is no metric"),
        (&["history", "--condition", "x"][..], 2, "no condition"),
        (&["history", "-o", "h.png"][..], 2, "end its name so"),
        (&["history", "-o", "none/h.svg"][..], 3, "cannot write none/h.svg"),
    ] {
        let output = bench.run(arguments);
        expect(&output, code);
        assert!(stderr(&output).contains(said), "{arguments:?}: {}", stderr(&output));
    }
}

/// The page with every time of day replaced: it is that of the test.
fn without_times(page: &str) -> String {
    let is_time = |word: &str| word.len() == 8 && word.matches(':').count() == 2;
    let line = |line: &str| {
        line.split(' ')
            .map(|word| if is_time(word) { "HH:MM:SS" } else { word })
            .collect::<Vec<_>>()
            .join(" ")
    };
    page.lines().map(line).collect::<Vec<_>>().join("\n")
}
