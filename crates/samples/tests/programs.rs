//! Files of other programs are read as the programs meant them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{boots, dataset, fixture, values};
use netassay_samples::{Boots, Dataset, InputFormat, MeasurementFile, Options};

fn sheet(name: &str, metric: Option<&str>) -> MeasurementFile {
    let options = Options { metric: metric.map(str::to_owned), ..Options::default() };
    MeasurementFile::read(name, fixture(name).as_slice(), &options).unwrap()
}

/// A file beside itself.
fn twice(name: &str, options: &Options) -> Dataset {
    let bytes = fixture(name);
    dataset(&[(&format!("a={name}"), &bytes), (&format!("b={name}"), &bytes)], options).unwrap()
}

fn metric(word: &str) -> Options {
    Options { metric: Some(word.to_owned()), ..Options::default() }
}

fn plain(dataset: &Dataset) -> Vec<f64> {
    values(dataset, 0, 0).into_iter().map(|(_, value)| value).collect()
}

#[test]
fn formats_are_recognised() {
    use InputFormat::{Hyperfine, Iperf, Iperf3, Netperf, Stat};
    for (name, format, count) in [
        ("iperf3-tcp.json", Iperf3, 3),
        ("iperf3-tcp-parallel.json", Iperf3, 2),
        ("iperf3-udp.json", Iperf3, 2),
        ("iperf-tcp.csv", Iperf, 3),
        ("iperf-tcp-parallel.csv", Iperf, 2),
        ("netperf-omni.csv", Netperf, 3),
        ("netperf-tcp-rr.csv", Netperf, 2),
        ("netperf-keyword.txt", Netperf, 2),
        ("netperf-numbers.txt", Stat, 4),
        ("hyperfine-two.json", Hyperfine, 20),
        ("hyperfine-again.json", Hyperfine, 16),
    ] {
        let sheet = sheet(name, None);
        assert_eq!((sheet.format, sheet.values()), (format, count), "{name}");
    }
}

#[test]
fn iperf3_is_judged_at_the_receiver() {
    let tcp = twice("iperf3-tcp.json", &Options::default());
    let documents: Vec<serde_json::Value> = serde_json::Deserializer::from_slice(&fixture("iperf3-tcp.json"))
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let received =
        |run: &serde_json::Value| run["end"]["sum_received"]["bits_per_second"].as_f64().unwrap() / 1e6;
    assert_eq!(plain(&tcp), documents.iter().map(received).collect::<Vec<_>>());
    let group = &tcp.groups[0];
    assert_eq!((group.metric.as_deref(), group.unit.as_deref()), (Some("throughput"), Some("Mbit/s")));
    assert!(group.boots.is_none() && group.notes[0].contains("--boots"), "{group:?}");

    let udp = twice("iperf3-udp.json", &metric("loss"));
    assert_eq!((plain(&udp), udp.groups[0].unit.as_deref()), (vec![0.0, 0.0], Some("%")));
    assert!(
        plain(&twice("iperf3-udp.json", &metric("remote_cpu"))).iter().all(|cpu| (0.0..200.0).contains(cpu))
    );
}

#[test]
fn intervals_of_iperf3_are_runs_of_one_boot() {
    let intervals = twice("iperf3-tcp.json", &metric("intervals"));
    assert!(intervals.groups[0].boots.is_some());
    assert_eq!(values(&intervals, 0, 0).len(), 12);
    assert_eq!((boots(&intervals, 0, 0), boots(&intervals, 0, 1)), (vec![0, 1, 2], vec![3, 4, 5]));
    assert!(intervals.notes[0].contains("counts as a boot"), "{:?}", intervals.notes);
}

#[test]
fn iperf_counts_whole_connections_and_adds_up_parallel_ones() {
    assert_eq!(
        plain(&twice("iperf-tcp.csv", &Options::default())),
        [14274.251612, 17316.099777, 16545.191947]
    );
    let parallel = twice("iperf-tcp-parallel.csv", &Options::default());
    assert_eq!(plain(&parallel), [21081.296246 + 15887.737524, 18611.535578 + 22757.911942]);
    assert_eq!(parallel.groups[0].kinds[0].as_deref(), Some("counted by one side, 2 connections"));
    assert_eq!(plain(&twice("iperf-udp.csv", &metric("sent"))), [52.436214, 52.435585]);
    let server = twice("iperf-udp-server.csv", &Options::default());
    assert_eq!(plain(&server), [42.208649]);
    assert_eq!(server.groups[0].kinds[0].as_deref(), Some("received by the server, UDP, 1 connection"));
}

#[test]
fn servers_of_iperf_number_connections_on() {
    let line = |second: u32, number: u32, rate: u32| {
        format!(
            "202611211221{second:02},127.0.0.1,5001,127.0.0.1,4{number},{number},0.0-10.0,1,{rate}000000\n"
        )
    };
    let read = |log: &str| dataset(&[("a=x", log.as_bytes()), ("b=y", log.as_bytes())], &Options::default());
    let log = [line(10, 1, 5), line(21, 2, 7)].concat();
    assert_eq!(plain(&read(&log).unwrap()), [5.0, 7.0]);
    let log = [line(10, 1, 5), line(21, 2, 7), line(32, 3, 6), line(32, 4, 6)].concat();
    let error = read(&log).unwrap_err().to_string();
    assert!(error.contains("2 connections, in one condition with values"), "{error}");
    let summed = format!("{}{}", line(10, 1, 5), line(10, 2, 7)).replace(",2,0.0", ",-1,0.0");
    assert_eq!(plain(&read(&summed).unwrap()), [7.0], "iperf's own sum");
}

/// The clock of a line counts whole seconds, so connections that end together may be told a second
/// apart, however short the run. Between the ends of two runs lies the length of the later one.
#[test]
fn parallel_connections_of_iperf_may_end_in_two_seconds_of_the_clock() {
    let line = |second: u32, number: u32, length: u32| {
        format!(
            "202611211221{second:02},127.0.0.1,5001,127.0.0.1,4{second}{number},{number},0.0-{length}.0,1,{number}000000\n"
        )
    };
    for length in [1, 2, 3, 10] {
        let (first, second) = (20, 20 + 2 * length);
        let log = [(first, 4), (first + 1, 5), (second, 6), (second + 1, 7)];
        let log = log.map(|(end, number)| line(end, number, length)).concat();
        let read = dataset(&[("a=x", log.as_bytes()), ("b=y", log.as_bytes())], &Options::default()).unwrap();
        assert_eq!(plain(&read), [9.0, 13.0], "{length} s");
    }
    // Over the end of a minute, an hour, a day, a month and a year.
    let log = ["20261231235959", "20270101000000"].into_iter().zip([4, 5]);
    let log: String = log.map(|(end, number)| line(0, number, 1).replace("20261121122100", end)).collect();
    let read = dataset(&[("a=x", log.as_bytes()), ("b=y", log.as_bytes())], &Options::default()).unwrap();
    assert_eq!(plain(&read), [9.0]);
}

#[test]
fn netperf_writes_csv_and_keywords() {
    let omni = twice("netperf-omni.csv", &Options::default());
    assert_eq!(plain(&omni), [14015.61, 16692.33, 15855.90]);
    assert_eq!(omni.groups[0].unit.as_deref(), Some("Mbit/s"));
    for word in ["Local CPU Util %", "LOCAL_CPU_UTIL", "local_cpu_util"] {
        assert_eq!(plain(&twice("netperf-omni.csv", &metric(word))), [99.50, 97.98, 98.99], "{word}");
    }
    let rr = twice("netperf-tcp-rr.csv", &Options::default());
    assert_eq!((plain(&rr), rr.groups[0].unit.as_deref()), (vec![66914.15, 68434.77], Some("Trans/s")));
    let keyword = twice("netperf-keyword.txt", &Options::default());
    assert_eq!(
        (plain(&keyword), keyword.groups[0].unit.as_deref()),
        (vec![15985.93, 14340.73], Some("Mbit/s"))
    );
    // CSV and keywords of the same measurement can be compared.
    let mixed = dataset(
        &[("a", &fixture("netperf-omni.csv")), ("b", &fixture("netperf-keyword.txt"))],
        &Options::default(),
    );
    assert_eq!(mixed.unwrap().groups[0].labels, ["a", "b"]);
}

#[test]
fn commands_of_hyperfine_are_conditions() {
    let two = fixture("hyperfine-two.json");
    let read = dataset(&[("two.json", &two)], &Options::default()).unwrap();
    let group = &read.groups[0];
    assert_eq!(
        (group.labels.as_slice(), group.unit.as_deref()),
        (&["sleep 0.01".into(), "sleep 0.011".into()][..], Some("s"))
    );
    assert_eq!(values(&read, 0, 0)[0], (0, 0.01142541));

    // Equal commands before and after: files are the conditions, command by command.
    let again = fixture("hyperfine-again.json");
    let read = dataset(&[("two.json", &two), ("again.json", &again)], &Options::default()).unwrap();
    let names: Vec<Option<&str>> = read.groups.iter().map(|group| group.name.as_deref()).collect();
    assert_eq!(names, [Some("sleep 0.01"), Some("sleep 0.011")]);
    assert_eq!(read.groups[0].labels, ["two.json", "again.json"]);

    // Several files of a condition, each from a boot of its own.
    let files = [("old=1", two.as_slice()), ("old=2", &again), ("new=3", &two), ("new=4", &again)];
    let read = dataset(&files, &Options { boots: Boots::PerFile, ..Options::default() }).unwrap();
    assert_eq!(read.groups[0].labels, ["old", "new"]);
    assert_eq!((boots(&read, 0, 0), boots(&read, 0, 1)), (vec![0, 1], vec![2, 3]));
    assert_eq!(values(&read, 0, 0).len(), 18);
}
