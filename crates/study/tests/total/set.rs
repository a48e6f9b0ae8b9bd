//! Whatever the file and whatever the changes: a study or diagnostics, and what is taken is what
//! was asked for.

use netassay_study::{Assignment, Study};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::{apply, edit, valid};

fn key() -> impl Strategy<Value = &'static str> {
    select(vec![
        "name",
        "question",
        "scenario",
        "boots",
        "warmup",
        "runs",
        "order",
        "seed",
        "stop",
        "stop.looks",
        "protocol.stop.bounds",
        "kind",
        "message",
        "response",
        "duration",
        "flows",
        "socket_buffer",
        "port",
        "sender",
        "reader",
        "rate",
        "pacing",
        "verify",
        "family",
        "mtu",
        "offloads",
        "tso",
        "receiver.gro",
        "transmitter.offloads",
        "twin",
        "tcp_rr.message",
        "workload.ramp",
        "factors.gro",
        "metric",
        "wombat",
        ".",
    ])
}

fn value() -> impl Strategy<Value = String> {
    let known = select(vec![
        "",
        "1",
        "2",
        "64",
        "1500",
        "2s",
        "700ms",
        "on",
        "off",
        "on,off",
        "send,gso",
        "ipv4,ipv6",
        "default",
        "none",
        "2%",
        "a,b",
        "veth",
        "loopback",
        "tcp_stream",
        "udp_rr",
        "interleaved",
        "recv",
        "1Gbit",
        "true",
        "-1",
    ]);
    prop_oneof![6 => known.prop_map(str::to_owned), 1 => "[^\\p{Cc}]{0,12}"]
}

fn assignments() -> impl Strategy<Value = Vec<Assignment>> {
    let any = (key(), value()).prop_map(|(key, value)| format!("{key}={value}"));
    let sound = select(vec![
        "boots=20",
        "runs=2",
        "warmup=0",
        "duration=1s",
        "flows=2",
        "name=x",
        "seed=4",
        "mtu=1400,1500",
        "stop=",
        "message=64",
        "message=1,2",
        "dscp=46",
        "receiver.gro=on,off",
        "order=sequential",
        "boots.how=reset",
        "boots.count=5",
        "twin=a,b",
    ]);
    let one = prop_oneof![1 => any, 2 => sound.prop_map(str::to_owned)];
    vec(one, 1..5).prop_map(|texts| texts.iter().filter_map(|text| text.parse().ok()).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn any_change_of_any_file_is_made_or_refused(
        text in valid(), edits in vec(edit(), 0..3), changes in assignments()
    ) {
        let text = edits.iter().fold(text, |text, edit| apply(&text, edit));
        match Study::parse_with("any.toml", &text, &changes) {
            Ok(study) => {
                let stored = Study::parse("any.toml", &study.text);
                prop_assert_eq!(stored.as_ref(), Ok(&study));
                // Each was made: made again alone, it finds nothing to do, unless a later one made
                // it undone.
                if let [change] = changes.as_slice() {
                    let again = Study::parse_with("any.toml", &study.text, std::slice::from_ref(change));
                    prop_assert_eq!(again.as_ref(), Ok(&study));
                }
            }
            Err(diagnostics) => prop_assert!(!diagnostics.problems.is_empty() && !diagnostics.to_string().is_empty()),
        }
    }
}

/// The test above is worth little if nearly all of its changes are refused.
#[test]
fn many_changes_are_made() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let made = (0..400)
        .filter(|_| {
            let drawn = (valid(), assignments()).new_tree(&mut runner).map(|tree| tree.current());
            drawn.is_ok_and(|(text, changes)| Study::parse_with("x.toml", &text, &changes).is_ok())
        })
        .count();
    assert!(made >= 20, "{made} of 400");
}
