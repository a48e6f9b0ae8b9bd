//! Studies whose size is open, on real traffic: A/A measurements, looks that end a study, and sizes
//! planned from what was measured.

mod common;

use common::{Bench, code, expect, skip, stderr, stdout};
use serde_json::Value;

/// Can an ordinary user make the namespaces of a testbed here?
fn can_measure(bench: &Bench, test: &str) -> bool {
    let doctor = bench.run(&["doctor", "--format", "json"]);
    let report: Value = serde_json::from_str(&stdout(&doctor)).unwrap_or_default();
    let can = report["findings"].as_array().is_some_and(|all| {
        let works = |one: &Value| {
            one["name"].as_str().is_some_and(|name| name.starts_with("veth")) && one["status"] == "ok"
        };
        all.iter().any(works)
    });
    if !can {
        skip(test, "the scenario veth does not work here: netassay doctor says why");
    }
    can
}

#[test]
fn traffic_twins_are_measured_stored_and_judged_again() {
    let bench = Bench::new();
    if !can_measure(&bench, "traffic_twins_are_measured_stored_and_judged_again") {
        return;
    }
    let flags = ["run", "quick", "--aa", "--experiments", "3", "--boots", "2", "--set", "runs=2"];
    let flags = [&flags[..], &["--set", "duration=150ms", "--set", "alternate=off"]].concat();
    let measured = bench.run(&[flags.as_slice(), &["--format", "json"]].concat());
    expect(&measured, 0);
    let found: Value = serde_json::from_str(&stdout(&measured)).unwrap_or_default();
    assert_eq!((&found["experiments"], &found["boots"]), (&Value::from(3), &Value::from(2)), "{found}");
    let first = &found["metrics"][0];
    assert_eq!(first["metric"], "throughput");
    for rate in first["rates"].as_array().into_iter().flatten() {
        assert_eq!(rate["of"], 3, "{rate}");
        let (seen, low, high) = (&rate["rate"], &rate["interval"][0], &rate["interval"][1]);
        assert!(low.as_f64() <= seen.as_f64() && seen.as_f64() <= high.as_f64(), "{rate}");
    }
    assert_eq!(first["rates"].as_array().map(Vec::len), Some(3));

    // What is stored is judged again without measuring, and gives the same; another size of
    // experiments another count.
    let again = bench.run(&["run", "--aa", "--from", "1", "--boots", "2", "--format", "json"]);
    expect(&again, 0);
    assert_eq!(stdout(&again), stdout(&measured));
    let larger = bench.run(&["run", "--aa", "--from", "1", "--boots", "3"]);
    expect(&larger, 0);
    assert!(stdout(&larger).contains("2 experiments of 3 boots"), "{}", stdout(&larger));
    assert_eq!(code(&bench.run(&["run", "--aa", "--from", "1", "--boots", "7"])), 4);

    // And it is complete.
    let resumed = bench.run(&[flags.as_slice(), &["--resume", "1"]].concat());
    assert_eq!(code(&resumed), 4, "{}", stderr(&resumed));
}

#[test]
#[ignore = "compares two rates: `runner` proves looks on the simulated lab"]
fn traffic_a_study_ends_when_its_looks_find_all_decided_and_tells_the_spread() {
    let bench = Bench::new();
    if !can_measure(&bench, "traffic_a_study_ends_when_its_looks_find_all_decided_and_tells_the_spread") {
        return;
    }
    // A request of one byte against one of 60000: whatever the machine does meanwhile, that is no
    // close race.
    let text = "name = \"looks\"\nquestion = \"Does it end?\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_rr\"\n\
                duration = \"100ms\"\nramp = \"20ms\"\n[factors]\nmessage = [1, 1000000]\n[protocol]\nboots = 12\nwarmup = 0\n\
                runs = 2\nstop = { detect = \"20%\", looks = 4, bounds = \"pocock\" }\n";
    let study = bench.write("looks.toml", text);
    let study = study.to_str().unwrap_or_default();

    // Nothing is stored yet, so nothing is known of the spread.
    let blind = bench.run(&["study", "plan", study, "--detect", "20%"]);
    assert_eq!(code(&blind), 4);
    assert!(stderr(&blind).contains("--interaction"), "{}", stderr(&blind));

    let ended = bench.run(&["run", study, "--progress", "plain"]);
    expect(&ended, 0);
    let told = stderr(&ended);
    assert!(told.contains("so the study ends here"), "{told}");
    let boots: i64 = bench
        .database()
        .query_row("SELECT COUNT(DISTINCT number) FROM boot", [], |row| row.get(0))
        .unwrap_or_default();
    assert!((3..12).contains(&boots) && boots % 3 == 0, "{boots} boots: {told}");
    let page = stdout(&ended);
    assert!(page.contains("every comparison is decided to within 20%"), "{page}");
    let compared = stdout(&bench.run(&["compare", "--wide"]));
    assert!(compared.contains("of a group-sequential study"), "{compared}");
    let resumed = bench.run(&["run", study, "--resume", "1"]);
    assert_eq!(code(&resumed), 4, "{}", stderr(&resumed));

    let sized = bench.run(&["study", "plan", study, "--detect", "20%"]);
    expect(&sized, 0);
    assert!(stdout(&sized).contains("from study 1 (looks"), "{}", stdout(&sized));
}

#[test]
fn sizes_from_stated_spreads_need_no_measurement() {
    let bench = Bench::new();
    let sized = bench.run(&[
        "study",
        "plan",
        "tcp-offload",
        "--detect",
        "1%",
        "--interaction",
        "0.5%",
        "--within",
        "2%",
        "--format",
        "json",
    ]);
    expect(&sized, 0);
    let sizing: Value = serde_json::from_str(&stdout(&sized)).unwrap_or_default();
    let cheapest = &sizing["cheapest"];
    assert!(cheapest["power"].as_f64() >= Some(0.8), "{sizing}");
    assert!(sizing["as_written"]["power"].as_f64() < Some(0.8), "{sizing}");
    let families = "name = \"families\"\nquestion = \"?\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\n\
                    [factors]\nfamily = [\"ipv4\", \"ipv6\"]\n";
    bench.write("families.toml", families);
    for (arguments, words) in [
        (
            &["run", "families.toml", "--aa", "--set", "apart=true"][..],
            "no two conditions can take turns in one flow",
        ),
        (&["run", "quick", "--aa", "--set", "apart=true", "--set", "runs=2", "--boots", "3"], "--set boots="),
        (&["study", "plan", "quick", "--detect", "1"], "write it as \"2%\""),
        (&["study", "plan", "quick", "--detect", "1%", "--within", "1%"], "--interaction"),
        (
            &[
                "study",
                "plan",
                "quick",
                "--detect",
                "1%",
                "--power",
                "100%",
                "--within",
                "1%",
                "--interaction",
                "1%",
            ],
            "100 %",
        ),
        (&["run", "--aa"], "STUDY"),
        (&["run", "quick", "--boots", "2"], "--aa"),
        (&["run", "quick", "--aa", "--boots", "1"], "--boots"),
        (&["run", "quick", "--aa", "--experiments", "1000"], "boots"),
    ] {
        let refused = bench.run(arguments);
        assert_eq!(code(&refused), 2, "{arguments:?}: {}", stderr(&refused));
        assert!(stderr(&refused).contains(words), "{arguments:?}: {}", stderr(&refused));
    }
}
