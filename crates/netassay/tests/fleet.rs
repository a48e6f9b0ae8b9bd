//! Many pairs of machines: measured by processes of their own, and read as one.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;
#[path = "common/studies.rs"]
mod studies;

use common::{Bench, expect, json, stderr, stdout};
use store::{FleetPair, Store};
use studies::{Made, TOML, fleet_pair, level, record_pair, two_campaigns};

const CAMPAIGN: &str = "quick@19a";

/// Pairs whose second condition is 10 % above the first, but for `c`, where it is 60 % above, on
/// another kernel; `f` was not reached.
fn fleet(bench: &Bench) {
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    let pair = |name: &str| FleetPair {
        labels: [("model".to_owned(), if name < "c" { "old" } else { "new" }.to_owned())].into(),
        ..fleet_pair(CAMPAIGN, name, 1)
    };
    let names = ["a", "b", "c", "d", "e", "f"];
    store.begin_fleet(&names.map(pair)).unwrap();
    for (name, seed) in names.into_iter().zip(1..6) {
        let (kernel, gain) = if name == "c" { ("6.19", 1.6) } else { ("6.18", 1.1) };
        let made = Made { kernel, pair: Some(pair(name)), ..Made::quick() };
        made.record(&mut store, |condition, boot, run| {
            let gain = if condition == 0 { 1.0 } else { gain };
            gain * level(0, boot * seed + condition as u32, run)
        });
    }
    store.set_failure(&pair("f"), Some("root@f1: no route to host")).unwrap();
}

#[test]
fn a_fleet_has_one_answer_and_names_the_pair_that_differs() {
    let bench = Bench::new();
    fleet(&bench);
    let shown = bench.run(&["show", "--fleet", "--by", "model"]);
    expect(&shown, 0);
    let text = stdout(&shown);
    let place = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words}: {text}"));
    // The pair that failed comes first, with its reason.
    assert!(place("1 of 6 pairs not measured") < place("f: root@f1: no route to host"));
    assert!(place("f: root@f1") < place("over machines"));
    place("holds on 5 of 5 pairs");
    assert!(place("Pair c stands apart") < place("kernel release"));
    place("old against new");
    let unknown = bench.run(&["show", "--fleet", "--by", "rack"]);
    expect(&unknown, 2);
    assert!(stderr(&unknown).contains("--by rack: no pair of this campaign"), "{}", stderr(&unknown));
    let found = json(&bench, &["show", "--fleet"]);
    let effect = &found["fleet"]["effects"][0];
    assert_eq!(effect["apart"][0]["name"], "c");
    assert_eq!(effect["sizes"]["count"]["holds"], 5);
    // Four pairs at +10 % and one at +60 %: the mean of the logarithms.
    let mean = effect["sizes"]["mean"]["estimate"].as_f64().unwrap();
    let expected = (4.0 * 1.1_f64.ln() + 1.6_f64.ln()) / 5.0;
    assert!((mean - expected).abs() < 0.005, "{mean}, expected {expected}");
    for format in ["html", "md", "json"] {
        let page = bench.run(&["report", "--fleet", "--format", format, "-o", "-"]);
        expect(&page, 0);
        assert!(stdout(&page).contains("no route to host"), "{format}");
    }
    // Each pair is a study as any other.
    let page = bench.run(&["show", "3"]);
    expect(&page, 0);
    assert!(stdout(&page).starts_with("Pair c\nquick: "), "{}", stdout(&page));
    expect(&bench.run(&["db", "remove", "3"]), 0);
    let left = json(&bench, &["show", "--fleet"]);
    assert_eq!(left["fleet"]["not_measured"][0]["name"], "c");
}

#[test]
fn a_large_fleet_is_shown_by_its_distribution() {
    let bench = Bench::new();
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    for number in 1..=60 {
        let (kernel, gain) = if number == 7 { ("6.19", 1.6) } else { ("6.18", 1.1) };
        let pair = Some(fleet_pair(CAMPAIGN, &format!("p{number}"), 1));
        let made = Made { kernel, boots: 3, runs: 1, pair, ..Made::quick() };
        made.record(&mut store, |condition, boot, run| {
            let gain = if condition == 0 { 1.0 } else { gain };
            gain * level(0, boot * number + condition as u32, run)
        });
    }
    drop(store);
    let text = stdout(&bench.run(&["show", "--fleet"]));
    assert!(text.lines().count() < 80 && text.contains("median"), "{text}");
    // Once, though in each effect.
    assert_eq!(text.matches("Pair p7 stands apart in").count(), 1, "{text}");
    assert!(text.contains("kernel release"), "{text}");
    let page = stdout(&bench.run(&["report", "--fleet", "-o", "-"]));
    // The pair that stands apart is also the last of the others.
    assert!(page.contains("Of 60 pairs 39 are drawn"), "{page}");
    let found = json(&bench, &["show", "--fleet"]);
    assert_eq!(found["fleet"]["pairs"].as_array().unwrap().len(), 60);
    assert_eq!(found["fleet"]["effects"][0]["sizes"]["pairs"].as_array().unwrap().len(), 60);
}

#[test]
fn a_pair_that_crashed_in_a_boot_is_named_and_counts_with_the_rest() {
    let bench = Bench::new();
    fleet(&bench);
    let pair = fleet_pair(CAMPAIGN, "b", 1);
    let why = "1 condition left out of a boot: it crashed the receiver (root@b2)";
    Store::open(bench.path("netassay.db")).unwrap().set_failure(&pair, Some(why)).unwrap();
    let text = stdout(&bench.run(&["show", "--fleet"]));
    assert!(text.contains("1 of 6 pairs measured in part:"), "{text}");
    assert!(text.contains("b: 1 condition left out of a boot"), "{text}");
    assert!(text.contains("holds on 5 of 5 pairs"), "{text}");
}

#[test]
fn a_pair_goes_to_another_file_with_its_labels() {
    let bench = Bench::new();
    fleet(&bench);
    expect(&bench.run(&["db", "pack", "1", "2", "-o", "two.db"]), 0);
    expect(&bench.run(&["db", "unpack", "two.db", "--db", "other.db"]), 0);
    let found = json(&bench, &["show", "--fleet", "--db", "other.db"]);
    assert_eq!(found["fleet"]["pairs"].as_array().unwrap().len(), 2);
    assert_eq!(found["fleet"]["pairs"][1]["labels"]["model"], "old");
    let listed = json(&bench, &["db", "list", "--db", "other.db"]);
    assert_eq!(listed["studies"][1]["pair"]["labels"]["model"], "old");
    let alone = bench.run(&["db", "unpack", "two.db", "--db", "other.db"]);
    expect(&alone, 0);
    assert_eq!(
        json(&bench, &["show", "--fleet", "--db", "other.db"])["fleet"]["pairs"].as_array().unwrap().len(),
        2
    );
}

#[test]
fn a_pair_none_of_whose_runs_counts_is_named_with_the_way_out() {
    let bench = Bench::new();
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    record_pair(&mut store, fleet_pair(CAMPAIGN, "a", 1), 1, [1.0; 4]);
    let made = Made { runs: 0, pair: Some(fleet_pair(CAMPAIGN, "b", 1)), ..Made::quick() };
    made.record(&mut store, |_, _, _| 1.0);
    drop(store);
    let text = stdout(&bench.run(&["show", "--fleet"]));
    for words in ["1 of 2 pairs not measured", "b: none of its runs counts", "quick on 1 pair:"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(text.contains("One pair was measured"), "{text}");
    let found = json(&bench, &["show", "--fleet"]);
    let why = found["fleet"]["not_measured"][0]["why"].as_str().unwrap();
    assert!(why.contains("--pair b --resume 2 tries again"), "{why}");
}

const UNREACHABLE: &str = "[[pair]]\nname = \"a\"\ntransmitter = { launch = [\"false\"], interface = \"x\" }\n\
    receiver = { launch = [\"false\", \"b\"], interface = \"x\" }\n\
    [[pair]]\nname = \"b\"\ntransmitter = { launch = [\"false\", \"c\"], interface = \"x\" }\n\
    receiver = { launch = [\"false\", \"b\"], interface = \"x\" }\n";

/// The pairs share a machine, and so wait for each other.
#[test]
fn each_pair_that_cannot_be_reached_is_named_and_the_others_go_on() {
    let bench = Bench::new();
    bench.write("fleet.toml", UNREACHABLE);
    let run = ["run", "quick", "--hosts", "fleet.toml", "--at-once", "2"];
    let done = bench.run(&run);
    expect(&done, 5);
    let told = stderr(&done);
    for pair in ["pair a: ", "pair b: "] {
        assert!(told.contains(pair), "{told}");
    }
    assert!(stdout(&done).contains("2 of 2 pairs not measured"), "{}", stdout(&done));
    let campaign = told.split("campaign ").nth(1).unwrap().split(':').next().unwrap();
    let again = bench.run(&[&run[..], &["--resume"]].concat());
    expect(&again, 5);
    assert!(
        stderr(&again).contains(&format!("campaign {campaign}: 2 pairs to measure")),
        "{}",
        stderr(&again)
    );
    let behind = bench.run(&["run", "--hosts", "fleet.toml", "--db", "other.db", "--", "quick"]);
    expect(&behind, 5);
    assert!(!stderr(&behind).contains("unexpected argument"), "{}", stderr(&behind));
    let examined = bench.run(&["doctor", "--hosts", "fleet.toml"]);
    expect(&examined, 3);
    assert!(stdout(&examined).contains("2 of 2 pairs cannot measure"), "{}", stdout(&examined));
    let left: Vec<_> =
        std::fs::read_dir(bench.path(".")).unwrap().flatten().map(|one| one.file_name()).collect();
    assert!(!bench.path("netassay.pairs").exists(), "{left:?}");
}

/// Both pairs of [`UNREACHABLE`] are measured; in b a condition crashed a machine in the last boot.
fn measured_with_a_crash(bench: &Bench) {
    bench.write("fleet.toml", UNREACHABLE);
    let toml = TOML.replace("\"veth\"", "\"ssh\"");
    bench.write("runs.toml", &toml);
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    for (name, last) in [("a", 1000.0), ("b", f64::NAN)] {
        let made = Made { toml: &toml, pair: Some(fleet_pair(CAMPAIGN, name, 1)), ..Made::quick() };
        made.record(&mut store, |condition, boot, run| match (condition, boot, run) {
            (3, 5, 3) => last,
            _ => level(condition, boot, run),
        });
    }
    drop(store);
    let detail = r#"{"crash":[{"side":"receiver","host":"b","sign":"silent","console":[]}]}"#;
    let crash = "UPDATE run SET reason = 'it crashed b', detail = ?1 WHERE status = 'failed'";
    assert_eq!(bench.database().execute(crash, [detail]).unwrap(), 1);
}

const RESUME: [&str; 6] = ["run", "runs.toml", "--hosts", "fleet.toml", "--no-report", "--resume"];

#[test]
fn what_crashed_a_machine_is_tried_again_in_each_pair_on_request() {
    let bench = Bench::new();
    measured_with_a_crash(&bench);
    let resumed = bench.run(&RESUME);
    expect(&resumed, 0);
    assert!(stderr(&resumed).contains("campaign quick@19a: 0 pairs to measure"), "{}", stderr(&resumed));
    let again = bench.run(&[&RESUME[..], &["--again"]].concat());
    expect(&again, 0);
    for told in
        ["campaign quick@19a: 1 pair to measure", "pair b: not complete; --resume --again continues it"]
    {
        assert!(stderr(&again).contains(told), "{told}: {}", stderr(&again));
    }
    let found = json(&bench, &["show", "--fleet"]);
    let why = "1 condition left out of a boot (--resume 2 --again tries again): it crashed b";
    assert_eq!(found["fleet"]["pairs"][1]["why"], why);
    assert!(!bench.path("netassay.pairs").exists());
}

#[test]
fn results_are_shown_before_a_push_that_fails_and_the_command_for_it_is_named() {
    let bench = Bench::new();
    measured_with_a_crash(&bench);
    // Another study has the place of pair b there.
    record_pair(&mut Store::open(bench.path("all.db")).unwrap(), fleet_pair(CAMPAIGN, "b", 1), 1, [1.0; 4]);
    let pushed = bench.run(&[&RESUME[..], &["--push", "all.db"]].concat());
    expect(&pushed, 3);
    assert!(stdout(&pushed).contains("quick on 2 pairs:"), "{}", stdout(&pushed));
    let way = "netassay: the results are kept in netassay.db: `netassay db push 1 2 --to all.db` adds them\n";
    assert!(stderr(&pushed).contains(way), "{}", stderr(&pushed));
}

#[test]
fn a_drift_of_the_site_shows_in_the_reference_pair() {
    for (last, drifts) in [(1.0, false), (0.9, true)] {
        let bench = Bench::new();
        let mut store = Store::open(bench.path("netassay.db")).unwrap();
        let pair = |name: &str, repeat| fleet_pair(CAMPAIGN, name, repeat);
        let planned = [("a", 1), ("b", 1), ("a", 2), ("c", 1), ("a", 3), ("a", 4)];
        store.begin_fleet(&planned.map(|(name, repeat)| pair(name, repeat))).unwrap();
        // Other pairs may be as fast as they like.
        for ((name, repeat), speed) in planned.into_iter().zip([1.0, 2.0, 1.0, 3.0, last]) {
            record_pair(
                &mut store,
                pair(name, repeat),
                repeat,
                [1.0, 1.1, 1.0, 1.1].map(|gain| gain * speed),
            );
        }
        store.set_failure(&pair("a", 4), Some("root@a: no route to host")).unwrap();
        drop(store);
        let shown = bench.run(&["show", "--fleet", "--wide"]);
        expect(&shown, 0);
        let text = stdout(&shown);
        for (words, is_there) in [
            ("the site drifted: the reference pair a changed over its 3 measurements", drifts),
            ("a#3 against the first: throughput of ", drifts),
            ("a#2 against the first", false),
            ("no drift is proven", !drifts),
            ("a#4: root@a: no route to host", true),
            ("Reference pair a, 3 measurements over the campaign", true),
        ] {
            assert_eq!(text.contains(words), is_there, "{words}: {text}");
        }
        let found = json(&bench, &["show", "--fleet"]);
        let fleet = &found["fleet"];
        // The repeats are no pairs.
        assert_eq!(fleet["pairs"].as_array().unwrap().len(), 3, "{fleet:#}");
        assert_eq!(fleet["not_measured"].as_array().unwrap().len(), 0, "{fleet:#}");
        assert_eq!(fleet["effects"][0]["pairs"].as_array().unwrap().len(), 3);
        assert_eq!(fleet["reference"]["measurements"], 3);
        let page = bench.run(&["report", "--fleet", "-o", "-"]);
        expect(&page, 0);
        assert!(stdout(&page).contains("The reference pair a over the campaign"));
        // All go to another file.
        expect(&bench.run(&["db", "pack", "1", "2", "3", "4", "5", "-o", "all.db"]), 0);
        assert_eq!(
            json(&bench, &["show", "--fleet", "--db", "all.db"])["fleet"]["reference"]["measurements"],
            3
        );
    }
}

#[test]
fn a_history_over_campaigns_has_a_point_for_each() {
    let bench = Bench::new();
    two_campaigns(&bench);
    let found = json(&bench, &["history", "--fleet"]);
    let points = found["series"][0]["points"].as_array().unwrap();
    let labels: Vec<&str> = points.iter().map(|point| point["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["quick@1", "quick@2"]);
    assert!(points.iter().all(|point| point["boots"] == 4), "{points:#?}");
    let last = json(&bench, &["history", "--fleet", "--last", "1"]);
    assert_eq!(last["studies"].as_array().unwrap().len(), 1);
    let shown = bench.run(&["history", "--fleet", "--wide"]);
    expect(&shown, 0);
    assert!(
        stdout(&shown).contains("means over the 4 pairs that all campaigns measured"),
        "{}",
        stdout(&shown)
    );
    // The newest campaign has other machines.
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    record_pair(&mut store, fleet_pair("quick@3", "z", 1), 1, [1.0; 4]);
    drop(store);
    let found = json(&bench, &["history", "--fleet"]);
    assert_eq!(found["studies"].as_array().unwrap().len(), 2, "{found:#}");
    let left_out = "campaign quick@3 is left out: it did not measure the pairs that the others have in common (a, b, c, d)";
    assert!(found["notes"].as_array().unwrap().iter().any(|note| note == left_out), "{found:#}");
    let nothing = bench.run(&["history", "--fleet", "--last", "2"]);
    expect(&nothing, 2);
    assert!(stderr(&nothing).contains("quick@2, quick@3 have no pair in common"), "{}", stderr(&nothing));
}

#[test]
fn advice_over_machines_names_the_pairs_to_which_it_does_not_apply() {
    let bench = Bench::new();
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    let gains = [("a", 1.1), ("b", 1.12), ("c", 1.09), ("d", 1.11), ("e", 1.1), ("f", 1.0)];
    for ((name, gain), seed) in gains.into_iter().zip(1..) {
        // Over IPv4 the second level is faster, over IPv6 it is not.
        record_pair(&mut store, fleet_pair(CAMPAIGN, name, 1), seed, [1.0, gain, 1.0, 1.0]);
    }
    drop(store);
    let advised = bench.run(&["advise", "--fleet", "--wide"]);
    expect(&advised, 0);
    let text = stdout(&advised);
    assert!(text.contains("holds on 5 of 6 pairs; not on f (a tie there)"), "{text}");
    let found = json(&bench, &["advise", "--fleet"]);
    let rows = found["fleet"]["rows"].as_array().unwrap();
    assert_eq!((&rows[0]["is_recommended"], &rows[0]["to"]), (&true.into(), &"none".into()), "{rows:#?}");
    assert!(rows[1..].iter().all(|row| row["is_recommended"] == false), "{rows:#?}");
    expect(&bench.run(&["advise", "--fleet", "--format", "md"]), 0);
    let script = bench.run(&["advise", "--fleet", "--format", "sh"]);
    expect(&script, 2);
    assert!(stderr(&script).contains("leave --fleet out"), "{}", stderr(&script));
}

#[test]
fn a_campaign_of_two_plans_names_the_pair_and_the_cause() {
    let bench = Bench::new();
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    record_pair(&mut store, fleet_pair(CAMPAIGN, "a", 1), 1, [1.0; 4]);
    let other = TOML.replace("tcp_stream", "udp_stream");
    let plan = study::Study::parse("quick.toml", &other).unwrap().plan();
    let metric = plan.conditions[0].workload.traffic.kind.primary_metric().key;
    let pair = Some(fleet_pair(CAMPAIGN, "b", 1));
    let made = Made { toml: &other, plan, metric, pair, ..Made::quick() };
    made.record(&mut store, level);
    drop(store);
    let shown = bench.run(&["show", "--fleet", "2"]);
    expect(&shown, 2);
    for words in ["pair b (study 2) was measured by another plan than pair a", "kind", "netassay db remove 2"]
    {
        assert!(stderr(&shown).contains(words), "{words}: {}", stderr(&shown));
    }
}

#[test]
fn pairs_are_grouped_by_what_is_recorded_of_them() {
    let bench = Bench::new();
    fleet(&bench);
    let shown = bench.run(&["show", "--fleet", "--by", "kernel release", "--wide"]);
    expect(&shown, 0);
    assert!(stdout(&shown).contains("against 6.18"), "{}", stdout(&shown));
    let of_side = bench.run(&["show", "--fleet", "--by", "transmitter kernel release", "--wide"]);
    expect(&of_side, 0);
    assert!(stdout(&of_side).contains("6.19 against 6.18"), "{}", stdout(&of_side));
    let unknown = bench.run(&["show", "--fleet", "--by", "transmiter kernel release"]);
    expect(&unknown, 2);
    let way = "did you mean --by \"transmitter kernel release\"?";
    assert!(stderr(&unknown).contains(way), "{}", stderr(&unknown));
}

#[test]
fn effects_that_no_pair_proves_are_told_together_and_missing_runs_once() {
    let bench = Bench::new();
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    for (name, seed) in [("a", 3), ("b", 4)] {
        let made = Made { pair: Some(fleet_pair(CAMPAIGN, name, 1)), ..Made::quick() };
        made.record(&mut store, |condition, boot, run| match (name, condition) {
            ("b", 3) => f64::NAN,
            _ => level(0, boot * seed + condition as u32, run),
        });
    }
    drop(store);
    let text = stdout(&bench.run(&["show", "--fleet", "--wide"]));
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for told in [
        "Against ipv4 offloads=default, no difference in throughput over machines or on any pair is proven for ipv4 offloads=none, ipv6 offloads=default and ipv6 offloads=none",
        "Note: runs that do not count: 15 failed, 0 disturbed, on 1 pair (b)",
        "Note: not measured on every pair: throughput of ipv6 offloads=none against ipv4 offloads=default (1 of 2).",
    ] {
        assert!(words.contains(told), "{told}: {text}");
    }
}

#[test]
fn a_pair_whose_study_is_gone_is_named_and_a_long_label_is_cut() {
    let bench = Bench::new();
    fleet(&bench);
    let changes = format!(
        "PRAGMA foreign_keys = OFF; UPDATE pair SET study = 99 WHERE name = 'c';
         UPDATE pair SET labels = '{{\"model\":\"{}\"}}' WHERE name = 'a'",
        "x".repeat(1 << 20)
    );
    bench.database().execute_batch(&changes).unwrap();
    let found = json(&bench, &["show", "--fleet"]);
    let (pairs, missing) = (&found["fleet"]["pairs"], &found["fleet"]["not_measured"]);
    assert_eq!(missing[0]["name"], "c", "{missing:#}");
    assert_eq!(missing[0]["study"], 99, "{missing:#}");
    assert!(missing[0]["why"].as_str().unwrap().contains("holds no study 99"), "{missing:#}");
    assert_eq!(pairs.as_array().unwrap().len(), 4);
    assert_eq!(pairs[0]["labels"]["model"].as_str().unwrap().len(), words::LONGEST_REASON);
}

#[test]
fn traces_are_no_longer_merged_and_the_new_way_is_named() {
    let merged = Bench::new().run(&["trace", "merge", "a.db", "b.db"]);
    expect(&merged, 2);
    assert!(
        stderr(&merged).contains("`netassay trace merge` is now `netassay show --fleet`"),
        "{}",
        stderr(&merged)
    );
}
