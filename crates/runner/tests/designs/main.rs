//! Designs on interfaces that follow rules: what can be reached is found by trying.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod any_rules;
mod host;

use netassay_runner::probe;
use study::{Plan, Study};

use host::{Interface, RuledLab};

/// The features that an Ethernet device can usually switch.
const ETHERNET: &[&str] = &[
    "rx-checksum",
    "rx-gro",
    "tx-checksum-ip-generic",
    "tx-generic-segmentation",
    "tx-scatter-gather",
    "tx-tcp-ecn-segmentation",
    "tx-tcp-segmentation",
    "tx-tcp6-segmentation",
    "tx-udp-segmentation",
];

pub(crate) fn study(scenario: &str, design: &str, rest: &str) -> Study {
    let text = format!(
        "name = \"x\"\nquestion = \"q\"\nscenario = \"{scenario}\"\n[[workload]]\nkind = \"tcp_stream\"\n\
         [design]\n{design}\n{rest}\n"
    );
    Study::parse("x.toml", &text).unwrap_or_else(|problems| panic!("{problems}"))
}

pub(crate) fn probed(study: &Study, lab: &mut RuledLab) -> Plan {
    probe(study.plan(), lab).unwrap().plan
}

fn on_ethernet(design: &str) -> Plan {
    probed(&study("veth", design, ""), &mut RuledLab::of(Interface::with(ETHERNET)))
}

fn labels(plan: &Plan) -> Vec<&str> {
    plan.conditions.iter().map(|condition| condition.label.as_str()).collect()
}

fn said(dropped: &[study::Dropped]) -> Vec<String> {
    dropped.iter().map(|one| format!("{}: {}", one.label, one.why)).collect()
}

#[test]
fn a_ladder_in_an_order_that_can_be_reached_has_every_step() {
    let plan = on_ethernet(
        "kind = \"ladder\"\noffloads = [\"transmitter.tso\", \"transmitter.tx\", \"transmitter.gso\"]",
    );
    assert_eq!(labels(&plan), ["all on", "without transmitter.tso", "without transmitter.tso,tx", "all off"]);
    assert!(plan.merged.is_empty(), "{:?}", plan.merged);
    let design = plan.design.unwrap();
    assert_eq!(design.factors, ["transmitter.tso", "transmitter.tx", "transmitter.gso"]);
    assert!(design.unreachable.is_empty());
}

#[test]
fn a_step_that_takes_another_offload_with_it_is_called_what_it_is() {
    let plan = on_ethernet("kind = \"ladder\"\noffloads = [\"tx\", \"gso\", \"tso\"]");
    // With the checksums TSO goes too, so that its own step, the last one, is none.
    assert_eq!(labels(&plan), ["all on", "without tx,tso", "all off"]);
    assert_eq!(
        said(&plan.merged),
        ["without tx: reads back as `without tx,tso`", "without tx,gso: reads back as `all off`"]
    );
    let slugs: Vec<&str> = plan.conditions.iter().map(|one| one.slug.as_str()).collect();
    assert_eq!(slugs, ["tcp4_all-on", "tcp4_no-tx.tso", "tcp4_all-off"]);
    let second = &plan.conditions[1];
    assert_eq!(
        second.levels,
        [("tx", "off"), ("gso", "on"), ("tso", "off")].map(|(a, b)| (a.to_owned(), b.to_owned()))
    );
    assert!(second.transmitter.features["tx-tcp-segmentation"], "it asks for what came to this");
    let [comparison] = plan.comparisons.as_slice() else { panic!("one comparison") };
    assert_eq!((comparison.baseline, &comparison.conditions), (0, &vec![1, 2]));
    let unreachable = plan.design.unwrap().unreachable;
    assert_eq!(
        (&unreachable[0].asked, &unreachable[0].reads),
        (&vec![false, true, true], &vec![false, true, false])
    );
}

#[test]
fn a_factorial_has_every_state_that_can_be_reached() {
    let plan = on_ethernet("kind = \"factorial\"\noffloads = [\"sg\", \"tx\", \"tso\", \"gso\"]");
    // sg on: tx on with tso on or off, tx off with tso off; each with gso on and off. sg off: tx on
    // or off.
    assert_eq!(plan.conditions.len(), 3 * 2 + 2);
    let design = plan.design.as_ref().unwrap();
    let combinations: usize = plan.conditions.len() + design.unreachable.len();
    assert_eq!(combinations, 16);
}

/// Linux 6.18 has no rule for the TSO of accurate ECN, so that it stays when the checksums take the
/// others with them.
#[test]
fn a_part_of_an_offload_that_stays_is_not_the_offload() {
    let mut interface = Interface::with(ETHERNET);
    interface.switchable.insert("tx-tcp-accecn-segmentation".into());
    let study = study("veth", "kind = \"factorial\"\noffloads = [\"tx\", \"tso\"]", "");
    let plan = probed(&study, &mut RuledLab::of(interface));
    assert_eq!(labels(&plan), ["all on", "without tso", "all off"]);
    assert_eq!(said(&plan.merged), ["without tx: reads back as `all off`"]);
    assert!(!plan.effective[2].transmitter.active["tx-tcp-accecn-segmentation"], "what was asked for stays");
}

#[test]
fn a_fraction_says_its_aliases() {
    let plan = on_ethernet(
        "kind = \"fractional\"\nmost = 8\noffloads = [\"gso\", \"receiver.gro\", \"receiver.rx\", \"tso\"]",
    );
    let design = plan.design.as_ref().unwrap();
    assert_eq!(plan.conditions.len(), 8);
    assert_eq!(design.aliases().next().unwrap(), "gso x receiver.gro = receiver.rx x tso");
    let whole = on_ethernet(
        "kind = \"fractional\"\nmost = 16\noffloads = [\"gso\", \"receiver.gro\", \"receiver.rx\", \"tso\"]",
    );
    assert_eq!((whole.conditions.len(), whole.design.unwrap().aliases.len()), (16, 0));
}

#[test]
fn what_no_interface_has_or_can_switch_leaves_the_design_and_is_reported() {
    let mut interface = Interface::with(ETHERNET);
    interface.fixed_on.insert("rx-vlan-hw-parse".into());
    interface.fixed_off.insert("rx-lro".into());
    let mut lab = RuledLab::of(interface);
    let study = study(
        "veth",
        "kind = \"factorial\"\noffloads = [\"gso\", \"ufo\", \"rxvlan\", \"lro\", \"tso\"]",
        "",
    );
    let plan = probed(&study, &mut lab);
    assert_eq!(labels(&plan), ["all on", "without tso", "without gso", "all off"]);
    assert!(plan.merged.is_empty(), "the missing ones are said once: {:?}", plan.merged);
    assert_eq!(
        said(&plan.lacking),
        [
            "ufo: not part of the design here: no interface here has it",
            "rxvlan: not part of the design here: it stays on",
            "lro: not part of the design here: it stays off",
        ]
    );
    let design = plan.design.unwrap();
    assert_eq!((design.factors, design.dropped.len()), (vec!["gso".to_owned(), "tso".to_owned()], 3));
}

#[test]
fn a_side_that_cannot_switch_an_offload_does_not_speak_for_the_other() {
    let mut lab = RuledLab::of(Interface::with(ETHERNET));
    lab.receiver.switchable.remove("tx-generic-segmentation");
    lab.receiver.fixed_on.insert("tx-generic-segmentation".into());
    let plan = probed(&study("veth", "kind = \"ladder\"\noffloads = [\"gso\"]", ""), &mut lab);
    assert_eq!(labels(&plan), ["gso=on", "gso=off"]);
}

#[test]
fn a_tunnel_and_its_underlay_are_distinguished() {
    let mut lab = RuledLab::of(Interface::with(ETHERNET));
    lab.underlay =
        Some(Interface::with(&["tx-udp_tnl-segmentation", "tx-scatter-gather", "tx-generic-segmentation"]));
    let design = "kind = \"factorial\"\noffloads = [\"transmitter.gso\", \
                  \"transmitter.underlay.tx-udp_tnl-segmentation\", \"transmitter.tx-udp_tnl-segmentation\"]";
    let plan = probed(&study("vxlan", design, ""), &mut lab);
    assert_eq!(
        labels(&plan),
        [
            "all on",
            "without transmitter.underlay.tx-udp_tnl-segmentation",
            "without transmitter.gso",
            "all off"
        ]
    );
    assert_eq!(plan.lacking[0].label, "transmitter.tx-udp_tnl-segmentation");
}

#[test]
fn other_factors_are_crossed_with_the_design() {
    let rest = "[factors]\nfamily = [\"ipv4\", \"ipv6\"]\nsg = [\"on\", \"off\"]";
    let study = study("veth", "kind = \"ladder\"\noffloads = [\"tso\", \"gso\"]", rest);
    let plan = probed(&study, &mut RuledLab::of(Interface::with(ETHERNET)));
    // Without scatter-gather nothing of the design can be on, which is one state.
    assert_eq!(
        labels(&plan),
        [
            "ipv4 sg=on all on",
            "ipv4 sg=on without tso",
            "ipv4 sg=on all off",
            "ipv4 sg=off all off",
            "ipv6 sg=on all on",
            "ipv6 sg=on without tso",
            "ipv6 sg=on all off",
            "ipv6 sg=off all off",
        ]
    );
    assert_eq!(
        said(&plan.merged),
        [
            "all on: reads back as `all off`, in 2 conditions",
            "without tso: reads back as `all off`, in 2 conditions",
        ]
    );
}

#[test]
fn what_only_one_scenario_can_switch_leaves_the_design_in_the_others() {
    let tunnel = "transmitter.underlay.tx-udp_tnl-segmentation";
    let design =
        format!("kind = \"factorial\"\noffloads = [\"transmitter.gso\", \"{tunnel}\", \"receiver.lro\"]");
    let text = format!(
        "name = \"x\"\nquestion = \"q\"\n[[workload]]\nkind = \"tcp_stream\"\n[factors]\nscenario = [\"veth\", \"vxlan\"]\n[design]\n{design}\n"
    );
    let study = Study::parse("x.toml", &text).unwrap_or_else(|problems| panic!("{problems}"));
    let mut lab = RuledLab::of(Interface::with(ETHERNET));
    lab.underlay = Some(Interface::with(&["tx-udp_tnl-segmentation", "tx-scatter-gather"]));
    let plan = probed(&study, &mut lab);
    assert_eq!(
        labels(&plan),
        [
            "veth transmitter.gso=on",
            "veth transmitter.gso=off",
            "vxlan all on",
            &format!("vxlan without {tunnel}"),
            "vxlan without transmitter.gso",
            "vxlan all off",
        ]
    );
    assert!(plan.merged.is_empty(), "what a scenario lacks is no state of it: {:?}", plan.merged);
    assert_eq!(
        said(&plan.lacking),
        [
            format!("{tunnel} in veth: not part of the design here: no interface here has it"),
            "receiver.lro: not part of the design here: no interface here has it".to_owned(),
        ]
    );
    let design = plan.design.as_ref().unwrap();
    assert_eq!(design.factors, ["transmitter.gso", tunnel]);
    let own: Vec<usize> =
        plan.conditions.iter().map(|condition| condition.own_design(design).factors.len()).collect();
    assert_eq!(own, [1, 1, 2, 2, 2, 2]);
}
