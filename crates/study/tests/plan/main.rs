//! Plans of studies.

mod auto;
mod bundled;
mod merging;
mod scenarios;
mod traffic;

use netassay_study::{Dropped, Offloads, Plan, Study};

/// A study over these workloads and with these factors, and whatever follows them.
fn study(workloads: &[&str], factors: &str) -> Study {
    let workloads: String =
        workloads.iter().map(|kind| format!("[[workload]]\nkind = \"{kind}\"\n")).collect();
    let text =
        format!("name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\n{workloads}[factors]\n{factors}\n");
    Study::parse("x.toml", &text).unwrap_or_else(|problems| panic!("{problems}"))
}

fn plan(workloads: &[&str], factors: &str) -> Plan {
    study(workloads, factors).plan()
}

fn slugs(plan: &Plan) -> Vec<&str> {
    plan.conditions.iter().map(|condition| condition.slug.as_str()).collect()
}

fn labels(plan: &Plan) -> Vec<&str> {
    plan.conditions.iter().map(|condition| condition.label.as_str()).collect()
}

#[test]
fn names_say_what_varies() {
    let plan = plan(
        &["udp_stream"],
        "mtu = [1500, 9000]\ntransmitter.tso = [\"on\", \"off\"]\nchecksum = [\"on\", \"off\"]\nrx = \"on\"",
    );
    assert_eq!(
        slugs(&plan)[..3],
        ["udp4_mtu1500_tx-tso-on", "udp4_nocksum_mtu1500_tx-tso-on", "udp4_mtu1500_tx-tso-off"]
    );
    assert_eq!(
        labels(&plan)[..2],
        ["mtu=1500 transmitter.tso=on checksum=on", "mtu=1500 transmitter.tso=on checksum=off"]
    );
    assert_eq!(plan.conditions.len(), 8);
}

#[test]
fn where_nothing_varies_there_is_one_condition_with_a_name() {
    let plan = plan(&["tcp_rr"], "family = \"ipv6\"");
    assert_eq!((labels(&plan), slugs(&plan)), (vec!["tcp_rr ipv6"], vec!["tcprr6"]));
    assert_eq!(plan.comparisons, []);
}

#[test]
fn sides_have_offloads_of_their_own() {
    let plan = plan(
        &["tcp_stream"],
        "receiver.offloads = [\"default\", \"none\"]\nsocket_buffer = [\"default\", 65536]",
    );
    assert_eq!(
        slugs(&plan),
        [
            "tcp4_rx-default_socket-bufferdefault",
            "tcp4_rx-default_socket-buffer65536",
            "tcp4_rx-nooffload_socket-bufferdefault",
            "tcp4_rx-nooffload_socket-buffer65536",
        ]
    );
    let last = &plan.conditions[3];
    assert_eq!((last.transmitter.offloads, last.receiver.offloads), (Offloads::Default, Offloads::None));
    assert_eq!(last.workload.traffic.socket_buffer, Some(65_536));
    assert_eq!(plan.conditions[0].workload.traffic.socket_buffer, None);
}

#[test]
fn several_workloads_are_a_factor_and_are_compared_apart() {
    let text = "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\n\
        [[workload]]\nkind = \"udp_stream\"\nname = \"Small\"\nmessage = 64\n\
        [[workload]]\nkind = \"udp_stream\"\n\
        [[workload]]\nkind = \"tcp_rr\"\n\
        [factors]\nfamily = [\"ipv4\", \"ipv6\"]\n\
        [[exclude]]\nworkload = \"tcp_rr\"\nfamily = \"ipv6\"\nreason = \"known\"\n";
    let study = Study::parse("x.toml", text).unwrap();
    let plan = study.plan();
    assert_eq!(
        labels(&plan),
        ["Small ipv4", "Small ipv6", "udp_stream ipv4", "udp_stream ipv6", "tcp_rr ipv4"]
    );
    assert_eq!(slugs(&plan), ["udp4_small", "udp6_small", "udp4", "udp6", "tcprr4"]);
    assert_eq!(plan.excluded, [Dropped { label: "tcp_rr ipv6".into(), why: "known".into() }]);
    assert_eq!(plan.conditions[0].workload.traffic.message, 64);
    let compared: Vec<(usize, &[usize])> = plan
        .comparisons
        .iter()
        .map(|comparison| (comparison.baseline, comparison.conditions.as_slice()))
        .collect();
    assert_eq!(compared, [(0, &[1][..]), (2, &[3][..])]);
}

#[test]
fn rules_exclude_what_cannot_be_and_say_why() {
    let plan = plan(
        &["udp_stream", "tcp_stream"],
        "family = [\"ipv4\", \"ipv6\"]\nchecksum = [true, false]\nmtu = [1279, 1280, \"default\"]",
    );
    let why = |label: &str| {
        let found = plan.excluded.iter().find(|dropped| dropped.label == label);
        found.unwrap_or_else(|| panic!("{label} is not excluded")).why.as_str()
    };
    assert!(why("udp_stream ipv6 checksum=off mtu=default").contains("RFC 8200, section 8.1"));
    assert!(
        why("tcp_stream ipv4 checksum=off mtu=1280").contains("`checksum` is not supported for `tcp_stream`")
    );
    assert!(why("tcp_stream ipv6 checksum=on mtu=1279").contains("at least 1280"));
    assert!(labels(&plan).contains(&"udp_stream ipv4 checksum=off mtu=1279"));
    assert!(labels(&plan).contains(&"tcp_stream ipv6 checksum=on mtu=1280"));
    assert_eq!(plan.conditions.len() + plan.excluded.len(), 24);
}

#[test]
fn a_file_may_say_itself_what_a_rule_would() {
    let plan = plan(
        &["udp_stream"],
        "family = [\"ipv4\", \"ipv6\"]\nchecksum = [\"on\", \"off\"]\n[[exclude]]\nfamily = \"ipv6\"\nchecksum = false\n\
         reason = \"my reason\"",
    );
    assert_eq!(plan.excluded, [Dropped { label: "ipv6 checksum=off".into(), why: "my reason".into() }]);
}

#[test]
fn a_level_goes_by_any_of_its_spellings() {
    let plan = plan(
        &["udp_stream"],
        "pacing = [\"1.5Gbit\", \"1Gbit\"]\nbusy_poll = [\"0.05ms\", \"default\"]\n\
         [[exclude]]\npacing = \"1500 mbit\"\nbusy_poll = \"50us\"\n",
    );
    assert_eq!(plan.conditions.len(), 3);
    assert_eq!(plan.excluded[0].label, "pacing=1500Mbit busy_poll=50us");
}

#[test]
fn a_plan_survives_being_stored() {
    for bundled in netassay_study::bundled::list() {
        let plan = bundled.study().plan();
        let json = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), plan);
    }
}

#[test]
fn a_plan_of_an_earlier_version_is_read_without_what_is_gone() {
    let mut ladder = plan(&["tcp_stream"], "[design]\nkind = \"ladder\"\noffloads = [\"tso\", \"gso\"]\n");
    let json = serde_json::to_string(&ladder).unwrap();
    let reloads = json.replace("\"boots\":3", "\"boots\":3,\"how\":\"reload\"");
    assert_eq!(Plan::read(&reloads).unwrap(), ladder);
    ladder.design = None;
    for gone in ["one-in", "one-out"] {
        let stored = reloads.replace("\"ladder\"", &format!("{gone:?}"));
        assert_eq!(Plan::read(&stored).unwrap(), ladder);
    }
    assert!(Plan::read(&json.replace("\"ladder\"", "\"one\"")).is_err());
}

#[test]
fn a_stored_plan_names_only_conditions_that_it_has() {
    let plan = plan(&["tcp_stream"], "family = [\"ipv4\", \"ipv6\"]");
    let read = |change: fn(&mut Plan)| {
        let mut changed = plan.clone();
        change(&mut changed);
        Plan::read(&serde_json::to_string(&changed).unwrap())
    };
    assert_eq!(read(|_| {}).unwrap(), plan);
    let changes: [fn(&mut Plan); 4] = [
        |plan| plan.conditions[1].index = 77,
        |plan| plan.conditions.swap(0, 1),
        |plan| plan.comparisons[0].baseline = 2,
        |plan| plan.comparisons[0].conditions = vec![2],
    ];
    for change in changes {
        let error = read(change).unwrap_err().to_string();
        assert_eq!(error, "its parts do not fit each other");
    }
}

#[test]
fn slugs_are_unique_whatever_the_names() {
    let text = "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\n\
        [[workload]]\nkind = \"udp_stream\"\n[[workload]]\nkind = \"udp_stream\"\nname = \"nocksum\"\n\
        [factors]\nchecksum = [\"on\", \"off\"]\n";
    let plan = Study::parse("x.toml", text).unwrap().plan();
    assert_eq!(slugs(&plan), ["udp4", "udp4_nocksum", "udp4_nocksum-2", "udp4_nocksum_nocksum"]);
}

#[test]
fn kernels_and_command_lines_have_names_that_read_well() {
    let text = "name = \"x\"\nquestion = \"q\"\nscenario = \"loopback\"\ninside = \"guest\"\n[[workload]]\nkind = \"udp_rr\"\n\
                [factors]\nkernel = [\"running\", \"/boot/vmlinuz-6.1.0-56-cloud-amd64\"]\n\
                command_line = [\"default\", \"mitigations=off nosmt\"]\n\
                [[exclude]]\nkernel = \"/boot/vmlinuz-6.1.0-56-cloud-amd64\"\ncommand_line = \"default\"\n";
    let plan = Study::parse("x.toml", text).unwrap_or_else(|problems| panic!("{problems}")).plan();
    assert_eq!(
        labels(&plan),
        [
            "kernel=running command_line=default",
            "kernel=running command_line=\"mitigations=off nosmt\"",
            "kernel=6.1.0-56-cloud-amd64 command_line=\"mitigations=off nosmt\"",
        ]
    );
    assert_eq!(slugs(&plan)[2], "udprr4_kernel-6.1.0-56-cloud-amd64_mitigations-off-nosmt");
    assert_eq!(plan.states().len(), 3);
    let kernel = &plan.conditions[2].boot.guest.as_ref().unwrap().kernel;
    assert_eq!(kernel.as_deref(), Some("/boot/vmlinuz-6.1.0-56-cloud-amd64"));
}

#[test]
fn each_kernel_of_machines_has_boots_of_its_own() {
    let text = "name = \"x\"\nquestion = \"q\"\nscenario = \"ssh\"\n[[workload]]\nkind = \"udp_rr\"\n\
                [factors]\nkernel = [\"running\", \"/boot/vmlinuz-6.1.0-56-amd64\", \"6.6.1\"]\nmtu = [1500, 9000]\n\
                [protocol]\nboots = { how = \"reboot\", count = 2 }\nruns = 1\nwarmup = 0\n";
    let study = Study::parse("x.toml", text).unwrap_or_else(|problems| panic!("{problems}"));
    let plan = study.plan();
    let kernel = |condition: usize| plan.conditions[condition].boot.kernel.as_deref();
    let kernels: Vec<_> = (0..plan.conditions.len()).map(kernel).collect();
    let [older, newer] = [Some("6.1.0-56-amd64"), Some("6.6.1")];
    assert_eq!(kernels, [None, None, older, older, newer, newer]);
    assert!(plan.conditions.iter().all(|condition| condition.boot.guest.is_none()));
    let boots = netassay_study::schedule(&plan.states_of_conditions(), &study.protocol);
    assert_eq!(boots.len(), 6);
    for boot in boots {
        let mut of_boot: Vec<_> = boot.iter().map(|run| kernel(run.condition)).collect();
        assert_eq!(of_boot.len(), 2);
        of_boot.dedup();
        assert_eq!(of_boot.len(), 1);
    }
}

#[test]
fn what_leaves_a_whole_design_out_is_reported_once() {
    let plan = plan(
        &["tcp_stream", "udp_stream"],
        "mtu = [1500, 9000]\n[design]\nkind = \"ladder\"\noffloads = [\"tso\", \"gso\"]\n\
         [[exclude]]\nworkload = \"udp_stream\"\nmtu = 9000\n[[exclude]]\nworkload = \"tcp_stream\"\nmtu = 1500\ntso = \"off\"",
    );
    let said: Vec<&str> = plan.excluded.iter().map(|dropped| dropped.label.as_str()).collect();
    assert_eq!(
        said,
        [
            "tcp_stream mtu=1500 without tso",
            "tcp_stream mtu=1500 all off",
            "udp_stream mtu=9000 with any offloads"
        ]
    );
    assert_eq!(plan.conditions.len(), 1 + 3 + 3);
}

#[test]
fn a_design_is_crossed_with_everything_else() {
    let plan = plan(
        &["tcp_stream", "udp_stream"],
        "mtu = [1500, 9000]\n[design]\nkind = \"ladder\"\noffloads = [\"transmitter.tso\", \"receiver.gro\"]\n\
         [[exclude]]\nworkload = \"udp_stream\"\ntransmitter.tso = \"on\"\n\
         [[comparison]]\nbaseline = { mtu = 1500, transmitter.tso = \"off\", receiver.gro = \"on\" }",
    );
    assert_eq!(
        labels(&plan)[..4],
        [
            "tcp_stream mtu=1500 all on",
            "tcp_stream mtu=1500 without transmitter.tso",
            "tcp_stream mtu=1500 all off",
            "tcp_stream mtu=9000 all on",
        ]
    );
    assert_eq!((plan.conditions.len(), plan.excluded.len()), (6 + 4, 2));
    assert_eq!(slugs(&plan)[1], "tcp4_mtu1500_no-tx-tso");
    let baselines: Vec<usize> = plan.comparisons.iter().map(|comparison| comparison.baseline).collect();
    assert_eq!(baselines, [1, 6]);
    assert_eq!(plan.design.unwrap().factors, ["transmitter.tso", "receiver.gro"]);
}

#[test]
fn conditions_take_turns_where_turns_find_what_runs_find() {
    let turns = |workload: &str, factor: &str, more: &str| {
        let text = format!(
            "name = \"n\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = {workload}\n[factors]\n{factor}\n{more}"
        );
        let study = Study::parse("n.toml", &text).unwrap_or_else(|problems| panic!("{problems}"));
        (
            study.protocol.alternate.map(|alternate| alternate.turn),
            study.turns_dropped.as_deref().map(str::to_owned),
        )
    };
    let made = (Some(std::time::Duration::from_millis(100)), None);
    let tso = "tso = [\"on\", \"off\"]";
    for written in ["", "[protocol]\nalternate = \"auto\"", "[protocol]\nboots = 5"] {
        assert_eq!(turns("\"udp_stream\"", tso, written), made, "{written}");
    }
    assert_eq!(turns("\"udp_stream\"", tso, "[protocol]\nalternate = \"off\""), (None, None));
    assert_eq!(turns("\"udp_stream\"", "mtu = [1500, 9000]", ""), (None, None));
    let dropped = |workload: &str, factor: &str, more: &str, why: &str| {
        let (turn, said) = turns(workload, factor, more);
        assert!(turn.is_none() && said.as_ref().is_some_and(|said| said.contains(why)), "{said:?}");
    };
    dropped("\"udp_stream\"", tso, "[protocol]\norder = \"sequential\"", "not measured one after the other");
    dropped("\"tcp_rr\"", tso, "", "would have no latencies");
    assert_eq!(turns("\"tcp_rr\"", tso, "[protocol]\nalternate = \"100ms\""), made);
    // Latencies are counted for whole flows.
    dropped("\"tcp_rr\"", tso, "[[comparison]]\nmetric = \"latency_p50\"", "counted for whole flows");
    dropped("\"tcp_stream\"", tso, "", "share the buffers that TCP sizes; for turns, set a `socket_buffer`");
    assert_eq!(turns("\"tcp_stream\"\nsocket_buffer = 65536", tso, ""), made);
    assert_eq!(turns("\"tcp_stream\"", tso, "[protocol]\nalternate = \"100ms\""), made);
    // Settings of all conditions.
    dropped("\"udp_stream\"\npacing = \"1Gbit\"", tso, "", "narrow no interval; for turns, write `alternate");
    dropped("\"udp_stream\"\nsocket_buffer = 4194305", tso, "", "large `socket_buffer`");
    let held = "up to 200ms there and back, and only 20ms of a turn are not counted; \
                for turns, write `alternate = \"400ms\"` and `settle = \"200ms\"`";
    dropped("\"udp_stream\"\npath_delay = \"100ms\"", tso, "", held);
    dropped("\"udp_stream\"\npath_rate = \"1Gbit\"", tso, "", "up to 50ms there and back");
    dropped("\"udp_stream\"\npath_delay = \"10s\"", tso, "", "; for turns, use a shorter `path_delay`");
    let longer = "[protocol]\nalternate = \"400ms\"\nsettle = \"200ms\"";
    assert!(turns("\"udp_stream\"\npath_delay = \"100ms\"", tso, longer).0.is_some());
}

#[test]
fn conditions_of_one_flow_differ_only_in_what_can_be_switched() {
    let flows = |protocol: &str| {
        let factors = format!(
            "family = [\"ipv4\", \"ipv6\"]\npacing = [\"1Gbit\", \"default\"]\ndscp = [0, 46]\n\
             [protocol]\n{protocol}\n[[exclude]]\nfamily = \"ipv6\"\npacing = \"1Gbit\"\n"
        );
        plan(&["udp_stream"], &factors).flows().shared().map(<[usize]>::to_vec).collect::<Vec<_>>()
    };
    // A socket's default cannot be restored.
    assert_eq!(flows("alternate = \"100ms\""), [[0, 1], [2, 3], [4, 5]]);
    assert!(flows("alternate = \"off\"").is_empty());
}
