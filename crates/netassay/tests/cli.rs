//! The command line from outside: what it prints, where, and with which exit code.

mod common;

use std::io::Read;
use std::process::Stdio;

use common::{Bench, expect, output_schema, stderr, stdout};

#[test]
fn old_names_tell_the_new_ones() {
    let bench = Bench::new();
    for (arguments, told) in [
        (&["list", "--wide"][..], "error: `netassay list` is now `netassay db list`\n"),
        (&["aa", "quick", "--boots", "2"], "error: `netassay aa` is now `netassay run STUDY --aa`\n"),
        (&["help", "restore"], "error: `netassay restore` is now `netassay undo`\n"),
        (&["explain", "boot"], "error: `netassay explain` is now `netassay help TERM`\n"),
    ] {
        let output = bench.run(arguments);
        expect(&output, 2);
        assert_eq!((stdout(&output).as_str(), stderr(&output).as_str()), ("", told));
    }
}

#[test]
fn help_leads_with_examples() {
    let bench = Bench::new();
    let output = bench.run(&["--help"]);
    expect(&output, 0);
    insta::assert_snapshot!("help", stdout(&output));
    for command in ["run", "compare", "db export", "show", "doctor", "quick", "load"] {
        let words: Vec<&str> = command.split(' ').collect();
        let output = bench.run(&[&words[..], &["--help"]].concat());
        expect(&output, 0);
        insta::assert_snapshot!(format!("help_{}", command.replace(' ', "_")), stdout(&output));
        assert_eq!(stdout(&bench.run(&[&["help"], &words[..]].concat())), stdout(&output));
    }
}

#[test]
fn wrong_usage_is_exit_code_2_and_names_the_word() {
    let bench = Bench::new();
    for (arguments, word) in [
        (vec!["rnu"], "rnu"),
        (vec!["run"], "STUDY"),
        (vec!["run", "quikc"], "quikc"),
        (vec!["run", "no-such.toml"], "no-such.toml"),
        (vec!["study", "new", "../evil"], "../evil"),
        (vec!["compare", "--confidence", "200"], "200"),
        (vec!["db", "export", "--format", "sta"], "sta"),
    ] {
        let output = bench.run(&arguments);
        expect(&output, 2);
        assert!(stderr(&output).contains(word), "{arguments:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "talk goes to standard error");
    }
}

#[test]
fn help_defines_terms_keys_and_metrics() {
    let bench = Bench::new();
    for (arguments, name) in [
        (vec!["help", "no", "difference", "proven"], "term_verdict"),
        (vec!["help", "PACING"], "term_key_and_limit"),
        (vec!["help", "receiver.service_demand_byte"], "term_metric"),
        (vec!["help", "tso"], "term_feature"),
        (vec!["help", "--terms"], "terms"),
    ] {
        let output = bench.run(&arguments);
        expect(&output, 0);
        insta::assert_snapshot!(name, stdout(&output));
    }
    let json = bench.run(&["help", "gro", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&stdout(&json)).unwrap();
    assert_eq!((&json["terms"][0]["section"], &json["terms"][1]["name"]), (&"Readers".into(), &"gro".into()));
    let unknown = bench.run(&["help", "verdit"]);
    expect(&unknown, 2);
    assert_eq!(stdout(&unknown), "");
    insta::assert_snapshot!("term_unknown", stderr(&unknown));
    // A command and a term may have one name, as an old name of a command and a term.
    let both = stdout(&bench.run(&["help", "--terms", "run"]));
    assert!(both.contains("run (Measurement): One measurement"), "{both}");
    assert!(stdout(&bench.run(&["help", "tag"])).contains("tag (Study): A name"));
}

#[test]
fn a_study_is_found_wrong_with_place_and_remedy() {
    let bench = Bench::new();
    let study = bench.write(
        "wrong.toml",
        "name = \"wrong\"\nquestion = \"?\"\nscenario = \"vteh\"\n\n[[workload]]\nkind = \"tcp_stream\"\n\n[factors]\nfamily = [\"ipv4\", \"ipv7\"]\n",
    );
    for arguments in [&["study", "check", "wrong.toml"][..], &["run", "wrong.toml"]] {
        let output = bench.run(arguments);
        expect(&output, 2);
        insta::assert_snapshot!("check_wrong", stderr(&output));
    }
    drop(study);
    expect(&bench.run(&["study", "new", "mine"]), 0);
    expect(&bench.run(&["study", "check", "mine.toml"]), 0);
    // What somebody wrote is never overwritten.
    let again = bench.run(&["study", "new", "mine"]);
    expect(&again, 3);
    assert!(stderr(&again).contains("mine.toml"), "{}", stderr(&again));
}

#[test]
fn a_study_with_every_condition_excluded_says_why() {
    let bench = Bench::new();
    bench.write(
        "none.toml",
        "name = \"none\"\nquestion = \"?\"\nscenario = \"veth\"\n[[workload]]\nkind = \"udp_stream\"\n[factors]\nfamily = [\"ipv6\"]\nchecksum = [\"off\"]\n",
    );
    let output = bench.run(&["run", "none.toml"]);
    expect(&output, 2);
    assert!(stderr(&output).contains("RFC 8200"), "the reason is given: {}", stderr(&output));
}

#[test]
fn a_change_is_made_for_every_command_that_takes_a_study() {
    let bench = Bench::new();
    bench.write(
        "two.toml",
        "name = \"two\"\nquestion = \"?\"\nscenario = \"veth\"\n[[workload]]\nkind = \"udp_stream\"\n[factors]\nfamily = [\"ipv4\", \"ipv6\"]\n",
    );
    let output = bench.run(&["study", "check", "two.toml", "--set", "sender=send,gso", "--set", "family="]);
    expect(&output, 0);
    assert!(stderr(&output).contains("(2 conditions, 0 excluded)"), "{}", stderr(&output));
    let run = ["run", "two.toml", "--dry-run", "--format", "json", "--set", "sender=send,gso"];
    let output = bench.netassay_as_nobody(&run).output().unwrap();
    expect(&output, 0);
    let plan: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(plan["conditions"].as_array().unwrap().len(), 4, "{plan}");
    let sizing = ["--detect", "2%", "--interaction", "1%", "--within", "1%", "--format", "json"];
    let time = |changes: &[&str]| {
        let output = bench.run(&[&["study", "plan", "quick"], &sizing[..], changes].concat());
        expect(&output, 0);
        stdout(&output)
    };
    assert_ne!(time(&[]), time(&["--set", "duration=60s"]));
    for (arguments, word) in [
        (vec!["quick", "--set", "duration"], "has no key and `=`"),
        (vec!["run", "two.toml", "--set", "duratoin=2s"], "did you mean `duration`?"),
        (vec!["run", "quick", "--aa", "--set", "boots=0"], "`boots` must be 1 to 1000"),
        (
            vec!["study", "plan", "quick", "--detect", "1%", "--set", "kind=tcp"],
            "`tcp` is not a kind of workload",
        ),
        (
            vec!["study", "check", "two.toml", "--set", "sender=sendfile"],
            "sender `sendfile` is not supported for `udp_stream`",
        ),
    ] {
        let output = bench.run(&arguments);
        expect(&output, 2);
        assert!(stderr(&output).contains(word), "{arguments:?}: {}", stderr(&output));
    }
    insta::assert_snapshot!(
        "set_wrong",
        stderr(&bench.run(&["study", "check", "two.toml", "--set", "duratoin=2s"]))
    );
}

#[test]
fn with_no_results_every_reader_says_how_to_get_some() {
    let bench = Bench::new();
    for arguments in
        [vec!["db", "list"], vec!["show"], vec!["compare"], vec!["db", "export", "--format", "csv"]]
    {
        let output = bench.run(&arguments);
        expect(&output, 4);
        assert!(stderr(&output).contains("netassay quick"), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn the_schema_is_the_one_checked_in() {
    let bench = Bench::new();
    let output = bench.run(&["study", "schema"]);
    expect(&output, 0);
    assert_eq!(stdout(&output), include_str!("../../../docs/study.schema.json"));
}

#[test]
fn bundled_studies_are_listed_and_can_be_planned() {
    let bench = Bench::new();
    let output = bench.run(&["study", "list", "--format", "json"]);
    expect(&output, 0);
    let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let studies = list["studies"].as_array().unwrap();
    assert!(
        studies.iter().any(|study| study["name"] == "quick" && study["expected_s"].as_f64().unwrap() <= 15.0)
    );
    for study in studies {
        let name = study["name"].as_str().unwrap();
        let output =
            bench.netassay_as_nobody(&["run", name, "--dry-run", "--format", "json"]).output().unwrap();
        expect(&output, 0);
        output_schema::expect(&["run", name, "--dry-run"], &stdout(&output));
        let plan: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(!plan["conditions"].as_array().unwrap().is_empty(), "{name}");
    }
    let output = bench.run(&["study", "list"]);
    expect(&output, 0);
    let page = include_str!("../../../docs/studies.md");
    let headings: Vec<String> =
        stdout(&output).lines().filter_map(|line| Some(format!("{})\n", line.split_once("):")?.0))).collect();
    assert!(page.contains(&headings.concat()), "docs/studies.md lists others");
}

#[test]
fn no_page_is_wider_than_the_terminal() {
    let bench = Bench::new();
    let plan = ["study", "plan", "quick", "--detect", "1%", "--interaction", "1%", "--within", "2%"];
    for arguments in [
        &["study", "list"][..],
        &["doctor"],
        &["help", "--terms"],
        &["help", "boot"],
        &["run", "quick", "--dry-run"],
        &plan,
    ] {
        for (columns, most) in [("120", 120), ("80", 80), ("48", 48), ("20", 40)] {
            let output = bench.netassay(arguments).env("COLUMNS", columns).output().unwrap();
            expect(&output, 0);
            for line in stdout(&output).lines() {
                assert!(line.chars().count() <= most, "{arguments:?}, {columns} columns: {line}");
            }
        }
    }
}

#[test]
fn a_broken_pipe_is_quiet() {
    let bench = Bench::new();
    let mut child =
        bench.netassay(&["study", "schema"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Gone before the first byte is written: the schema is longer than nothing, and a closed pipe
    // takes nothing.
    drop(child.stdout.take());
    let mut talk = String::new();
    child.stderr.take().unwrap().read_to_string(&mut talk).unwrap();
    assert_eq!((child.wait().unwrap().code(), talk.as_str()), (Some(0), ""));
}

#[test]
fn the_doctor_examines_every_area() {
    let bench = Bench::new();
    let output = bench.netassay_as_nobody(&["doctor", "--format", "json"]).output().unwrap();
    expect(&output, 0);
    output_schema::expect(&["doctor"], &stdout(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap();
    for area in ["privileges", "scenario", "guests", "tracing", "noise"] {
        assert!(findings.iter().any(|finding| finding["area"] == area), "nothing about {area}");
    }
    // Each kind of probe has its verdict, its reason, and what is lost without it.
    let probes = report["probes"].as_array().unwrap();
    let names: Vec<&str> = probes.iter().map(|probe| probe["rung"].as_str().unwrap()).collect();
    assert_eq!(names, ["trampoline", "kprobe", "raw_tracepoint"]);
    for probe in probes {
        // An ordinary user may use none of them.
        assert_eq!(probe["verdict"], "no", "{probe}");
        assert!(probe["reason"].as_str().unwrap().contains("CAP_BPF"), "{probe}");
        let named = findings.iter().find(|finding| finding["name"] == probe["name"]).unwrap();
        let without = format!("without: {}", probe["without"].as_str().unwrap());
        assert_eq!(named["fix"], without, "{named}");
    }
    let veth = findings.iter().find(|finding| finding["name"] == "veth, rootless").unwrap();
    assert_eq!(veth["status"], "ok", "{veth}");
    assert!(
        findings.iter().all(|finding| ["ok", "warn", "fail"].contains(&finding["status"].as_str().unwrap()))
    );
}

#[test]
fn the_log_has_each_request_with_its_answer_and_is_off_by_default() {
    let bench = Bench::new();
    assert_eq!(stderr(&bench.run(&["doctor"])), "");
    let path = bench.path("log");
    let output = bench.netassay(&["doctor"]).env("NETASSAY_LOG", &path).output().unwrap();
    assert_eq!(stderr(&output), "");
    let shown = stderr(&bench.run(&["doctor", "-v"]));
    for log in [std::fs::read_to_string(&path).unwrap(), shown] {
        assert!(log.contains(r#"asked host=host id=1 request={"hello":"#), "{log}");
        let counted = |word: &str| log.lines().filter(|line| line.contains(word)).count();
        assert_eq!(counted("DEBUG asked "), counted("DEBUG answered "), "{log}");
    }
    let nowhere = bench.netassay(&["doctor"]).env("NETASSAY_LOG", "/nowhere/log").output().unwrap();
    expect(&nowhere, 3);
    assert!(stderr(&nowhere).contains("cannot write /nowhere/log"), "{}", stderr(&nowhere));
}

/// `ssh` connects, and the shell there never answers.
#[test]
#[ignore = "waits 20 s: `reach` proves this with a shorter time"]
fn a_host_that_never_answers_is_named() {
    let bench = Bench::new();
    let ssh = bench.write("ssh", "#!/bin/sh\necho welcome >&2\nexec sleep 600\n");
    std::fs::set_permissions(&ssh, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bench.path("").display(), std::env::var("PATH").unwrap());
    let mut doctor = bench.netassay(&["doctor", "--host", "root@192.0.2.1"]);
    let output = doctor.env("PATH", path).output().unwrap();
    expect(&output, 3);
    let said = stderr(&output);
    assert!(said.contains("root@192.0.2.1 did not answer within 20 s; it said: welcome"), "{said}");
}
