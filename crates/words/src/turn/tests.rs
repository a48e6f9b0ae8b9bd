use super::*;
use crate::{Key, Kind, Placement, TuningKey};

fn traffic_with(kind: Kind, keys: &[(&str, &str)]) -> Traffic {
    let mut workload = Workload::new(kind);
    for (name, text) in keys {
        let key = Key::find(name).unwrap();
        key.set(&mut workload, &key.parse(text).unwrap());
    }
    workload.traffic
}

/// Every value of every key of every kind against another one: a flow is shared where the table
/// says so, and nowhere else.
#[test]
fn a_flow_is_shared_if_sockets_can_be_given_all_that_differs() {
    for kind in Kind::ALL {
        let plain = traffic_with(kind, &[]);
        assert!(plain.shares_flow_with(&plain));
        for key in KEYS {
            let values = [
                "1024", "2048", "7", "on", "off", "1Mbit", "2Mbit", "1%", "50us", "bbr", "spin", "gso",
                "sendfile",
            ];
            let made =
                |value: &&str| key.parse(value).ok().map(|_| traffic_with(kind, &[(key.name, *value)]));
            let all: Vec<Traffic> = values.iter().filter_map(made).chain([plain.clone()]).collect();
            for (one, other) in all.iter().flat_map(|one| all.iter().map(move |other| (one, other))) {
                let is_default = |traffic: &Traffic| key.get(&traffic.in_a_workload()) == Value::Default;
                let switched = key.in_turns.contains(&kind) && !is_default(one) && !is_default(other);
                assert_eq!(one.shares_flow_with(other), switched || one == other, "{kind} {key:?}");
            }
        }
    }
}

#[test]
fn what_differs_beside_it_keeps_flows_apart() {
    let one = traffic_with(Kind::TcpStream, &[("pacing", "100Mbit"), ("dscp", "0")]);
    let other = traffic_with(Kind::TcpStream, &[("pacing", "95Mbit"), ("dscp", "46")]);
    assert!(one.shares_flow_with(&other) && other.shares_flow_with(&one));
    let longer = traffic_with(Kind::TcpStream, &[("pacing", "95Mbit"), ("dscp", "46"), ("message", "7")]);
    assert!(!one.shares_flow_with(&longer) && !longer.shares_flow_with(&other));
    // Once paced, the kernel paces a socket for good, whatever its limit.
    assert!(!one.shares_flow_with(&traffic_with(Kind::TcpStream, &[("dscp", "0")])));
    assert!(
        !traffic_with(Kind::TcpRr, &[("dscp", "0")])
            .shares_flow_with(&traffic_with(Kind::UdpRr, &[("dscp", "0")]))
    );
    let timed = Workload { ramp: std::time::Duration::ZERO, ..one.in_a_workload() };
    assert_ne!(one.in_a_workload().fixed_in_flow(), timed.fixed_in_flow());
}

/// Of a key, some values were compared with runs and others were not: one of these is a doubt,
/// whichever comes first.
#[test]
fn turns_of_values_that_were_not_compared_with_runs_are_doubted() {
    let doubted = |kind, key, [one, other]: [&str; 2]| {
        let [one, other] = [one, other].map(|value| traffic_with(kind, &[(key, value)]).in_a_workload());
        let [doubt, reversed] = [one.doubted_key(&other), other.doubted_key(&one)];
        assert_eq!(doubt, reversed, "{kind} {key}");
        doubt == Some(key)
    };
    for (kind, key, values, expected) in [
        (Kind::UdpStream, "reader", ["recv", "gro"], false),
        (Kind::UdpStream, "reader", ["recv", "spin"], true),
        (Kind::TcpStream, "reader", ["recv", "trunc"], true),
        (Kind::TcpStream, "sender", ["send", "zerocopy"], false),
        (Kind::UdpStream, "sender", ["send", "sendmmsg"], true),
        (Kind::UdpStream, "dscp", ["0", "8"], false),
        (Kind::Pps, "dscp", ["0", "8"], true),
        (Kind::UdpStream, "checksum", ["on", "off"], false),
        (Kind::Pps, "checksum", ["on", "off"], true),
        (Kind::TcpStream, "pacing", ["1Mbit", "500Mbit"], true),
    ] {
        assert_eq!(doubted(kind, key, values), expected, "{kind} {key} {values:?}");
    }
}

#[test]
fn a_machine_changes_in_flight_where_the_threads_stay() {
    let share = |one: &Tuning, other: &Tuning| one.fixed_in_flow() == other.fixed_in_flow();
    let placed = |irq, traffic| Tuning {
        varied: TuningKey::ALL.into(),
        placement: Some(Placement { irq, traffic }),
        ..Tuning::default()
    };
    assert!(share(&placed(0, 1), &placed(1, 1)));
    assert!(!share(&placed(0, 1), &placed(0, 0)));
    let anywhere = Tuning { placement: None, ..placed(0, 1) };
    assert!(!share(&placed(0, 1), &anywhere));
    let fast = Tuning {
        governor: Some("performance".to_owned()),
        cpu_latency: Some(0),
        irq_affinity: Some(vec![0]),
        ..anywhere.clone()
    };
    assert!(share(&fast, &anywhere) && share(&anywhere, &fast));
    let with = |name: &str, value: &str| Tuning {
        sysctl: [(name.to_owned(), value.to_owned())].into(),
        ..anywhere.clone()
    };
    let corking = |value| with("net.ipv4.tcp_autocorking", value);
    assert!(share(&corking("0"), &corking("1")));
    // A socket has its own copy of it.
    let polling = |value| with("net.core.busy_read", value);
    assert!(!share(&polling("0"), &polling("50")) && share(&polling("0"), &polling("0")));
}

#[test]
fn what_can_be_switched_is_a_factor_of_its_kinds() {
    for key in KEYS.iter().filter(|key| !key.in_turns.is_empty()) {
        assert!(key.is_factor && key.in_turns.iter().all(|kind| key.kinds.contains(kind)), "{key:?}");
        assert!(key.in_flight().is_some(), "{key:?}");
    }
}
