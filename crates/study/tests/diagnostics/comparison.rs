//! Problems of exclusions and comparisons.

use crate::{VALID, added, problems};

#[test]
fn exclusions_must_exclude_something() {
    shows!(added(
        r#"
[[exclude]]
famly = "ipv6"

[[exclude]]
family = "ipv7"
tso = ["of", "on"]

[[exclude]]
reason = "all of them"

[[exclude]]
gro = "on"
reason = 5
"#
    ));
    shows!(added(
        r#"
[[exclude]]
family = "ipv6"

[[exclude]]
family = "ipv6"
tso = true
"#
    ));
}

#[test]
fn nothing_may_be_left_of_a_study() {
    shows!(added("checksum = \"off\"\n"));
}

#[test]
fn a_baseline_is_one_condition_that_is_there() {
    shows!(added(
        r#"
[[comparison]]
baseline = { family = "ipv4" }

[[comparison]]
baseline = { family = "ipv4", tso = "no" }

[[comparison]]
baseline = "ipv4"
"#
    ));
    shows!(added(
        r#"
[[exclude]]
family = "ipv4"
tso = "on"

[[comparison]]
baseline = { family = "ipv4" }

[[comparison]]
baseline = { family = "ipv4", tso = "on" }

[[comparison]]
baseline = { family = "ipv6" }

[[comparison]]
only = { family = "ipv4" }
"#
    ));
}

#[test]
fn a_metric_must_come_from_the_traffic() {
    shows!(added("[[comparison]]\nmetric = \"loss\"\n[[comparison]]\nmetric = \"wombat\"\n"));
}

#[test]
fn a_direction_has_a_throughput_of_its_own_where_there_are_two() {
    shows!(added("[[comparison]]\nmetric = \"throughput_reverse\"\n"));
    let both = VALID.replace("\"tcp_stream\"", "\"tcp_stream\"\ndirection = \"both\"");
    assert_eq!(problems(&format!("{both}[[comparison]]\nmetric = \"throughput_reverse\"\n")), "no problem");
}

#[test]
fn a_rate_is_compared_where_a_workload_searches_for_one() {
    let searched = |more: &str| {
        let study = VALID.replace("\"tcp_stream\"", &format!("\"udp_stream\"\n{more}"));
        problems(&format!("{study}[[comparison]]\nmetric = \"found_rate\"\n"))
    };
    let refused = searched("");
    assert!(refused.contains("it is of a search for a rate (`find_rate = true`)"), "{refused}");
    assert_eq!(searched("find_rate = true"), "no problem");
}
