//! Figures of made-up studies.

use netassay_chart::{
    Arrow, Bar, Bars, Bin, Boot, Condition, Cost, Curve, Curves, Dots, Effect, Figure, Finite, Flow, Forest,
    Group, Histogram, History, Id, Interaction, Interval, Lanes, Level, Matrix, Panel, Passage, Plot, Point,
    Quantity, Run, Scale, Series, Stage, Start, Step, Timeline, Waterfall,
};

/// One of each kind.
pub(crate) fn all() -> Vec<Figure> {
    vec![
        dots(),
        many_dots(),
        throughput(),
        cpu(),
        forest(),
        credit(),
        matrix(),
        timeline(),
        strip(),
        quantiles(),
        histogram(),
        load(),
        flow(),
        lanes(),
        history(),
    ]
}

pub(crate) fn v(value: f64) -> Finite {
    Finite::new(value).expect("made-up values are finite")
}

pub(crate) fn about(estimate: f64, half: f64) -> Interval {
    Interval { estimate: v(estimate), low: Some(v(estimate - half)), high: Some(v(estimate + half)) }
}

/// Four significant digits.
pub(crate) fn digits(value: f64) -> String {
    let exponent = value.abs().max(1e-9).log10().floor() as i32;
    let decimals = usize::try_from(3 - exponent).unwrap_or(0).min(6);
    let shown = format!("{value:.decimals$}");
    if shown.contains('.') { shown.trim_end_matches('0').trim_end_matches('.').to_owned() } else { shown }
}

fn one_decimal(value: f64) -> String {
    format!("{value:.1}")
}

fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{} ns", digits(ns)),
        ns if ns < 1e6 => format!("{} µs", digits(ns / 1e3)),
        ns => format!("{} ms", digits(ns / 1e6)),
    }
}

/// Noise between -1 and 1, the same one every time.
pub(crate) struct Noise(pub u64);

impl Noise {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / f64::from(1_u32 << 30) - 1.0
    }

    /// About normal.
    fn bell(&mut self) -> f64 {
        (0..4).map(|_| self.next()).sum::<f64>() / 1.155
    }
}

fn throughput_in_mbit() -> Quantity {
    Quantity::new("throughput", "Mbit/s", digits)
}

fn percent_of(name: &str, base: &str) -> Quantity {
    Quantity::new(name, "%", one_decimal).relative(base)
}

fn condition(name: &str, means: &[f64], sd: f64, half: f64, noise: &mut Noise) -> Condition {
    let boot = |(index, mean): (usize, &f64)| Boot {
        name: format!("boot {}", index + 1),
        runs: (0..10).map(|_| v(mean + sd * noise.bell())).collect(),
    };
    let boots = means.iter().enumerate().map(boot).collect();
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    Condition { name: name.to_owned(), boots, interval: Some(about(mean, half)) }
}

pub(crate) fn dots_plot() -> Dots {
    let mut noise = Noise(1);
    Dots {
        quantity: Quantity::new("packets sent", "1/s", digits),
        interval: "95 % interval of the mean over boots".to_owned(),
        conditions: vec![
            condition("udp4", &[294_100.0, 295_300.0, 295_400.0], 900.0, 1_900.0, &mut noise),
            condition("udp4 checksum=off", &[293_000.0, 294_900.0, 294_300.0], 900.0, 2_400.0, &mut noise),
            condition("udp6", &[192_300.0, 196_500.0, 201_400.0], 600.0, 11_300.0, &mut noise),
        ],
    }
}

fn dots() -> Figure {
    Figure::new(
        Id::new("runs"),
        "Boots of IPv6 differ more than its runs do",
        "Every run as a dot, a lane per boot. Runs of udp6 lie in three clusters, one per boot.",
        dots_plot(),
    )
}

fn many_dots() -> Figure {
    let mut noise = Noise(2);
    let conditions = [
        ("ipv4 offloads=default checksum=off", 6236.0, 1136.0),
        ("ipv4 offloads=none checksum=off", 6562.0, 931.0),
        ("ipv4 offloads=default", 6582.0, 1061.0),
        ("ipv4 offloads=none", 3769.0, 256.0),
        ("ipv6 offloads=default", 5195.0, 788.0),
        ("ipv6 offloads=none", 3551.0, 594.0),
    ]
    .map(|(name, mean, sd)| {
        let means: Vec<f64> = (0..9).map(|_| mean + sd * 0.7 * noise.bell()).collect();
        condition(name, &means, sd * 0.7, sd * 0.6, &mut noise)
    });
    let plot = Dots {
        quantity: throughput_in_mbit(),
        interval: "95 % interval of the mean over boots".to_owned(),
        conditions: conditions.to_vec(),
    };
    Figure::new(Id::new("loopback"), "UDP over loopback", "540 runs in nine boots.", plot)
}

fn throughput() -> Figure {
    let group = |name: &str, tcp: f64, udp: f64| Group {
        name: name.to_owned(),
        bars: [("TCP", tcp), ("UDP", udp)]
            .map(|(name, value)| Bar {
                name: name.to_owned(),
                whole: about(value, value / 40.0 + 30.0),
                parts: Vec::new(),
            })
            .to_vec(),
    };
    let panel = |title: &str, groups: Vec<Group>| {
        let mut quantity = throughput_in_mbit();
        quantity.reach = vec![v(10_000.0)];
        let plot = Bars { quantity, interval: "95 % interval".to_owned(), parts: Vec::new(), groups };
        Panel { title: title.to_owned(), plot: Box::new(plot) }
    };
    Figure {
        id: Id::new("throughput"),
        title: "Throughput as offloads leave the transmitter".to_owned(),
        description: "Over two hosts, TCP falls most where GSO leaves; UDP hardly changes.".to_owned(),
        panels: vec![
            panel(
                "MTU 1500",
                vec![
                    group("all on", 9414.5, 5624.4),
                    group("TSO off", 9413.9, 5620.8),
                    group("tx checksumming off", 8218.4, 5389.1),
                    group("GSO off", 3800.3, 5346.7),
                ],
            ),
            panel(
                "MTU 9000",
                vec![
                    group("all on", 9890.0, 9712.0),
                    group("TSO off", 9885.0, 9704.0),
                    group("tx checksumming off", 9810.0, 9216.0),
                    group("GSO off", 9466.0, 9207.0),
                ],
            ),
        ],
    }
}

fn cpu() -> Figure {
    let bar = |name: &str, parts: [f64; 5]| {
        let whole = about(parts.iter().sum(), 2.3);
        Bar { name: name.to_owned(), whole, parts: parts.map(v).to_vec() }
    };
    let groups = [
        ("all on", [20.1, 14.4, 0.4, 6.0, 0.2], [3.0, 21.0, 1.0, 9.0, 0.0]),
        ("TSO off", [15.3, 72.0, 0.6, 11.2, 0.4], [3.1, 25.0, 1.2, 14.0, 0.0]),
        ("tx checksumming off", [21.1, 66.0, 0.5, 11.0, 0.9], [3.0, 24.0, 1.1, 13.0, 0.0]),
        ("GSO off", [15.9, 70.0, 0.8, 12.3, 1.0], [3.3, 29.0, 1.9, 19.0, 0.0]),
    ];
    let groups = groups.map(|(name, guest, host)| Group {
        name: name.to_owned(),
        bars: vec![bar("guest", guest), bar("its host", host)],
    });
    let plot = Bars {
        quantity: percent_of("CPU", "of one CPU"),
        interval: "95 % interval of the sum".to_owned(),
        parts: ["user", "system", "irq", "softirq", "steal"].map(str::to_owned).to_vec(),
        groups: groups.to_vec(),
    };
    Figure::new(
        Id::new("cpu"),
        "CPU of the transmitter, VM to VM",
        "TCP with MTU 1500. Guest and host apart, stacked by kind of time.",
        plot,
    )
}

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

fn forest() -> Figure {
    Figure::new(Id::new("effects"), "What each condition changes", "Six effects around zero.", forest_plot())
}

fn credit() -> Figure {
    let ladder = |quantity: Quantity, start: f64, steps: [(f64, f64); 3]| Waterfall {
        quantity,
        interval: "95 % interval of the step".to_owned(),
        start: ("all on".to_owned(), v(start)),
        steps: ["TSO off", "tx checksumming off", "GSO off"]
            .into_iter()
            .zip(steps)
            .map(|(name, (change, half))| Step { name: name.to_owned(), change: about(change, half) })
            .collect(),
        end: "all off".to_owned(),
    };
    let shares = |quantity: Quantity, shares: [(f64, f64); 3]| {
        let named = ["TSO", "tx checksumming", "GSO"].into_iter().zip(shares);
        let shares = named.map(|(name, (share, half))| (name.to_owned(), about(share, half))).collect();
        Bars::shares(quantity, "95 % interval", shares)
    };
    let panel = |title: &str, plot: Box<dyn Plot>| Panel { title: title.to_owned(), plot };
    let per_byte = Quantity::new("CPU per byte", "ns", digits);
    Figure {
        id: Id::new("credit"),
        title: "Which offload gives what, on the transmitter".to_owned(),
        description: "Above, offloads leave one after the other; below, shares that depend on no order."
            .to_owned(),
        panels: vec![
            panel(
                "Throughput, step by step (link-limited until tx checksumming leaves)",
                Box::new(ladder(
                    throughput_in_mbit(),
                    9414.5,
                    [(-0.6, 35.0), (-1195.5, 180.0), (-4418.1, 260.0)],
                )),
            ),
            panel(
                "CPU per byte, step by step",
                Box::new(ladder(per_byte.clone(), 0.31, [(0.22, 0.03), (0.09, 0.02), (0.61, 0.05)])),
            ),
            panel(
                "Throughput: shares of the whole gain",
                Box::new(shares(
                    percent_of("share", "of the gain of all on over all off"),
                    [(31.0, 4.0), (9.0, 6.0), (60.0, 5.0)],
                )),
            ),
            panel(
                "CPU per byte: shares of the whole saving",
                Box::new(shares(
                    percent_of("share", "of the saving of all on over all off"),
                    [(36.0, 3.0), (-4.0, 3.0), (68.0, 4.0)],
                )),
            ),
        ],
    }
}

fn matrix() -> Figure {
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

fn timeline() -> Figure {
    let mut noise = Noise(3);
    let run = |index: u32| Run {
        name: ["ipv4", "ipv4 checksum=off", "ipv6"][index as usize % 3].to_owned(),
        at: v(f64::from(index) * 0.9 + f64::from(index / 30) * 6.0),
        value: v(100.0 + [-1.4, 0.3, 1.2][index as usize / 30 % 3] + 0.7 * noise.bell()
            - f64::from(index % 30) * 0.03),
        counts: index % 37 != 17,
    };
    let runs: Vec<Run> = (0..90).map(run).collect();
    let start = |boot: u32| Start { name: format!("boot {}", boot + 1), at: v(f64::from(boot) * 33.0 - 2.0) };
    let plot = Timeline {
        time: Quantity::new("time since the campaign began", "min", digits),
        quantity: percent_of("throughput", "of the mean of its condition"),
        reference: Some(v(100.0)),
        starts: (0..3).map(start).collect(),
        runs,
    };
    Figure::new(Id::new("campaign"), "Runs in the order of time", "Each boot is on a level of its own.", plot)
}

fn curve(name: &str, measured: bool, points: impl Iterator<Item = (f64, f64)>) -> Curve {
    Curve { name: name.to_owned(), points: points.map(|(x, y)| (v(x), v(y))).collect(), measured }
}

fn strip() -> Figure {
    let mut noise = Noise(4);
    let mut series = |name: &str, mean: f64, stall: f64| {
        let rates = (0..1500).map(|step| {
            let at = f64::from(step) / 150.0;
            let rate = if (stall..stall + 0.3).contains(&at) { 0.0 } else { mean + 240.0 * noise.bell() };
            (at, rate.max(0.0))
        });
        curve(name, false, rates.collect::<Vec<_>>().into_iter())
    };
    let plot = Curves {
        across: (Quantity::new("time since the window opened", "s", digits), Scale::Linear),
        up: (throughput_in_mbit(), Scale::FromZero),
        curves: vec![series("ipv4, boot 1, run 3", 6900.0, 20.0), series("ipv6, boot 1, run 3", 4100.0, 6.2)],
        flags: vec![(v(6.2), "stall of 300 ms".to_owned())],
    };
    Figure::new(Id::new("strip"), "Inside two runs", "IPv6 stalled once.", plot)
}

fn quantiles() -> Figure {
    let latency = |name: &str, base: f64, tail: f64| {
        let fractions = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999];
        let at = move |fraction: f64| (fraction, base * (1.0 + tail * (1.0 / (1.0 - fraction)).ln().powi(2)));
        curve(name, false, fractions.into_iter().map(at))
    };
    let plot = Curves::quantiles(
        Quantity::new("latency of a transaction", "", time),
        vec![
            latency("interrupts", 14_000.0, 0.04),
            latency("busy polling", 9_000.0, 0.015),
            latency("interrupts, loaded", 16_000.0, 0.6),
            latency("busy polling, loaded", 15_500.0, 0.55),
        ],
    );
    Figure::new(Id::new("quantiles"), "Latency", "Busy polling is faster at every quantile.", plot)
}

fn histogram() -> Figure {
    let set = |name: &str, centre: f64, width: f64| Series {
        name: name.to_owned(),
        bins: (0..36)
            .map(|bin| {
                let edge = |bin: f64| 8_000.0 * 1.1_f64.powf(bin);
                let away = (f64::from(bin) - centre) / width;
                let count = (100_000.0 * (-away * away / 2.0).exp()) as u64;
                Bin { low: v(edge(f64::from(bin))), high: v(edge(f64::from(bin) + 1.0)), count }
            })
            .collect(),
    };
    let plot = Histogram {
        across: (Quantity::new("latency of a transaction", "", time), Scale::Logarithmic),
        percent: one_decimal,
        series: vec![set("interrupts", 14.0, 5.0), set("busy polling", 7.0, 2.5)],
    };
    Figure::new(Id::new("histogram"), "Latency, as shares", "Two sets of transactions.", plot)
}

fn load() -> Figure {
    let path = |name: &str, capacity: f64| {
        let loads = (1..=10).map(move |step| f64::from(step) * capacity / 10.5);
        curve(name, true, loads.map(move |load| (load, 12_000.0 / (1.0 - load / capacity))))
    };
    let plot = Curves {
        across: (Quantity::new("offered load", "Gbit/s", digits), Scale::FromZero),
        up: (Quantity::new("latency, 99 % quantile", "", time), Scale::Logarithmic),
        curves: vec![path("ipv4", 9.4), path("ipv6", 7.1)],
        flags: vec![
            (v(8.1), "knee of ipv4, 8.1 Gbit/s".to_owned()),
            (v(6.0), "knee of ipv6, 6.0 Gbit/s".to_owned()),
        ],
    };
    Figure::new(Id::new("load"), "Latency against offered load", "Each has a knee.", plot)
}

fn flow() -> Figure {
    let passage = |name: &str, arrived: f64, lost: &str| Passage {
        name: name.to_owned(),
        arrived: v(arrived),
        lost: lost.to_owned(),
    };
    let plot = Flow {
        quantity: Quantity::new("packets", "", digits),
        percent: digits,
        passages: vec![
            passage("sender", 2_948_101.0, ""),
            passage("transmitter's interface", 2_941_004.0, "dropped by the queueing discipline"),
            passage("receiver's interface", 2_941_004.0, ""),
            passage("receiver's socket", 2_655_120.0, "no room in the receive buffer"),
            passage("reader", 2_654_988.0, "checksum errors"),
        ],
    };
    Figure::new(Id::new("loss"), "Where packets were lost", "Most at the receiver's socket.", plot)
}

fn lanes() -> Figure {
    let stages = [
        ("sendto", 0),
        ("sock_sendmsg", 1),
        ("udp_sendmsg", 2),
        ("ip_append_data", 3),
        ("ip_push_pending_frames", 3),
        ("ip_local_out", 3),
        ("dev_queue_xmit", 4),
        ("dev_hard_start_xmit", 4),
        ("ndo_start_xmit", 5),
        ("hardware interrupt", 6),
        ("net_rx_action", 4),
        ("driver poll", 5),
        ("netif_receive_skb", 4),
        ("ip_rcv", 3),
        ("__udp4_lib_rcv", 2),
        ("sk_data_ready", 1),
        ("recvfrom", 0),
    ];
    let stages: Vec<Stage> =
        stages.iter().map(|(name, lane)| Stage { name: (*name).to_owned(), lane: *lane }).collect();
    let cost = |name: &str, low: f64, high: f64| Cost {
        name: name.to_owned(),
        value: Interval { estimate: v((low + high) / 2.0), low: Some(v(low)), high: Some(v(high)) },
    };
    let mut arrows: Vec<Arrow> = (0..15)
        .map(|from| {
            let low = 60.0 + f64::from(from * 37 % 11) * 21.0;
            let costs = match from {
                2 | 14 => vec![cost("1 byte", low, low + 90.0), cost("1400 bytes", 2.0 * low, 2.6 * low)],
                _ => vec![cost("", low, low + 70.0)],
            };
            Arrow { ends: [from as usize, from as usize + 1], costs, wakes: false }
        })
        .collect();
    arrows.push(Arrow { ends: [15, 16], costs: vec![cost("reader asleep", 714.0, 895.0)], wakes: true });
    arrows.push(Arrow { ends: [13, 16], costs: vec![cost("reader busy", 56.0, 78.0)], wakes: false });
    let names =
        ["application", "socket", "protocol", "IP", "device", "driver", "interrupt"].map(str::to_owned);
    let plot = Lanes::new(Quantity::new("time", "ns", digits), names.to_vec(), stages, arrows)
        .expect("the chart is whole");
    Figure::new(Id::new("path"), "Where the time of a packet goes", "From sendto to recvfrom.", plot)
}

pub(crate) fn history_plot() -> History {
    let mut noise = Noise(5);
    let point = |index: u32| {
        let level = if index < 9 {
            41.2
        } else if index < 16 {
            39.8
        } else {
            42.6
        };
        let note = if index == 12 { "cpu governors" } else { "" }.to_owned();
        Point { name: format!("v6.{}", index + 1), value: about(level + 0.2 * noise.bell(), 0.45), note }
    };
    let level = |first, value, change: &str| Level { first, value: v(value), change: change.to_owned() };
    History {
        tags: "kernel".to_owned(),
        quantity: Quantity::new("throughput", "Gbit/s", digits),
        interval: "95 % interval".to_owned(),
        points: (0..22).map(point).collect(),
        levels: vec![
            level(0, 41.2, ""),
            level(9, 39.8, "-3.4 %, confidence 99.9 %"),
            level(16, 42.6, "+7.0 %, confidence 99.9 %"),
        ],
    }
}

fn history() -> Figure {
    Figure::new(Id::new("history"), "Throughput over kernels", "Two changes.", history_plot())
}
