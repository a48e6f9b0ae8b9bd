//! One interface of this machine: what it is, and what disturbs traffic over it.

use std::thread;
use std::time::{Duration, Instant};

use host::machine::{set_feature, set_link};
use host::{Features, Hardware, HostEnvironment, InterfaceEnvironment, Links, Programs};
use results::Finding;

pub(super) const AREA: &str = "interface";

/// Features that drivers have on by default where they can switch them.
const ON_BY_DEFAULT: [&str; 9] = [
    "rx-checksum",
    "rx-gro",
    "tx-checksum-ip-generic",
    "tx-checksum-ipv4",
    "tx-checksum-ipv6",
    "tx-generic-segmentation",
    "tx-scatter-gather",
    "tx-tcp-segmentation",
    "tx-tcp6-segmentation",
];

const WATCH: Duration = Duration::from_secs(1);

// More packets in a second than a login and its neighbours' announcements make.
const QUIET: u64 = 100;

pub(super) fn findings(name: &str) -> Vec<Finding> {
    let environment = HostEnvironment::read(&[name], env!("CARGO_PKG_VERSION"));
    let Some(Some(about)) = environment.interfaces.get(name) else {
        let fix = "ip -br link lists those that there are";
        return vec![Finding::fail(AREA, name, "there is no such interface, or it cannot be read", fix)];
    };
    let name = about.link.name.as_str();
    let mut findings = vec![device(name, about)];
    findings.extend(programs(name, &about.programs));
    findings.extend(about.features.as_ref().map(|features| offloads(name, features)));
    findings.extend(traffic(name).map(|packets| judged(name, packets)));
    findings
}

fn device(name: &str, about: &InterfaceEnvironment) -> Finding {
    let Hardware { firmware, speed, pcie_speed, pcie_width, numa_node, .. } = &about.hardware;
    let driver = about.driver.as_ref().or(about.link.kind.as_ref());
    let parts = [
        driver.map(|driver| format!("driver {driver}")),
        firmware.as_ref().map(|firmware| format!("firmware {firmware}")),
        Some(format!("MTU {}", about.link.mtu)),
        speed.map(|speed| format!("{speed} Mbit/s")),
        pcie_speed.as_ref().map(|speed| format!("PCIe {speed}")),
        pcie_width.map(|lanes| format!("{lanes} lanes")),
        numa_node.map(|node| format!("NUMA node {node}")),
    ];
    let what = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let (state, fix) = match (about.link.up, about.link.carrier) {
        (true, true) => return Finding::ok(AREA, name, what),
        (false, _) => ("is down", set_link(name, &["up"])),
        (true, false) => ("has no carrier", "look at the cable and the other end".to_owned()),
    };
    Finding::warn(AREA, name, format!("{what}; it {state}"), fix)
}

fn programs(name: &str, programs: &Programs) -> Option<Finding> {
    // Programs of others change what an interface costs, and which offloads it has.
    let named: Vec<String> =
        programs.iter().map(|(place, names)| format!("{place}: {}", names.join(", "))).collect();
    let what = format!("each packet passes programs or filters of others ({})", named.join("; "));
    let fix = format!(
        "look at `{}` and `{}`, and detach them",
        words::shell_command(["bpftool", "net", "show", "dev", name]),
        words::shell_command(["tc", "filter", "show", "dev", name])
    );
    (!named.is_empty()).then(|| Finding::warn(AREA, "programs", what, fix))
}

fn offloads(name: &str, features: &Features) -> Finding {
    let is_off =
        |feature: &&str| features.get(*feature).is_some_and(|state| state.changeable && !state.active);
    let off: Vec<&str> = ON_BY_DEFAULT.into_iter().filter(is_off).collect();
    if off.is_empty() {
        return Finding::ok(AREA, "offloads", "those that drivers have on by default are on");
    }
    let what = format!("off, and on by default in drivers that have them: {}", off.join(", "));
    let fix = format!("{}; a study changes only what it asks for", set_feature(name, off[0], "on"));
    Finding::warn(AREA, "offloads", what, fix)
}

fn judged(name: &str, packets: u64) -> Finding {
    let what = format!("{packets} packets in a second, both ways");
    if packets <= QUIET {
        return Finding::ok(AREA, "traffic", what);
    }
    let fix = format!("stop what sends over {name}, or name an interface that nothing else uses");
    Finding::warn(AREA, "traffic", what, fix)
}

/// The packets of others in a second. `None`: the interface has gone.
fn traffic(name: &str) -> Option<u64> {
    let mut links = Links::open().ok()?;
    let mut packets = || {
        let counters = links.find(name).ok()?.counters;
        Some(counters.rx_packets + counters.tx_packets)
    };
    let (before, begun) = (packets()?, Instant::now());
    thread::sleep(WATCH);
    let passed = packets()?.saturating_sub(before);
    Some((passed as f64 / begun.elapsed().as_secs_f64()) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_judged_by_its_state_its_offloads_and_its_traffic() {
        let found = findings("lo");
        assert_eq!(found[0].name, "lo");
        assert!(found[0].what.contains("MTU"), "{found:?}");
        assert!(found.iter().any(|one| one.name == "traffic"), "{found:?}");
        assert!(findings("nowhere9")[0].fix.is_some());
        let state = |active, changeable| host::FeatureState { active, wanted: active, changeable };
        let features = [
            ("rx-gro".to_owned(), state(false, true)),
            ("tx-tcp-segmentation".to_owned(), state(false, false)),
            ("rx-lro".to_owned(), state(false, true)),
        ];
        let found = offloads("eth1", &features.into());
        assert!(found.what.ends_with(": rx-gro"), "{found:?}");
        assert!(offloads("eth1", &Features::new()).fix.is_none());
        assert!(judged("eth1", 20).fix.is_none() && judged("eth1", 2000).fix.is_some());
    }
}
