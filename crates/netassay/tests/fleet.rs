//! Many pairs of machines: measured by processes of their own, and read as one.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;
#[path = "common/studies.rs"]
mod studies;

use common::{Bench, expect, json, stderr, stdout};
use store::{FleetPair, Store};
use studies::{Made, TOML, level, plan};

const CAMPAIGN: &str = "quick@19a";

/// Pairs whose second condition is 10 % above the first, but for `c`, where it is 60 % above, on
/// another kernel; `f` was not reached.
fn fleet(bench: &Bench) {
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    let pair = |name: &str| FleetPair {
        campaign: CAMPAIGN.to_owned(),
        name: name.to_owned(),
        labels: [("model".to_owned(), if name < "c" { "old" } else { "new" }.to_owned())].into(),
    };
    let names = ["a", "b", "c", "d", "e", "f"];
    store.begin_fleet(&names.map(pair)).unwrap();
    for (name, seed) in names.into_iter().zip(1..6) {
        let (kernel, gain) = if name == "c" { ("6.19", 1.6) } else { ("6.18", 1.1) };
        let made = Made {
            toml: TOML,
            plan: plan(),
            kernel,
            boots: 5,
            runs: 3,
            metric: plan().conditions[0].workload.traffic.kind.primary_metric().key,
            pair: Some(pair(name)),
        };
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
    expect(&bench.run(&["show", "3"]), 0);
    expect(&bench.run(&["db", "remove", "3"]), 0);
    let left = json(&bench, &["show", "--fleet"]);
    assert_eq!(left["fleet"]["not_measured"][0]["name"], "c");
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
    let alone = bench.run(&["db", "unpack", "two.db", "--db", "other.db"]);
    expect(&alone, 0);
    assert_eq!(
        json(&bench, &["show", "--fleet", "--db", "other.db"])["fleet"]["pairs"].as_array().unwrap().len(),
        2
    );
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
    let examined = bench.run(&["doctor", "--hosts", "fleet.toml"]);
    expect(&examined, 3);
    assert!(stdout(&examined).contains("2 of 2 pairs cannot measure"), "{}", stdout(&examined));
    let left: Vec<_> =
        std::fs::read_dir(bench.path(".")).unwrap().flatten().map(|one| one.file_name()).collect();
    assert!(!bench.path("netassay.pairs").exists(), "{left:?}");
}
