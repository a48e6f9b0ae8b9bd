//! Effects and interactions.

use netassay_chart::{Effect, Figure, Forest, Id, Interaction, Interval, Matrix};

use super::{about, percent_of, v};

fn effect(name: &str, interval: Option<Interval>, verdict: &str) -> Effect {
    Effect { name: name.to_owned(), interval, verdict: verdict.to_owned() }
}

pub(crate) fn forest_plot() -> Forest {
    let open = Interval { estimate: v(9.0), low: Some(v(-12.0)), high: None };
    Forest {
        quantity: percent_of("difference of throughput", "of ipv4 offloads=default"),
        interval: "95 % interval, for all effects together".to_owned(),
        margin: Some(v(5.0)),
        effects: vec![
            effect("ipv4 offloads=none", Some(about(-39.6, 6.8)), "lower"),
            effect("ipv6 offloads=default", Some(about(-16.7, 18.1)), "no difference proven"),
            effect("ipv6 offloads=none", Some(about(-43.1, 7.5)), "lower"),
            effect("ipv4 offloads=default checksum=off", Some(about(0.8, 2.6)), "equivalent"),
            effect("ipv4 offloads=none checksum=off", Some(open), "inconclusive"),
            effect("ipv6 offloads=default gro=off", None, "one boot only: no interval"),
        ],
    }
}

pub(super) fn forest() -> Figure {
    Figure::new(Id::new("effects"), "What each condition changes", "Six effects around zero.", forest_plot())
}

pub(super) fn matrix() -> Figure {
    let pair = |a, b, value, half: f64| Interaction {
        factors: [a, b],
        value: about(value, half),
        verdict: if f64::abs(value) > half { "proven" } else { "not proven" }.to_owned(),
    };
    let plot = Matrix {
        quantity: percent_of("interaction", "of the mean throughput"),
        interval: "95 % interval".to_owned(),
        names: ["tso", "gso", "tx checksumming", "gro", "family"].map(str::to_owned).to_vec(),
        pairs: vec![
            pair(1, 0, -21.4, 3.0),
            pair(2, 0, 12.1, 3.2),
            pair(2, 1, 8.8, 3.2),
            pair(3, 0, 0.4, 3.1),
            pair(3, 1, -1.2, 3.1),
            pair(3, 2, 2.2, 3.1),
            pair(4, 0, 0.0, 3.0),
            pair(4, 1, 1.4, 3.0),
            pair(4, 2, -3.5, 3.0),
            pair(4, 3, 0.9, 3.0),
        ],
    };
    Figure::new(Id::new("interactions"), "Offloads that help or hinder each other", "Pairs.", plot)
}
