//! A fleet by a scheduler: what is printed for it, and how far its pairs are.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;
#[path = "common/studies.rs"]
mod studies;

use std::path::Path;
use std::process::{Command, Stdio};

use common::{Bench, expect, output_schema, skip, stderr, stdout};
use serde_json::Value;
use store::{FleetPair, Store, StudyId, StudyStatus};
use studies::{Made, TOML, level, plan};

const HOSTS: &str = "[[pair]]\nname = \"rack1\"\ntransmitter = { ssh = \"root@a1:ens1\" }\nreceiver = { ssh = \"root@b1:ens1\" }\n\
    [[pair]]\nname = \"rack2\"\ntransmitter = { ssh = \"root@a2:ens1\" }\nreceiver = { ssh = \"root@b2:ens1\" }\n";

/// A study with what a shell, a template and YAML could take for something of theirs.
const STUDY: &str = "# `$(exit 1)` ' \" \\ @run@\n  # : - x\nname = \"tso\"\nquestion = \"Is it so?\"\nscenario = \"veth\"\n\
    [[workload]]\nkind = \"tcp_stream\"\n[factors]\ntso = [\"on\", \"off\"]\n";

fn has(program: &str, arguments: &[&str]) -> bool {
    let tried = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    tried.is_ok_and(|status| status.success())
}

#[track_caller]
fn expect_sound(script: &Path) {
    let checked = Command::new("shellcheck").args(["--shell", "sh", "--"]).arg(script).output().unwrap();
    assert!(checked.status.success(), "{}", stdout(&checked));
}

/// A script for these hosts, in a file.
fn script(bench: &Bench, name: &str, study: &str, more: &[&str]) -> std::path::PathBuf {
    let printed = bench.run(&[&["fleet", "script", study, "--hosts", "fleet.toml"], more].concat());
    expect(&printed, 0);
    bench.write(name, &stdout(&printed))
}

#[test]
fn scripts_are_sound_whatever_the_study_holds() {
    if !has("shellcheck", &["--version"]) {
        return skip("scripts_are_sound_whatever_the_study_holds", "it needs the Debian package shellcheck");
    }
    let bench = Bench::new();
    bench.write("fleet.toml", HOSTS);
    bench.write("tso.toml", STUDY);
    for study in ["tso.toml", "tcp-offload"] {
        for scheduler in ["--slurm", "--local"] {
            let more = [scheduler, "--into", "it's", "--campaign", "a 'b' c", "--", "--set", "tso=on"];
            expect_sound(&script(&bench, "fleet.sh", study, &more));
        }
    }
    // It is the study that the tasks read.
    let script = script(&bench, "fleet.sh", "tso.toml", &["--local", "--into", "files"]);
    let begun = Command::new("sh").arg(&script).arg("none").current_dir(bench.path(".")).output().unwrap();
    assert_eq!(stderr(&begun), "there is no task none\n");
    let written = std::fs::read_to_string(bench.path("files/study.toml")).unwrap();
    assert_eq!(written.trim_end(), STUDY.trim_end());
    expect(&bench.run(&["study", "check", "files/study.toml"]), 0);
}

/// The documents of a manifest, read by PyYAML; `None` if that is missing.
fn documents(bench: &Bench, manifest: &Path) -> Option<Vec<Value>> {
    let read = "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))";
    let python = ["python3", "/usr/bin/python3"].into_iter().find(|one| has(one, &["-c", "import yaml"]))?;
    let documents =
        Command::new(python).args(["-c", read]).arg(manifest).current_dir(bench.path(".")).output().unwrap();
    expect(&documents, 0);
    Some(serde_json::from_slice(&documents.stdout).unwrap())
}

/// Asserts that a value is of a type of the API: fields that are known, and those that it needs.
#[track_caller]
fn expect_type(types: &Value, kind: &str, value: &Value, place: &str) {
    let inside = |prefix: &str| kind.strip_prefix(prefix).and_then(|kind| kind.strip_suffix(']'));
    if let Some(kind) = inside("list[") {
        for item in value.as_array().unwrap_or_else(|| panic!("{place} is no list: {value}")) {
            expect_type(types, kind, item, place);
        }
        return;
    }
    let is_simple = match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64(),
        "boolean" => value.is_boolean(),
        _ => {
            let fields = value.as_object().unwrap_or_else(|| panic!("{place} is no object: {value}"));
            let known = &types[kind];
            for (field, value) in fields {
                let place = format!("{place}.{field}");
                let of_field = match inside("map[") {
                    Some(kind) => kind,
                    None => known["fields"][field].as_str().unwrap_or_else(|| panic!("no {place}")),
                };
                expect_type(types, of_field, value, &place);
            }
            let mut needed = known["required"].as_array().into_iter().flatten();
            needed.all(|field| fields.contains_key(field.as_str().unwrap()))
        }
    };
    assert!(is_simple, "{place} is no {kind}: {value}");
}

#[test]
fn the_manifest_has_what_the_api_of_kubernetes_takes() {
    let bench = Bench::new();
    bench.write("fleet.toml", HOSTS);
    bench.write("tso.toml", STUDY);
    let manifest = script(&bench, "fleet.yaml", "tso.toml", &["--kubernetes", "--at-once", "2"]);
    let Some(documents) = documents(&bench, &manifest) else {
        return skip(
            "the_manifest_has_what_the_api_of_kubernetes_takes",
            "it needs the Debian package python3-yaml",
        );
    };
    let api: Value = serde_json::from_str(include_str!("common/kubernetes.json")).unwrap();
    for document in &documents {
        let [version, kind] = ["apiVersion", "kind"].map(|field| document[field].as_str().unwrap());
        let of_kind = api["kinds"][format!("{version}/{kind}")].as_str().unwrap_or_else(|| panic!("{kind}"));
        expect_type(&api["types"], of_kind, document, kind);
    }
    let of_kind = |kind: &str| -> Vec<&Value> {
        documents.iter().filter(|document| document["kind"] == kind).collect()
    };
    let job = &of_kind("Job")[0]["spec"];
    assert_eq!((&job["completionMode"], &job["completions"]), (&"Indexed".into(), &2.into()));
    assert_eq!(job["parallelism"], 2);
    // Two hosts of each pair, each on its node, and the pod that shows the files.
    let pods = of_kind("Pod");
    let nodes: Vec<&str> = pods
        .iter()
        .filter_map(|pod| pod["spec"]["nodeSelector"]["kubernetes.io/hostname"].as_str())
        .collect();
    assert_eq!((nodes.as_slice(), pods.len()), (&["a1", "b1", "a2", "b2"][..], 5));
    let names: Vec<&str> = pods
        .iter()
        .map(|pod| pod["metadata"]["name"].as_str().unwrap())
        .filter(|name| *name != "files")
        .collect();
    let data = &of_kind("ConfigMap")[0]["data"];
    assert_eq!(data["study.toml"].as_str().unwrap().trim_end(), STUDY.trim_end());
    for name in names {
        assert!(data["hosts.toml"].as_str().unwrap().contains(&format!("\"{name}\"")), "{name}: {data}");
    }
    if has("shellcheck", &["--version"]) {
        expect_sound(&bench.write("task.sh", data["task.sh"].as_str().unwrap()));
    }
}

const UNREACHABLE: &str = "[[pair]]\nname = \"a\"\ntransmitter = { launch = [\"false\"], interface = \"x\" }\n\
    receiver = { launch = [\"false\", \"b\"], interface = \"x\" }\nreference = true\n\
    [[pair]]\nname = \"b\"\ntransmitter = { launch = [\"false\", \"c\"], interface = \"x\" }\n\
    receiver = { launch = [\"false\", \"d\"], interface = \"x\" }\n";

#[test]
fn a_task_that_fails_keeps_why_and_the_others_go_on() {
    let bench = Bench::new();
    bench.write("fleet.toml", UNREACHABLE);
    let script = script(&bench, "fleet.sh", "quick", &["--local", "--at-once", "2"]);
    let run = |arguments: &[&str]| {
        let mut shell = Command::new("sh");
        shell.arg(&script).args(arguments).current_dir(bench.path(".")).env("NO_COLOR", "1");
        shell.env("NETASSAY", bench.path("netassay")).stdin(Stdio::null()).output().unwrap()
    };
    let done = run(&[]);
    expect(&done, 5);
    let page = stdout(&done);
    assert!(page.contains("3 pairs: 0 complete, 3 failed"), "{page}\n{}", stderr(&done));
    let shown = bench.run(&["fleet", "status", "--hosts", "fleet.toml", "--format", "json"]);
    expect(&shown, 5);
    output_schema::expect(&["fleet", "status"], &stdout(&shown));
    let status: Value = serde_json::from_str(&stdout(&shown)).unwrap();
    let pairs = status["pairs"].as_array().unwrap();
    let names: Vec<&str> = pairs.iter().map(|pair| pair["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "a#2", "b"]);
    assert!(pairs.iter().all(|pair| pair["why"].as_str().unwrap().contains("false")), "{status}");
    // One task alone says it itself, and another of a pair that is not there none.
    expect(&run(&["b"]), 3);
    expect(&run(&["c"]), 2);
    let nothing = bench.run(&["db", "unpack", "netassay.pairs/b.db"]);
    expect(&nothing, 4);
}

/// They cannot be reached.
#[test]
fn the_task_of_a_complete_pair_asks_no_machine() {
    let bench = Bench::new();
    bench.write("fleet.toml", UNREACHABLE);
    let between = TOML.replace("\"veth\"", "\"ssh\"");
    bench.write("runs.toml", &between);
    record_study(&bench.path("b.db"), &between, "quick@1", "b", 3);
    let task_with = |study: &str, more: &[&str]| {
        let of_pair = ["--pair", "b", "--campaign", "quick@1", "--db", "b.db"];
        bench.run(&[&["run", study, "--hosts", "fleet.toml"], &of_pair[..], more].concat())
    };
    let task = |study| task_with(study, &[]);
    let again = task("runs.toml");
    expect(&again, 0);
    assert_eq!(stderr(&again), "netassay: pair b is measured already: study 1\n");
    // The task may have been killed before it pushed.
    for told in ["pushed study 1 as 1", "already: study 1"] {
        let pushed = task_with("runs.toml", &["--push", "all.db"]);
        expect(&pushed, 0);
        assert!(stderr(&pushed).contains(told), "{}", stderr(&pushed));
    }
    // It is not the study of another question.
    bench.write("other.toml", &between.replace("runs = 3", "runs = 4"));
    expect(&task("other.toml"), 3);
}

fn record(path: &Path, campaign: &str, name: &str, boots: u32) -> StudyId {
    record_study(path, TOML, campaign, name, boots)
}

fn record_study(path: &Path, toml: &str, campaign: &str, name: &str, boots: u32) -> StudyId {
    let pair = Some(FleetPair {
        campaign: campaign.to_owned(),
        name: name.to_owned(),
        labels: [].into(),
        repeat: 1,
    });
    let metric = plan().conditions[0].workload.traffic.kind.primary_metric().key;
    let made = Made { toml, plan: plan(), kernel: "6.18", boots, runs: 3, metric, pair };
    made.record(&mut Store::open(path).unwrap(), level)
}

#[test]
fn the_status_tells_how_far_each_pair_is() {
    let bench = Bench::new();
    let hosts: String = ["done", "partly", "broken", "missing", "now"]
        .map(|name| {
            HOSTS
                .split("[[pair]]")
                .nth(1)
                .unwrap()
                .replace("rack1", name)
                .replace("1:ens1", &format!("-{name}:ens1"))
        })
        .map(|pair| format!("[[pair]]{pair}"))
        .concat();
    bench.write("fleet.toml", &hosts);
    std::fs::create_dir(bench.path("netassay.pairs")).unwrap();
    let file = |name: &str| bench.path(&format!("netassay.pairs/{name}.db"));
    record(&file("done"), "quick@1", "done", 3);
    let partly = record(&file("partly"), "quick@1", "partly", 2);
    Store::open(file("partly")).unwrap().finish_study(partly, StudyStatus::Interrupted).unwrap();
    std::fs::write(file("broken"), "no database, however long it is").unwrap();
    let now = record(&file("now"), "quick@1", "now", 1);
    let mut recording = Store::open(file("now")).unwrap();
    recording.resume_study(now).unwrap();
    record(&bench.path("netassay.pairs/other.db"), "quick@1", "other", 3);
    let status = ["fleet", "status", "--hosts", "fleet.toml"];
    let shown = bench.run(&status);
    expect(&shown, 5);
    let page = stdout(&shown);
    let line = |name: &str| {
        let found = page.lines().find(|line| line.split_whitespace().next() == Some(name));
        found.unwrap_or_else(|| panic!("{name}: {page}")).to_owned()
    };
    for (name, words) in [
        ("done", "complete"),
        ("partly", "24 of 36"),
        ("broken", "failed"),
        ("missing", "never came"),
        ("now", "running"),
    ] {
        assert!(line(name).contains(words), "{words}: {page}");
    }
    assert!(page.contains("5 pairs: 1 complete, 1 running, 1 partly, 1 failed, 1 never came"), "{page}");
    assert!(page.contains("other"), "{page}");
    drop(recording);
    // A pair's place in a campaign is for its whole study, which is taken once.
    let unpack = |name: &str| bench.run(&["db", "unpack", file(name).to_str().unwrap()]);
    let refused = unpack("partly");
    expect(&refused, 4);
    assert!(stderr(&refused).contains("measures pair partly, and is not complete (interrupted)"));
    expect(&unpack("done"), 0);
    let again = unpack("done");
    expect(&again, 0);
    assert!(stderr(&again).contains("already: study 1"), "{}", stderr(&again));
    // Of several campaigns one is chosen.
    record(&file("missing"), "quick@2", "missing", 3);
    let several = bench.run(&status);
    expect(&several, 2);
    assert!(
        stderr(&several).contains("(quick@1, quick@2): choose one with --campaign"),
        "{}",
        stderr(&several)
    );
    let chosen = bench.run(&[&status[..], &["--campaign", "quick@2"]].concat());
    assert!(stdout(&chosen).contains("5 pairs: 1 complete"), "{}", stdout(&chosen));
    let nowhere = bench.run(&[&status[..], &["nowhere"]].concat());
    expect(&nowhere, 4);
    assert!(stderr(&nowhere).contains("there is no nowhere"), "{}", stderr(&nowhere));
    std::os::unix::fs::symlink("loop", bench.path("loop")).unwrap();
    let endless = bench.run(&[&status[..], &["loop"]].concat());
    expect(&endless, 3);
    assert!(stderr(&endless).contains("cannot read loop: Too many levels of symbolic links"));
}
