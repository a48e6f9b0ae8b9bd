//! Files of other programs, made from public bug reports: understood, or refused with the remedy.

mod common;

use common::{dataset, fixture, values};
use netassay_samples::Options;

/// The result of comparing files.
enum Said {
    /// The values of both conditions, and words of the kinds and notes.
    Values(&'static [f64], &'static [f64], &'static [&'static str]),
    /// Words of the error.
    Refused(&'static [&'static str]),
}

/// Compares two files of `fixtures/cases`, or in memory.
fn check(files: [(&str, &[u8]); 2], options: &Options, said: &Said) {
    let context = format!("{} and {}, {:?}", files[0].0, files[1].0, options.metric);
    let read = dataset(&files, options);
    match (&read, said) {
        (Ok(read), Said::Values(before, after, words)) => {
            let plain = |condition| -> Vec<f64> {
                values(read, 0, condition).into_iter().map(|(_, value)| value).collect()
            };
            for (values, expected) in [(plain(0), before), (plain(1), after)] {
                let is_near = |(one, other): (&f64, &f64)| (one - other).abs() <= other.abs() * 1e-9;
                assert!(
                    values.len() == expected.len() && values.iter().zip(expected.iter()).all(is_near),
                    "{context}: {values:?}, not {expected:?}"
                );
            }
            let group = &read.groups[0];
            let told = format!("{:?} {:?} {:?}", group.kinds, group.notes, read.notes);
            for word in *words {
                assert!(told.contains(word), "{context}: no {word:?} in {told}");
            }
        }
        (Err(error), Said::Refused(words)) => {
            let error = error.to_string();
            for word in *words {
                assert!(error.contains(word), "{context}: no {word:?} in {error}");
            }
        }
        (read, _) => panic!("{context}: {read:?}"),
    }
}

fn metric(word: Option<&str>) -> Options {
    Options { metric: word.map(str::to_owned), ..Options::default() }
}

#[test]
fn files_made_from_bug_reports() {
    const CLIENT: f64 = 10_425.361_388_71;
    const RECEIVED: &str = "received by the server, TCP, forward, 1 stream";
    let cases: &[(&str, &str, Option<&str>, Said)] = &[
        (
            "netperf-keywords.txt",
            "netperf-no-heading.txt",
            None,
            Said::Refused(&[":1:9: 5 words in", "nothing says which is the value", "-C NUMBER"]),
        ),
        (
            "netperf-keywords.txt",
            "netperf-percentile.txt",
            None,
            Said::Values(&[11467.31], &[3672.10], &["OMNI Send"]),
        ),
        (
            "netperf-percentile.txt",
            "netperf-percentile.txt",
            Some("99th_percentile_latency_microseconds"),
            Said::Refused(&["is given twice for one condition"]),
        ),
        (
            "hyperfine-all-failed.json",
            "hyperfine-none-failed.json",
            None,
            Said::Refused(&["all-failed.json:1:1: each run of \"false\" failed (exit code 1)", "|| true"]),
        ),
        (
            "hyperfine-some-failed.json",
            "hyperfine-none-failed.json",
            None,
            Said::Values(
                &[1.0],
                &[1.0, 1.01, 1.0],
                &["that failed (exit code 1): 1, in line 1", "that failed (ended by a signal): 1"],
            ),
        ),
        (
            "iperf3-client.json",
            "iperf3-server-reverse.json",
            None,
            Said::Refused(&["reverse.json:1:1: the server's output", "its client received", "--metric sent"]),
        ),
        (
            "iperf3-client.json",
            "iperf3-server-reverse.json",
            Some("sent"),
            Said::Values(
                &[10_548.021_394_461],
                &[5_714.100_378_176],
                &["sent by the client, TCP, forward", "sent by the server, TCP, reverse"],
            ),
        ),
        (
            "iperf3-three-a.json",
            "iperf3-three-b.json",
            None,
            Said::Values(&[1000.0, 1010.0, 1020.0], &[1020.0, 1030.0, 1040.0], &["received"]),
        ),
        (
            "iperf3-doubled-a.json",
            "iperf3-doubled-b.json",
            None,
            Said::Values(
                &[1000.0, 1010.0, 1020.0],
                &[1020.0, 1030.0, 1040.0],
                &["runs that the file holds already (by their cookie): 3, the first in line 4"],
            ),
        ),
        (
            "iperf3-client.json",
            "iperf3-bidir.json",
            None,
            Said::Values(
                &[CLIENT],
                &[7_496.601_803_889 + 5_906.823_141_178],
                &[RECEIVED, "received at both ends, added up, TCP, both directions, 1 stream"],
            ),
        ),
        (
            "iperf3-client.json",
            "iperf3-bidir.json",
            Some("throughput_forward"),
            Said::Values(&[CLIENT], &[7_496.601_803_889], &[RECEIVED, "forward, beside the other direction"]),
        ),
        (
            "iperf3-client.json",
            "iperf3-old-bidir.json",
            None,
            Said::Refused(&["duplicate field `sum_received`", "--bidir", "each direction by itself"]),
        ),
        ("iperf3-client.json", "iperf3-stream.json", None, Said::Values(&[CLIENT], &[1000.0], &[RECEIVED])),
        (
            "netperf-killed.txt",
            "netperf-not-killed.txt",
            None,
            Said::Values(
                &[9000.1, 9100.2],
                &[9000.1, 9100.2],
                &["left out: lines that are no results of netperf: 1, in line 4", "TCP STREAM"],
            ),
        ),
        (
            "iperf3-client.json",
            "iperf3-text.txt",
            None,
            Said::Refused(&["text.txt:1:1: the text of iperf3 for people", "-J"]),
        ),
        (
            "iperf3-no-loss.json",
            "iperf3-nan.json",
            None,
            Said::Values(
                &[2857.6],
                &[2857.6 * (1.0 - 820_880.0 / 1_234_600.0)],
                &["received by the client, UDP, reverse"],
            ),
        ),
        (
            "iperf3-no-loss.json",
            "iperf3-nan.json",
            Some("loss"),
            Said::Values(&[0.0], &[100.0 * 820_880.0 / 1_234_600.0], &[]),
        ),
        (
            "iperf3-negative.json",
            "iperf3-mss.json",
            None,
            Said::Refused(&["negative.json:1:1: throughput is -0.000005 Mbit/s", "leave it out"]),
        ),
        (
            "iperf3-client.json",
            "iperf3-mss.json",
            None,
            Said::Values(&[CLIENT], &[8_919.168_546_486, 9_920.928_999_162, 12_609.689_575_013], &[RECEIVED]),
        ),
    ];
    for (before, after, word, said) in cases {
        let bytes = |name: &str| fixture(&format!("cases/{name}"));
        check([(before, &bytes(before)), (after, &bytes(after))], &metric(*word), said);
    }
}

/// A run of iperf3 with what its reader needs.
fn run(protocol: &str, streams: u32, cookie: &str, sums: &str) -> String {
    format!(
        r#"{{"end": {{{sums}}}, "start": {{"test_start": {{"reverse": 0, "num_streams": {streams}, "protocol": "{protocol}"}}, "cookie": "{cookie}", "connecting_to": {{}}}}}}
"#
    )
}

#[test]
fn values_of_different_kinds_are_no_set() {
    let received = r#""sum_received": {"bits_per_second": 1e9}"#;
    let [tcp, udp, parallel] = [("TCP", 1, "a"), ("UDP", 1, "b"), ("TCP", 4, "c")]
        .map(|(protocol, streams, cookie)| run(protocol, streams, cookie, received));
    for (mixed, word) in [([tcp.clone(), udp.clone()], "UDP"), ([tcp.clone(), parallel], "4 streams")] {
        let text = mixed.concat();
        let files = [("a.json", tcp.as_bytes()), ("b.json", text.as_bytes())];
        check(
            files,
            &metric(None),
            &Said::Refused(&["b.json:2:1: a value received", "in one condition with"]),
        );
        check(files, &metric(None), &Said::Refused(&["NAME=FILE"]));
        assert!(dataset(&files, &metric(None)).unwrap_err().to_string().contains(word));
    }
    let words = ["received by the server, TCP, forward", "received by the server, UDP, forward"];
    let files = [("a.json", tcp.as_bytes()), ("b.json", udp.as_bytes())];
    let said = dataset(&files, &metric(None)).unwrap();
    for (kind, word) in said.groups[0].kinds.iter().zip(words) {
        assert!(kind.as_deref().unwrap().starts_with(word), "{kind:?}");
    }
}

#[test]
fn runs_count_once() {
    let received = |rate: u32| format!(r#""sum_received": {{"bits_per_second": {rate}e6}}"#);
    let one = run("TCP", 1, "a", &received(1));
    let two = run("TCP", 1, "b", &received(2));
    let both = [one.clone(), two.clone()].concat();
    let files = |names: [&'static str; 2]| [(names[0], both.as_bytes()), (names[1], two.as_bytes())];
    let error = dataset(&files(["old=1", "old=2"]), &metric(None)).unwrap_err().to_string();
    assert_eq!(error, "2:1:1: a run that 1 holds too; give each run once");
    let said = Said::Values(&[1.0, 2.0], &[2.0], &["1 and 2 hold the same runs: 1"]);
    check(files(["old=1", "new=2"]), &metric(None), &said);

    // hyperfine names no runs, but its times are those of one run only.
    let document =
        |times: &str| format!(r#"{{"results": [{{"times": {times}, "command": "c"}}], "note": "x"}}"#);
    let [time, other] = ["[0.01142541, 0.0131]", "[0.0121, 0.0131]"].map(document);
    let files = [("a=1", [time.as_str(), &time].concat()), ("b=2", [time.as_str(), &other].concat())];
    let read =
        dataset(&files.each_ref().map(|(name, text)| (*name, text.as_bytes())), &metric(None)).unwrap();
    assert_eq!(values(&read, 0, 0).len(), 2);
    assert!(read.notes[0].contains("benchmarks that the file holds already"), "{:?}", read.notes);
}

#[test]
fn events_are_a_run_whatever_order_their_keys_have() {
    let event = |event: &str, data: &str| format!("{{\"data\": {data}, \"event\": \"{event}\"}}\n");
    let start = event(
        "start",
        r#"{"connecting_to": {}, "cookie": "a", "test_start": {"protocol": "TCP", "reverse": 1}}"#,
    );
    let end = event("end", r#"{"sum_sent": {"bytes": 5}, "sum_received": {"bits_per_second": 2e9}}"#);
    let interval = event("interval", r#"{"sum": {"bits_per_second": 3e9, "omitted": false}}"#);
    let whole = [start.clone(), interval.clone(), end.clone()].concat();
    let failed = [start.clone(), interval.clone(), end, event("error", "\"interrupted\"")].concat();
    let cut = [start, interval].concat();
    let other = run("TCP", 1, "z", r#""sum_received": {"bits_per_second": 1e9}"#);
    for (text, rates, words) in [
        (whole.clone(), &[2000.0][..], &["received by the client, TCP, reverse"][..]),
        (
            [whole.clone(), whole.clone()].concat(),
            &[2000.0],
            &["holds already (by their cookie): 1, in line 4"],
        ),
        (
            [whole.clone(), failed.replace("\"a\"", "\"b\"")].concat(),
            &[2000.0],
            &["failed: interrupted: 1, in line 4"],
        ),
        ([whole.clone(), cut.replace("\"a\"", "\"b\"")].concat(), &[2000.0], &["cut short: 1, in line 4"]),
    ] {
        let files = [("a=x", other.as_bytes()), ("b=y", text.as_bytes())];
        let read = dataset(&files, &metric(None)).unwrap();
        assert_eq!(values(&read, 0, 1).into_iter().map(|(_, rate)| rate).collect::<Vec<_>>(), rates);
        let told = format!("{:?} {:?}", read.groups[0].kinds, read.notes);
        assert!(words.iter().all(|word| told.contains(word)), "{told}");
    }
    let files = [("a=x", other.as_bytes()), ("b=y", cut.as_bytes())];
    check(
        files,
        &metric(None),
        &Said::Refused(&["y:1:1: no measurement is left but runs that were cut short: 1"]),
    );
    let files = [("a=x", whole.as_bytes()), ("b=y", whole.as_bytes())];
    let read = dataset(&files, &metric(Some("intervals"))).unwrap();
    assert_eq!(values(&read, 0, 0), [(0, 3000.0)]);
}

#[test]
fn losses_are_taken_off_and_damage_is_refused() {
    let sum = |fields: &str| run("UDP", 1, "a", &format!(r#""sum": {{"bits_per_second": 1e9, {fields}}}"#));
    let none = sum(r#""lost_packets": 0, "packets": 10, "lost_percent": 0"#);
    let good = none.replace("\"a\"", "\"b\"");
    for (fields, said) in [
        (r#""lost_packets": 3, "packets": 10, "lost_percent": 30"#, Said::Values(&[1000.0], &[700.0], &[])),
        (r#""lost_percent": 30"#, Said::Values(&[1000.0], &[700.0], &[])),
        (r#""lost_packets": 0, "packets": 0, "lost_percent": -nan"#, Said::Values(&[1000.0], &[1000.0], &[])),
        (r#""lost_packets": -3, "packets": 10"#, Said::Refused(&["a loss of -30.0 %"])),
        (r#""jitter_ms": 1"#, Said::Refused(&["without the loss", "--metric sent"])),
    ] {
        let text = sum(fields);
        check([("a=x", good.as_bytes()), ("b=y", text.as_bytes())], &metric(None), &said);
    }
    let table = |value: &str| format!("value,unit\n{value},Mbit/s\n");
    let listed = |value: &str| format!("# metric: throughput (Mbit/s)\n{value}\n");
    let timed = |time: &str| format!("{{\"results\": [{{\"command\": \"c\", \"times\": [{time}]}}]}}");
    let keywords = |rate: &str| format!("THROUGHPUT={rate}\nTHROUGHPUT_UNITS=10^6bits/s\n");
    let writers: [&dyn Fn(&str) -> String; 4] = [&table, &listed, &timed, &keywords];
    for writer in writers {
        let [good, bad] = ["5", "-5"].map(writer);
        let files = [("a=x", good.as_bytes()), ("b=y", bad.as_bytes())];
        check(files, &metric(None), &Said::Refused(&["cannot be less than 0"]));
    }
    // A difference may be negative.
    let text = b"value,unit\n-5,us\n";
    assert!(dataset(&[("a=x", text), ("b=y", text)], &metric(None)).is_ok());
}

#[test]
fn a_server_knows_its_own_side() {
    let server = |reverse: u32| {
        format!(
            r#"{{"start": {{"accepted_connection": {{}}, "cookie": "s{reverse}", "test_start": {{"protocol": "TCP", "reverse": {reverse}}}}},
"end": {{"sum_sent": {{"bytes": 0, "bits_per_second": 0}}, "sum_received": {{"bytes": 5, "bits_per_second": 2e9}}, "cpu_utilization_percent": {{"host_total": 7, "remote_total": 0}}}}}}"#
        )
    };
    let client = run(
        "TCP",
        1,
        "c",
        r#""sum_received": {"bits_per_second": 1e9}, "cpu_utilization_percent": {"host_total": 3, "remote_total": 4}, "sum_sent": {"bits_per_second": 1e9, "retransmits": 0}"#,
    );
    let forward = server(0);
    let files = [("a=x", client.as_bytes()), ("b=y", forward.as_bytes())];
    check(
        files,
        &metric(None),
        &Said::Values(&[1000.0], &[2000.0], &["received by the server, TCP, forward"]),
    );
    check(
        files,
        &metric(Some("cpu")),
        &Said::Values(&[3.0], &[7.0], &["of the client's CPUs", "of the server's CPUs"]),
    );
    for (word, remedy) in [("sent", "throughput"), ("retransmits", "throughput"), ("remote_cpu", "cpu")] {
        let error = dataset(&files, &metric(Some(word))).unwrap_err().to_string();
        assert!(
            error.starts_with("y:1:1: the server's output") && error.ends_with(&format!("--metric {remedy}")),
            "{error}"
        );
    }
}

#[test]
fn rows_of_failed_runs_and_columns_that_nothing_uses_are_named() {
    let other = b"value,host\n5,a\n6,a\n";
    for (text, rest, words) in [
        (
            "value,exit_code,host\n1,0,a\n2,1,a\n3,0,b\n",
            &[1.0, 3.0][..],
            &["failed runs (exit_code \\\"1\\\"): 1, in line 3", "host (\\\"a\\\", \\\"b\\\")"][..],
        ),
        ("value,ok\n1,true\n2,false\n", &[1.0], &["failed runs (ok \\\"false\\\")"]),
        ("value,Status\n1,OK\n2,timeout\n", &[1.0], &["failed runs (Status \\\"timeout\\\")"]),
        ("value,error\n1,\n2,no route\n", &[1.0], &["failed runs (error \\\"no route\\\")"]),
        ("value,error\n1,0.5\n2,0.4\n", &[1.0, 2.0], &["not used: error (\\\"0.5\\\", \\\"0.4\\\")"]),
    ] {
        let read = dataset(&[("a=x", other), ("b=y", text.as_bytes())], &metric(None)).unwrap();
        assert_eq!(values(&read, 0, 1).into_iter().map(|(_, value)| value).collect::<Vec<_>>(), rest);
        let told = format!("{:?}", read.notes);
        assert!(words.iter().all(|word| told.contains(word)), "{text:?}: {told}");
    }
}

#[test]
fn what_a_client_of_iperf_sends_by_udp_is_not_its_throughput() {
    let line = |ends: &str, rest: &str| format!("20261121122150,{ends},3,0.0-10.0,1,{rest}\n");
    let (client, server) = ("10.0.0.1,52364,10.0.0.2,5001", "10.0.0.2,5001,10.0.0.1,52364");
    let sent = line(client, "9000000,0.000,0,-1,-0.000,0");
    let received = line(server, "7000000,0.026,2,9,22.222,0");
    let compared = |after: &str, word: Option<&str>, said: Said| {
        check([("a=x", received.as_bytes()), ("b=y", after.as_bytes())], &metric(word), &said);
    };
    compared(&received, None, Said::Values(&[7.0], &[7.0], &["received by the server, UDP, 1 connection"]));
    compared(&sent, None, Said::Refused(&["y:1:", "only what a client of UDP sent", "--metric sent"]));
    let with_another = [received.clone(), sent.replace("52364", "52365")].concat();
    compared(
        &with_another,
        None,
        Said::Values(&[7.0], &[7.0], &["only the client's count is there: 1, in line 2"]),
    );
    let files = [("a=x", sent.as_bytes()), ("b=y", sent.as_bytes())];
    check(files, &metric(Some("sent")), &Said::Values(&[9.0], &[9.0], &["sent by the client, UDP"]));
}

#[test]
fn words_behind_a_value_are_not_guessed() {
    for text in ["12.5 ms\n13 ms\n", "0.342 S \n", "941.5 64\n930 64\n950 1400\n", "1 x\n2 x\n3 y\n"] {
        let files = [("a", text.as_bytes()), ("b", &b"1\n2\n"[..])];
        check(files, &metric(None), &Said::Refused(&["a:1:", "2 words in", "-C NUMBER", "--boot NUMBER"]));
    }
    let options = Options { value: Some("5".to_owned()), ..metric(None) };
    let files =
        [("a", fixture("cases/netperf-keywords.txt")), ("b", fixture("cases/netperf-no-heading.txt"))];
    let files = files.each_ref().map(|(name, bytes)| (*name, bytes.as_slice()));
    check(files, &options, &Said::Values(&[11467.31], &[12453.30], &[]));
}
