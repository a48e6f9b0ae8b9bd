//! Effects.

use netassay_report::chart::{Figure, Forest, ForestRow, Id, Interval};

use super::{about, percent_of};

fn effect(name: &str, interval: Option<Interval>, verdict: &str) -> ForestRow {
    ForestRow { name: name.to_owned(), interval, size: None, verdict: verdict.to_owned() }
}

pub(crate) fn forest_plot() -> Forest {
    let open = Interval { estimate: 9.0, low: Some(-12.0), high: None };
    Forest {
        quantity: percent_of("difference of throughput", "of ipv4 offloads=default"),
        interval: "95 % interval, for all effects together".to_owned(),
        margin: Some(5.0),
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
