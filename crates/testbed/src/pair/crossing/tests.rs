use std::time::Duration;

use load::Traffic;

use super::*;
use crate::switches::InterfaceSwitches;

fn order(traffic: Traffic) -> RunOrder {
    let [ramp, window, step] = [Duration::from_secs(1); 3];
    RunOrder { traffic, family: Family::Ipv4, ramp, window, step }
}

#[test]
fn packets_that_the_traffic_does_not_send_are_not_needed() {
    let reverse = |kind| Traffic { direction: Direction::Reverse, ..Traffic::new(kind) };
    for (traffic, expected) in [
        (Traffic::new(Kind::TcpStream), [Some(u32::MAX), Some(0)]),
        (reverse(Kind::TcpStream), [Some(0), Some(u32::MAX)]),
        (Traffic::new(Kind::TcpRr), [Some(29), Some(29)]),
        (Traffic::new(Kind::UdpStream), [Some(1480), None]),
        (reverse(Kind::UdpStream), [None, Some(1480)]),
        (Traffic { response: 8000, ..Traffic::new(Kind::UdpRr) }, [Some(29), Some(8028)]),
    ] {
        let (used, unused) = if traffic.kind.is_udp() { (UDP, TCP) } else { (TCP, UDP) };
        let Crossing { sent, .. } = Crossing::of_workload(&order(traffic));
        let sent = |protocol: usize| Side::BOTH.map(|side| sent[side][protocol]);
        assert_eq!((sent(used), sent(unused)), (expected, [None; 2]));
    }
}

#[test]
fn the_last_port_is_tried() {
    for (kind, flows, expected) in
        [(Kind::UdpStream, 4, 5004), (Kind::TcpStream, 4, 5001), (Kind::UdpRr, 1, 5001)]
    {
        let traffic = Traffic { port: Some(5001), flows, ..Traffic::new(kind) };
        assert_eq!(Crossing::of_workload(&order(traffic)).port, Some(expected));
    }
}

#[test]
fn full_packets_wait_for_the_mtu_that_a_study_sets_and_guests_have_their_own() {
    let sent = |scenario: Scenario, mtu| {
        let own = InterfaceSwitches { mtu, ..Default::default() };
        let switches = Switches { own, ..Switches::default() };
        let order = order(Traffic::new(Kind::UdpStream));
        Some(Crossing::of_condition(&scenario.into(), &order, &switches)?.sent.transmitter[UDP])
    };
    assert_eq!(sent(Scenario::Ssh, None), Some(Some(1480)));
    assert_eq!(sent(Scenario::Ssh, Some(9000)), Some(Some(0)));
    assert_eq!(sent(Scenario::SshVxlan, None), Some(None));
    assert_eq!(sent(Scenario::Vm, None), None);
}

#[test]
fn packets_are_lost_that_are_needed() {
    let crossing = Crossing::of_workload(&order(Traffic::new(Kind::TcpStream)));
    for (at_receiver, at_transmitter, lost) in [
        ([true; 2], [true, false], None),
        ([true, false], [true; 2], Some((Side::Transmitter, TCP, true))),
        ([true; 2], [false; 2], Some((Side::Receiver, TCP, false))),
        // The receiver answers in the transmitter's connection.
        ([false; 2], [false; 2], Some((Side::Transmitter, TCP, false))),
    ] {
        let of = |packets| Arrived { packets: [[false; 2], packets], unsent: [None; 2] };
        let arrived = BySide { transmitter: of(at_transmitter), receiver: of(at_receiver) };
        assert_eq!(crossing.lost(&arrived), Vec::from_iter(lost));
    }
}
