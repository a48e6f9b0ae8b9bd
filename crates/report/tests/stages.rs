//! The explanation of the difference of a traced path, from made-up traces.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

#[path = "stored/mod.rs"]
mod rows;
mod shown;

use std::collections::BTreeMap;

use netassay_report::Layout;
use record::{Detail, PassedPlace, PathStep, PathTrace, Profile, sample};
use results::{StageDifferences, StageRanges, TraceSources};
use serde_json::json;
use store::{StoredRun, StoredStudy};
use study::{KernelPath, Study, Waiting, bundled};

use shown::Shown as _;

fn study() -> Study {
    bundled::find("path-kernel").unwrap().study()
}

/// A trace in which the copy takes 300 instructions more with the second kernel, which has
/// `ip_output` inlined and another function for its driver. Each boot has a wobble.
fn trace(boot: u32, condition: usize, path: KernelPath) -> PathTrace {
    let wobble = f64::from((boot * 7 + condition as u32 * 3) % 5) / 4.0;
    let (copy, driver) = if condition == 0 { (800.0, "veth_xmit") } else { (1100.0, "veth_tx") };
    let all = [
        ("sendto", "sys_enter", 200.0 + wobble),
        ("copy", "ip_generic_getfrag", copy - wobble),
        ("ip_output", "ip_output", 40.0),
        ("dev_queue_xmit", "__dev_queue_xmit", 300.0),
        ("ndo_start_xmit", driver, 120.0),
        ("sendto return", "sys_exit", 0.0),
    ];
    let passed: Vec<_> = all.into_iter().filter(|one| condition == 0 || one.0 != "ip_output").collect();
    let place = |(label, seen_at, _): &(&str, &str, f64)| PassedPlace {
        label: label.trim_end_matches(" return").to_owned(),
        returns: label.ends_with(" return"),
        seen_at: (*seen_at).to_owned(),
    };
    let steps: Vec<PathStep> = passed[..passed.len() - 1]
        .iter()
        .map(|(_, _, cost)| PathStep { cost: *cost, outside: 0.0, waits: false })
        .collect();
    PathTrace {
        path,
        reader: Waiting::Awake,
        places: passed.iter().map(place).collect(),
        whole: Some(steps.iter().map(|step| step.cost).sum::<f64>() + 5.0 * condition as f64),
        steps,
        packets: 5120,
        profile: None,
    }
}

fn run(id: i64, boot: u32, condition: usize, traces: Vec<PathTrace>) -> StoredRun {
    let mut detail = Detail::Exact(Box::new(sample::exact_run()));
    detail.set_traces(traces);
    StoredRun { detail, ..rows::run(id, boot, 1, condition, BTreeMap::new()) }
}

/// Five boots of each kernel, numbered over both.
fn stored(of: impl Fn(u32, usize) -> Vec<PathTrace>) -> StoredStudy {
    let runs = (1..=10).map(|boot| {
        let condition = (boot as usize + 1) % 2;
        run(i64::from(boot), boot, condition, of(boot, condition))
    });
    rows::complete(&study(), study().plan(), 10, runs.collect())
}

fn traced() -> StoredStudy {
    stored(|boot, condition| vec![trace(boot, condition, KernelPath::UdpTx)])
}

#[test]
fn the_stage_that_differs_is_named_first_and_what_is_unlike_is_told() {
    let page = StageDifferences::new(&traced(), 0.95).unwrap();
    insta::assert_snapshot!("stages", page.text(Layout::PLAIN));
    insta::assert_snapshot!("stages_wide", page.text(Layout::WIDE));
}

/// The stages of udp-tx in two boots of `path-checksum`, recorded with Debian's 6.1.0-56, with the
/// offload and without: ticks of the timer are in some of them.
const RECORDED: [[[f64; 14]; 2]; 2] = [
    [
        [186.0, 210.0, 470.5, 302.5, 913.5, 841.0, 0.0, 107.0, 87.0, 363.0, 362.0, 80.5, 317.0, 527.52],
        [186.0, 210.0, 470.5, 302.5, 913.5, 842.0, 0.0, 107.0, 87.0, 363.0, 362.0, 80.5, 317.0, 529.81],
    ],
    [
        [186.0, 210.0, 470.5, 296.5, 913.5, 1230.51, 0.0, 109.0, 87.0, 363.01, 329.0, 82.01, 313.0, 525.01],
        [186.0, 210.0, 470.5, 296.5, 913.5, 1232.28, 0.0, 109.0, 87.0, 366.21, 329.0, 80.5, 313.0, 524.63],
    ],
];

#[test]
fn recorded_counts_of_two_boots_are_equal_or_differ() {
    let recorded = |boot: u32, condition: usize| {
        let own = RECORDED[condition][(boot as usize - 1) / 2 % 2];
        let place = |stage: usize| {
            let label = format!("stage {stage}");
            PassedPlace { seen_at: label.clone(), label, returns: false }
        };
        let step = |cost: f64| PathStep { cost, outside: 0.0, waits: false };
        let places = (0..15).map(place).collect();
        let (steps, whole) = (own.map(step).to_vec(), Some(own.iter().sum()));
        vec![PathTrace { places, steps, whole, ..trace(boot, condition, KernelPath::UdpTx) }]
    };
    let document = serde_json::to_value(StageDifferences::new(&stored(recorded), 0.95).unwrap()).unwrap();
    let pair = &document["pairs"][0];
    let verdicts = pair["parts"].as_array().unwrap().iter().map(|part| part["verdict"].as_str().unwrap());
    let differ: Vec<(usize, &str)> =
        verdicts.enumerate().filter(|(_, verdict)| *verdict != "equivalent").collect();
    assert_eq!(differ, [(3, "lower"), (5, "higher"), (10, "lower")], "{pair:#}");
    assert_eq!(pair["whole"]["verdict"], "higher", "{pair:#}");
}

/// Instructions that are counted at one stage in a boot, and at its neighbour in another.
#[test]
fn stages_between_which_counts_move_are_joined() {
    let moving = |boot: u32, condition: usize| {
        let mut trace = trace(boot, condition, KernelPath::UdpTx);
        let moved = 8.0 * f64::from(boot % 3);
        trace.steps[0].cost += moved;
        trace.steps[1].cost -= moved;
        vec![trace]
    };
    let page = StageDifferences::new(&stored(moving), 0.95).unwrap();
    insta::assert_snapshot!("stages_joined", page.text(Layout::PLAIN));
    let document = serde_json::to_value(&page).unwrap();
    let pair = &document["pairs"][0];
    assert_eq!(pair["stages"][0], json!(["sendto", "dev_queue_xmit"]), "{pair:#}");
    assert_eq!(pair["parts"][0]["resolution"], 0.1, "{pair:#}");
    // What varies by itself stays, and has no verdict.
    let alone = |boot: u32, condition: usize| {
        let mut trace = trace(boot, condition, KernelPath::UdpTx);
        trace.steps[0].cost += 3.0 * f64::from(boot % 3);
        vec![trace]
    };
    let document = serde_json::to_value(StageDifferences::new(&stored(alone), 0.95).unwrap()).unwrap();
    let pair = &document["pairs"][0];
    assert_eq!(
        (&pair["stages"][0], &pair["parts"][0]["gap"]),
        (&json!(["sendto", "copy"]), &"unlike".into())
    );
    assert_eq!(pair["parts"][1]["verdict"], "higher", "{pair:#}");
}

/// Samples in which the second kernel adds up a checksum of its own, and copies less.
fn profile(boot: u32, condition: usize) -> Profile {
    let wobble = u64::from((boot * 7 + condition as u32 * 3) % 5);
    let own = if condition == 0 { [700 + wobble, 0, 1294, 6] } else { [600, 400 - wobble, 1294, 6] };
    let message = if condition == 0 { 2000.0 } else { 2300.0 };
    let names = ["copy", "csum_partial", "udp_sendmsg", "rare"];
    let functions: Vec<_> =
        names.iter().zip(own).map(|(name, samples)| json!({ "name": name, "samples": samples })).collect();
    let stack = |function: usize| json!({ "frames": [2, function], "samples": own[function] });
    let profile = json!({
        "means": "cpus", "period": 50_157, "message": message, "samples": own.iter().sum::<u64>(),
        "elsewhere": 3, "lost": 0, "functions": functions,
        "stacks": [stack(0), stack(1), { "frames": [2], "samples": own[2] }],
    });
    serde_json::from_value(profile).unwrap()
}

fn sampled() -> StoredStudy {
    stored(|boot, condition| {
        let profile = Some(profile(boot, condition));
        vec![PathTrace { profile, ..trace(boot, condition, KernelPath::UdpTx) }]
    })
}

#[test]
fn the_function_that_explains_a_difference_is_named() {
    let page = StageDifferences::new(&sampled(), 0.95).unwrap();
    let text = page.text(Layout::PLAIN);
    insta::assert_snapshot!("functions", &text[text.find("functions, readers").unwrap()..]);
    // What is rare is in no part, and in the sum.
    let json = serde_json::to_value(&page).unwrap();
    let pair = &json["profiles"][0];
    assert_eq!(pair["functions"], json!(["copy", "csum_partial", "udp_sendmsg"]));
    let number = |value: &serde_json::Value| value["difference"].as_f64().unwrap();
    let parts: f64 = pair["parts"].as_array().unwrap().iter().map(number).sum();
    assert!((parts + number(&pair["unexplained"]) - number(&pair["whole"])).abs() < 1e-6, "{pair:#}");
    // All stacks, with what was not kept, are what a message takes.
    let sums = page.stacks[0]
        .costs
        .iter()
        .fold([0.0; 2], |sum, (_, costs)| [0, 1].map(|side| sum[side] + costs[side]));
    assert!((sums[0] - 2000.0).abs() < 1e-6 && (sums[1] - 2300.0).abs() < 1e-6, "{sums:?}");
    // Without samples there is no word of them.
    let plain = serde_json::to_value(StageDifferences::new(&traced(), 0.95).unwrap()).unwrap();
    assert!(plain.get("profiles").is_none());
}

#[test]
fn a_study_without_traces_says_how_to_have_them() {
    let error = StageDifferences::new(&stored(|_, _| Vec::new()), 0.95).unwrap_err().to_string();
    assert!(error.contains("holds no traces of two conditions") && error.contains("[trace]"), "{error}");
    // Of one condition only, of packets that were not followed, and with parts that do not fit.
    let unsound = |boot, condition| {
        let mut trace = trace(boot, condition, KernelPath::UdpTx);
        trace.steps.pop();
        trace
    };
    let told =
        "of two conditions: udp-tx, readers awake, kernel=cloud-amd64: 5 runs in which no packet passed";
    type Damaged = fn(u32, usize) -> PathTrace;
    for (damaged, why) in [(lost as Damaged, told), (unsound, "[trace]")] {
        let half = stored(|boot, condition| {
            let whole = trace(boot, condition, KernelPath::UdpTx);
            vec![if condition == 0 { whole } else { damaged(boot, condition) }]
        });
        let error = StageDifferences::new(&half, 0.95).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    assert!(ranges(&[("a", stored(|_, _| Vec::new()))]).is_none());
}

/// A trace none of whose packets was followed.
fn lost(boot: u32, condition: usize) -> PathTrace {
    PathTrace {
        places: Vec::new(),
        steps: Vec::new(),
        whole: None,
        ..trace(boot, condition, KernelPath::UdpTx)
    }
}

fn ranges(pairs: &[(&str, StoredStudy)]) -> Option<StageRanges> {
    let mut sources = TraceSources::default();
    for (pair, stored) in pairs {
        sources.add(pair, stored);
    }
    sources.ranges(0.95).unwrap()
}

#[test]
fn traces_of_pairs_have_a_mean_a_least_and_a_most_by_stage() {
    // The copy of pair b costs 100 instructions more, that of pair c 200.
    let dearer = |more: f64| {
        stored(move |boot, condition| {
            let mut trace = trace(boot, condition, KernelPath::UdpTx);
            trace.steps[1].cost += more;
            trace.whole = trace.whole.map(|whole| whole + more);
            vec![trace]
        })
    };
    let found = ranges(&[("a", traced()), ("b", dearer(100.0)), ("c", dearer(200.0))]).unwrap();
    let document = serde_json::to_value(&found).unwrap();
    let groups = document["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 2, "one of each kernel: {document:#}");
    for group in groups {
        assert_eq!(group["sources"], json!(["a", "b", "c"]));
        let number = |value: &serde_json::Value| value.as_f64().unwrap();
        let stages = group["stages"].as_array().unwrap();
        let differ = |one: &&serde_json::Value| number(&one["most"]) - number(&one["least"]) > 1.0;
        let differ: Vec<_> = stages.iter().filter(differ).chain([&group["whole"]]).collect();
        assert_eq!(differ.len(), 2, "{group:#}");
        for one in differ {
            assert!((number(&one["most"]) - number(&one["least"]) - 200.0).abs() < 1e-6, "{one:#}");
            assert_eq!((&one["least_in"], &one["most_in"]), (&json!(0), &json!(2)), "{one:#}");
            let mean = &one["mean"];
            assert!((number(&mean["estimate"]) - number(&one["least"]) - 100.0).abs() < 1e-6, "{one:#}");
            // By pairs, not by boots: 4.303 standard errors of 100 / sqrt(3).
            assert_eq!(mean["degrees_of_freedom"], 2.0, "{one:#}");
            let width = number(&mean["interval"][1]) - number(&mean["interval"][0]);
            assert!((width - 2.0 * 4.302_652_73 * 100.0 / 3.0_f64.sqrt()).abs() < 1e-3, "{one:#}");
        }
    }
    let text = found.text(Layout::WIDE);
    assert!(text.contains("udp-tx, readers awake: kernel=running") && text.contains("most in"), "{text}");
    // Once for both tables.
    assert_eq!(text.matches("a, b, c: kernel 6.18;").count(), 1, "{text}");
    assert_eq!(text.matches("over 3 pairs: a, b, c\n").count(), 2, "{text}");
}

/// Stages that add up to a third more than the whole, in each boot of which this is said.
fn open(is_open: impl Fn(u32, usize) -> bool) -> StoredStudy {
    stored(|boot, condition| {
        let mut trace = trace(boot, condition, KernelPath::UdpTx);
        if is_open(boot, condition) {
            trace.steps[0].cost += trace.whole.unwrap() / 3.0;
        }
        vec![trace]
    })
}

#[test]
fn stages_that_do_not_add_up_are_left_out_and_counted() {
    let some = StageDifferences::new(&open(|boot, _| boot == 3), 0.95).unwrap();
    insta::assert_snapshot!("stages_left_out", some.text(Layout::PLAIN));
    let document = serde_json::to_value(&some).unwrap();
    let left = &document["pairs"][0]["open"];
    assert_eq!((&left["runs"], &left["bound"]), (&1.into(), &0.02.into()), "{document:#}");
    assert_eq!(document["pairs"][0]["runs"], 4, "{document:#}");
    // The other runs are judged as if it had not been traced.
    let without =
        stored(
            |boot, condition| {
                if boot == 3 { Vec::new() } else { vec![trace(boot, condition, KernelPath::UdpTx)] }
            },
        );
    let without = serde_json::to_value(StageDifferences::new(&without, 0.95).unwrap()).unwrap();
    assert_eq!(document["pairs"][0]["parts"], without["pairs"][0]["parts"]);

    // None of a condition is left: the whole is told, and no stage.
    let all = StageDifferences::new(&open(|_, condition| condition == 1), 0.95).unwrap();
    insta::assert_snapshot!("stages_none_judged", all.text(Layout::PLAIN));
}

#[test]
fn stages_that_do_not_add_up_are_in_no_range() {
    let found = ranges(&[("a", traced()), ("b", open(|_, condition| condition == 1))]).unwrap();
    let sources: Vec<usize> = found.groups.iter().map(|group| group.sources.len()).collect();
    assert_eq!(sources, [2, 1]);
    let text = found.text(Layout::WIDE);
    assert!(text.contains("of pair b, kernel=") && text.contains("do not add up to the whole"), "{text}");
    let none = ranges(&[("b", open(|_, _| true))]).unwrap();
    assert!(none.groups.is_empty() && none.left_out.len() == 2);
    for (rounds, remedy) in [
        (5, "probes better (`--set trace.rounds=20`)"),
        (20, "probes better (`--set trace.rounds=64`)"),
        (64, ": 64 rounds, the most, do not tell the cost of probes"),
    ] {
        let mut traced = open(|_, _| true);
        traced.plan.tracing.as_mut().unwrap().rounds = rounds;
        let text = ranges(&[("b", traced)]).unwrap().text(Layout::WIDE);
        assert!(text.contains(remedy), "{text}");
    }
    let half = stored(|boot, condition| {
        vec![if condition == 0 { trace(boot, condition, KernelPath::UdpTx) } else { lost(boot, condition) }]
    });
    let text = ranges(&[("a", traced()), ("b", half)]).unwrap().text(Layout::WIDE);
    let why = "of pair b, kernel=cloud-amd64: 5 runs in which no packet passed the places of udp-tx once and in order: ";
    assert!(text.contains(why), "{text}");
}
