//! The offloads of a condition that acted, by the kernel's counters, and contradictions between
//! these and the switches that read back.

use serde::Serialize;
use store::{Metrics, StoredStudy};
use study::{Condition, Direction, Family, Nic, Settled, metric};

use crate::words::lists::grouped;
use crate::words::number::{counted, figure};

// Up to this ratio nothing was merged: a few segments are retransmitted, or arrive with others.
const ONE: f64 = 1.05;

// From this ratio on, something merged them.
const SEVERAL: f64 = 1.5;

// An interface counts a full packet with its Ethernet header and two VLAN tags beyond the MTU.
const HEADER: f64 = 22.0;

/// The offloads that acted in a condition's runs; `None` where no counter tells.
#[derive(Debug, Serialize)]
pub struct ActedOffloads {
    /// Segments per buffer of the transmitter's interface: above 1, TSO acted or nothing cut it.
    pub segments_per_buffer: Option<f64>,
    /// Segments in each packet of the interface under a tunnel.
    pub segments_per_underlay_packet: Option<f64>,
    /// Packets in each batch that TCP got at the receiver: above 1, GRO acted.
    pub packets_per_batch: Option<f64>,
    /// The place where the transmitter's checksums are computed, by its switches, as no counter
    /// tells: `device`, `stack`, or `nobody` for UDP without them.
    pub checksum: Option<&'static str>,
    /// The contradictions between switches and counters.
    pub contradictions: Vec<Contradiction>,
}

/// A contradiction between a switch and the counters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Contradiction {
    #[serde(skip)]
    offload: &'static str,
    #[serde(skip)]
    is_on: bool,
    pub(crate) sentence: String,
}

/// Conditions' flags with labels; the first of equal flags stands for all, with their number.
pub fn flags<'a>(all: impl Iterator<Item = (&'a str, &'a ActedOffloads)>) -> Vec<String> {
    let flags = all.flat_map(|(label, acted)| {
        let flag = move |one: &Contradiction| format!("{label}: {}", one.sentence);
        acted.contradictions.iter().map(move |one| ((one.offload, one.is_on), flag(one)))
    });
    let sentence = |(_, flags): (_, Vec<String>)| match flags.len() - 1 {
        0 => flags[0].clone(),
        others => format!("{}; the same in {}", flags[0], counted(others, "other condition")),
    };
    grouped(flags).into_iter().map(sentence).collect()
}

impl ActedOffloads {
    pub(crate) fn for_condition(stored: &StoredStudy, condition: &Condition, means: &Metrics) -> Self {
        let effective = stored.plan.effective.get(condition.index);
        let is_tcp = condition.workload.traffic.kind.is_tcp();
        // Received packets are counted before they are merged: under the tunnel, if there is one.
        let arrived =
            means.get(metric::UNDERLAY_PACKETS.receiver).or_else(|| means.get(metric::WIRE_PACKETS.receiver));
        let batches = means.get(metric::SEGMENTS.receiver).filter(|batches| is_tcp && *batches > 0.0);
        let mut acted = Self {
            segments_per_buffer: means.get(metric::SEGMENTS_PER_WIRE_PACKET.transmitter),
            segments_per_underlay_packet: means.get(metric::SEGMENTS_PER_UNDERLAY_PACKET.transmitter),
            packets_per_batch: arrived.zip(batches).map(|(packets, batches)| packets / batches),
            checksum: effective.map(|effective| checksum(condition, &effective.transmitter)),
            contradictions: Vec::new(),
        };
        let flows_forward = condition.workload.traffic.direction == Direction::Forward;
        if let Some(effective) =
            effective.filter(|_| is_tcp && condition.workload.traffic.kind.is_stream() && flows_forward)
        {
            acted.contradictions.extend(acted.cutting(condition, &effective.transmitter));
            let size = means
                .get(metric::BYTES_PER_UNDERLAY_PACKET.receiver)
                .or_else(|| means.get(metric::BYTES_PER_WIRE_PACKET.receiver));
            if let (Some(receiver), Some(size)) = (&effective.receiver, size) {
                let mtu = effective.underlay.as_ref().map_or(receiver.mtu, |both| both.receiver.mtu);
                acted.contradictions.extend(acted.merging(receiver, size <= f64::from(mtu) + HEADER));
            }
        }
        acted
    }

    fn cutting(&self, condition: &Condition, transmitter: &Settled) -> Option<Contradiction> {
        let counts_frames = condition.boot.guest.as_ref().is_some_and(|guest| guest.nic == Nic::E1000e);
        let segments = self.segments_per_buffer.filter(|_| !counts_frames)?;
        let feature = match condition.family {
            Family::Ipv4 => "tx-tcp-segmentation",
            Family::Ipv6 => "tx-tcp6-segmentation",
        };
        let shown = figure(segments);
        let is_on = *transmitter.active.get(feature)?;
        let sentence = match is_on {
            true if segments < ONE => format!(
                "TSO reads back on at the transmitter, but each buffer passed to its interface held one segment ({shown}): TSO did not act"
            ),
            false if segments > SEVERAL => format!(
                "TSO reads back off at the transmitter, but each buffer passed to its interface held {shown} segments"
            ),
            _ => return None,
        };
        Some(Contradiction { offload: "TSO", is_on, sentence })
    }

    fn merging(&self, receiver: &Settled, came_singly: bool) -> Option<Contradiction> {
        let packets = self.packets_per_batch?;
        let shown = figure(packets);
        let is_on = |feature: &str| receiver.active.get(feature).copied();
        // The device may have merged them before the kernel could.
        let others = ["rx-gro-hw", "rx-lro"].into_iter().filter_map(is_on).any(|is_on| is_on);
        let reads_on = is_on("rx-gro")?;
        let sentence = match reads_on {
            // Packets that arrived large cannot be merged.
            true if packets < ONE && came_singly => format!(
                "GRO reads back on at the receiver, and packets reached both it and TCP one by one ({shown} a batch): GRO did not act"
            ),
            false if packets > SEVERAL && !others => {
                format!("GRO reads back off at the receiver, but TCP received batches of {shown} packets")
            }
            _ => return None,
        };
        Some(Contradiction { offload: "GRO", is_on: reads_on, sentence })
    }

    /// Sentences on the contradictions, for the condition of this label, without full stops.
    pub fn flags<'a>(&'a self, label: &'a str) -> impl Iterator<Item = String> + 'a {
        self.contradictions.iter().map(move |one| format!("{label}: {}", one.sentence))
    }
}

fn checksum(condition: &Condition, transmitter: &Settled) -> &'static str {
    if !condition.workload.traffic.kind.is_tcp() && !condition.workload.traffic.checksum {
        return "nobody";
    }
    let own = match condition.family {
        Family::Ipv4 => "tx-checksum-ipv4",
        Family::Ipv6 => "tx-checksum-ipv6",
    };
    let is_on = |feature: &str| transmitter.active.get(feature).copied().unwrap_or(false);
    if is_on("tx-checksum-ip-generic") || is_on(own) { "device" } else { "stack" }
}
