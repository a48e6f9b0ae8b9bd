//! Changes to a study from outside its file.

use std::time::Duration;

use netassay_study::{Assignment, BootKind, Copies, Family, Scenario, Sender, Study, bundled, starter};

fn changes(texts: &[&str]) -> Vec<Assignment> {
    texts.iter().map(|text| text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))).collect()
}

fn changed(text: &str, set: &[&str]) -> Study {
    Study::parse_with("x.toml", text, &changes(set)).unwrap_or_else(|problems| panic!("{problems}"))
}

fn refused(text: &str, set: &[&str]) -> String {
    match Study::parse_with("x.toml", text, &changes(set)) {
        Ok(study) => format!("no problem:\n{}", study.text),
        Err(diagnostics) => diagnostics.to_string(),
    }
}

/// The lines that are not in both, those of the first behind `-`.
fn difference(before: &str, after: &str) -> String {
    let gone = before.lines().filter(|line| !after.lines().any(|other| other == *line));
    let new = after.lines().filter(|line| !before.lines().any(|other| other == *line));
    let lines: Vec<String> =
        gone.map(|line| format!("- {line}")).chain(new.map(|line| format!("+ {line}"))).collect();
    lines.join("\n")
}

macro_rules! shows {
    ($text:expr) => {
        insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!($text) })
    };
}

const SEVERAL: &str = r#"name = "several"
question = "q"
scenario = "veth"

[[workload]] # bulk
kind = "udp_stream"
message = 100 # bytes

[[workload]]
kind = "udp_rr"
name = "ask"

[factors]
family = ["ipv4", "ipv6"] # both
receiver.gro = ["on", "off"]

[protocol]
boots = 10
stop = { detect = "2%", looks = 5 }
"#;

#[test]
fn the_text_changes_where_it_must_and_nowhere_else() {
    let quick = bundled::find("quick").unwrap();
    let set = ["duration=200ms", "boots=2", "runs=1", "warmup=0", "scenario=loopback", "flows=4"];
    let study = changed(quick.text, &set);
    assert_eq!((study.protocol.boots, study.protocol.runs, study.protocol.warmup), (2, 1, 0));
    assert_eq!(study.scenarios(), [Scenario::Loopback]);
    let workload = &study.workloads[0];
    assert_eq!((workload.duration, workload.traffic.flows), (Duration::from_millis(200), 4));
    shows!(difference(quick.text, &study.text));
    // The stored file is read again without the changes.
    let again = Study::parse("x.toml", &study.text).unwrap();
    assert_eq!(again, study);
    assert_eq!(changed(&study.text, &set), study, "made twice they are made once");
    assert_eq!(changed(quick.text, &[]).text, quick.text);
}

#[test]
fn every_workload_is_changed_or_the_one_that_is_named() {
    shows!(difference(SEVERAL, &changed(SEVERAL, &["message=64", "ask.in_flight=4"]).text));
    let study = changed(SEVERAL, &["udp_stream.message=64", "ask.message=8"]);
    assert_eq!(study.workloads.iter().map(|workload| workload.traffic.message).collect::<Vec<_>>(), [64, 8]);
}

#[test]
fn several_values_are_levels() {
    let study = changed(SEVERAL, &["message=64,1400", "sender=send,gso", "family=ipv6"]);
    shows!(difference(SEVERAL, &study.text));
    let labels: Vec<String> =
        study.plan().conditions.into_iter().map(|condition| condition.label.to_string()).collect();
    assert!(labels.contains(&"udp_stream sender=gso message=64 receiver.gro=on".to_owned()), "{labels:?}");
    assert!(
        study
            .plan()
            .excluded
            .iter()
            .any(|dropped| dropped.why == "sender `gso` is not supported for `udp_rr`")
    );
    // A factor goes by all of its names.
    let study = changed(SEVERAL, &["receiver.rx-gro=off", "transmitter.tso=on,off"]);
    shows!(difference(SEVERAL, &study.text));
    let gso = changed(&study.text, &["factors.family=", "udp_stream.sender=gso"]);
    assert_eq!(gso.workloads[0].traffic.sender, Sender::Gso);
    assert_eq!(
        gso.factors.iter().map(|factor| factor.name.as_str()).collect::<Vec<_>>(),
        ["workload", "transmitter.tso", "receiver.gro"]
    );
}

#[test]
fn an_empty_value_takes_the_key_out() {
    let study = changed(SEVERAL, &["boots=2", "stop=", "message=", "receiver.gro="]);
    shows!(difference(SEVERAL, &study.text));
    assert_eq!(study.protocol.stop, None);
    let tables = "stop=\nprotocol.stop.detect=1%\nstop.looks=3";
    let study = changed(SEVERAL, &tables.lines().collect::<Vec<_>>());
    assert_eq!(study.protocol.stop.as_ref().map(|stop| stop.looks), Some(3));
    assert_eq!(changed(SEVERAL, &["stop=1%"]).protocol.stop.as_ref().map(|stop| stop.looks), Some(5));
}

#[test]
fn the_kind_of_boot_and_their_number_are_set_apart() {
    let text = SEVERAL.replace("\"veth\"", "\"ssh\"");
    let line = |set: &[&str]| {
        let study = changed(&text, set);
        let line = study.text.lines().find(|line| line.starts_with("boots")).unwrap().to_owned();
        (line, study.protocol.how, study.protocol.boots)
    };
    let said = "boots = { count = 10, how = \"reboot\" }".to_owned();
    assert_eq!(line(&["boots.how=reboot"]), (said.clone(), BootKind::Reboot, 10));
    assert_eq!(line(&["protocol.boots.how=reboot"]), (said, BootKind::Reboot, 10));
    let said = "boots = { count = 12, how = \"reboot\" }".to_owned();
    assert_eq!(line(&["boots.how=reboot", "boots=12"]), (said.clone(), BootKind::Reboot, 12));
    assert_eq!(line(&["boots.how=reboot", "boots.count=12"]), (said, BootKind::Reboot, 12));
    assert_eq!(
        line(&["boots.how=reboot", "boots.how="]),
        ("boots = { count = 10 }".to_owned(), BootKind::Reset, 10)
    );
    // Too few boots for the looks, in a table too.
    assert!(
        refused(&text, &["boots.how=reboot", "boots.count=2"]).contains("5 looks need more than 5 boots")
    );
    let absent = changed(&text, &["stop=", "boots=", "boots.how=reboot"]);
    assert_eq!((absent.protocol.how, absent.protocol.boots), (BootKind::Reboot, 3));
    let none = changed(&text, &["stop=", "boots.how=reboot", "boots="]);
    assert_eq!((none.protocol.how, none.protocol.boots), (BootKind::Reset, 3));
    shows!(refused(&text, &["boots.how=restart"]));
    shows!(refused(SEVERAL, &["boots.how=reboot"]));
}

#[test]
fn exclusions_follow_the_levels() {
    let text = format!(
        "{SEVERAL}[[exclude]]\nfamily = [\"ipv4\", \"ipv6\"] # a\nreceiver.gro = true\nworkload = \"ask\"\n\
         [[exclude]] # b\nfamily = \"ipv6\"\nreceiver.gro = \"off\"\nreason = \"c\"\n"
    );
    assert_eq!(changed(&text, &[]).plan().excluded.len(), 4);
    let study = changed(&text, &["family=ipv4"]);
    shows!(difference(&text, &study.text));
    assert_eq!(study.plan().excluded.len(), 1);
    assert_eq!(changed(&text, &["receiver.gro=on"]).plan().excluded.len(), 2);
    assert_eq!(changed(&text, &["receiver.gro="]).plan().excluded.len(), 0);
    let ladder = bundled::find("sender-ladder").unwrap();
    let study = changed(ladder.text, &["sender=send,gso", "reader=recv,gro"]);
    assert_eq!(study.plan().conditions.len(), 5);
}

#[test]
fn comparisons_of_namespaces_become_those_of_machines() {
    let study = changed(bundled::find("offload-gain").unwrap().text, &["scenario=ssh,ssh-vxlan"]);
    let only: Vec<&str> = study.text.lines().filter(|line| line.starts_with("only = { scenario")).collect();
    assert_eq!(only, ["only = { scenario = \"ssh\" }", "only = { scenario = \"ssh-vxlan\" }"]);
    assert_eq!(study.plan().comparisons.len(), 8, "two for each of four workloads");
}

#[test]
fn however_the_file_is_written() {
    let dense = "name='d'\nquestion='q'\nscenario='veth'\n\
                 workload = [{kind = 'tcp_stream', message = 10}, {kind = 'udp_rr'}]\n\
                 protocol.boots = 7\nprotocol.stop.detect = '1%'\nfactors = {family = ['ipv4'], 'receiver.gro' = 'on'}";
    let study = changed(
        dense,
        &["runs=2", "stop=", "message=5,6", "family=", "receiver.gro=off", "duration=1s", "mtu=1400"],
    );
    shows!(&study.text);
    let sparse = "name='d'\r\nquestion='q'\r\nscenario='veth'\r\n[[workload]]\r\nkind = 'tcp_stream'\r\n\
                  [factors.receiver]\r\ngro = 'on'\r\n[protocol.stop]\r\ndetect = '1%'\r\nlooks = 3";
    let study = changed(sparse, &["boots=9", "family=ipv6", "receiver.tso=off", "stop.looks=4"]);
    assert_eq!((study.protocol.boots, study.factors.len()), (9, 3));
    let study = changed(&study.text, &["stop=", "receiver.gro="]);
    assert_eq!((study.protocol.stop, study.factors.len()), (None, 2));
    let bare = "name='d'\nquestion='q'\n[[workload]]\nkind = 'tcp_stream'";
    let study = changed(bare, &["scenario=veth", "boots=2", "tso=on,off", "name=7", "message=9"]);
    assert_eq!((study.name.as_str(), study.plan().conditions.len(), study.protocol.boots), ("7", 2, 2));
}

/// The order of the factors is that of the conditions.
#[test]
fn comments_and_the_order_of_factors_stay() {
    let text = "# What?\n\n# counts\nexact = true\nname = 'x'\nquestion = 'q'\nscenario = 'veth'\ninside = 'guest'\n\n# bulk\n\
                [[workload]] # one\nkind = 'udp_stream'\n# goes with its key\nmessage = 100 # bytes\n# stays\n\n# what varies\n\
                [factors]\n# sides\nreceiver.gro = ['on', 'off']\nfamily = ['ipv4', 'ipv6'] # both\n# again\nreceiver.tso = 'on'\n# end";
    let set = ["exact=", "message=1,2", "inside=", "boots=2", "receiver.gro=off"];
    let study = changed(text, &set);
    shows!(&study.text);
    let names: Vec<&str> = study.factors.iter().map(|factor| factor.name.as_str()).collect();
    // Those of a side are written together.
    assert_eq!(names, ["message", "receiver.gro", "receiver.tso", "family"]);
    assert_eq!(changed(&study.text, &set), study, "made twice they are made once");
}

#[test]
fn fewer_boots_than_looks_are_refused_with_the_remedy() {
    let mtu = bundled::find("mtu").unwrap().text;
    for set in [&["boots=2"][..], &["boots=3", "stop.looks=3"]] {
        assert!(refused(mtu, set).contains("or no `stop` (`--set stop=`)"), "{}", refused(mtu, set));
    }
    assert_eq!(changed(mtu, &["boots=2", "stop="]).protocol.stop, None);
    assert!(changed(mtu, &["boots=6"]).protocol.stop.is_some());
    assert!(changed(mtu, &["boots=3", "stop.looks=2"]).protocol.stop.is_some());
    assert!(refused(mtu, &["stop.looks=10"]).contains("10 looks need more than 10 boots"));
}

#[test]
fn what_is_wrong_is_said_of_the_change() {
    for set in [
        &["duratoin=2s"][..],
        &["metric=loss"],
        &["many.message=4"],
        &["wombat=4"],
        &["duration=2x", "boots=0"],
        &["boots=4", "stop.looks=5"],
        &["duration=1s,2s"],
        &["sender=gso"],
        &["kind=tcp_strem"],
        &["transmitter.mtu=9000"],
        &["scenario="],
        &["ask.family=ipv4"],
    ] {
        shows!(format!("{}\n\n{}", set.join(" "), refused(SEVERAL, set)));
    }
}

#[test]
fn what_is_wrong_with_the_file_itself_is_said_as_ever() {
    shows!(refused("name = [", &["boots=2"]));
    shows!(refused("name = 'x'\nscenario = 'veht'\n", &["boots=2"]));
    let huge = format!("{SEVERAL}#{}", "x".repeat(1 << 20));
    assert!(refused(&huge, &["boots=2"]).contains("at most 1048576 are allowed"));
    assert!(
        refused("workload = 5\nfactors = 6\n", &["mtu=5"])
            .contains("`--set` cannot change a file that is written like this")
    );
}

#[test]
fn bundled_studies_and_new_ones_can_be_shortened() {
    let new = starter("new");
    let texts = bundled::list().iter().map(|study| (study.name, study.text)).chain([("new", new.as_str())]);
    for (name, text) in texts {
        let set = ["duration=50ms", "ramp=0s", "boots=2", "runs=1", "warmup=0", "stop=", "seed=5"];
        let study = changed(text, &set);
        let plan = study.plan();
        assert!(
            plan.conditions.iter().all(|one| one.workload.duration == Duration::from_millis(50)),
            "{name}"
        );
        let original = Study::parse(name, text).unwrap().plan();
        assert_eq!(
            (plan.conditions.len(), &plan.comparisons),
            (original.conditions.len(), &original.comparisons)
        );
    }
}

const GUESTS: &str = r#"name = "guests"
question = "q"
scenario = "vm-vxlan"

[guest]
kernel = "a" # the old one

[[workload]]
kind = "tcp_stream"

[factors]
nic = ["virtio-net", "e1000e"]

[design]
kind = "factorial"
offloads = ["transmitter.tso", "transmitter.gso", "receiver.gro"]
"#;

#[test]
fn testbeds_and_designs_can_be_changed() {
    let set = [
        "kernel=b,6",
        "guest.memory=1GiB",
        "vcpus=2",
        "command_line=mitigations=off",
        "nic=e1000e",
        "underlay.mtu=9000",
        "transmitter.underlay.tso=off",
        "design.kind=ladder",
        "transmitter.tcp-segmentation-offload=on",
    ];
    let study = changed(GUESTS, &set);
    shows!(difference(GUESTS, &study.text));
    assert_eq!(changed(&study.text, &set), study, "made twice they are made once");
    let plan = study.plan();
    assert_eq!((plan.states().len(), plan.conditions.len()), (2, 2 * 3));
    let condition = &plan.conditions[0];
    assert_eq!(&*condition.label, "kernel=b all on");
    let guest = condition.boot.guest.as_ref().unwrap();
    assert_eq!((guest.vcpus, guest.memory_mib, guest.command_line.as_str()), (2, 1024, "mitigations=off"));
    assert_eq!(
        (condition.underlay.mtu, condition.transmitter.features["tx-tcp-segmentation"]),
        (Some(9_000), true)
    );

    let plain =
        changed(GUESTS, &["design=", "guest=", "scenario=veth", "nic=", "inside=guest", "exact=true"]);
    assert!(plain.design.is_none() && plain.exact && plain.factors.is_empty());
    let one = changed(GUESTS, &["design.offloads=receiver.gro", "design.kind=ladder"]);
    assert_eq!(&*one.plan().conditions[1].label, "nic=virtio-net receiver.gro=off");
    shows!(refused(GUESTS, &["design.size=3"]));
    shows!(refused(GUESTS, &["scenario=veth"]));
}

#[test]
fn copies_are_a_key_of_the_guest_or_a_factor_and_each_way_is_compared_by_itself() {
    let exact = bundled::find("kernel-ab-exact").unwrap();
    let copies = |study: &Study| {
        let conditions = study.plan().conditions;
        conditions.iter().map(|one| one.boot.guest.clone().unwrap().copies).collect::<Vec<_>>()
    };
    assert_eq!(copies(&changed(exact.text, &[])), [Copies::Words; 4]);
    for set in ["copies=bytes", "guest.copies=bytes"] {
        assert_eq!(copies(&changed(exact.text, &[set])), [Copies::Bytes; 4], "{set}");
    }
    let plan = changed(exact.text, &["copies=words,bytes"]).plan();
    // Two workloads, two ways.
    assert_eq!(plan.comparisons.len(), 4);
    for comparison in &plan.comparisons {
        let way = plan.conditions[comparison.baseline].copies();
        assert!(
            comparison.conditions.iter().all(|one| plan.conditions[*one].copies() == way),
            "{comparison:?}"
        );
    }
    let time = refused(exact.text, &["copies=words,bytes", "exact=off", "inside=guest"]);
    assert!(
        time.contains("`copies` is how exact mode counts copies, and this study measures time"),
        "{time}"
    );
}

#[test]
fn a_scenario_becomes_a_factor_and_one_again() {
    let bundled = bundled::find("tunnel-cost").unwrap();
    let guests = changed(bundled.text, &["scenario=vm,vm-vxlan"]);
    assert_eq!(guests.scenarios(), [Scenario::Vm, Scenario::VmVxlan]);
    // From a study that has it at its top.
    let starter = starter("mine");
    let both = changed(&starter, &["stop=", "scenario=veth,loopback"]);
    assert_eq!(both.scenarios(), [Scenario::Veth, Scenario::Loopback]);
    let one = changed(&both.text, &["scenario=vxlan"]);
    assert_eq!(one.scenarios(), [Scenario::Vxlan]);
}

#[test]
fn a_comparison_of_levels_that_are_removed_is_removed_with_them() {
    let bundled = bundled::find("offload-gain").unwrap();
    let of = |changes: &[&str]| -> Vec<String> {
        let plan = changed(bundled.text, changes).plan();
        let scenario = |one: usize| plan.conditions[one].boot.scenario.to_string();
        let mut scenarios: Vec<String> =
            plan.comparisons.iter().map(|comparison| scenario(comparison.baseline)).collect();
        scenarios.dedup();
        scenarios
    };
    assert_eq!(of(&[]), ["veth", "vxlan", "vm", "vm-vxlan"]);
    assert_eq!(of(&["scenario=vxlan,veth"]), ["veth", "vxlan"], "in the order of the file");
    assert_eq!(of(&["scenario=vm-vxlan"]), ["vm-vxlan"]);
}

#[test]
fn comparisons_and_baselines_follow_the_levels() {
    use Family::{Ipv4, Ipv6};
    for (name, set, family, comparisons, of_baseline) in [
        ("tcp-offload", &["family=ipv4"][..], Ipv4, 2, &[][..]),
        ("tcp-offload", &["family=ipv6"], Ipv6, 3, &[]),
        ("tcp-offload", &["family="], Ipv4, 2, &[]),
        ("quick", &["family=ipv6"], Ipv6, 1, &[("offloads", "default")]),
        ("quick", &["family=ipv4", "offloads=default", "alternate="], Ipv4, 0, &[]),
        ("quick", &["mtu=1500,9000"], Ipv4, 1, &[("mtu", "1500"), ("offloads", "default")]),
        ("rr-latency", &["family=ipv6"], Ipv6, 0, &[]),
        ("mtu", &["mtu=4000,9000"], Ipv4, 3, &[("mtu", "4000")]),
        ("mtu", &["offloads=default"], Ipv4, 2, &[("mtu", "1500")]),
        // UDP over IPv6 has no condition without checksums, which the baseline names.
        ("udp-loopback", &["family=ipv6"], Ipv6, 1, &[("offloads", "default")]),
        // Without any of its own a study compares with the first condition.
        ("tunnel-cost", &["scenario=vxlan"], Ipv4, 2, &[("offloads", "default")]),
    ] {
        let study = changed(bundled::find(name).unwrap().text, set);
        assert_eq!(changed(&study.text, set), study, "made twice they are made once");
        let plan = study.plan();
        assert_eq!(plan.comparisons.len(), comparisons, "{name} {set:?}\n{}", study.text);
        for comparison in &plan.comparisons {
            let baseline = &plan.conditions[comparison.baseline];
            assert_eq!(baseline.family, family, "{name} {set:?}");
            let has = |(key, level): &(&str, &str)| {
                baseline.levels.contains(&((*key).to_owned(), (*level).to_owned()))
            };
            assert!(of_baseline.iter().all(has), "{name} {set:?}: {:?}", baseline.levels);
        }
    }
}

#[test]
fn every_level_of_every_bundled_study_can_be_chosen_alone() {
    let mut all_refused = Vec::new();
    for bundled in bundled::list() {
        for factor in &changed(bundled.text, &[]).factors {
            let levels = factor.levels().filter(|_| factor.name != "workload");
            for set in levels.map(|level| format!("{}={level}", factor.name)) {
                // Without the one factor that takes turns there are none.
                if !refused(bundled.text, &[&set, "alternate="]).starts_with("no problem") {
                    all_refused.push(format!("{} {set}", bundled.name));
                }
            }
        }
    }
    // Its `[underlay]` is for tunnels.
    assert_eq!(all_refused, ["offload-gain scenario=veth", "offload-gain scenario=vm"]);
}

#[test]
fn a_comparison_that_the_file_leaves_nothing_is_reported_whatever_is_set() {
    let idle = "[[comparison]]\nonly = { family = \"ipv6\", receiver.gro = \"on\" }\n";
    let two = format!("{SEVERAL}{idle}");
    for set in [&["message=64"][..], &["family=ipv6"]] {
        let refused = refused(&two, set);
        assert!(refused.contains("there is nothing to compare"), "{set:?}\n{refused}");
    }
    // A list of tables that loses its last one.
    let inline = SEVERAL.replace("scenario", "comparison = [{ only = { family = \"ipv6\" } }]\nscenario");
    assert!(!changed(&inline, &["family=ipv4"]).text.contains("comparison"));
}
