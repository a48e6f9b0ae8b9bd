//! The exported texts, to the letter.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use netassay_store::{NewRun, Outcome, Store, StoredStudy, StudyStatus, export};
use serde_json::{Value, json};
use study::metric;
use support::{environment, ok, run, warmup};

fn with_throughput(repeat: u32, condition: usize, value: f64) -> NewRun {
    NewRun { outcome: ok(&[(metric::THROUGHPUT, value)]), ..run(repeat, condition) }
}

/// Two boots, the first one resumed; a warm-up, a failure, and a metric that one condition lacks.
fn stored() -> StoredStudy {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(directory.path().join("netassay.db")).unwrap();
    let id = store.begin_study(&support::study()).unwrap();
    let first = store.begin_boot(id, 1, &environment()).unwrap();
    store.record_run(first, &warmup(0)).unwrap();
    store.record_run(first, &with_throughput(1, 0, 9414.52)).unwrap();
    let failed =
        NewRun { outcome: Outcome::Failed("port 5201 is in use, by \"iperf\"".to_owned()), ..run(2, 0) };
    store.record_run(first, &failed).unwrap();
    let resumed = store.begin_boot(id, 1, &environment()).unwrap();
    store.record_run(resumed, &with_throughput(2, 0, 1e20)).unwrap();
    let second = store.begin_boot(id, 2, &environment()).unwrap();
    store.record_run(second, &with_throughput(1, 0, -0.5)).unwrap();
    let other = NewRun { outcome: ok(&[(metric::CPU.receiver, 3.0)]), ..run(1, 1) };
    store.record_run(second, &other).unwrap();
    store.finish_study(id, StudyStatus::Complete).unwrap();
    store.load(id).unwrap()
}

#[test]
fn stat_files_hold_the_recorded_runs_with_their_boots() {
    let study = stored();
    let files = export::stat(&study, metric::THROUGHPUT);
    let [(name, text)] = files.as_slice() else { panic!("{files:?}") };
    assert_eq!(name, "tcp4_default.stat");
    let expected = "# study: quick (netassay 0.1.0)\n\
                    # condition: ipv4 offloads=default\n\
                    # metric: throughput (Mbit/s)\n\
                    # columns: value, boot\n\
                    9414.52\t1\n1e20\t1\n-0.5\t2\n";
    assert_eq!(text, expected);

    let files = export::stat(&study, metric::CPU.receiver);
    let (name, text) = &files[0];
    assert_eq!(name, "tcp6_nooffload.stat");
    assert!(text.contains("# metric: receiver.cpu (%)\n"), "{text}");
    assert!(export::stat(&study, metric::CPU.transmitter).is_empty());
}

#[test]
fn a_name_cannot_smuggle_a_value_into_a_stat_file() {
    let mut study = stored();
    study.row.name = "evil\n1234\r5".to_owned();
    study.plan.conditions[0].label = "label\n99".into();
    for line in export::stat(&study, metric::THROUGHPUT)[0].1.lines().take(4) {
        assert!(line.starts_with("# "), "{line}");
    }
}

#[test]
fn csv_has_a_row_for_each_run_and_metric() {
    let text = export::csv(&stored());
    let lines: Vec<&str> = text.lines().collect();
    let expected = [
        "study,name,boot,part,block,repeat,position,warmup,condition,label,started_unix_ms,status,reason,metric,unit,value",
        "1,quick,1,1,0,1,2,1,0,ipv4 offloads=default,1700000000000,ok,,loss,%,0",
        "1,quick,1,1,0,1,2,1,0,ipv4 offloads=default,1700000000000,ok,,throughput,Mbit/s,9414.52",
        "1,quick,1,1,1,1,2,0,0,ipv4 offloads=default,1700000000000,ok,,throughput,Mbit/s,9414.52",
        "1,quick,1,1,2,2,4,0,0,ipv4 offloads=default,1700000000000,failed,\"port 5201 is in use, by \"\"iperf\"\"\",,,",
        "1,quick,1,2,2,2,4,0,0,ipv4 offloads=default,1700000000000,ok,,throughput,Mbit/s,1e20",
        "1,quick,2,1,1,1,2,0,0,ipv4 offloads=default,1700000000000,ok,,throughput,Mbit/s,-0.5",
        "1,quick,2,1,1,1,3,0,1,\"ipv6, offloads=none\",1700000000000,ok,,receiver.cpu,%,3",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn csv_holds_no_formula_and_its_numbers_are_left() {
    let mut study = stored();
    study.row.name = "=cmd|' /C calc'!A0".to_owned();
    study.runs[0].metrics = [(metric::THROUGHPUT, -1.5)].into_iter().collect();
    study.runs[0].reason = Some("@SUM(\u{1b}[2J\u{202e}".to_owned());
    let text = export::csv(&study);
    let row = text.lines().nth(1).unwrap();
    assert!(row.contains(",'=cmd|' /C calc'!A0,"), "{row}");
    assert!(row.ends_with(",'@SUM(\\u{1b}[2J\\u{202e},throughput,Mbit/s,-1.5"), "{row}");
}

#[test]
fn json_is_one_object_with_everything() {
    let study = stored();
    let object = export::json(&study);
    let keys: Vec<&String> = object.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["boots", "plan", "runs", "study", "units"]);
    assert_eq!(object["study"]["status"], "complete");
    assert_eq!(object["study"]["seed"], u64::MAX);
    assert_eq!(object["plan"], serde_json::to_value(&study.plan).unwrap());
    assert_eq!(object["boots"].as_array().unwrap().len(), 3);
    assert_eq!(object["units"], json!({"loss": "%", "receiver.cpu": "%", "throughput": "Mbit/s"}));
    let failed = &object["runs"][2];
    assert_eq!((&failed["status"], &failed["metrics"]), (&json!("failed"), &json!({})));
    assert_eq!(failed["reason"], "port 5201 is in use, by \"iperf\"");
    assert_eq!(object["runs"][3]["metrics"]["throughput"], 1e20);
    assert_eq!(serde_json::from_str::<Value>(&object.to_string()).unwrap(), object);
}

/// Joins texts, as a page's script does with the packed form.
fn unpacked(packed: &Value) -> (String, String) {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let list = |key: &str| packed[key].as_array().unwrap().clone();
    let (mut csv, mut runs) = (text(&packed["header"]), Vec::new());
    let metrics = list("metrics");
    for (index, (row, run)) in list("rows").iter().zip(&list("runs")).enumerate() {
        let (row, run) = (text(row), text(run));
        let value = |metric: &Value| text(&metric["values"]).split(' ').nth(index).unwrap().to_owned();
        let own = metrics.iter().map(|metric| (metric, value(metric)));
        let own: Vec<_> = own.filter(|(_, value)| !value.is_empty()).collect();
        if own.is_empty() {
            csv.push_str(&format!("{row},,,\n"));
        }
        csv.extend(own.iter().map(|(metric, value)| format!("{row},{},{value}\n", text(&metric["csv"]))));
        let number = |value: &str| {
            if value.ends_with(|last: char| last.is_ascii_digit()) {
                value.to_owned()
            } else {
                "null".to_owned()
            }
        };
        let pair =
            |(metric, value): &(&Value, String)| format!("{}:{}", text(&metric["json"]), number(value));
        let pairs: Vec<String> = own.iter().map(pair).collect();
        runs.push(format!("{},\"metrics\":{{{}}}}}", run.strip_suffix('}').unwrap(), pairs.join(",")));
    }
    let document = text(&packed["document"]);
    let document = document.strip_suffix('}').unwrap();
    (csv, format!("{document},\"runs\":[{}]}}", runs.join(",")))
}

#[test]
fn the_packed_form_holds_the_csv_to_the_letter_and_the_json_without_the_accounts() {
    let mut study = stored();
    study.row.name = "=cmd,\"x\"\n</script>".to_owned();
    study.runs[0].metrics.insert(metric::PACKETS, f64::INFINITY);
    study.runs[0].metrics.insert(metric::LATENCY_P99_99, 0.1);
    let (csv, json) = unpacked(&export::packed(&study));
    assert_eq!(csv, export::csv(&study));
    let mut expected = export::json(&study);
    expected["format_version"] = json!(export::FORMAT_VERSION);
    for run in expected["runs"].as_array_mut().unwrap() {
        assert!(run.as_object_mut().unwrap().remove("detail").is_some());
    }
    let mut found: Value = serde_json::from_str(&json).unwrap();
    // 3 and 3.0 are one number.
    for run in [&mut found, &mut expected].into_iter().flat_map(|all| all["runs"].as_array_mut().unwrap()) {
        for value in run["metrics"].as_object_mut().unwrap().values_mut() {
            *value = json!(value.as_f64());
        }
    }
    assert_eq!(found, expected);
}
