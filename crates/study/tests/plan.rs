//! What a study comes down to.

use netassay_study::{
    Comparison, Condition, Dropped, Family, Offloads, Plan, Scenario, Sender, Study, bundled,
    expected_duration, feature, format_duration,
};

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

/// A plan as a dry run may show it.
fn listing(study: &Study, plan: &Plan) -> String {
    let protocol = study.protocol();
    let time = format_duration(expected_duration(plan, protocol));
    let per_boot = format!("{} warm-up + {} recorded", protocol.warmup, protocol.runs);
    let mut lines = vec![format!("{} boots x ({per_boot}), {}, {time}", protocol.boots, protocol.order)];
    lines.extend(
        plan.conditions
            .iter()
            .map(|Condition { index, label, slug, .. }| format!("{index} {slug} | {label}")),
    );
    lines.extend(plan.excluded.iter().map(|Dropped { label, why }| format!("excluded {label}: {why}")));
    lines.extend(plan.merged.iter().map(|Dropped { label, why }| format!("merged {label}: {why}")));
    lines.extend(plan.comparisons.iter().map(
        |Comparison { workload, metric, baseline, conditions, .. }| {
            format!("{workload}: {metric} of {conditions:?} against {baseline}")
        },
    ));
    lines.join("\n")
}

#[test]
fn bundled_studies_come_down_to_these_plans() {
    for bundled in bundled::list() {
        let study = bundled.study();
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(format!("bundled_{}", bundled.name), listing(&study, &study.plan()));
        });
    }
}

/// The reference study R1 and the names of its sample files.
#[test]
fn udp_loopback_has_the_conditions_and_the_names_of_the_published_study() {
    let study = bundled::find("udp-loopback").unwrap().study();
    assert_eq!(study.scenarios(), [Scenario::Loopback]);
    assert_eq!(
        slugs(&study.plan()),
        [
            "udp4_default_nocksum",
            "udp4_nooffload_nocksum",
            "udp4_default",
            "udp4_nooffload",
            "udp6_default",
            "udp6_nooffload",
        ]
    );
    assert_eq!((study.protocol().boots, study.protocol().warmup, study.protocol().runs), (3, 1, 10));
}

/// The reference study R2: IPv4 with the checksum, without, and IPv6, in packets per second.
#[test]
fn udp_send_discard_has_the_conditions_of_the_published_study() {
    let study = bundled::find("udp-send-discard").unwrap().study();
    let plan = study.plan();
    assert_eq!(study.scenarios(), [Scenario::Discard]);
    assert_eq!(slugs(&plan), ["pps4", "pps4_nocksum", "pps6"]);
    assert_eq!((study.protocol().boots, study.protocol().warmup, study.protocol().runs), (3, 1, 10));
    assert!(plan.conditions.iter().all(|one| format_duration(one.workload.duration) == "2m"));
    assert_eq!((plan.comparisons[0].metric.as_str(), plan.comparisons[0].baseline), ("packets", 0));
}

#[test]
fn quick_is_what_the_issue_asks_for() {
    let study = bundled::find("quick").unwrap().study();
    let plan = study.plan();
    assert_eq!(
        labels(&plan),
        ["ipv4 offloads=default", "ipv4 offloads=none", "ipv6 offloads=default", "ipv6 offloads=none"]
    );
    assert_eq!(slugs(&plan), ["tcp4_default", "tcp4_nooffload", "tcp6_default", "tcp6_nooffload"]);
    assert_eq!((study.protocol().boots, study.protocol().warmup, study.protocol().runs), (3, 1, 3));
    let condition = &plan.conditions[3];
    assert_eq!((condition.family, condition.transmitter.offloads), (Family::Ipv6, Offloads::None));
    assert_eq!(condition.receiver.wanted().len(), feature::OFFLOADS.len());
    assert_eq!(
        condition.levels,
        [("family".to_owned(), "ipv6".to_owned()), ("offloads".to_owned(), "none".to_owned())]
    );
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
fn names_say_how_the_traffic_is_sent_and_taken() {
    let plan = plan(
        &["udp_stream"],
        "sender = [\"gso+sendmmsg\", \"io_uring\"]\nreader = [\"gro\", \"recv\"]\ndirection = [\"both\", \"forward\"]\n\
         pacing = [\"1500Mbit\", \"default\"]\nbusy_poll = [\"50us\", \"default\"]\ndscp = [46, \"default\"]\n\
         connected = [\"off\", \"on\"]\n",
    );
    assert_eq!(
        slugs(&plan)[0],
        "udp4_gso-sendmmsg_reader-gro_both_pacing1500mbit_busy-poll50us_dscp46_connected-off"
    );
    assert_eq!(
        labels(&plan)[0],
        "sender=gso+sendmmsg reader=gro direction=both pacing=1500Mbit busy_poll=50us dscp=46 connected=off"
    );
    let last = &plan.conditions[plan.conditions.len() - 1];
    assert_eq!(last.workload.traffic.sender, Sender::IoUring);
}

#[test]
fn levels_that_do_not_fit_one_of_several_workloads_are_left_out() {
    let plan = plan(
        &["udp_stream", "tcp_stream", "udp_rr"],
        "sender = [\"send\", \"gso\", \"splice\"]\nin_flight = [1, 4]\n",
    );
    assert_eq!(
        slugs(&plan),
        [
            "udp4_send_in-flight1",
            "udp4_gso_in-flight1",
            "tcp4_send_in-flight1",
            "tcp4_splice_in-flight1",
            "udprr4_send_in-flight1",
            "udprr4_send_in-flight4",
        ]
    );
    let why = |label: &str| plan.excluded.iter().find(|dropped| dropped.label == label).unwrap().why.as_str();
    assert_eq!(why("tcp_stream sender=gso in_flight=1"), "sender `gso` is not supported for `tcp_stream`");
    assert_eq!(why("udp_stream sender=send in_flight=4"), "`in_flight` is not supported for `udp_stream`");
}

#[test]
fn segments_fit_the_mtu_and_have_a_checksum() {
    let plan = plan(
        &["udp_stream"],
        "sender = \"gso\"\nmessage = [1452, 1472, 1473]\nfamily = [\"ipv4\", \"ipv6\"]\nchecksum = [\"on\", \"off\"]\n\
         mtu = [\"default\", 9000]\n",
    );
    let why = |label: &str| {
        plan.excluded.iter().find(|dropped| dropped.label == label).map(|dropped| dropped.why.as_str())
    };
    assert_eq!(why("message=1472 ipv4 checksum=on mtu=default"), None);
    assert_eq!(
        why("message=1472 ipv6 checksum=on mtu=default"),
        Some(
            "`gso` makes no fragments: with an MTU of 1500 a datagram over ipv6 carries at most 1452 bytes, not 1472"
        )
    );
    assert!(why("message=1473 ipv4 checksum=on mtu=default").is_some());
    assert_eq!(why("message=1473 ipv4 checksum=on mtu=9000"), None);
    assert_eq!(
        why("message=1452 ipv4 checksum=off mtu=9000"),
        Some("sender `gso` needs the UDP checksum (UDP_SEGMENT)")
    );
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
fn each_direction_is_compared_where_there_are_two() {
    let text = "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\n\
                [factors]\nfamily = [\"ipv4\", \"ipv6\"]\ndirection = [\"forward\", \"both\"]\n\
                [[comparison]]\nmetric = \"throughput_reverse\"\n[[comparison]]\nmetric = \"throughput\"\n";
    let plan = Study::parse("x.toml", text).unwrap().plan();
    let compared: Vec<(usize, &[usize])> =
        plan.comparisons.iter().map(|one| (one.baseline, one.conditions.as_slice())).collect();
    assert_eq!(compared, [(1, &[3][..]), (0, &[1, 2, 3][..])]);
}

#[test]
fn the_parameters_of_the_traffic_can_be_factors() {
    let plan = plan(&["tcp_rr", "udp_stream"], "message = [1, 1400]\nflows = [1, 4]");
    let of = |index: usize| {
        let workload = &plan.conditions[index].workload;
        (workload.name.as_str(), workload.traffic.message, workload.traffic.response, workload.traffic.flows)
    };
    assert_eq!(of(0), ("tcp_rr", 1, 1, 1));
    assert_eq!(of(3), ("tcp_rr", 1400, 1400, 4));
    assert_eq!(of(7), ("udp_stream", 1400, 0, 4));
    assert_eq!(slugs(&plan)[7], "udp4_message1400_flows4");
}

#[test]
fn a_response_that_is_written_does_not_follow_the_message() {
    let text = "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"udp_rr\"\nresponse = 1\n\
                [factors]\nmessage = [1, 1400]\n";
    let plan = Study::parse("x.toml", text).unwrap().plan();
    let sizes: Vec<(u32, u32)> = plan
        .conditions
        .iter()
        .map(|condition| (condition.workload.traffic.message, condition.workload.traffic.response))
        .collect();
    assert_eq!(sizes, [(1, 1), (1400, 1)]);
}

#[test]
fn a_plan_survives_being_stored() {
    for bundled in bundled::list() {
        let plan = bundled.study().plan();
        let json = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), plan);
    }
}

#[test]
fn equal_states_become_one_condition() {
    let study = bundled::find("quick").unwrap().study();
    let fingerprints = ["a", "a", "a", "b"].map(str::to_owned);
    let plan = study.plan().merge(&fingerprints);
    // The families are different traffic, whatever the interfaces' state.
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!(listing(&study, &plan));
    });
}

#[test]
fn a_merged_baseline_is_replaced_by_what_it_is_merged_into() {
    let study = study(
        &["tcp_stream"],
        "tso = [\"on\", \"off\"]\ngso = [\"on\", \"off\"]\n[[comparison]]\nbaseline = { tso = \"off\", gso = \"off\" }",
    );
    let plan = study.plan().merge(&["a", "b", "c", "b"].map(str::to_owned));
    assert_eq!(plan.comparisons[0].baseline, 1);
    assert_eq!(plan.comparisons[0].conditions, [0, 2]);
    let all = study.plan().merge(&["a", "a", "a", "a"].map(str::to_owned));
    assert_eq!((all.conditions.len(), all.merged.len(), all.comparisons.len()), (1, 3, 0));
}

#[test]
fn what_cannot_be_measured_here_is_left_out_with_its_reason() {
    let study = study(
        &["udp_stream"],
        "tso = [\"on\", \"off\"]\ngso = [\"on\", \"off\"]\n[[comparison]]\nbaseline = { tso = \"off\", gso = \"off\" }",
    );
    let why = Some("lacking".to_owned());
    let plan = study.plan().without(&[None, why.clone(), None, None]);
    assert_eq!(plan.conditions.iter().map(|condition| condition.index).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!((plan.excluded.len(), plan.excluded[0].why.as_str()), (1, "lacking"));
    assert_eq!(plan.excluded[0].label, study.plan().conditions[1].label);
    assert_eq!((plan.comparisons[0].baseline, &plan.comparisons[0].conditions), (2, &vec![0, 1]));
    // A comparison with what cannot be measured is none, and that is said.
    let plan = study.plan().without(&[None, None, None, why]);
    assert_eq!((plan.conditions.len(), plan.comparisons.len()), (3, 0));
    assert_eq!(plan.excluded[1].label, "the comparison of throughput with tso=off gso=off");
    assert_eq!(plan.excluded[1].why, "its baseline is not measured");
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
fn twins_stay_apart_whatever_reads_back() {
    let text = "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\n\
                [factors]\ntso = [\"on\", \"off\"]\ntwin = [\"A\", \"b\"]\n";
    let plan = Study::parse("x.toml", text).unwrap().plan();
    let names: Vec<(&str, &str)> =
        plan.conditions.iter().map(|one| (one.label.as_str(), one.slug.as_str())).collect();
    assert_eq!(
        names[..2],
        [("tso=on twin=A", "tcp4_tso-on_twin-a"), ("tso=on twin=b", "tcp4_tso-on_twin-b")]
    );
    let plan = plan.merge(&["a", "a", "a", "a"].map(str::to_owned));
    let labels: Vec<&str> = plan.conditions.iter().map(|one| one.label.as_str()).collect();
    assert_eq!(labels, ["tso=on twin=A", "tso=on twin=b"]);
    assert_eq!(plan.comparisons.len(), 1);
}

#[test]
fn kernels_and_command_lines_have_names_that_read_well() {
    let text = "name = \"x\"\nquestion = \"q\"\nscenario = \"loopback\"\ninside = \"guest\"\n[[workload]]\nkind = \"udp_rr\"\n\
                [factors]\nkernel = [\"running\", \"/boot/vmlinuz-6.1.0-56-cloud-amd64\"]\n\
                command_line = [\"default\", \"mitigations=off nosmt\"]\n\
                [[exclude]]\nkernel = \"6.1.0-56-cloud-amd64\"\ncommand_line = \"default\"\n";
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
fn what_leaves_a_whole_design_out_is_said_once() {
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
            "udp_stream mtu=9000 whatever is on"
        ]
    );
    assert_eq!(plan.conditions.len(), 1 + 3 + 3);
}

#[test]
fn a_design_is_crossed_with_everything_else() {
    let plan = plan(
        &["tcp_stream", "udp_stream"],
        "mtu = [1500, 9000]\n[design]\nkind = \"one-in\"\noffloads = [\"transmitter.tso\", \"receiver.gro\"]\n\
         [[exclude]]\nworkload = \"udp_stream\"\ntransmitter.tso = \"on\"\n\
         [[comparison]]\nbaseline = { mtu = 1500, transmitter.tso = \"off\", receiver.gro = \"on\" }",
    );
    assert_eq!(
        labels(&plan)[..4],
        [
            "tcp_stream mtu=1500 all off",
            "tcp_stream mtu=1500 only transmitter.tso",
            "tcp_stream mtu=1500 only receiver.gro",
            "tcp_stream mtu=9000 all off",
        ]
    );
    assert_eq!((plan.conditions.len(), plan.excluded.len()), (6 + 4, 2));
    assert_eq!(slugs(&plan)[1], "tcp4_mtu1500_only-tx-tso");
    let baselines: Vec<usize> = plan.comparisons.iter().map(|comparison| comparison.baseline).collect();
    assert_eq!(baselines, [2, 7]);
    assert_eq!(plan.design.unwrap().factors, ["transmitter.tso", "receiver.gro"]);
}

/// The plan of a `veth` study with these kinds of traffic; what it leaves in, the engine accepts.
fn accepted(exact: bool, kinds: &[&str], factors: &str) -> Plan {
    let workloads: String = kinds.iter().map(|kind| format!("[[workload]]\nkind = \"{kind}\"\n")).collect();
    let file = format!(
        "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\nexact = {exact}\n{workloads}[factors]\n{factors}"
    );
    let plan = Study::parse("x.toml", &file).unwrap_or_else(|problems| panic!("{problems}")).plan();
    for condition in &plan.conditions {
        let traffic = &condition.workload.traffic;
        traffic.validate(condition.family).unwrap_or_else(|error| panic!("{}: {error}", condition.label));
        if exact {
            traffic.validate_exact().unwrap_or_else(|error| panic!("{}: {error}", condition.label));
        }
    }
    plan
}

#[test]
fn whatever_is_planned_the_engine_accepts() {
    let levels = "family = [\"ipv4\", \"ipv6\"]\nsocket_buffer = [\"default\", 65536]\n\
         sender = [\"send\", \"sendmmsg\", \"gso\", \"gso+sendmmsg\", \"zerocopy\", \"io_uring\", \
                   \"io_uring-zerocopy\", \"sendfile\", \"splice\"]\n\
         reader = [\"recv\", \"recvmmsg\", \"gro\", \"io_uring\", \"trunc\", \"spin\"]\n\
         direction = [\"forward\", \"reverse\", \"both\"]\n";
    let plan = accepted(false, &["tcp_stream", "udp_stream", "tcp_crr"], levels);
    assert!(plan.conditions.len() > 400, "{}", plan.conditions.len());
}

#[test]
fn flows_share_threads_where_the_engine_supports_it() {
    let levels = "flows = [1, 8, 2000]\nthreads = [\"default\", 1, 8]\nconnected = [\"on\", \"off\"]\n\
         pacing = [\"default\", \"1Mbit\"]\nrate = [\"default\", 100]\nreader = [\"recv\", \"spin\"]\n";
    let plan = accepted(false, &["tcp_stream", "udp_stream", "tcp_rr", "udp_rr", "tcp_crr"], levels);
    let of_threads = plan.excluded.iter().filter(|dropped| dropped.why.contains("one thread for each of"));
    assert_eq!(of_threads.count(), 92);
    let shared = plan.conditions.iter().map(|condition| &condition.workload.traffic);
    let shared = shared.filter(|traffic| (traffic.threads, traffic.flows) == (Some(1), 8));
    assert_eq!(shared.filter(|traffic| traffic.unshareable().is_none()).count(), 5);
}

#[test]
fn exact_mode_plans_what_can_be_counted() {
    let levels = "sender = [\"send\", \"sendmmsg\", \"gso\", \"gso+sendmmsg\"]\nconnected = [\"on\", \"off\"]\n\
         reader = [\"recv\", \"recvmmsg\", \"gro\", \"trunc\", \"spin\"]\n";
    let plan = accepted(true, &["tcp_stream", "udp_stream", "udp_rr"], levels);
    assert_eq!(plan.conditions.len(), 3 + 4 * 4 * 2 + 2);
}

/// A study whose scenario is a factor, and whatever else its file says.
fn over_scenarios(scenarios: &str, rest: &str) -> Study {
    let text = format!(
        "name = \"x\"\nquestion = \"q\"\n[[workload]]\nkind = \"tcp_stream\"\n[factors]\nscenario = {scenarios}\n{rest}\n"
    );
    Study::parse("x.toml", &text).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn a_scenario_can_be_a_factor() {
    let study = over_scenarios("[\"veth\", \"vm-vxlan\"]", "vcpus = [1, 2]\nunderlay.mtu = [1500, 9000]");
    assert_eq!(study.scenarios(), [Scenario::Veth, Scenario::VmVxlan]);
    let plan = study.plan();
    assert_eq!(
        labels(&plan)[..2],
        ["veth vcpus=1 underlay.mtu=1500", "veth vcpus=1 underlay.mtu=9000"],
        "a scenario needs no factor's name to be understood"
    );
    assert_eq!(slugs(&plan)[4], "tcp4_vm-vxlan_vcpus1_ul-mtu1500");
    // What a scenario has nothing of is not asked of it: four combinations of veth are one condition.
    let of_veth = plan.conditions.iter().filter(|condition| condition.boot.scenario == Scenario::Veth);
    for condition in of_veth {
        assert!(condition.boot.guest.is_none() && condition.underlay == Default::default());
    }
    let vcpus = plan.conditions.iter().filter_map(|condition| Some(condition.boot.guest.as_ref()?.vcpus));
    assert_eq!(vcpus.collect::<Vec<_>>(), [1, 1, 2, 2]);
    assert_eq!(plan.states().len(), 3, "one of veth, and one for each number of virtual CPUs");
    let states: Vec<_> = plan.conditions.iter().map(|one| (one.boot.scenario, one.underlay.mtu)).collect();
    let merged = plan.merge(&states);
    assert_eq!((merged.conditions.len(), merged.merged.len()), (5, 3));
    assert_eq!(merged.comparisons[0].conditions, [1, 2, 3, 4]);
}

#[test]
fn a_metric_is_compared_where_the_scenario_has_it() {
    let study = over_scenarios(
        "[\"veth\", \"vxlan\", \"vm-vxlan\"]",
        "[[comparison]]\nmetric = \"transmitter.underlay_packets\"\n[[comparison]]\nbaseline = { scenario = \"veth\" }",
    );
    let plan = study.plan();
    let compared: Vec<_> = plan.comparisons.iter().map(|one| (one.baseline, &one.conditions)).collect();
    assert_eq!(compared, [(1, &vec![2]), (0, &vec![1, 2])]);
}

#[test]
fn a_scenario_that_cannot_carry_a_workload_is_left_out() {
    let study = over_scenarios("[\"veth\", \"discard\"]", "");
    let plan = study.plan();
    assert_eq!((plan.conditions.len(), plan.excluded.len()), (1, 1));
    assert_eq!(plan.excluded[0].label, "discard");
    assert_eq!(plan.excluded[0].why, "`tcp_stream` needs a receiver, and `discard` has none");
}

#[test]
fn a_scenario_is_said_once() {
    let of = |text: &str| Study::parse("x.toml", text).unwrap_err().to_string();
    let rest = "[[workload]]\nkind = \"tcp_stream\"\n";
    let error = of(&format!(
        "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\n{rest}[factors]\nscenario = [\"veth\", \"vxlan\"]\n"
    ));
    assert!(error.contains("`scenario` is a factor, so this value is never used"), "{error}");
    let error = of(&format!("name = \"x\"\nquestion = \"q\"\n{rest}"));
    assert!(error.contains("scenario"), "{error}");
}
