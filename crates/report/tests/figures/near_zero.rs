//! Differences from a baseline that is about zero.

use insta::assert_snapshot;
use netassay_report::chart::{Figure, WIDE};
use netassay_report::figures;
use study::Condition;

use crate::faults::faults;
use crate::made::{stored, wobble};
use crate::made_up::{parsed, shown};

/// UDP with these factors in so many boots, compared in messages lost: `lost` gives those of each
/// condition with what boots and runs change of them.
fn effects(boots: u32, factors: &str, lost: impl Fn(&Condition, f64) -> f64) -> Figure {
    let (study, plan) = parsed(&format!(
        "name = \"losses\"\nquestion = \"what does IPv6 lose?\"\nscenario = \"veth\"\n\
         [[workload]]\nkind = \"udp_stream\"\nduration = \"1s\"\n\
         [factors]\n{factors}\n\
         [protocol]\nboots = {boots}\nruns = 2\n\
         [[comparison]]\nmetric = \"lost\"\n"
    ));
    let values = |condition: &Condition, boot: u32, repeat: u32| {
        let noise = wobble(boot, repeat, condition.index);
        vec![("throughput", 1_000.0 + noise), ("lost", lost(condition, noise))]
    };
    let sections = figures::sections(&[shown(&stored(&study, &plan, values))]);
    let effects = sections.into_iter().find(|section| section.id.as_str() == "effects").unwrap();
    effects.figures.into_iter().next().unwrap()
}

fn labels(figure: &Figure) -> Vec<String> {
    assert_eq!(faults(figure, WIDE), [""; 0]);
    figure.draw(WIDE).labels.into_iter().map(|(text, _)| text).collect()
}

const FAMILY: &str = "family = [\"ipv4\", \"ipv6\"]";

/// The baseline's mean may be zero, so that only ratios are left, and there is none of zero.
#[test]
fn a_difference_beside_ratios_is_told_with_its_interval() {
    let lost = |condition: &Condition, noise: f64| match condition.mtu {
        Some(9000) => 500.0 * noise.max(0.0),
        _ => 100.0 * (2.0 * noise).exp(),
    };
    let factors = format!("{FAMILY}\nmtu = [1500, 9000]");
    let figure = effects(3, &factors, lost);
    assert_snapshot!(labels(&figure).join("\n"));
}
