use super::*;

fn key(name: &str) -> &'static Key {
    Key::find(name).unwrap_or_else(|| panic!("{name}"))
}

#[test]
fn each_key_has_its_own_name_and_finds_its_field() {
    for (at, key) in KEYS.iter().enumerate() {
        assert_eq!(KEYS.iter().position(|other| other == key), Some(at), "{key:?}");
        let others: Vec<&Key> = KEYS.iter().filter(|other| *other != key).collect();
        for text in ["7", "on", "off", "1.5Mbit", "0.1%", "50us", "20ms", "gso", "gro", "both", "bbr"] {
            let Ok(value) = key.parse(text) else { continue };
            let mut workload = Workload::new(Kind::UdpStream);
            key.set(&mut workload, &value);
            assert_eq!(key.get(&workload), value, "{key:?}");
            assert_eq!(key.parse(&value.to_string()), Ok(value), "{key:?}");
            for other in &others {
                assert_eq!(other.get(&workload), other.default_of(Kind::UdpStream), "{key:?} {other:?}");
            }
        }
    }
}

#[test]
fn the_default_suits_every_kind() {
    for kind in Kind::ALL {
        for key in KEYS {
            let default = key.default_of(kind);
            assert_eq!(key.misfit(&default, kind), None, "{key:?} {kind}");
            assert_eq!(key.exact_misfit(&default, kind), None, "{key:?} {kind}");
            if default == Value::Default {
                assert_eq!(key.parse("default"), Ok(Value::Default), "{key:?}");
            }
        }
    }
}

#[test]
fn what_does_not_fit_says_why_and_the_remedy() {
    use Kind::{Pps, TcpCrr, TcpRr, TcpStream, UdpRr, UdpStream};
    for (name, text, fits, not) in [
        ("sender", "sendfile", vec![TcpStream], vec![TcpRr, UdpStream, Pps]),
        ("sender", "gso", vec![UdpStream, Pps], vec![TcpStream, UdpRr]),
        ("reader", "trunc", vec![TcpStream], vec![UdpStream, TcpRr, Pps]),
        ("reader", "spin", vec![TcpStream, UdpStream, TcpRr, UdpRr, TcpCrr], vec![Pps]),
        ("direction", "both", vec![TcpStream, UdpStream], vec![TcpRr, TcpCrr, Pps]),
        ("response", "2", vec![TcpRr, UdpRr, TcpCrr], vec![TcpStream, UdpStream, Pps]),
        ("in_flight", "2", vec![TcpRr, UdpRr], vec![TcpStream, TcpCrr, Pps]),
        ("rate", "1", vec![TcpRr, UdpRr, TcpCrr], vec![TcpStream, UdpStream, Pps]),
        ("pacing", "1Tbit", vec![TcpStream, UdpStream, Pps], vec![TcpRr, TcpCrr]),
        ("busy_poll", "1us", vec![TcpStream, UdpRr, TcpCrr], vec![Pps]),
        ("find_rate", "on", vec![UdpStream], vec![TcpStream, UdpRr, Pps]),
        ("loss", "0.1%", vec![UdpStream], vec![TcpStream, UdpRr, Pps]),
        ("congestion_control", "system", vec![TcpRr, TcpCrr], vec![UdpStream, Pps]),
        ("congestion_control", "bbr", vec![TcpStream], vec![UdpRr, Pps]),
        ("nodelay", "on", vec![TcpStream, TcpRr], vec![UdpRr, Pps]),
        ("connected", "off", vec![UdpStream, UdpRr, Pps], vec![TcpStream, TcpRr, TcpCrr]),
        ("checksum", "off", vec![UdpStream, UdpRr, Pps], vec![TcpStream, TcpRr, TcpCrr]),
        ("dscp", "63", vec![TcpStream, UdpStream, TcpRr, UdpRr, TcpCrr, Pps], vec![]),
        ("path_delay", "10s", vec![TcpStream, UdpStream, TcpRr, UdpRr, TcpCrr, Pps], vec![]),
        ("path_loss", "100%", vec![TcpStream, UdpStream, TcpRr, UdpRr, TcpCrr, Pps], vec![]),
        ("path_rate", "1bit", vec![TcpStream, UdpStream, TcpRr, UdpRr, TcpCrr, Pps], vec![]),
        ("verify", "on", vec![TcpStream, UdpRr, TcpCrr], vec![Pps]),
    ] {
        let value = key(name).parse(text).unwrap();
        for kind in fits {
            assert_eq!(key(name).misfit(&value, kind), None, "{name} {text} {kind}");
        }
        for kind in not {
            let misfit = key(name).misfit(&value, kind).unwrap_or_else(|| panic!("{name} {text} {kind}"));
            assert!(misfit.why.contains(&format!("`{kind}`")) && !misfit.help.is_empty(), "{misfit:?}");
        }
    }
}
