//! The rate limit of an interface, where one is known.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::kernel::files::Files;
use crate::link::interface::Link;
use crate::link::links::Links;
use crate::link::traffic_control::Discipline;

/// The rate limit of an interface, and its source.
///
/// A token bucket counts packets with their link-layer headers, and each future segment of an
/// offload with its own; a wire's negotiated speed includes preamble and gaps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkLimit {
    /// In bits/s; `None` without a known limit.
    pub rate_bits: Option<u64>,
    /// Whether a queueing discipline sets it, for sent packets only.
    pub shaped: bool,
    /// The source, such as `tbf at the root of eth0`; without a rate, what was checked.
    pub from: String,
}

impl LinkLimit {
    /// Reads an interface's queueing disciplines and negotiated speed; the lower rate counts.
    pub fn read(links: &mut Links, interface: &str) -> Result<Self, Error> {
        let link = links.find(interface)?;
        let disciplines = links.disciplines(link.index, interface)?;
        let speed = negotiated(&Files::system(), &link);
        Ok(Self::lowest(&link, &disciplines, speed))
    }

    fn lowest(link: &Link, disciplines: &[Discipline], speed: Option<u64>) -> Self {
        let name = &link.name;
        let shaper = shaper(name, disciplines).map(|(bits, from)| (bits, true, from));
        let wire = speed.map(|bits| (bits, false, format!("the speed that {name} negotiated")));
        let lowest = shaper.into_iter().chain(wire).min_by_key(|(bits, ..)| *bits);
        let Some((bits, shaped, from)) = lowest else {
            let root = disciplines.iter().find(|one| one.parent == Discipline::ROOT);
            let queue = root.map_or("none", |root| root.kind.as_str());
            let what = link.kind.as_deref().unwrap_or("device without a negotiated speed");
            let from = format!("{name} is a {what}, its queueing discipline {queue}");
            return Self { rate_bits: None, shaped: false, from };
        };
        Self { rate_bits: Some(bits), shaped, from }
    }
}

fn shaper(name: &str, disciplines: &[Discipline]) -> Option<(u64, String)> {
    let root = disciplines.iter().find(|one| one.parent == Discipline::ROOT)?;
    if root.kind != "netem" {
        return Some((root.rate_bits()?, format!("{} at the root of {name}", root.kind)));
    }
    // `netem` delays and drops, and a discipline below it limits the rate.
    let below = disciplines.iter().find(|one| one.parent >> 16 == root.handle >> 16)?;
    Some((below.rate_bits()?, format!("{} below netem at the root of {name}", below.kind)))
}

fn negotiated(files: &Files, link: &Link) -> Option<u64> {
    let directory = link.sysfs(files)?;
    // A virtual interface reports an arbitrary number (a veth 10 Gbit/s).
    if link.kind.is_some() || files.names(&format!("{directory}/device"), "uevent").is_empty() {
        return None;
    }
    // Mbit/s; -1 if unknown.
    let megabits: i64 = files.number(&format!("{directory}/speed"))?;
    u64::try_from(megabits).ok().filter(|speed| *speed > 0)?.checked_mul(1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::attributes::encode;
    use crate::kernel::files::fixture::files;
    use crate::link::traffic_control::fixture::{answer, specification};

    fn link(kind: Option<&str>) -> Link {
        Link {
            index: 2,
            name: "eth0".to_owned(),
            kind: kind.map(str::to_owned),
            address: Some("02:00:00:00:00:01".to_owned()),
            ..Link::default()
        }
    }

    /// A discipline with a rate in bytes/s.
    fn discipline(kind: &str, handle: u32, parent: u32, rate: u32) -> Discipline {
        let parameters = encode(&[(1, specification(rate))]);
        Discipline::parse(&answer([2, handle, parent], kind, parameters)).unwrap()
    }

    fn root(kind: &str, rate: u32) -> Discipline {
        discipline(kind, 0x10000, Discipline::ROOT, rate)
    }

    #[test]
    fn the_lowest_known_rate_counts_and_is_named() {
        const WIRE: &str = "the speed that eth0 negotiated";
        let bucket = root("tbf", 12_500_000);
        // A bucket below the root does not limit this interface.
        let below = discipline("tbf", 0x10000, 0x1_0001, 1);
        let impaired = |parent| vec![root("netem", 0), discipline("tbf", 0x20000, parent, 7)];
        let looked_at = |queue: &str| format!("eth0 is a veth, its queueing discipline {queue}");
        let device = link(None);
        let veth = link(Some("veth"));
        for (link, disciplines, speed, rate_bits, shaped, from) in [
            (
                &device,
                vec![bucket.clone()],
                Some(1_000_000_000),
                Some(100_000_000),
                true,
                "tbf at the root of eth0",
            ),
            (&device, vec![bucket], Some(10_000_000), Some(10_000_000), false, WIRE),
            (&veth, impaired(0x1_0001), None, Some(56), true, "tbf below netem at the root of eth0"),
            (&veth, impaired(0x3_0001), None, None, false, &looked_at("netem")),
            (&veth, vec![root("noqueue", 0)], None, None, false, &looked_at("noqueue")),
            (&veth, vec![below], None, None, false, &looked_at("none")),
        ] {
            let expected = LinkLimit { rate_bits, shaped, from: from.to_owned() };
            assert_eq!(LinkLimit::lowest(link, &disciplines, speed), expected);
        }
    }

    #[test]
    fn only_a_device_is_believed_to_have_negotiated() {
        let address = ("sys/class/net/eth0/address", "02:00:00:00:00:01\n");
        let tree = |speed| {
            files(&[address, ("sys/class/net/eth0/ifindex", "2\n"), ("sys/class/net/eth0/speed", speed)])
        };
        let (_keep, virtual_one) = tree("10000\n");
        assert_eq!(negotiated(&virtual_one, &link(None)), None);
        for (speed, expected) in [("1000\n", Some(1_000_000_000)), ("-1\n", None), ("fast\n", None)] {
            let (keep, device) = tree(speed);
            std::fs::create_dir(keep.path().join("sys/class/net/eth0/device")).unwrap();
            std::fs::write(keep.path().join("sys/class/net/eth0/device/uevent"), "DRIVER=x\n").unwrap();
            assert_eq!(negotiated(&device, &link(None)), expected);
            assert_eq!(negotiated(&device, &link(Some("bridge"))), None);
            assert_eq!(negotiated(&device, &Link { index: 7, ..link(None) }), None);
        }
    }
}
