//! Datagrams that do not fit the MTU.

use netassay_report::Layout;
use results::Results;
use std::collections::BTreeMap;
use study::{Condition, Effective, Settled, Study};

use crate::made::{stored, wobble};
use crate::shown::Shown as _;

/// The sentence on fragments in the page of a study whose messages have this size.
fn fragment_note(kind: &str, message: u32) -> Option<String> {
    let text = format!(
        "name = \"made\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"{kind}\"\nmessage = {message}\n\
         duration = \"1s\"\n[factors]\nfamily = [\"ipv4\", \"ipv6\"]\n[protocol]\nboots = 3\nruns = 2\n"
    );
    let study = Study::parse("made", &text).unwrap();
    let mut plan = study.plan();
    let transmitter = Settled {
        mtu: 1500,
        active: BTreeMap::new(),
        refused: BTreeMap::new(),
        follow_on: BTreeMap::new(),
        device: BTreeMap::new(),
        tuning: BTreeMap::new(),
    };
    let effective = Effective { transmitter, receiver: None, underlay: None, fragments: None };
    plan.effective = vec![effective; plan.conditions.len()];
    let values = |condition: &Condition, boot: u32, repeat: u32| {
        vec![("throughput", 500.0 + wobble(boot, repeat, condition.index))]
    };
    let page = Results::new(&stored(&study, &plan, values)).unwrap();
    let page = page.text(Layout::WIDE);
    page.lines().find(|line| line.contains("fragments")).map(str::to_owned)
}

#[test]
fn conditions_with_fragments_are_named() {
    let some = fragment_note("udp_stream", 1472).unwrap();
    assert!(some.contains("in ipv6 each datagram leaves as 2 fragments"), "{some}");
    let all = fragment_note("udp_stream", 2 * 1480 - 8).unwrap();
    assert!(all.contains("in every condition each datagram leaves as 2 to 3 fragments"), "{all}");
    assert_eq!(fragment_note("udp_stream", 1452), None);
    // TCP cuts its stream itself.
    assert_eq!(fragment_note("tcp_stream", 16_384), None);
}
