//! Bars and stacks.

use netassay_report::chart::{Bar, Bars, Figure, Id, Panel, Quantity};

use super::{about, percent_of, throughput_in_mbit};

pub(super) fn throughput() -> Figure {
    let group = |group: &str, tcp: f64, udp: f64| {
        [("TCP", tcp), ("UDP", udp)].map(|(name, value)| Bar {
            group: group.to_owned(),
            name: name.to_owned(),
            whole: about(value, value / 40.0 + 30.0),
            parts: Vec::new(),
        })
    };
    let panel = |title: &str, groups: [[Bar; 2]; 4]| {
        let bars = groups.concat();
        let mut quantity = throughput_in_mbit();
        quantity.reach = vec![10_000.0];
        let plot = Bars { quantity, interval: "95 % interval".to_owned(), parts: Vec::new(), bars };
        Panel { title: title.to_owned(), plot: Box::new(plot) }
    };
    Figure {
        id: Id::new("throughput"),
        title: "Throughput as offloads leave the transmitter".to_owned(),
        description: "Over two hosts, TCP falls most where GSO leaves; UDP hardly changes.".to_owned(),
        panels: vec![
            panel(
                "MTU 1500",
                [
                    group("all on", 9414.5, 5624.4),
                    group("TSO off", 9413.9, 5620.8),
                    group("tx checksumming off", 8218.4, 5389.1),
                    group("GSO off", 3800.3, 5346.7),
                ],
            ),
            panel(
                "MTU 9000",
                [
                    group("all on", 9890.0, 9712.0),
                    group("TSO off", 9885.0, 9704.0),
                    group("tx checksumming off", 9810.0, 9216.0),
                    group("GSO off", 9466.0, 9207.0),
                ],
            ),
        ],
    }
}

pub(super) fn cpu() -> Figure {
    let bar = |group: &str, name: &str, parts: [f64; 5]| {
        let whole = about(parts.iter().sum(), 2.3);
        Bar { group: group.to_owned(), name: name.to_owned(), whole, parts: parts.to_vec() }
    };
    let groups = [
        ("all on", [20.1, 14.4, 0.4, 6.0, 0.2], [3.0, 21.0, 1.0, 9.0, 0.0]),
        ("TSO off", [15.3, 72.0, 0.6, 11.2, 0.4], [3.1, 25.0, 1.2, 14.0, 0.0]),
        ("tx checksumming off", [21.1, 66.0, 0.5, 11.0, 0.9], [3.0, 24.0, 1.1, 13.0, 0.0]),
        ("GSO off", [15.9, 70.0, 0.8, 12.3, 1.0], [3.3, 29.0, 1.9, 19.0, 0.0]),
    ];
    let groups = groups.map(|(name, guest, host)| [bar(name, "guest", guest), bar(name, "its host", host)]);
    let plot = Bars {
        quantity: percent_of("CPU", "of one CPU"),
        interval: "95 % interval of the sum".to_owned(),
        parts: ["user", "system", "irq", "softirq", "steal"].map(str::to_owned).to_vec(),
        bars: groups.concat(),
    };
    Figure::new(
        Id::new("cpu"),
        "CPU of the transmitter, VM to VM",
        "TCP with MTU 1500. Guest and host apart, stacked by kind of time.",
        plot,
    )
}

pub(super) fn credit() -> Figure {
    let shares = |quantity: Quantity, shares: [(f64, f64); 3]| {
        let named = ["TSO", "tx checksumming", "GSO"].into_iter().zip(shares);
        let bars = named.map(|(name, (share, half))| Bar {
            group: name.to_owned(),
            name: String::new(),
            whole: about(share, half),
            parts: Vec::new(),
        });
        let (interval, bars) = ("95 % interval".to_owned(), bars.collect());
        Bars { quantity, interval, parts: Vec::new(), bars }
    };
    let panel = |title: &str, plot: Bars| Panel { title: title.to_owned(), plot: Box::new(plot) };
    Figure {
        id: Id::new("credit"),
        title: "Which offload gives what, on the transmitter".to_owned(),
        description: "Shares that depend on no order.".to_owned(),
        panels: vec![
            panel(
                "Throughput: shares of the whole gain",
                shares(
                    percent_of("share", "of the gain of all on over all off"),
                    [(31.0, 4.0), (9.0, 6.0), (60.0, 5.0)],
                ),
            ),
            panel(
                "CPU per byte: shares of the whole saving",
                shares(
                    percent_of("share", "of the saving of all on over all off"),
                    [(36.0, 3.0), (-4.0, 3.0), (68.0, 4.0)],
                ),
            ),
        ],
    }
}
