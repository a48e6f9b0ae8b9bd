use super::*;
use socket2::Type;
use words::{KEYS, Key, Kind, Workload};

/// Traffic with a key set.
fn traffic_with(kind: Kind, key: &Key, text: &str) -> Option<Traffic> {
    let mut workload = Workload::new(kind);
    key.set(&mut workload, &key.parse(text).ok()?);
    Some(workload.traffic)
}

fn socket(domain: Domain, kind: Kind) -> Socket {
    Socket::new(domain, if kind.is_udp() { Type::DGRAM } else { Type::STREAM }, None).unwrap()
}

#[test]
fn early_ones_are_set_and_what_else_reads_back_is_an_error() {
    let stream = socket(Domain::IPV4, Kind::TcpStream);
    let traffic =
        Traffic { nodelay: Some(true), notsent_lowat: Some(16_384), ..Traffic::new(Kind::TcpStream) };
    open(&stream, &traffic, &"a socket").unwrap();
    assert_eq!(check(&stream, &traffic), Ok(()));
    let fd = stream.as_raw_fd();
    assert_eq!(sys::option_number(fd, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT).unwrap(), 16_384);
    for (option, words) in [
        (libc::TCP_NOTSENT_LOWAT, ["`notsent_lowat` = 16384", "reads back 1", "BPF"]),
        (libc::TCP_NODELAY, ["`nodelay` = 1", "reads back 0", "BPF"]),
    ] {
        let changed = libc::c_int::from(option == libc::TCP_NOTSENT_LOWAT);
        sys::set_option(fd, libc::IPPROTO_TCP, option, changed).unwrap();
        let text = check(&stream, &traffic).unwrap_err().to_string();
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
        open(&stream, &traffic, &"a socket").unwrap();
    }
    let datagrams = socket(Domain::IPV4, Kind::UdpRr);
    let bare = Traffic { checksum: false, ..Traffic::new(Kind::UdpRr) };
    open(&datagrams, &bare, &"a socket").unwrap();
    assert_eq!(check(&datagrams, &bare), Ok(()));
    assert!(check(&datagrams, &Traffic::new(Kind::UdpRr)).is_err());
}

#[test]
fn a_mark_is_kept_on_both_versions_of_ip() {
    for domain in [Domain::IPV4, Domain::IPV6] {
        for kind in [Kind::UdpStream, Kind::TcpStream] {
            let one = socket(domain, kind);
            for dscp in [0, 8, 46, 63] {
                let traffic = Traffic { dscp: Some(dscp), ..Traffic::new(kind) };
                DSCP.set(&one, &traffic, &"a socket").unwrap();
                assert_eq!(DSCP.check(&one, &traffic), Ok(()));
            }
        }
    }
}

#[test]
fn a_pace_is_in_bytes_and_never_zero() {
    let stream = socket(Domain::IPV4, Kind::TcpStream);
    for (pace, bytes) in [("1bit", 1), ("800bit", 100), ("1Tbit", 125_000_000_000)] {
        let traffic = traffic_with(Kind::TcpStream, Key::find("pacing").unwrap(), pace).unwrap();
        PACING.set(&stream, &traffic, &"a socket").unwrap();
        assert_eq!(PACING.read(&stream), Ok(bytes));
    }
    unpace(&stream);
    assert_eq!(PACING.read(&stream), Ok(u64::MAX));
}

/// Every key that `words` lets conditions switch in turns is a socket option of a row here, for
/// both versions of IP; except the pace of datagrams.
#[test]
fn each_key_that_can_be_switched_in_flight_is_switched_and_read_back() {
    let values =
        ["on", "off", "1024", "7", "9", "5us", "2us", "1Mbit", "2Mbit", "gso", "send", "gro", "recv"];
    let mut switched = 0;
    let all = KEYS.iter().flat_map(|key| key.in_turns.iter().map(move |kind| (key, *kind)));
    let is_option = |key: &Key, kind: Kind| match key.name {
        "pacing" => !kind.is_udp(),
        "sender" | "reader" => kind.is_udp(),
        _ => true,
    };
    for (key, kind) in all.filter(|(key, kind)| is_option(key, *kind)) {
        let states: Vec<Traffic> = values.iter().filter_map(|text| traffic_with(kind, key, text)).collect();
        assert!(states.len() > 1, "{key:?}");
        for domain in [Domain::IPV4, Domain::IPV6] {
            let one = socket(domain, kind);
            let switches = SocketSwitches::new(&states[0], states.clone());
            assert_eq!(switches.options.len(), 1, "{key:?} {kind}");
            let sends = switches.options[0].sends != Some(false);
            for state in (0..states.len()).chain([0]) {
                match switches.switch(&one, sends, state, 0) {
                    Ok(()) => switched += 1,
                    // Longer polling needs CAP_NET_ADMIN.
                    Err(error) => assert!(
                        key.name == "busy_poll" && error.to_string().contains("SO_BUSY_POLL"),
                        "{key:?} {error}"
                    ),
                }
                let is_set = switches.check(&one, sends, state);
                assert!(is_set.is_ok() || key.name == "busy_poll", "{key:?} {is_set:?}");
            }
            let other = switches.check(&one, sends, 1).unwrap_err().to_string();
            assert!(other.contains(&format!("`{}` = ", key.name)), "{other}");
        }
    }
    assert!(switched > 50, "{switched}");
}

#[test]
fn a_socket_that_only_receives_is_not_paced() {
    let paced = |pace| traffic_with(Kind::TcpStream, Key::find("pacing").unwrap(), pace).unwrap();
    let states = vec![paced("1Mbit"), paced("2Mbit")];
    let switches = SocketSwitches::new(&states[0], states.clone());
    let stream = socket(Domain::IPV4, Kind::TcpStream);
    switches.switch(&stream, false, 1, 0).unwrap();
    assert_eq!(switches.check(&stream, false, 1), Ok(()));
    assert_eq!(PACING.read(&stream), Ok(u64::MAX));
}

#[test]
fn what_all_states_have_is_left_alone() {
    let same = Traffic { dscp: Some(8), ..Traffic::new(Kind::TcpStream) };
    let switches = SocketSwitches::new(&same, vec![same.clone(), same.clone()]);
    let stream = socket(Domain::IPV4, Kind::TcpStream);
    switches.switch(&stream, true, 1, 0).unwrap();
    assert_eq!(DSCP.read(&stream), Ok(0));
}
