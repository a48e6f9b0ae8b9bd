//! The rate limit of an interface, where one is known.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::kernel::files::Machine;
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
        let speed = negotiated(&Machine::system(), &link);
        Ok(Self::lowest(&link, &disciplines, speed))
    }

    fn lowest(link: &Link, disciplines: &[Discipline], speed: Option<u64>) -> Self {
        let name = &link.name;
        let limit = |rate_bits, shaped, from| Self { rate_bits, shaped, from };
        let shaper = shaper(name, disciplines).map(|(bits, from)| limit(Some(bits), true, from));
        let wire = speed.map(|bits| limit(Some(bits), false, format!("the speed that {name} negotiated")));
        shaper.into_iter().chain(wire).min_by_key(|limit| limit.rate_bits).unwrap_or_else(|| {
            let root = disciplines.iter().find(|one| one.parent == Discipline::ROOT);
            let queue = root.map_or("none", |root| root.kind.as_str());
            let what = link.kind.as_deref().unwrap_or("device without a negotiated speed");
            limit(None, false, format!("{name} is a {what}, its queueing discipline {queue}"))
        })
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

fn negotiated(files: &Machine, link: &Link) -> Option<u64> {
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
mod tests;
