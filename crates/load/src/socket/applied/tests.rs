use super::*;
use words::{CongestionControl, Kind, Reader, Sender};

fn applied() -> Applied {
    Applied {
        flows: 1,
        buffers: Buffers { send: 8192, receive: 8192 },
        low_water: 1,
        dscp: 8,
        priority: 0,
        tcp: Some(TcpApplied { congestion_control: "bbr".into(), ..TcpApplied::default() }),
    }
}

#[test]
fn what_was_not_applied_is_an_error_with_both_values_and_the_way_out() {
    let plain = Traffic::new(Kind::TcpStream);
    assert_eq!(applied().check(&plain), Ok(()));
    for (traffic, words) in [
        (
            Traffic { congestion_control: CongestionControl::Named("cubic".into()), ..plain.clone() },
            ["`congestion_control` = cubic", "reads back bbr", "congctl"],
        ),
        (
            Traffic { socket_buffer: Some(8192), ..plain.clone() },
            ["`socket_buffer` = 8192", "reads back 4096", "net.core.wmem_max"],
        ),
        (Traffic { dscp: Some(46), ..plain.clone() }, ["`dscp` = 46", "reads back 8", "BPF"]),
    ] {
        let text = applied().check(&traffic).unwrap_err().to_string();
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    }
}

#[test]
fn what_many_flows_have_is_kept_once() {
    let mut all = Vec::new();
    for dscp in [8, 8, 0, 8] {
        collect(&mut all, Applied { dscp, ..applied() });
    }
    let counts: Vec<_> = all.iter().map(|one| (one.dscp, one.flows)).collect();
    assert_eq!(counts, [(8, 3), (0, 1)]);
}

#[test]
fn a_plain_workload_lacks_nothing_and_an_unknown_congestion_control_is_named() {
    for kind in Kind::ALL {
        assert_eq!(lacking(&Traffic::new(kind), Family::Ipv4), [] as [String; 0], "{kind}");
    }
    for kind in [Kind::UdpStream, Kind::TcpStream] {
        for (sender, reader) in Sender::ALL.into_iter().zip(Reader::ALL.into_iter().cycle()) {
            let traffic = Traffic { sender, reader, ..Traffic::new(kind) };
            if traffic.validate(Family::Ipv4).is_ok() {
                assert_eq!(lacking(&traffic, Family::Ipv4), [] as [String; 0], "{kind} {sender} {reader}");
                assert_eq!(lacking(&traffic, Family::Ipv6), [] as [String; 0], "{kind} {sender} {reader}");
            }
        }
    }
    // Less than the smallest buffer (`SOCK_MIN_SNDBUF` of net/sock.h).
    let small = Traffic { socket_buffer: Some(1), ..Traffic::new(Kind::UdpStream) };
    assert!(
        lacking(&small, Family::Ipv4)[0].starts_with("`socket_buffer` = 1 "),
        "{:?}",
        lacking(&small, Family::Ipv4)
    );
    let odd = Traffic {
        congestion_control: CongestionControl::Named("no_such".into()),
        ..Traffic::new(Kind::TcpStream)
    };
    let lacks = lacking(&odd, Family::Ipv4);
    assert!(lacks[0].contains("congestion control `no_such` not available"), "{lacks:?}");
    assert!(lacks[0].contains("cubic") || lacks[0].contains("reno"), "{lacks:?}");
}
