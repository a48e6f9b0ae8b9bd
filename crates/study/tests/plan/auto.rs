//! Keys in which conditions take turns by default, and keys in which they do not.

use netassay_study::{KEYS, Kind, Study};

/// Whether `auto` takes turns of two levels of a factor, and why not. What is no switch at all has
/// no reason.
fn auto(kind: Kind, factor: &str) -> Result<(), String> {
    let buffer = if kind == Kind::TcpStream && !factor.starts_with("socket_buffer") {
        "\nsocket_buffer = 1048576"
    } else {
        ""
    };
    let scenario = if kind == Kind::Pps { "discard" } else { "veth" };
    let text = format!(
        "name = \"n\"\nquestion = \"q\"\nscenario = \"{scenario}\"\n[[workload]]\nkind = \"{kind}\"{buffer}\n[factors]\n{factor}\n"
    );
    let study = Study::parse("n.toml", &text).unwrap_or_else(|problems| panic!("{factor}: {problems}"));
    match study.protocol.alternate {
        Some(_) => Ok(()),
        None => Err(study.turns_dropped.as_deref().unwrap_or_default().to_owned()),
    }
}

/// Each key of each kind of traffic: those that were compared with runs, and no others.
#[test]
fn auto_takes_turns_in_the_keys_that_were_compared_with_runs() {
    let taken = [
        "tcp_stream sender",
        "udp_stream reader",
        "tcp_stream dscp",
        "udp_stream dscp",
        "tcp_stream nodelay",
        "udp_stream checksum",
    ];
    let mut found = Vec::new();
    // `loss` is that of a search, which is several flows.
    for (key, kind) in KEYS
        .iter()
        .filter(|key| key.is_factor && key.name != "loss")
        .flat_map(|key| Kind::ALL.map(|kind| (key, kind)))
    {
        let values = [
            "1024", "2048", "1", "2", "on", "off", "1Mbit", "2Mbit", "1%", "2%", "50us", "60us", "cubic",
            "reno", "send", "gso", "sendfile", "recv", "gro", "spin", "forward", "reverse",
        ];
        let fits = |text: &&str| key.parse(text).is_ok_and(|value| key.misfit(&value, kind).is_none());
        let quoted = |text: &str| {
            if matches!(key.shape, words::Shape::Number(..)) {
                text.to_owned()
            } else {
                format!("\"{text}\"")
            }
        };
        let levels: Vec<String> = values.iter().copied().filter(fits).map(quoted).take(2).collect();
        if levels.len() < 2 {
            continue;
        }
        let switched = key.in_turns.contains(&kind);
        match auto(kind, &format!("{} = [{}]", key.name, levels.join(", "))) {
            Ok(()) => found.push(format!("{kind} {}", key.name)),
            Err(why) if !switched => assert_eq!(why, "", "{kind} {key:?} cannot be switched"),
            Err(why) if kind.is_rr() => assert!(why.contains("no latencies"), "{kind} {key:?}: {why}"),
            Err(why) => {
                let (says, way) = (
                    format!("conditions differ in `{}`, whose turns ", key.name),
                    "; for turns, write `alternate = \"100ms\"`",
                );
                assert!(why.starts_with(&says) && why.ends_with(way), "{kind} {key:?}: {why}");
            }
        }
    }
    found.sort();
    let mut taken = taken.map(str::to_owned);
    taken.sort();
    assert_eq!(found, taken);
}

/// Interfaces and machines: features, and sysctls that hold nothing back.
#[test]
fn auto_takes_turns_in_features_and_in_sysctls_that_the_kernel_reads_for_each_packet() {
    for factor in
        ["offloads = [\"default\", \"none\"]", "receiver.gro = [\"on\", \"off\"]", "twin = [\"a\", \"b\"]"]
    {
        for kind in [Kind::TcpStream, Kind::UdpStream] {
            assert_eq!(auto(kind, factor), Ok(()), "{factor}");
        }
    }
    let held = Err("conditions differ in `sysctl`, whose turns are not known to find what runs find (docs/studies.md); for turns, write `alternate = \"100ms\"`".to_owned());
    for (sysctl, expected) in [
        ("net.ipv4.udp_early_demux", Ok(())),
        ("net.ipv4.tcp_autocorking", Ok(())),
        ("net.ipv4.tcp_limit_output_bytes", held.clone()),
        ("net.ipv4.tcp_notsent_lowat", held.clone()),
        ("net.ipv4.tcp_pacing_ca_ratio", held.clone()),
        ("net.ipv4.tcp_comp_sack_delay_ns", held.clone()),
        ("net.core.netdev_budget", held.clone()),
        // It cannot be switched in flight.
        ("net.ipv4.tcp_rmem", Err(String::new())),
    ] {
        let factor = format!("receiver.sysctl = [{{ \"{sysctl}\" = 1 }}, {{ \"{sysctl}\" = 0 }}]");
        assert_eq!(auto(Kind::UdpStream, &factor), expected, "{sysctl}");
    }
    // A sysctl that holds packets back, beside one that does not.
    let both = |value: u8| {
        format!("{{ \"net.ipv4.udp_early_demux\" = {value}, \"net.ipv4.tcp_notsent_lowat\" = {value} }}")
    };
    assert_eq!(auto(Kind::UdpStream, &format!("receiver.sysctl = [{}, {}]", both(0), both(1))), held);
    let small = auto(Kind::TcpStream, "sender = [\"send\", \"sendfile\"]\nmessage = [64]");
    assert!(small.unwrap_err().contains("differ in `sender`, whose turns are not known"));
    let placed = "placement = [{ irq = 0, traffic = 0 }, { irq = 1, traffic = 0 }]";
    assert!(
        auto(Kind::UdpStream, placed)
            .unwrap_err()
            .contains("differ in `placement`, whose turns are not known")
    );
}
