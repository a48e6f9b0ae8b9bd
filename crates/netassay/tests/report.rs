//! `netassay report` from outside: where it writes, what it writes, and what it refuses.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;
#[path = "common/studies.rs"]
mod studies;

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};

use common::{Bench, expect, stderr, stdout};
use record::{Detail, sample};
use serde_json::Value;
use store::{NewRun, NewStudy, Outcome, Store, StudyId, StudyStatus};
use studies::{TOML, plan};
use study::PlannedRun;

/// Records a study: so many boots of 3 runs, then this state.
fn record(bench: &Bench, name: &str, boots: u32, status: Option<StudyStatus>) -> StudyId {
    let plan = plan();
    let conditions = plan.conditions.len();
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    let study = NewStudy {
        name: name.to_owned(),
        toml: TOML.to_owned(),
        plan,
        seed: u64::MAX,
        scenario: "veth".to_owned(),
        version: "0.1.0".to_owned(),
        pair: None,
    };
    let id = store.begin_study(&study).unwrap();
    for number in 1..=boots {
        let boot = store.begin_boot(id, number, &sample::environment()).unwrap();
        for (repeat, condition) in
            (1..=3).flat_map(|run| (0..conditions).map(move |condition| (run, condition)))
        {
            let value = 1000.0 - 100.0 * condition as f64 + f64::from((number * 7 + repeat * 3) % 11);
            let run = NewRun {
                planned: PlannedRun { boot: 1, block: repeat, repeat, position: 0, warmup: false, condition },
                started_unix_ms: 1_700_000_000_000,
                outcome: Outcome::Ok([(study::metric::THROUGHPUT, value)].into_iter().collect()),
                limited_by: None,
                series: words::BySide::default(),
                detail: Detail::Measured(Box::new(sample::account())),
            };
            store.record_run(boot, &run).unwrap();
        }
    }
    if let Some(status) = status {
        store.finish_study(id, status).unwrap();
    }
    id
}

fn complete(bench: &Bench, name: &str) {
    record(bench, name, 3, Some(StudyStatus::Complete));
}

/// The files of the directory but the database and the binary.
fn files(bench: &Bench) -> Vec<String> {
    let entries = fs::read_dir(bench.path("")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let is_ours = |name: &String| *name != "netassay" && !name.starts_with("netassay.db");
    let mut names: Vec<String> = names.filter(is_ours).collect();
    names.sort();
    names
}

#[test]
fn the_report_is_written_beside_the_database_and_says_where() {
    let bench = Bench::new();
    complete(&bench, "quick");
    let output = bench.run(&["report"]);
    expect(&output, 0);
    assert_eq!((stdout(&output).as_str(), stderr(&output).as_str()), ("", "wrote quick-1.html\n"));
    assert_eq!(files(&bench), ["quick-1.html"]);
    let page = fs::read_to_string(bench.path("quick-1.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"), "{page:.60}");
    assert!(page.contains("What do IPv6 and offloads change for TCP between two hosts?"));
    for (arguments, name) in [
        (&["report", "--format", "md"][..], "quick-1.md"),
        (&["report", "1", "--format", "json"], "quick-1.json"),
        (&["report", "-o", "a.html"], "a.html"),
    ] {
        let output = bench.run(arguments);
        expect(&output, 0);
        assert_eq!(stderr(&output), format!("wrote {name}\n"));
        assert!(bench.path(name).is_file());
    }
    fs::create_dir(bench.path("in")).unwrap();
    fs::copy(bench.path("netassay.db"), bench.path("in/other.db")).unwrap();
    let output = bench.run(&["report", "--db", "in/other.db"]);
    assert_eq!(stderr(&output), "wrote in/quick-1.html\n");
}

#[test]
fn standard_output_gets_the_same() {
    let bench = Bench::new();
    complete(&bench, "quick");
    for format in ["html", "md", "json"] {
        let output = bench.run(&["report", "--format", format, "-o", "-"]);
        expect(&output, 0);
        assert_eq!(stderr(&output), "");
        assert!(files(&bench).is_empty(), "{:?}", files(&bench));
        expect(&bench.run(&["report", "--format", format, "-o", "file"]), 0);
        let written = fs::read_to_string(bench.path("file")).unwrap();
        assert_eq!(stdout(&output).trim_end(), written.trim_end());
        fs::remove_file(bench.path("file")).unwrap();
    }
}

#[test]
fn the_json_is_what_show_prints_and_what_was_found() {
    let bench = Bench::new();
    complete(&bench, "quick");
    complete(&bench, "other");
    let read =
        |arguments: &[&str]| -> Value { serde_json::from_str(&stdout(&bench.run(arguments))).unwrap() };
    let report = read(&["report", "1", "2", "--format", "json", "-o", "-"]);
    for (place, number) in ["1", "2"].into_iter().enumerate() {
        let study = &report["studies"][place];
        let mut shown = read(&["show", number, "--format", "json"]);
        shown.as_object_mut().unwrap().remove("format_version");
        assert_eq!(study["results"], shown.as_object_mut().unwrap().remove("results").unwrap());
        assert_eq!(study["stored"], shown);
        assert_eq!(study["stored"]["study"]["seed"], u64::MAX);
        assert_eq!(study["results"]["comparisons"][0]["rows"][0]["verdict"], "lower");
    }
}

#[test]
fn several_studies_are_side_by_side() {
    let bench = Bench::new();
    for name in ["quick", "quick", "other"] {
        complete(&bench, name);
    }
    assert_eq!(stderr(&bench.run(&["report", "1", "2"])), "wrote quick-1-2.html\n");
    assert_eq!(stderr(&bench.run(&["report", "quick", "other"])), "wrote studies-2-3.html\n");
    let page = fs::read_to_string(bench.path("studies-2-3.html")).unwrap();
    for heading in ["2 studies: quick, other", "Study 2: quick", "Study 3: other"] {
        assert!(page.contains(heading), "{heading}");
    }
}

#[test]
fn an_old_report_is_replaced_as_a_whole_and_a_link_stays() {
    let bench = Bench::new();
    complete(&bench, "quick");
    bench.write("old.html", "old");
    symlink("old.html", bench.path("link.html")).unwrap();
    expect(&bench.run(&["report", "-o", "link.html"]), 0);
    assert!(bench.path("link.html").is_symlink());
    assert!(fs::read_to_string(bench.path("old.html")).unwrap().starts_with("<!DOCTYPE html>"));
    assert_eq!(files(&bench), ["link.html", "old.html"], "nothing is left beside it");
    // A device stays one.
    expect(&bench.run(&["report", "-o", "/dev/null"]), 0);
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    let full = bench.run(&["report", "-o", "/dev/full"]);
    expect(&full, 3);
    assert!(stderr(&full).contains("cannot write /dev/full: No space left"), "{}", stderr(&full));
}

#[test]
fn places_that_cannot_hold_a_report_are_refused_in_words() {
    let bench = Bench::new();
    complete(&bench, "quick");
    fs::create_dir(bench.path("directory")).unwrap();
    let before = fs::read(bench.path("netassay.db")).unwrap();
    for (target, code, words) in [
        ("directory", 2, "directory is a directory: name a file in it"),
        ("netassay.db", 2, "cannot write netassay.db: it is a database: name another file"),
        ("missing/report.html", 3, "cannot write missing/report.html: No such file or directory"),
    ] {
        let output = bench.run(&["report", "-o", target]);
        expect(&output, code);
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    assert_eq!(fs::read(bench.path("netassay.db")).unwrap(), before);
    fs::set_permissions(bench.path("netassay.db"), fs::Permissions::from_mode(0o666)).unwrap();
    fs::set_permissions(bench.path("directory"), fs::Permissions::from_mode(0o555)).unwrap();
    let output = bench.netassay_as_nobody(&["report", "-o", "directory/report.html"]).output().unwrap();
    expect(&output, 3);
    let words = "cannot write directory/report.html: Permission denied";
    assert!(stderr(&output).contains(words), "{}", stderr(&output));
}

#[test]
fn what_is_not_there_is_said() {
    let bench = Bench::new();
    expect(&bench.run(&["report"]), 4);
    record(&bench, "quick", 0, None);
    for (arguments, code, words) in [
        (&["report", "7"][..], 4, "7"),
        (&["report", "1", "no-such"], 4, "no-such"),
        (&["report", "--db", "none.db"], 4, "none.db"),
    ] {
        let output = bench.run(arguments);
        expect(&output, code);
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    bench.write(
        "bad.db",
        "this is no database, and it is long enough to have a header of one, or more than that",
    );
    let output = bench.run(&["report", "--db", "bad.db"]);
    expect(&output, 3);
    assert!(stderr(&output).contains("bad.db"), "{}", stderr(&output));
    assert_eq!(files(&bench), ["bad.db"]);
}

#[test]
fn an_empty_or_interrupted_study_has_an_honest_report() {
    let bench = Bench::new();
    record(&bench, "quick", 0, None);
    record(&bench, "quick", 1, None);
    for (number, words) in [
        ("1", "36 of 36 runs are missing: 36 not tried (the study was interrupted)"),
        ("2", "24 of 36 runs are missing: 24 not tried (the study was interrupted)"),
    ] {
        for format in ["html", "md"] {
            let output = bench.run(&["report", number, "--format", format, "-o", "-"]);
            expect(&output, 0);
            assert!(stdout(&output).contains(words), "{}", stdout(&output));
        }
    }
}

#[test]
fn the_name_of_a_study_is_no_path_and_no_markup() {
    let bench = Bench::new();
    complete(&bench, "../<script>alert(1)</script>");
    let output = bench.run(&["report"]);
    expect(&output, 0);
    let name = "script_alert_1___script_-1.html";
    assert_eq!(stderr(&output), format!("wrote {name}\n"));
    let page = fs::read_to_string(bench.path(name)).unwrap();
    assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
}

#[test]
fn a_study_that_another_program_damaged_is_named() {
    let bench = Bench::new();
    complete(&bench, "quick");
    bench.database().execute("UPDATE study SET plan = '{\"seven\": 7}'", []).unwrap();
    let output = bench.run(&["report"]);
    expect(&output, 3);
    assert!(stderr(&output).contains("the plan of study 1"), "{}", stderr(&output));
    assert!(files(&bench).is_empty());
}
