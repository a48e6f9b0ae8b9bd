//! Files whose shape is right and whose values are anything: they get past the syntax, to where
//! levels are combined.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;

use crate::digest;

/// Values of every type, likely and unlikely.
const VALUES: &[&str] = &[
    "\"on\"",
    "\"off\"",
    "\"default\"",
    "\"none\"",
    "\"ipv4\"",
    "\"ipv6\"",
    "\"tcp_stream\"",
    "\"udp_rr\"",
    "\"small\"",
    "\"throughput\"",
    "\"cpu\"",
    "\"transactions\"",
    "\"1s\"",
    "\"24h\"",
    "\"\"",
    "true",
    "false",
    "0",
    "1",
    "64",
    "68",
    "1280",
    "1500",
    "65507",
    "65508",
    "65535",
    "16777216",
    "4294967295",
    "9223372036854775807",
    "-1",
    "1.5",
    "inf",
    "[]",
    "[[]]",
    "{}",
    "[{}]",
    "1979-05-27",
];

/// Levels that are mostly right for the factor.
const FACTORS: &[(&str, &[&str])] = &[
    ("family", &["\"ipv4\"", "\"ipv6\""]),
    ("offloads", &["\"default\"", "\"none\""]),
    ("transmitter.offloads", &["\"default\"", "\"none\""]),
    ("checksum", &["\"on\"", "\"off\""]),
    ("mtu", &["68", "1280", "65535", "\"default\""]),
    ("message", &["1", "65507", "65527", "16777216"]),
    ("flows", &["1", "1024", "100000"]),
    ("threads", &["1", "1024", "\"default\""]),
    ("socket_buffer", &["1024", "\"default\""]),
    ("tso", &["\"on\"", "\"off\""]),
    ("receiver.tso", &["true", "false"]),
    ("\"transmitter.tso\"", &["true", "false"]),
    ("tx-tcp6-segmentation", &["true"]),
    ("sender", &["\"send\"", "\"gso\"", "\"sendmmsg\"", "\"sendfile\""]),
    ("reader", &["\"recv\"", "\"spin\"", "\"trunc\"", "\"gro\""]),
    ("direction", &["\"forward\"", "\"both\""]),
    ("in_flight", &["1", "1024"]),
    ("rate", &["1", "\"default\""]),
    ("pacing", &["\"1Gbit\"", "\"default\"", "\"8bit\""]),
    ("busy_poll", &["\"50us\"", "\"default\""]),
    ("congestion_control", &["\"bbr\"", "\"default\"", "\"system\""]),
    ("dscp", &["63", "\"default\""]),
    ("nodelay", &["true", "\"default\""]),
    ("connected", &["\"on\"", "\"off\""]),
    ("workload", &["\"tcp_stream\"", "\"udp_rr\"", "\"small\""]),
    ("kernel", &["\"running\"", "\"/boot/vmlinuz-6.1\"", "\"b/vmlinuz-6.1\""]),
    ("command_line", &["\"default\"", "\"mitigations=off nosmt\""]),
    ("vcpus", &["1", "64"]),
    ("nic", &["\"virtio-net\"", "\"e1000e\""]),
    ("underlay.family", &["\"ipv4\"", "\"ipv6\""]),
    ("underlay.mtu", &["1500", "\"default\""]),
    ("\"transmitter.underlay.tso\"", &["true", "false"]),
    ("underlay.offloads", &["\"default\"", "\"none\""]),
];

fn any_value() -> impl Strategy<Value = String> {
    select(VALUES).prop_map(str::to_owned)
}

/// The number of these keys that any testbed has.
const PLAIN: usize = 24;

/// A factor with some of its levels, or with something else.
fn factor() -> impl Strategy<Value = String> {
    (prop_oneof![4 => select(&FACTORS[..PLAIN]), 1 => select(FACTORS)], 0..4_usize, any_value(), 0..60_u8)
        .prop_map(|((name, levels), first, other, luck)| {
            let levels: Vec<&str> = levels.iter().copied().skip(first % levels.len()).collect();
            match luck {
                0 => format!("{name} = {other}"),
                1 => format!("{name} = [{other}]"),
                2..20 => format!("{name} = {}", levels[0]),
                _ => format!("{name} = [{}]", levels.join(", ")),
            }
        })
}

/// A table under a header; keys that come twice come once.
fn table(header: &str, lines: &[String]) -> String {
    let mut kept: Vec<&String> = Vec::new();
    for line in lines {
        let key = |line: &str| line.split('=').next().unwrap_or_default().trim().replace('"', "");
        if !kept.iter().any(|other| key(other) == key(line)) {
            kept.push(line);
        }
    }
    kept.iter().fold(format!("{header}\n"), |text, line| text + line + "\n")
}

fn workload() -> impl Strategy<Value = String> {
    let kinds = select(&["tcp_stream", "udp_stream", "tcp_rr", "udp_rr", "tcp_crr", "pps"][..]);
    let keys = select(
        &[
            "name",
            "message",
            "response",
            "duration",
            "ramp",
            "flows",
            "socket_buffer",
            "port",
            "sender",
            "reader",
            "threads",
            "direction",
            "in_flight",
            "rate",
            "pacing",
            "busy_poll",
            "congestion_control",
            "dscp",
            "nodelay",
            "connected",
            "verify",
        ][..],
    );
    let sound = select(
        &[
            "message = 65507",
            "flows = 1024",
            "port = 65535",
            "name = \"small\"",
            "duration = \"1s\"",
            "dscp = 1",
            "verify = false",
        ][..],
    );
    let line = prop_oneof![
        5 => sound.prop_map(str::to_owned),
        1 => (keys, any_value()).prop_map(|(key, value)| format!("{key} = {value}")),
    ];
    (kinds, vec(line, 0..2)).prop_map(|(kind, mut lines)| {
        lines.push(format!("kind = \"{kind}\""));
        table("[[workload]]", &lines)
    })
}

fn inline() -> impl Strategy<Value = String> {
    vec(factor(), 0..3)
        .prop_map(|factors| format!("{{ {} }}", table("", &factors).trim().replace('\n', ", ")))
}

fn comparison() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => inline().prop_map(|levels| format!("baseline = {levels}")),
        4 => inline().prop_map(|levels| format!("only = {levels}")),
        2 => Just("metric = \"transmitter.cpu\"".to_owned()),
        1 => Just("metric = \"throughput_reverse\"".to_owned()),
        1 => any_value().prop_map(|value| format!("equivalent = {value}")),
        1 => Just("equivalent = \"2%\"".to_owned()),
        1 => any_value().prop_map(|value| format!("metric = {value}")),
    ];
    vec(line, 0..3).prop_map(|lines| table("[[comparison]]", &lines))
}

fn protocol() -> impl Strategy<Value = String> {
    let keys = select(&["boots", "warmup", "runs", "order", "seed", "stop"][..]);
    let line = prop_oneof![
        3 => (keys, any_value()).prop_map(|(key, value)| format!("{key} = {value}")),
        1 => (any_value(), any_value()).prop_map(|(detect, looks)| format!("stop = {{ detect = {detect}, looks = {looks} }}")),
        1 => (any_value(), any_value()).prop_map(|(how, count)| format!("boots = {{ how = {how}, count = {count} }}")),
        1 => Just("boots = { how = \"reset\", count = 6 }".to_owned()),
        1 => Just("boots = 6\nstop = { detect = \"1%\" }".to_owned()),
    ];
    vec(line, 0..2).prop_map(|lines| table("[protocol]", &lines))
}

/// Tables of a testbed and of a design.
fn tables() -> impl Strategy<Value = String> {
    let keys =
        &["kernel", "command_line", "vcpus", "memory", "nic", "acceleration", "pin", "family", "mtu"][..];
    let kinds = &["ladder", "factorial", "fractional"][..];
    let offloads = &["tso", "transmitter.gso", "receiver.underlay.gro", "rx", "\\u001b", "mtu"][..];
    let design = (select(kinds), vec(select(offloads), 0..4)).prop_map(|(kind, offloads)| {
        let names: Vec<String> = offloads.iter().map(|name| format!("\"{name}\"")).collect();
        format!("[design]\nkind = \"{kind}\"\noffloads = [{}]\n", names.join(", "))
    });
    let any = (select(&["guest", "underlay", "design"][..]), select(keys), any_value());
    prop_oneof![
        8 => Just(String::new()),
        1 => Just("[guest]\nvcpus = 2\nmemory = \"1GiB\"\n".to_owned()),
        1 => Just("[underlay]\nmtu = 9000\n".to_owned()),
        2 => design,
        1 => any.prop_map(|(table, key, value)| format!("[{table}]\n{key} = {value}\n")),
    ]
}

fn file() -> impl Strategy<Value = String> {
    let scenario = select(
        &[
            "veth",
            "veth",
            "veth",
            "veth\"\ninside = \"guest",
            "veth\"\nexact = true\n#\"",
            "vxlan",
            "loopback",
            "discard",
            "vm",
            "vm-vxlan",
            "veth",
            "veth",
        ][..],
    );
    let workloads = prop_oneof![
        12 => vec(workload(), 1..3).prop_map(|tables| tables.concat()),
        1 => any_value().prop_map(|value| format!("workload = {value}\n")),
    ];
    let factors = vec(factor(), 0..5).prop_map(|factors| table("[factors]", &factors));
    let exclude = vec(vec(factor(), 1..3).prop_map(|factors| table("[[exclude]]", &factors)), 0..2);
    let comparisons = vec(comparison(), 0..2);
    let protocol = prop_oneof![4 => Just(String::new()), 1 => protocol()];
    (scenario, workloads, (factors, tables()), exclude, protocol, comparisons).prop_map(
        |(scenario, workloads, (factors, tables), exclude, protocol, comparisons)| {
            let head = format!("name = \"x\"\nquestion = \"q\"\nscenario = \"{scenario}\"\n");
            [head, workloads, factors, tables, exclude.concat(), protocol, comparisons.concat()].concat()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, ..ProptestConfig::default() })]

    #[test]
    fn well_formed_files_with_any_values_are_read_or_refused(text in file()) {
        let _ = digest(&text);
    }
}

/// The test above is worth little if nearly all of its files fall at the first hurdle.
#[test]
fn many_well_formed_files_are_valid() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let valid = (0..400)
        .filter(|_| {
            let text = file().new_tree(&mut runner).map(|tree| tree.current()).unwrap_or_default();
            digest(&text).is_ok()
        })
        .count();
    assert!(valid >= 20, "{valid} of 400");
}
