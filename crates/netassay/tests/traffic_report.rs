//! The report at the end of a measured study.

mod common;

use std::fs;

use common::{Bench, expect, stderr, stdout};

const STUDY: &str = "name = \"s\"\nquestion = \"q\"\nscenario = \"loopback\"\n[[workload]]\nkind = \"tcp_stream\"\n\
    duration = \"200ms\"\nramp = \"0s\"\n[factors]\nfamily = [\"ipv4\", \"ipv6\"]\n\
    [protocol]\nboots = 1\nruns = 1\nwarmup = 0\n\
    [[comparison]]\nbaseline = { family = \"ipv4\" }\nmetric = \"throughput\"\n";

#[test]
fn a_run_ends_with_a_report_beside_the_database_unless_it_may_not() {
    let bench = Bench::new();
    bench.write("s.toml", STUDY);
    let run = ["run", "--progress", "none", "s.toml"];
    let output = bench.run(&run);
    expect(&output, 0);
    assert!(stdout(&output).ends_with("Report: s-1.html\n"), "{}", stdout(&output));
    assert!(fs::read_to_string(bench.path("s-1.html")).is_ok_and(|page| page.starts_with("<!DOCTYPE html>")));

    let output = bench.run(&[&run[..], &["--no-report"]].concat());
    expect(&output, 0);
    assert!(!stdout(&output).contains("Report:") && !bench.path("s-2.html").exists());

    // A report that cannot be written fails no run.
    assert!(fs::create_dir(bench.path("s-3.html")).is_ok());
    let output = bench.run(&run);
    expect(&output, 0);
    assert!(stderr(&output).contains("netassay: the report was not written: s-3.html is a directory"));
    assert!(!stdout(&output).contains("Report:"));
}
