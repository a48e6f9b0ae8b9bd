//! A search for the highest rate without loss: real traffic through a shaper of a known rate, and
//! without one.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::process::{Command, Stdio};
use std::time::Duration;

use common::{Bench, expect, output_schema, skip, stdout};
use serde_json::Value;

/// What a shaper of 100 Mbit/s lets through: headers of Ethernet, IPv4 and UDP count.
const THROUGH: f64 = 100.0 * 1452.0 / (14.0 + 20.0 + 8.0 + 1452.0);

fn searched(bench: &Bench, arguments: &[&str]) -> Value {
    let search = ["load", "udp_stream", "find_rate=on", "--format", "json", "ramp=50ms"];
    let output = bench.netassay_as_nobody(&[&search, arguments].concat()).output().unwrap();
    expect(&output, 0);
    output_schema::expect(&search, &stdout(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What `limited by` says is of another trial than the lines above it, which the page says. At this
/// pace a socket holds what arrives while a busy machine keeps its reader from a CPU.
#[test]
fn a_page_says_which_trial_its_lines_are_of() {
    let bench = Bench::new();
    let search = ["load", "udp_stream", "find_rate=on", "loss=10%", "pacing=5Mbit"];
    let short = ["duration=200ms", "ramp=20ms", "--wide"];
    let output = bench.netassay_as_nobody(&[&search[..], &short[..]].concat()).output().unwrap();
    expect(&output, 0);
    let page = stdout(&output);
    // Where a busy machine keeps no rate, the last trial is that at no particular rate.
    for words in [
        "the lines below are of the last",
        "`limited by` is of the best of those with the most",
        "limited by: ",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

fn megabits(document: &Value, key: &str) -> Option<f64> {
    document["search"][key].as_f64().map(|rate| rate / 1e6)
}

/// Eight flows fill the shaper's queue; fewer would wait for room in their own sockets. How close
/// the ends come to the rate depends on how often the machine stalls; that they hold it does not.
#[test]
#[ignore = "asserts a rate: needs a quiet machine"]
fn the_rate_of_a_shaper_is_in_the_interval() {
    let bench = Bench::new();
    let arguments = ["loss=0.1%", "duration=400ms", "flows=8", "path_rate=100Mbit"];
    let shaped = ["load", "udp_stream", "duration=10ms", "ramp=0s", "path_rate=1Gbit"];
    let output = bench.netassay_as_nobody(&shaped).output().unwrap();
    if common::stderr(&output).contains("queueing discipline `tbf`") {
        return skip("the_rate_of_a_shaper_is_in_the_interval", "this kernel has no tbf");
    }
    let document = searched(&bench, &arguments);
    let (lower, upper) = (megabits(&document, "lower").unwrap(), megabits(&document, "upper").unwrap());
    let edge = THROUGH / (1.0 - 0.001);
    assert!(lower <= edge && edge <= upper, "{edge}: {}", document["search"]);
    let found = document["metrics"]["found_rate"].clone();
    assert_eq!((found["unit"].as_str(), found["value"].as_f64()), (Some("Mbit/s"), Some(lower)));
    let packets = document["metrics"]["found_packets"]["value"].as_f64().unwrap();
    assert!((packets * 1452.0 * 8.0 / 1e6 / lower - 1.0).abs() < 1e-9);
    // The run's own rate is that of the found one, which is up to 2 ms of 400 ms less than came
    // through.
    let throughput = document["metrics"]["throughput"]["value"].as_f64().unwrap();
    assert!((throughput / lower - 1.0).abs() < 0.011, "{throughput} at {lower}");
}

/// A stopped agent is as late as one whose machine has no time for it.
#[test]
#[ignore = "stops an agent for longer than it is waited for: 40 s"]
fn an_agent_that_is_too_late_ends_no_search() {
    let bench = Bench::new();
    let search = ["load", "udp_stream", "find_rate=on", "loss=10%", "pacing=5Mbit", "--wide"];
    let mut command = bench.netassay_as_nobody(&[&search[..], &["duration=500ms"]].concat());
    let searching = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(3));
    let pid = searching.id();
    let agents = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    let agent = agents.split(' ').next().unwrap();
    let signal = |name: &str| assert!(Command::new("kill").args([name, agent]).status().unwrap().success());
    signal("-STOP");
    std::thread::sleep(Duration::from_secs(38));
    signal("-CONT");
    let output = searching.wait_with_output().unwrap();
    expect(&output, 0);
    let page = stdout(&output);
    assert!(page.contains(", 1 more failed and repeated (the ") && page.contains("answers again"), "{page}");
}

#[test]
#[ignore = "asserts a rate: needs a quiet machine"]
fn a_path_that_never_loses_leaves_the_limit_to_the_sender() {
    let bench = Bench::new();
    let document = searched(&bench, &["duration=50ms", "pacing=20Mbit", "loss=10%"]);
    let search = &document["search"];
    assert_eq!((&search["complete"], search.get("upper")), (&Value::from(true), None), "{search}");
    let lower = megabits(&document, "lower").unwrap();
    assert!((lower / 20.0 - 1.0).abs() < 0.1, "{search}");
    assert_eq!(document["limited_by"], "pacing");
}

#[test]
#[ignore = "asserts rates: needs a quiet machine"]
fn a_study_judges_the_rates_that_it_finds() {
    let bench = Bench::new();
    let study = bench.write(
        "rates.toml",
        "name = \"rates\"\nquestion = \"?\"\nscenario = \"veth\"\n\
         [[workload]]\nkind = \"udp_stream\"\nduration = \"50ms\"\nramp = \"20ms\"\npacing = \"20Mbit\"\n\
         find_rate = true\nloss = \"10%\"\n[factors]\nfamily = [\"ipv4\", \"ipv6\"]\n\
         [protocol]\nboots = 2\nwarmup = 0\nruns = 1\n[[comparison]]\nmetric = \"found_rate\"\n",
    );
    let output =
        bench.netassay_as_nobody(&["run", study.to_str().unwrap(), "--progress", "none"]).output().unwrap();
    assert!([0, 5].contains(&common::code(&output)), "{}", common::stderr(&output));
    assert!(stdout(&output).contains("found rate"), "{}", stdout(&output));
    for slug in ["udp4", "udp6"] {
        let rates = bench.values(slug, "found_rate");
        assert_eq!(rates.len(), 2);
        assert!(rates.iter().all(|rate| (rate / 20.0 - 1.0).abs() < 0.1), "{rates:?}");
    }
}

#[test]
#[ignore = "measures in windows of 20 ms: needs a quiet machine"]
fn latency_is_measured_at_ten_loads() {
    let bench = Bench::new();
    let load = ["load", "udp_rr", "--latency-curve", "rate=2000", "duration=20ms", "ramp=5ms"];
    let output = bench.netassay_as_nobody(&[&load[..], &["--format", "json"]].concat()).output().unwrap();
    expect(&output, 0);
    output_schema::expect(&load, &stdout(&output));
    let curve: Value = serde_json::from_slice(&output.stdout).unwrap();
    let points = curve["points"].as_array().unwrap();
    assert_eq!((points.len(), &curve["most"], &curve["repeats"]), (10, &Value::from(2000), &Value::from(6)));
    for (point, part) in points.iter().zip(1..) {
        assert_eq!(point["asked"], f64::from(part) * 200.0);
        assert!(point["latency_p99"].as_f64() >= point["latency_p50"].as_f64(), "{point}");
        assert!(point["latency_mean"].as_f64().is_some_and(|mean| mean > 500.0), "{point}");
    }
    let knee = &curve["knee"];
    assert!(
        knee["lower"].as_f64() <= knee["rate"].as_f64() && knee["rate"].as_f64() <= knee["upper"].as_f64()
    );
    let refused = bench.netassay_as_nobody(&["load", "udp_stream", "--latency-curve"]).output().unwrap();
    expect(&refused, 2);
    assert!(common::stderr(&refused).contains("`udp_stream` measures no latency"));
}
