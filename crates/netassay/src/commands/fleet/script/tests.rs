use std::fs;

use super::*;
use crate::cli::FleetCommand;

const STUDY: &str = "name = \"tso\"\nquestion = \"Does TSO make TCP faster?\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\n[factors]\ntso = [\"on\", \"off\"]\n";

/// The first pair is the reference; `OWN`: a launcher.
const HOSTS: &str = r#"addresses = "own"
[[pair]]
name = "rack1"
transmitter = { ssh = "root@a1:ens1f0" }
receiver = { ssh = "root@b1", interface = "ens1f0" }
labels = { rack = "1", "the model" = "R650" }
reference = true
[[pair]]
name = "rack2"
transmitter = { ssh = "root@a2", interface = "ens1f0" }
receiver = { launch = [OWN], interface = "ens1f0" }
"#;

const SRUN: &str = r#""srun", "-w", "b2""#;
const KUBECTL: &str = r#""kubectl", "exec", "-i", "mine", "--""#;

/// The script of these hosts, or of a fault, and the name of its campaign.
fn script(scheduler: &str, study: &str, hosts: &str, more: &[&str]) -> Result<(String, String), String> {
    let directory = tempfile::tempdir().unwrap();
    let [of_hosts, of_study] = ["fleet.toml", "tso.toml"].map(|name| directory.path().join(name));
    fs::write(&of_hosts, hosts).unwrap();
    fs::write(&of_study, study).unwrap();
    let words = ["netassay", "fleet", "script", of_study.to_str().unwrap(), scheduler];
    let words = [&words[..], &["--hosts", of_hosts.to_str().unwrap()], more].concat();
    let cli = Cli::read(words.into_iter().map(OsString::from)).map_err(|error| error.to_string())?;
    let Command::Fleet(FleetCommand::Script(flags)) = cli.command else { panic!("another command") };
    let made = || -> Result<(String, String), Failure> {
        let pairs = named_pairs(&flags.hosts)?;
        let mut script = Script::new(&flags, &pairs)?;
        // The time of a task is another matter.
        script.facts = "# FACTS".to_owned();
        let campaign = script.campaign.clone();
        Ok((script.text()?, campaign))
    };
    made().map_err(|failure| failure.to_string())
}

fn text(scheduler: &str, own: &str, more: &[&str]) -> String {
    let more = [more, &["--campaign", "tso@1", "--", "--set", "boots=2"]].concat();
    script(scheduler, STUDY, &HOSTS.replace("OWN", own), &more).unwrap().0
}

#[test]
fn slurm_gets_a_job_for_each_task() {
    insta::assert_snapshot!("slurm", text("--slurm", SRUN, &["--into", "of the fleet"]));
}

#[test]
fn kubernetes_gets_an_indexed_job_with_pods_as_hosts() {
    insta::assert_snapshot!("kubernetes", text("--kubernetes", KUBECTL, &["--image", "site/netassay:1"]));
}

#[test]
fn a_machine_runs_the_tasks_itself() {
    insta::assert_snapshot!("local", text("--local", SRUN, &["--at-once", "2"]));
}

#[test]
fn a_host_that_a_scheduler_does_not_reach_is_named_with_the_remedy() {
    let b2 = r#"launch = [OWN], interface = "ens1f0""#;
    for (scheduler, host, why) in [
        (
            "--slurm",
            r#"launch = ["docker", "exec", "-i", "c"]"#,
            "its receiver (docker exec -i c) names no node",
        ),
        ("--slurm", r#"launch = ["srun", "-w", "b[2-3]"]"#, "`launch = [\"srun\", \"-w\", \"NODE\"]`"),
        ("--slurm", r#"ssh = "root@[2001:db8::1]""#, "names no node of Slurm"),
        ("--slurm", r#"interface = "eth0""#, "its receiver (this machine (eth0)) names no node"),
        ("--slurm", r#"ssh = "other@a2""#, "pair rack2: both hosts are on node a2"),
        (
            "--kubernetes",
            r#"launch = ["srun", "-w", "b2"]"#,
            "its receiver (srun -w b2) is no pod: write `ssh",
        ),
        ("--kubernetes", r#"ssh = "other@a2""#, "pair rack2: both hosts are on node a2"),
    ] {
        let error = script(scheduler, STUDY, &HOSTS.replace(b2, host), &[]).unwrap_err();
        assert!(error.contains("pair rack2: ") && error.contains(why), "{host}: {error}");
    }
}

#[test]
fn what_the_tasks_would_refuse_is_refused_before() {
    let hosts = HOSTS.replace("OWN", SRUN);
    for (hosts, more, why) in [
        (hosts.as_str(), &["--", "--no-such"][..], "'--no-such'"),
        (&hosts, &["--", "--pair", "rack1"], "--pair"),
        (&hosts, &["--", "--repeat", "2"], "--repeat"),
        (&hosts, &["--", "--dry-run"], "--dry-run: the tasks would measure nothing"),
        (&hosts, &["--", "--help"], "--help: the tasks would measure nothing"),
        (&hosts, &["--", "--set", "boots=0"], "`boots` must be 1 to 1000"),
        (&hosts, &["--campaign", ""], "a name has 1 to 256 bytes"),
        (&hosts, &["--campaign", "a\u{202e}b"], "cannot hold the character \\u{202e}"),
        (&hosts, &["--campaign", "a\u{ffff}b"], "cannot hold the character \\u{ffff}"),
        ("", &[], "has no [[pair]]"),
    ] {
        let error = script("--local", STUDY, hosts, more).unwrap_err();
        assert!(error.contains(why), "{more:?}: {error}");
    }
}

#[test]
fn tasks_share_a_campaign_as_long_as_study_hosts_and_options_are_the_same() {
    let hosts = HOSTS.replace("OWN", SRUN);
    let campaign = |scheduler: &str, study: &str, hosts: &str, more: &[&str]| {
        script(scheduler, study, hosts, more).unwrap().1
    };
    let first = campaign("--local", STUDY, &hosts, &[]);
    assert!(first.starts_with("tso@"), "{first}");
    assert_eq!(first, campaign("--slurm", STUDY, &hosts, &[]));
    assert_eq!(first, campaign("--local", &STUDY.replace('\n', "\r\n"), &hosts, &[]));
    assert_ne!(first, campaign("--local", &format!("{STUDY}\n"), &hosts, &[]));
    assert_ne!(first, campaign("--local", STUDY, &hosts.replace("a2", "a3"), &[]));
    assert_ne!(first, campaign("--local", STUDY, &hosts, &["--", "--set", "boots=2"]));
}

#[test]
fn the_text_of_a_file_does_not_end_its_here_document_and_is_no_template() {
    assert_eq!(here_document("x", "a\nEND\nEND_\n"), "put x <<'END__'\na\nEND\nEND_\nEND__");
    assert_eq!(fill("<@one@>\n", &[("one", "@two@"), ("two", "never")]), "<@two@>");
}

#[test]
fn a_study_that_is_traced_between_machines_only_has_a_script() {
    let traced =
        STUDY.replace("tcp_stream", "udp_rr").replace(r#"tso = ["on", "off"]"#, "message = [64, 1400]");
    let traced = traced + "[trace]\npaths = [\"udp-tx\"]\n";
    let (text, _) = script("--local", &traced, &HOSTS.replace("OWN", SRUN), &[]).unwrap();
    assert!(text.contains("\n[trace]\n"), "{text}");
}

/// No pair has a blank in its name.
#[test]
fn the_name_of_a_pair_does_not_end_the_list_of_tasks() {
    let name = "TASKS";
    for scheduler in ["--local", "--slurm"] {
        let text =
            script(scheduler, STUDY, &HOSTS.replace("OWN", SRUN).replace("rack1", name), &[]).unwrap().0;
        let list = text.split_once("<<'END OF TASKS'\n").unwrap().1.split_once("\nEND OF TASKS\n").unwrap().0;
        assert_eq!(list.lines().filter(|line| line.starts_with(name)).count(), 2, "{list}");
        assert!(list.lines().any(|line| line.starts_with("rack2")), "{list}");
    }
}

#[test]
fn a_written_file_of_hosts_is_read_as_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fleet.toml");
    let hosts = HOSTS.replace("OWN", "\"a \\\"b\\\"\", \"\\u0007\", \"\u{e9}\"");
    fs::write(&path, hosts).unwrap();
    let first = HostsFileText::read(&path).unwrap().text();
    assert!(words::sanitised_lines(&first) == first, "{first}");
    let before = named_pairs(&path).unwrap();
    fs::write(&path, &first).unwrap();
    assert_eq!(HostsFileText::read(&path).unwrap().text(), first);
    let both = [before, named_pairs(&path).unwrap()].map(|pairs| format!("{pairs:?}"));
    assert_eq!(both[0], both[1]);
}
