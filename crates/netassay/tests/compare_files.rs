//! `netassay compare` on files: what it says of other programs' results, and what it refuses.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use common::{Bench, expect, stderr, stdout};

/// A published study's values, 3 boots of 10 runs in each file.
const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../samples/tests/fixtures/samples");
/// What other programs wrote.
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../samples/tests/fixtures");

fn bench_with(directory: &str, names: &[&str]) -> Bench {
    let bench = Bench::new();
    for name in names {
        fs::copy(Path::new(directory).join(name), bench.path(name)).unwrap();
    }
    bench
}

#[test]
fn colours_are_for_terminals_and_rows_fit_the_columns() {
    let bench = Bench::new();
    bench.write("a.stat", "100\n101\n102\n");
    bench.write("b.stat", "50\n51\n52\n");
    let run = |names: &[(&str, &str)]| {
        let mut command = bench.netassay(&["compare", "a.stat", "b.stat", "--better", "higher"]);
        command.env_remove("COLUMNS").env_remove("NO_COLOR").envs(names.iter().copied());
        stdout(&command.output().unwrap())
    };
    let plain = run(&[]);
    assert!(!plain.contains('\u{1b}') && plain.contains("interval"), "{plain}");
    assert_eq!(run(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), plain);
    let forced = run(&[("CLICOLOR_FORCE", "1")]);
    assert!(forced.contains("\u{1b}[31mworse\u{1b}[0m"), "{forced}");
    assert_eq!(forced.replace("\u{1b}[31m", "").replace("\u{1b}[2m", "").replace("\u{1b}[0m", ""), plain);
    let narrow = run(&[("COLUMNS", "40")]);
    assert!(narrow.contains("worse") && narrow.contains("(--wide shows also: "), "{narrow}");
}

#[test]
fn published_samples_with_their_boots() {
    let names =
        ["udp4_default_nocksum.stat", "udp4_default.stat", "udp6_default.stat", "udp6_nooffload.stat"];
    let bench = bench_with(SAMPLES, &names);
    let arguments: Vec<&str> = ["compare"].iter().chain(&names).copied().collect();
    let output = bench.run(&[arguments.as_slice(), &["--boots", "10,10,10"]].concat());
    expect(&output, 0);
    insta::assert_snapshot!("files_boots", stdout(&output));

    let unknown = bench.run(&arguments);
    expect(&unknown, 0);
    assert!(stdout(&unknown).contains("--boots 10,10,10"), "{}", stdout(&unknown));
    insta::assert_snapshot!("files_without_boots", stdout(&unknown));

    let json = bench.run(&[arguments.as_slice(), &["--boots", "10,10,10", "--format", "json"]].concat());
    expect(&json, 0);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["comparisons"][0]["rows"].as_array().unwrap().len(), 3, "{json}");
}

#[test]
fn results_of_other_programs() {
    let names = ["hyperfine-two.json", "iperf3-tcp.json", "iperf3-tcp-parallel.json"];
    let bench = bench_with(FIXTURES, &names);
    for (name, text) in
        [("1", "10\n11\n"), ("2", "12\n13\n"), ("3", "10.5\n11\n"), ("4", "15\n16\n"), ("5", "14\n16\n")]
    {
        bench.write(&format!("{name}.stat"), text);
    }
    for (name, arguments) in [
        ("files_hyperfine", &["hyperfine-two.json", "--boots", "5,5", "--margin", "50%"][..]),
        ("files_intervals", &["iperf3-tcp.json", "iperf3-tcp-parallel.json", "--metric", "intervals"]),
        ("files_numbers", &["a=1.stat,2.stat,3.stat", "b=4.stat,5.stat", "--boots", "file", "--all-pairs"]),
    ] {
        let output = bench.run(&[&["compare"], arguments].concat());
        expect(&output, 0);
        insta::assert_snapshot!(name, stdout(&output));
    }
}

#[test]
fn what_a_file_s_values_are_of_is_said() {
    let names = [
        "iperf3-client.json",
        "iperf3-bidir.json",
        "iperf3-server-reverse.json",
        "iperf3-nan.json",
        "iperf3-no-loss.json",
        "netperf-keywords.txt",
        "netperf-no-heading.txt",
        "hyperfine-all-failed.json",
    ];
    let bench = bench_with(&format!("{FIXTURES}/cases"), &names);
    let mut told = String::new();
    for (code, arguments) in [
        (0, &["iperf3-client.json", "iperf3-bidir.json"][..]),
        (2, &["iperf3-client.json", "iperf3-server-reverse.json"]),
        (0, &["iperf3-no-loss.json", "iperf3-nan.json"]),
        (2, &["netperf-keywords.txt", "netperf-no-heading.txt"]),
        (2, &["hyperfine-all-failed.json"]),
    ] {
        let output = bench.run(&[&["compare"], arguments].concat());
        let said = [stdout(&output), stderr(&output)].concat();
        told.push_str(&format!("$ netassay compare {}\n{said}", arguments.join(" ")));
        assert_eq!(output.status.code(), Some(code), "{told}");
    }
    insta::assert_snapshot!("files_kinds", told);
}

#[test]
fn an_export_of_netassay_can_be_compared_again() {
    let bench = Bench::new();
    let header = "study,name,boot,part,block,repeat,position,warmup,condition,label,started_unix_ms,status,reason,metric,unit,value\n";
    let mut text = header.to_owned();
    for boot in 0..4_u32 {
        for (condition, label, base) in [(0, "ipv4", 100), (1, "ipv6", 80)] {
            for repeat in 0..3 {
                let value = base + boot * 2 + repeat;
                text.push_str(&format!(
                    "1,s,{boot},0,0,{repeat},0,0,{condition},{label},0,ok,,throughput,Mbit/s,{value}\n"
                ));
            }
        }
    }
    bench.write("runs.csv", &text);
    let output = bench.run(&["compare", "runs.csv"]);
    expect(&output, 0);
    assert!(stdout(&output).contains("lower"), "{}", stdout(&output));
    // From standard input too, and compared with the other condition.
    let mut child = bench
        .netassay(&["compare", "-", "--baseline", "ipv6"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    expect(&output, 0);
    assert!(stdout(&output).contains("higher"), "{}", stdout(&output));
}

#[test]
fn what_is_wrong_is_reported_with_its_place() {
    let bench = Bench::new();
    bench.write("good.stat", "1\n2\n3\n");
    bench.write("text.stat", "1\n2\n fail\n");
    bench.write("nan.stat", "1\nnan\n");
    bench.write("empty.stat", "");
    bench.write("table.csv", "speed,boot\n1,a\n");
    bench.write("cut.json", "{\"start\": {");
    fs::write(bench.path("binary.stat"), b"\x7fELF\0\0").unwrap();
    let mut told = String::new();
    for (code, arguments) in [
        (2, &["good.stat", "text.stat"][..]),
        (2, &["good.stat", "nan.stat"]),
        (2, &["good.stat", "empty.stat"]),
        (2, &["good.stat", "binary.stat"]),
        (2, &["good.stat", "table.csv"]),
        (2, &["good.stat", "cut.json"]),
        (2, &["a=good.stat", "b=good.stat", "--boots", "2,2"]),
        (2, &["good.stat", "good.stat", "--boots", "3,0"]),
        (2, &["good.stat", "good.stat", "-C", "2"]),
        (2, &["good.stat"]),
        (2, &["good.stat", "text.stat", "--classic"]),
        (2, &["-", "-"]),
        (2, &["good.stat", "missing.stat"]),
        (3, &["good.stat", "."]),
        (2, &["--boots", "3"]),
        (2, &["a=good.stat", "b=good.stat", "--baseline", "c"]),
    ] {
        let output = bench.run(&[&["compare"], arguments].concat());
        assert_eq!(stdout(&output), "", "{arguments:?}");
        told.push_str(&format!("$ netassay compare {}\n{}", arguments.join(" "), stderr(&output)));
        assert_eq!(output.status.code(), Some(code), "{told}");
    }
    insta::assert_snapshot!("files_refused", told);
}

#[test]
fn an_endless_line_takes_neither_time_nor_memory() {
    let bench = Bench::new();
    bench.write("good.stat", "1\n2\n3\n");
    // A sparse file: a gigabyte of NUL bytes after a good line. And the same without any NUL, from
    // a pipe.
    let path: PathBuf = bench.write("huge.stat", "1\n");
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(1 << 30).unwrap();
    let output = bench.run(&["compare", "good.stat", "huge.stat"]);
    expect(&output, 2);
    assert!(stderr(&output).contains("huge.stat:2:1: a NUL byte"), "{}", stderr(&output));

    let mut command = bench.netassay(&["compare", "good.stat", "-"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let block = vec![b'7'; 1 << 20];
    let mut written = 0_usize;
    // The pipe breaks as soon as the line is refused.
    while written < 1 << 10 && stdin.write_all(&block).is_ok() {
        written += 1;
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    expect(&output, 2);
    assert!(
        stderr(&output).contains("<stdin>:1:1048577: a line of more than 1048576 bytes"),
        "{}",
        stderr(&output)
    );
    assert!(written < 8, "{written} MiB were taken");
}
