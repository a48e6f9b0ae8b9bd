//! Combinations of keys that are rejected, and why.

use crate::key::Misfit;
use crate::keys::KEYS;
use crate::kind::Kind;
use crate::mode::Reader;
use crate::scenario::{Family, Scenario};
use crate::traffic::{MAX_MEMORY, MAX_THREADS, MOST_OVER_UDP, Traffic, Workload};

fn misfit(key: &'static str, why: impl Into<String>, help: impl Into<String>) -> Option<Misfit> {
    Some(Misfit { key, why: why.into(), help: help.into() })
}

impl Traffic {
    /// Rejects settings that the engine does not support over this version of IP.
    ///
    /// # Errors
    /// The first key that is rejected.
    pub fn validate(&self, family: Family) -> Result<(), Misfit> {
        let workload = self.in_a_workload();
        let of_keys = KEYS.iter().find_map(|key| key.misfit(&key.get(&workload), self.kind));
        let misfit = of_keys.or_else(|| self.excess(family)).or_else(|| self.conflict(family));
        misfit.map_or(Ok(()), Err)
    }

    /// Rejects settings that exact mode does not support.
    ///
    /// # Errors
    /// The first key that is rejected.
    pub fn validate_exact(&self) -> Result<(), Misfit> {
        self.exact_misfits().into_iter().next().map_or(Ok(()), Err)
    }

    /// Every key that exact mode does not support.
    pub fn exact_misfits(&self) -> Vec<Misfit> {
        let why = "exact mode does not support `tcp_crr`: it makes no connections while it counts";
        let of_kind = misfit("kind", why, "use `tcp_rr`, or set `exact = false`");
        let workload = self.in_a_workload();
        let of_keys = KEYS.iter().filter_map(|key| key.exact_misfit(&key.get(&workload), self.kind));
        of_kind.filter(|_| self.kind == Kind::TcpCrr).into_iter().chain(of_keys).collect()
    }

    /// Every key that a trace does not support in this scenario.
    pub fn traced_misfits(&self, scenario: Scenario) -> Vec<Misfit> {
        if scenario.is_of_namespaces() { self.exact_misfits() } else { self.apart_misfits() }
    }

    /// Every key that a trace of one of two machines does not support: each message is answered by
    /// the other machine before the next one is sent.
    pub fn apart_misfits(&self) -> Vec<Misfit> {
        let why = format!("`{}` has messages that are not answered", self.kind);
        let of_kind = misfit("kind", why, "use `udp_rr` or `tcp_rr`");
        // The devices of two machines can be polled; inside one there is none.
        let others = self.exact_misfits().into_iter().filter(|misfit| misfit.key != "busy_poll");
        of_kind.filter(|_| !self.kind.is_rr()).into_iter().chain(others).collect()
    }

    pub(crate) fn in_a_workload(&self) -> Workload {
        Workload { traffic: self.clone(), ..Workload::new(self.kind) }
    }

    /// A size beyond its limit: bytes of a datagram, memory, ports.
    pub fn excess(&self, family: Family) -> Option<Misfit> {
        let most = family.most_udp_payload();
        let mut sizes = [("message", self.message), ("response", self.response)].into_iter();
        if let Some((key, bytes)) = sizes.find(|(_, bytes)| self.kind.is_udp() && *bytes > most) {
            let version = if family == Family::Ipv4 { "IPv4" } else { "IPv6" };
            let why =
                format!("`{key}` is {bytes} bytes, and a UDP datagram over {version} carries at most {most}");
            return misfit(key, why, format!("use at most {most} bytes"));
        }
        // Each thread has one.
        let buffers = u64::from(self.threads.unwrap_or(MAX_THREADS).min(self.flows) * self.ways());
        if buffers * (u64::from(self.message) + u64::from(self.response)) > MAX_MEMORY {
            let why = format!(
                "{} flows with messages of {} bytes need more than {MAX_MEMORY} bytes of memory",
                self.flows, self.message
            );
            return misfit("flows", why, "use fewer flows or smaller messages");
        }
        let last = |port: u16| u32::from(port) + self.endpoints().saturating_sub(1);
        if self.port.is_some_and(|port| last(port) > u32::from(u16::MAX)) {
            let why = format!("{} flows need ports beyond 65535, which is the last", self.flows);
            return misfit("port", why, "use a lower port, or leave it to the kernel");
        }
        None
    }

    /// Keys that are valid by themselves but not together.
    pub fn conflict(&self, family: Family) -> Option<Misfit> {
        let sender = self.sender;
        if !self.checksum && family == Family::Ipv6 {
            let why = "UDP checksums are mandatory over IPv6 (RFC 8200, section 8.1)";
            return misfit("checksum", why, "remove `checksum`, or use IPv4");
        }
        if self.verify && self.reader == Reader::Trunc {
            let why = "reader `trunc` discards the bytes without reading them, and `verify` checks them";
            return misfit("verify", why, "remove one of the two");
        }
        // The kernel (`udp_send_skb`) rejects a segmented buffer of datagrams without checksum.
        if sender.segments() && !self.checksum {
            let why = format!("sender `{sender}` needs the UDP checksum (UDP_SEGMENT)");
            return misfit("sender", why, "use `send` or `sendmmsg`");
        }
        if self.loss.is_some() && !self.find_rate {
            let why = "`loss` is the bound of `find_rate`, which is off";
            return misfit("loss", why, "set `find_rate`, or remove `loss`");
        }
        let bytes = self.message.min(self.response);
        if self.kind == Kind::UdpRr && bytes == 1 && self.in_flight > 128 {
            let why = "one byte can number at most 128 transactions in flight";
            return misfit("in_flight", why, "use messages and responses of 2 bytes or more");
        }
        self.thread_conflict()
    }

    fn thread_conflict(&self) -> Option<Misfit> {
        let flows = self.flows;
        if self.kind.is_udp() && self.lanes() > MOST_OVER_UDP {
            let why = format!(
                "each of {flows} flows over UDP needs a port of its own, and there are {MOST_OVER_UDP}"
            );
            return misfit("flows", why, "use fewer flows");
        }
        let (key, value) = self.unshareable()?;
        let alone = format!("`{key}` = {value} needs one thread for each of the {flows} flows");
        if let Some(threads) = self.threads.filter(|threads| *threads < flows) {
            let why = format!("{alone}, and `threads` is {threads}");
            return misfit("threads", why, format!("remove `threads`, or `{key}`"));
        }
        if flows > MAX_THREADS {
            let why = format!("{alone}, and {MAX_THREADS} threads are the most");
            return misfit("flows", why, format!("use fewer flows, or remove `{key}`"));
        }
        None
    }

    /// The key and value that prevent a thread from serving several flows; `None`: none does.
    pub fn unshareable(&self) -> Option<(&'static str, String)> {
        if self.kind == Kind::TcpCrr {
            return Some(("kind", self.kind.to_string()));
        }
        let workload = self.in_a_workload();
        let alone = |key: &&crate::Key| {
            key.alone.contains(&self.kind) && key.get(&workload) != key.default_of(self.kind)
        };
        KEYS.iter().find(alone).map(|key| (key.name, key.get(&workload).to_string()))
    }
}

#[cfg(test)]
mod tests;
