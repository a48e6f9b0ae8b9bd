//! Problems of traffic, and of levels that it cannot have.

use crate::{problems, replaced};

#[test]
fn udp_messages_have_a_limit() {
    shows!(problems(
        r#"name = "x"
question = "q"
scenario = "loopback"
[[workload]]
kind = "udp_rr"
message = 65508
response = 65507
[[workload]]
kind = "tcp_rr"
message = 65508
"#
    ));
    // Over IPv6 the length field counts less.
    let ipv6 = "[factors]\nfamily = \"ipv6\"\nmessage = [65527, 65528]\n";
    shows!(problems(&format!(
        "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"udp_stream\"\n{ipv6}"
    )));
}

#[test]
fn traffic_has_what_its_kind_can_have() {
    shows!(problems(
        r#"name = "x"
question = "q"
scenario = "veth"

[[workload]]
kind = "udp_stream"
sender = "sendfile"
reader = "trunc"
in_flight = 4
rate = 1000
congestion_control = "bbr"
nodelay = "on"

[[workload]]
kind = "tcp_rr"
direction = "reverse"
pacing = "1Gbit"
connected = "off"
sender = "zerocopy"

[[workload]]
kind = "tcp_crr"
in_flight = 2
reader = "spin"

[[workload]]
kind = "tcp_stream"
reader = "trunc"
verify = true
sender = "gso"
"#
    ));
}

#[test]
fn values_of_the_traffic_have_their_limits() {
    shows!(problems(
        r#"name = "x"
question = "q"
scenario = "veth"

[[workload]]
kind = "tcp_rr"
sender = "sendfil"
in_flight = 0
rate = 0
busy_poll = "1s"
dscp = 64
congestion_control = "no such thing"
verify = "yes"

[factors]
pacing = ["500", "0Mbit", "1.5Gbit", "1500Mbit", 500]
busy_poll = ["50us", "1500ns", "default"]
verify = ["on", "off"]
"#
    ));
}

#[test]
fn levels_that_fit_no_workload_are_refused() {
    shows!(problems(
        r#"name = "x"
question = "q"
scenario = "veth"

[[workload]]
kind = "udp_stream"
sender = "gso"

[factors]
sender = ["send", "sendfile"]
rate = [1000, "default"]
"#
    ));
}

#[test]
fn what_nobody_receives_has_one_host() {
    let head = "name = \"x\"\nquestion = \"q\"\nscenario = \"discard\"\n[[workload]]\n";
    shows!(problems(&format!("{head}kind = \"udp_stream\"\n")));
    shows!(problems(&format!(
        "{head}kind = \"pps\"\nreader = \"gro\"\nbusy_poll = \"50us\"\nresponse = 1\n\
         [factors]\nreceiver.gro = [\"on\", \"off\"]\ndirection = [\"forward\", \"both\"]\n\
         [[comparison]]\nmetric = \"receiver.cpu\"\n[[comparison]]\nmetric = \"loss\"\n"
    )));
    shows!(replaced("\"tcp_stream\"", "\"pps\""));
    shows!(problems(&format!(
        "{head}kind = \"pps\"\n[factors]\ntso = [\"on\", \"off\"]\ntransmitter.tso = [\"on\", \"off\"]\n"
    )));
}

#[test]
fn workloads_need_names_of_their_own() {
    shows!(replaced(
        "[factors]",
        "[[workload]]\nkind = \"tcp_stream\"\nmessage = 64\n\n[factors]\nworkload = 1"
    ));
}
