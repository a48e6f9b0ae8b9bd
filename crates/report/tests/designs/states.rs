//! Studies that need a testbed in several states, each with boots of its own.

use results::{PilotSpread, Sizing, SizingRequest};
use study::{Condition, Percent, Study};

use crate::made::{level, stored, wobble};
use crate::shown::Shown as _;

/// Two families of the underlay, which are two states.
const TUNNEL: &str = "name = \"made\"\nquestion = \"q\"\nscenario = \"vxlan\"\n[[workload]]\nkind = \"tcp_stream\"\nduration = \"1s\"\n\
    [factors]\n\"underlay.family\" = [\"ipv4\", \"ipv6\"]\ntso = [\"on\", \"off\"]\n\
    [protocol]\nboots = 5\nruns = 2\n";

fn values(condition: &Condition, boot: u32, repeat: u32) -> Vec<(&'static str, f64)> {
    let tso = if level(condition, "tso") == "on" { 100.0 } else { 0.0 };
    let run = wobble(boot, repeat, condition.index);
    vec![("throughput", 500.0 + tso + 10.0 * wobble(boot, 0, 0) + run)]
}

#[test]
fn a_comparison_of_states_is_sized_by_its_boots() {
    let study = Study::parse("made", TUNNEL).unwrap();
    let stored = stored(&study, &study.plan(), values);
    let spread = PilotSpread::from_pilot(&stored, &study, None).unwrap().unwrap();
    // Boots spread by about 10 of 550, which cancels inside a state and does not between two.
    assert!(spread.interaction > 0.5, "{spread:?}");
    let request =
        SizingRequest { detect: Percent::parse("2%").unwrap(), power: 0.8, confidence: 0.95, metric: None };
    let sizing = Sizing::new(&study, spread, &request).unwrap();
    let text = sizing.text(netassay_report::Layout::WIDE);
    assert!(text.contains("spread, in % of the mean: between boots "), "{text}");
    assert!(text.contains("(boots are of each of 2 states of the testbed)"), "{text}");
}
