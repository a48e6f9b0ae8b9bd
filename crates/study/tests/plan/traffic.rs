//! Traffic and its parameters as factors, and what cannot be had together.

use netassay_study::{Plan, Sender, Study};

use crate::{labels, plan, slugs};

#[test]
fn names_say_how_the_traffic_is_sent_and_taken() {
    let plan = plan(
        &["udp_stream"],
        "sender = [\"gso\", \"zerocopy\"]\nreader = [\"gro\", \"recv\"]\ndirection = [\"both\", \"forward\"]\n\
         pacing = [\"1500Mbit\", \"default\"]\nbusy_poll = [\"50us\", \"default\"]\ndscp = [46, \"default\"]\n\
         connected = [\"off\", \"on\"]\n",
    );
    assert_eq!(slugs(&plan)[0], "udp4_gso_reader-gro_both_pacing1500mbit_busy-poll50us_dscp46_connected-off");
    assert_eq!(
        labels(&plan)[0],
        "sender=gso reader=gro direction=both pacing=1500Mbit busy_poll=50us dscp=46 connected=off"
    );
    let last = &plan.conditions[plan.conditions.len() - 1];
    assert_eq!(last.workload.traffic.sender, Sender::Zerocopy);
}

#[test]
fn levels_that_do_not_fit_one_of_several_workloads_are_left_out() {
    let plan = plan(
        &["udp_stream", "tcp_stream", "udp_rr"],
        "sender = [\"send\", \"gso\", \"sendfile\"]\nin_flight = [1, 4]\n",
    );
    assert_eq!(
        slugs(&plan),
        [
            "udp4_send_in-flight1",
            "udp4_gso_in-flight1",
            "tcp4_send_in-flight1",
            "tcp4_sendfile_in-flight1",
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
         sender = [\"send\", \"sendmmsg\", \"gso\", \"zerocopy\", \"sendfile\"]\n\
         reader = [\"recv\", \"gro\", \"trunc\", \"spin\"]\n\
         direction = [\"forward\", \"reverse\", \"both\"]\n";
    let plan = accepted(false, &["tcp_stream", "udp_stream", "tcp_crr"], levels);
    assert!(plan.conditions.len() > 200, "{}", plan.conditions.len());
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
    let levels = "sender = [\"send\", \"sendmmsg\", \"gso\"]\nconnected = [\"on\", \"off\"]\n\
         reader = [\"recv\", \"gro\", \"trunc\", \"spin\"]\n";
    let plan = accepted(true, &["tcp_stream", "udp_stream", "udp_rr"], levels);
    assert_eq!(plan.conditions.len(), 3 + 3 * 3 * 2 + 2);
}
