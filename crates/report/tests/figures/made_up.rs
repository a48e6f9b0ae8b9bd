//! Made-up studies like the published ones.

use record::{Detail, LatencyHistogram, Series, sample};
use results::Results;
use store::{RunStatus, StoredSeries, StoredStudy};
use study::{Condition, DesignKind, Kind, Plan, Side, Study};

use crate::made::{design, is_on, level, limited, means, stored, study, wobble};

/// Metrics of a run.
type Values = Vec<(&'static str, f64)>;

/// A study as it is shown, without series.
pub(crate) fn shown(stored: &StoredStudy) -> Results {
    Results::new(stored).unwrap()
}

pub(crate) fn parsed(text: &str) -> (Study, Plan) {
    let study = Study::parse("made", text).unwrap();
    let plan = study.plan();
    (study, plan)
}

/// CPU of both sides, with their parts.
fn cpu(transmitter: f64, receiver: f64) -> Values {
    let mut values = Values::new();
    let keys = [
        ["transmitter.cpu", "receiver.cpu"],
        ["transmitter.cpu_user", "receiver.cpu_user"],
        ["transmitter.cpu_system", "receiver.cpu_system"],
        ["transmitter.cpu_softirq", "receiver.cpu_softirq"],
        ["transmitter.cpu_irq", "receiver.cpu_irq"],
    ];
    for ([tx, rx], share) in keys.into_iter().zip([1.0, 0.2, 0.6, 0.18, 0.02]) {
        values.extend([(tx, transmitter * share), (rx, receiver * share)]);
    }
    values
}

/// Two families, with offloads and without, over TCP; IPv6's boots fall into clusters, runs drift a
/// little, and without offloads segments go one by one. The last run was disturbed.
pub(crate) fn clusters() -> Results {
    let (study, plan) = parsed(
        "name = \"clusters\"\nquestion = \"what do offloads give?\"\nscenario = \"veth\"\n\
         [[workload]]\nkind = \"tcp_stream\"\nduration = \"1s\"\n\
         [factors]\nfamily = [\"ipv4\", \"ipv6\"]\noffloads = [\"default\", \"none\"]\n\
         [protocol]\nboots = 4\nruns = 5\n\
         [[comparison]]\nmetric = \"throughput\"\nequivalent = \"3%\"\n\
         [[comparison]]\nmetric = \"transmitter.service_demand_byte\"\nequivalent = \"3%\"\n",
    );
    let values = |condition: &Condition, boot: u32, repeat: u32| {
        let default = level(condition, "offloads") == "default";
        let cluster = if level(condition, "family") == "ipv6" { f64::from(boot % 3) * 600.0 } else { 0.0 };
        let noise = wobble(boot, repeat, condition.index);
        let rate = if default { 21_000.0 } else { 9_500.0 } + cluster + 120.0 * noise;
        let segments = if default { 30.0 } else { 1.0 };
        let mut values = cpu(if default { 42.0 } else { 88.0 } + noise, 55.0 + 2.0 * noise);
        values.extend([
            ("throughput", rate),
            ("transmitter.service_demand_byte", 900.0 / rate + 0.002 * noise),
            ("transmitter.segments_per_wire_packet", segments + 0.02 * noise),
            ("receiver.wire_packets", 10_000.0),
            ("receiver.segments", if default { 1_000.0 } else { 10_000.0 }),
        ]);
        values
    };
    let mut made = stored(&study, &plan, values);
    if let Some(last) = made.runs.last_mut() {
        last.status = RunStatus::Invalid;
    }
    for (boot, at) in made.boots.iter_mut().zip(0..) {
        boot.started_unix_ms += at * 25_000;
    }
    for run in &mut made.runs {
        run.started_unix_ms += i64::from(run.boot) * 5_000 - 4_000;
    }
    let series = made
        .runs
        .iter()
        .map(|run| series(run.id, run.metrics.get(study::metric::THROUGHPUT).unwrap()))
        .collect();
    Results { series, ..Results::new(&made).unwrap() }
}

/// A second in steps of 10 ms, at about that rate in Mbit/s.
fn series(run: store::RunId, rate: f64) -> StoredSeries {
    let rows: Vec<u64> = (1..=100).collect();
    let received = |row: &u64| {
        let bytes = *row as f64 * rate * 1_250.0;
        (bytes * (1.0 + 0.05 * wobble(1, u32::try_from(*row).unwrap(), 0) / *row as f64)) as u64
    };
    let none = || vec![0; rows.len()];
    let series = Series {
        at_ns: rows.iter().map(|row| row * 10_000_000).collect(),
        bytes_sent: none(),
        bytes_received: rows.iter().map(received).collect(),
        messages_sent: none(),
        messages_received: none(),
        transactions: none(),
        socket_drops: none(),
        queue_drops: none(),
        cpu_busy_ns: none(),
        ..sample::series()
    };
    StoredSeries { run, side: Side::Receiver, series }
}

/// R4: offloads leave one after the other, TCP beside UDP, at two MTUs; the first steps are limited
/// by the link.
pub(crate) fn ladder() -> StoredStudy {
    let (study, mut plan) = parsed(
        "name = \"ladder\"\nquestion = \"which offload pays?\"\nscenario = \"veth\"\n\
         [[workload]]\nname = \"TCP\"\nkind = \"tcp_stream\"\nduration = \"1s\"\n\
         [[workload]]\nname = \"UDP\"\nkind = \"udp_stream\"\nduration = \"1s\"\n\
         [factors]\nmtu = [1500, 9000]\n[design]\nkind = \"ladder\"\noffloads = [\"tso\", \"tx\", \"gso\"]\n\
         [protocol]\nboots = 3\nruns = 2\n",
    );
    // A try on real interfaces gives the plan its design's states.
    plan.effective.clear();
    let values = |condition: &Condition, boot: u32, repeat: u32| {
        let step = ["tso", "tx", "gso"].iter().filter(|name| !is_on(condition, name)).count();
        let is_tcp = condition.workload.traffic.kind.is_tcp();
        let (tcp, udp) = match (condition.mtu, step) {
            (Some(1500), 0 | 1) => (9_414.0, 5_624.0),
            (Some(1500), 2) => (8_218.0, 5_389.0),
            (Some(1500), _) => (3_800.0, 5_347.0),
            (_, step) => (9_890.0 - 140.0 * step as f64, 9_700.0 - 160.0 * step as f64),
        };
        let rate = if is_tcp { tcp } else { udp } * (1.0 + 0.004 * wobble(boot, repeat, condition.index));
        let demand = 0.3 + 0.21 * step as f64 + 0.01 * wobble(repeat, boot, condition.index);
        let mut values = cpu(demand * rate / 125.0, 40.0);
        values.extend([
            ("throughput", rate),
            ("transmitter.service_demand_byte", demand),
            ("receiver.service_demand_byte", 0.5 + 0.02 * wobble(repeat, boot, condition.index)),
        ]);
        values
    };
    let mut made = stored(&study, &plan, values);
    let by_link: Vec<bool> =
        plan.conditions.iter().map(|one| is_on(one, "tx") && one.workload.traffic.kind.is_tcp()).collect();
    limited(&mut made, |condition| if by_link[condition] { "link" } else { "transmitter CPU" });
    made
}

/// Every combination of three offloads, two of which help each other.
pub(crate) fn factorial() -> StoredStudy {
    let factors = "tso = [\"on\", \"off\"]\ngso = [\"on\", \"off\"]\nreceiver.gro = [\"on\", \"off\"]";
    let (study, mut plan) = study(factors);
    design(&mut plan, DesignKind::Factorial, &["tso", "gso", "receiver.gro"], |_| true);
    let made = stored(&study, &plan, |condition, boot, repeat| {
        let [tso, gso, gro] =
            ["tso", "gso", "receiver.gro"].map(|name| f64::from(u8::from(is_on(condition, name))));
        let rate = 4_000.0 + 900.0 * tso + 1_500.0 * gso + 700.0 * gro + 1_800.0 * gso * gro;
        let noise = 0.01 * wobble(boot, repeat, condition.index);
        vec![
            ("throughput", rate * (1.0 + noise)),
            ("transmitter.service_demand_byte", (2.0 - 0.4 * tso - 0.9 * gso) * (1.0 - noise)),
        ]
    });
    // All on is far above the sum of its parts.
    assert!(means(&made, "throughput")[&0] > 8_500.0);
    made
}

/// Gives each run that measured latencies a histogram with its quantiles, of 10,000 transactions.
pub(crate) fn with_histograms(mut stored: StoredStudy) -> StoredStudy {
    for run in &mut stored.runs {
        let at = |key: &str| run.metrics.get(study::metric::find(key).unwrap());
        let Some(median) = at("latency_p50") else { continue };
        let quantiles = [
            (0.0, Some(0.7 * median)),
            (0.5, Some(median)),
            (0.9, at("latency_p90")),
            (0.99, at("latency_p99")),
            (0.999, at("latency_p99_9")),
            (1.0, at("latency_p99_99")),
        ];
        let quantiles: Vec<(f64, f64)> =
            quantiles.into_iter().filter_map(|(share, ns)| Some((share, ns?))).collect();
        let latency = |rank: u32| {
            let share = (f64::from(rank) + 0.5) / 10_000.0;
            let place = quantiles.iter().rposition(|(from, _)| *from <= share).unwrap();
            let ((from, low), (to, high)) =
                (quantiles[place], quantiles[(place + 1).min(quantiles.len() - 1)]);
            let part = (share - from) / (to - from).max(1e-9);
            ((low.ln() + part * (high / low).ln()).exp() as u64, 1)
        };
        let mut account = sample::account();
        account.transmitter.whole.outcome.latency.as_mut().unwrap().histogram =
            Some(LatencyHistogram::from_latencies((0..10_000).map(latency)));
        run.detail = Detail::Measured(Box::new(account));
    }
    stored
}

/// A path that answers requests at any of these rates, up to its capacity in 1/s; latency is that
/// of a queue with random arrivals and services. Over IPv6 the capacity is a third less.
pub(crate) fn offered(rates: &[u32], capacity: f64) -> StoredStudy {
    let rates: Vec<String> = rates.iter().map(u32::to_string).collect();
    let (study, plan) = parsed(&format!(
        "name = \"offered\"\nquestion = \"how much load?\"\nscenario = \"veth\"\n\
         [[workload]]\nkind = \"udp_rr\"\nduration = \"1s\"\n\
         [factors]\nfamily = [\"ipv4\", \"ipv6\"]\nrate = [{}]\n[protocol]\nboots = 6\nruns = 2\n",
        rates.join(", ")
    ));
    stored(&study, &plan, |condition, boot, repeat| {
        let capacity = if level(condition, "family") == "ipv6" { capacity / 1.5 } else { capacity };
        let rate = f64::from(condition.workload.traffic.rate.unwrap());
        let noise = 1.0 + 0.01 * wobble(boot, repeat, condition.index);
        let mean = if rate < capacity { 1e9 / (capacity - rate) } else { 5e8 } * noise;
        let at = |share: f64| mean * -(1.0_f64 - share).ln();
        vec![
            ("transactions", rate.min(capacity)),
            ("latency_mean", mean),
            ("latency_p50", at(0.5)),
            ("latency_p90", at(0.9)),
            ("latency_p99", at(0.99)),
            ("latency_p99_9", at(0.999)),
            ("latency_p99_99", at(0.9999)),
        ]
    })
}

/// Guests that exchange transactions and datagrams, some of which are lost; their host works too.
pub(crate) fn guests() -> StoredStudy {
    let (study, plan) = parsed(
        "name = \"guests\"\nquestion = \"what does IPv6 cost?\"\nscenario = \"vm\"\n\
         [[workload]]\nkind = \"udp_rr\"\nduration = \"1s\"\n[[workload]]\nkind = \"udp_stream\"\nduration = \"1s\"\n\
         [factors]\nfamily = [\"ipv4\", \"ipv6\"]\n[protocol]\nboots = 3\nruns = 2\n\
         [[comparison]]\nonly = { workload = \"udp_rr\" }\nmetric = \"latency_p99\"\n\
         [[comparison]]\nonly = { workload = \"udp_stream\" }\nmetric = \"throughput\"\n",
    );
    let stored = stored(&study, &plan, |condition, boot, repeat| {
        let six = if level(condition, "family") == "ipv6" { 1.0 } else { 0.0 };
        let noise = 1.0 + 0.02 * wobble(boot, repeat, condition.index);
        let mut values = cpu(60.0 * noise, 70.0 + 5.0 * six * noise);
        values.extend([
            ("transmitter.host_cpu", 71.0 * noise),
            ("transmitter.host_cpu_vcpu", 62.0 * noise),
            ("transmitter.host_cpu_io", 9.0 * noise),
        ]);
        if condition.workload.traffic.kind == Kind::UdpRr {
            let tail = |at: f64| (40_000.0 + 9_000.0 * six) * at * noise;
            values.extend([
                ("transactions", 24_000.0 * noise),
                ("latency_p50", tail(1.0)),
                ("latency_p90", tail(1.4)),
                ("latency_p99", tail(2.6)),
                ("latency_p99_9", tail(9.0)),
                ("latency_p99_99", tail(30.0)),
            ]);
        } else {
            let offered = 1_000_000.0;
            let (queue, socket) = (12_000.0 + 4_000.0 * six, 200_000.0 * noise);
            values.extend([
                ("throughput", 6_400.0 * noise),
                ("offered", offered),
                ("lost", queue + socket),
                ("lost_queue", queue),
                ("lost_device", 0.0),
                ("lost_socket", socket),
                ("lost_unaccounted", 0.0),
                ("received", offered - queue - socket),
            ]);
        }
        values
    });
    with_histograms(stored)
}

/// A study of one workload with these numbers of conditions, boots and runs.
pub(crate) fn large(conditions: usize, boots: u32, runs: u32) -> StoredStudy {
    let sizes: Vec<String> = (1..=conditions).map(|size| (100 * size).to_string()).collect();
    let (study, plan) = parsed(&format!(
        "name = \"large\"\nquestion = \"which size?\"\nscenario = \"veth\"\n\
         [[workload]]\nkind = \"tcp_stream\"\nduration = \"1s\"\n[factors]\nmessage = [{}]\n\
         [protocol]\nboots = {boots}\nruns = {runs}\n[[comparison]]\nmetric = \"throughput\"\n\
         [[comparison]]\nmetric = \"transmitter.service_demand_byte\"\n",
        sizes.join(", ")
    ));
    stored(&study, &plan, |condition, boot, repeat| {
        let noise = wobble(boot, repeat, condition.index);
        let rate = 900.0 + 230.0 * condition.index as f64 + 40.0 * noise;
        let mut values = cpu(60.0 + 3.0 * noise, 50.0 - noise);
        values.extend([("throughput", rate), ("transmitter.service_demand_byte", 1_000.0 / rate)]);
        values
    })
}
