//! The counters of a run on one host: they show where packets went.

#![expect(missing_docs, reason = "the kernel's counters are clear by their names")]

mod device;
mod protocols;

use nix::sys::resource::{Usage, UsageWho, getrusage};

pub use device::{DeviceCounters, DeviceReader};
pub use protocols::{IpCounters, SnmpTable, SoftnetCounters, TcpCounters, UdpCounters};

use crate::error::Error;
use crate::kernel::counted::counted;
use crate::link::interface::LinkCounters;
use crate::link::links::Links;
use crate::link::traffic_control::QueueCounters;

counted! {
    /// Counters of one interface, its network namespace (IPv4 and IPv6 together) and this process.
    pub struct Counters {
        link: LinkCounters,
        queue: QueueCounters,
        tcp: TcpCounters,
        udp: UdpCounters,
        ip: IpCounters,
        /// Of the *whole machine*: the kernel counts it per CPU, not per network namespace.
        softnet: SoftnetCounters,
        context_switches: ContextSwitches,
    }
}

counted! {
    /// Context switches of this process: a thread waited for something, or was preempted.
    pub struct ContextSwitches {
        voluntary,
        involuntary,
    }
}

counted! {
    /// Counters of a tunnel's underlay, beside the [`Counters`] of the tunnel.
    pub struct WireCounters {
        link: LinkCounters,
        queue: QueueCounters,
        /// Of the network namespace: the tunnel's packets and those inside it.
        ip: IpCounters,
    }
}

impl WireCounters {
    /// Reads the counters.
    pub fn read(links: &mut Links, interface: &str) -> Result<Self, Error> {
        let Counters { link, queue, ip, .. } = Counters::read(links, interface)?;
        Ok(Self { link, queue, ip })
    }
}

impl Counters {
    /// Reads all counters. Protocols are those of the calling thread's network namespace, which
    /// should be that of `links`.
    ///
    /// # Errors
    /// [`Error::NoInterface`]. A counter that this kernel lacks is 0.
    pub fn read(links: &mut Links, interface: &str) -> Result<Self, Error> {
        let link = links.find(interface)?;
        let queue = QueueCounters::of_interface(&links.disciplines(link.index, interface)?);
        // `/proc/net` shows the network namespace of the process's main thread, not of this one.
        let files = ["snmp", "netstat", "snmp6", "softnet_stat"]
            .map(|file| std::fs::read_to_string(format!("/proc/thread-self/net/{file}")).unwrap_or_default());
        let [snmp, netstat, snmp6, softnet] = &files;
        let table = SnmpTable::default().pairs(snmp).pairs(netstat).lines(snmp6);
        Ok(Self {
            link: link.counters,
            queue,
            tcp: TcpCounters::from_table(&table),
            udp: UdpCounters::from_table(&table),
            ip: IpCounters::from_table(&table),
            softnet: SoftnetCounters::from_softnet_stat(softnet),
            context_switches: ContextSwitches::read(),
        })
    }
}

impl ContextSwitches {
    fn read() -> Self {
        let read = |usage: Usage| Self {
            voluntary: usage.voluntary_context_switches().unsigned_abs(),
            involuntary: usage.involuntary_context_switches().unsigned_abs(),
        };
        getrusage(UsageWho::RUSAGE_SELF).map(read).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_covers_every_group() {
        let later = Counters {
            link: LinkCounters { rx_bytes: 1, ..LinkCounters::default() },
            queue: QueueCounters { drops: 2, ..QueueCounters::default() },
            tcp: TcpCounters { in_segs: 3, ..TcpCounters::default() },
            udp: UdpCounters { in_datagrams: 4, ..UdpCounters::default() },
            ip: IpCounters { in_discards: 5, ..IpCounters::default() },
            softnet: SoftnetCounters { dropped: 6, time_squeeze: 7 },
            context_switches: ContextSwitches { voluntary: 8, involuntary: 9 },
        };
        assert_eq!(later.since(&Counters::default()), later);
        assert_eq!(later.since(&later), Counters::default());
        assert_eq!(later.plus(&later).since(&later), later);
        let wire = WireCounters { link: later.link, queue: later.queue, ip: later.ip };
        assert_eq!(wire.since(&WireCounters::default()), wire);
        assert_eq!(wire.since(&wire), WireCounters::default());
    }
}
