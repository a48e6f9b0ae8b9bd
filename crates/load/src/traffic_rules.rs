//! Which traffic is refused, and why.

use crate::crew::MAX_THREADS;
use crate::error::Result;
use crate::kind::Kind;
use crate::mode::{Direction, Reader, Sender};
use crate::traffic::{
    MAX_BUSY_POLL, MAX_CONGESTION_CONTROL, MAX_FLOWS, MAX_IN_FLIGHT, MAX_MEMORY, MAX_RATE, MAX_SOCKET_BUFFER,
    MAX_TCP_MESSAGE, MOST_OVER_UDP, PACINGS, Traffic, max_datagram, refuse,
};

impl Traffic {
    /// Refuses, by the name of the field, what cannot be had over this version of IP.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) for the first such field.
    pub fn validate(&self, ipv6: bool) -> Result<()> {
        self.check_sizes(ipv6)?;
        self.check_flows()?;
        match self.socket_buffer {
            Some(0) => return refuse("socket_buffer", 0, "leave it out for the kernel's own size"),
            Some(bytes) if bytes > MAX_SOCKET_BUFFER => {
                return refuse("socket_buffer", bytes, format!("at most {MAX_SOCKET_BUFFER} bytes"));
            }
            _ => {}
        }
        self.check_checksum(ipv6)?;
        self.check_port()?;
        self.check_modes()?;
        self.check_pace()?;
        self.check_options()?;
        self.check_threads()
    }

    fn check_sizes(&self, ipv6: bool) -> Result<()> {
        let udp = self.kind.is_udp();
        let over = match (udp, ipv6) {
            (true, false) => "a UDP datagram over IPv4",
            (true, true) => "a UDP datagram over IPv6",
            (false, _) => "one TCP message",
        };
        let most = if udp { max_datagram(ipv6) } else { MAX_TCP_MESSAGE };
        if self.message == 0 {
            return refuse("message", 0, "a message has at least one byte");
        }
        if self.message > most {
            return refuse("message", self.message, format!("{over} carries at most {most} bytes"));
        }
        match (self.kind.is_rr(), self.response) {
            (true, 0) => refuse("response", 0, "an answer has at least one byte"),
            (true, bytes) if bytes > most => {
                refuse("response", bytes, format!("{over} carries at most {most} bytes"))
            }
            (false, bytes) if bytes > 0 => {
                let reason =
                    format!("a {} has no answers: leave it out, or take tcp_rr or udp_rr", self.kind);
                refuse("response", bytes, reason)
            }
            _ => Ok(()),
        }
    }

    fn check_flows(&self) -> Result<()> {
        if self.flows == 0 {
            return refuse("flows", 0, "a workload needs at least one flow");
        }
        if self.flows > MAX_FLOWS {
            return refuse("flows", self.flows, format!("at most {MAX_FLOWS} flows"));
        }
        if self.kind.is_udp() && self.lanes() > MOST_OVER_UDP {
            let reason = format!(
                "each flow over UDP needs a port of its own, and {MOST_OVER_UDP} are to be had: take fewer"
            );
            return refuse("flows", self.flows, reason);
        }
        // Each thread has its own.
        let ways = self.lanes() / self.flows;
        let buffers = u64::from(self.threads.unwrap_or(MAX_THREADS).min(self.flows) * ways);
        let memory = buffers * (u64::from(self.message) + u64::from(self.response));
        if memory > MAX_MEMORY {
            let reason = format!(
                "{} flows of such messages take {memory} bytes, more than {MAX_MEMORY}: take fewer flows",
                self.flows
            );
            return refuse("message", self.message, reason);
        }
        Ok(())
    }

    /// Threads that cannot be had, or cannot serve several flows each.
    fn check_threads(&self) -> Result<()> {
        if let Some(threads) = self.threads.filter(|threads| !(1..=MAX_THREADS).contains(threads)) {
            return refuse("threads", threads, format!("1 to {MAX_THREADS} threads"));
        }
        let Some((field, value)) = self.unshareable() else { return Ok(()) };
        let flows = self.flows;
        if flows > MAX_THREADS {
            let reason = format!(
                "{field} `{value}` needs one thread for each flow, and at most {MAX_THREADS} threads are possible: take fewer flows, or another {field}"
            );
            return refuse("flows", flows, reason);
        }
        if let Some(threads) = self.threads.filter(|threads| *threads < flows) {
            let reason = format!(
                "{field} `{value}` needs one thread for each flow: give `threads` = {flows}, or leave it out"
            );
            return refuse("threads", threads, reason);
        }
        Ok(())
    }

    fn check_checksum(&self, ipv6: bool) -> Result<()> {
        if self.udp_checksum {
            return Ok(());
        }
        if !self.kind.is_udp() {
            return refuse("udp_checksum", false, format!("a {} always has its checksum", self.kind));
        }
        if ipv6 {
            let reason = "the UDP checksum is mandatory over IPv6, whose header has none (RFC 8200, section 8.1): \
                          leave it on, or take IPv4";
            return refuse("udp_checksum", false, reason);
        }
        Ok(())
    }

    fn check_port(&self) -> Result<()> {
        let Some(port) = self.port else { return Ok(()) };
        if port == 0 {
            return refuse("port", 0, "leave it out and the kernel chooses one");
        }
        let ports = self.endpoints();
        let last = u32::from(port) + ports - 1;
        if last > u32::from(u16::MAX) {
            let reason =
                format!("{ports} flows need the ports up to {last}, and there are 65535: take a lower one");
            return refuse("port", port, reason);
        }
        Ok(())
    }

    /// Senders, readers and directions that this kind of traffic cannot have.
    fn check_modes(&self) -> Result<()> {
        let kind = self.kind;
        let streams = kind.is_stream() || kind == Kind::Pps;
        if !self.sender.suits(kind.is_udp()) || (!streams && self.sender != Sender::Send) {
            return refuse("sender", self.sender, format!("{kind} has no such sender, use `send`"));
        }
        if !self.reader.suits(kind.is_udp())
            || (kind.is_rr() && !matches!(self.reader, Reader::Recv | Reader::Spin))
        {
            return refuse("reader", self.reader, format!("{kind} has no such reader, use `recv`"));
        }
        if self.sender.segments() && !self.udp_checksum {
            let reason =
                "the kernel cuts no datagrams without a checksum from a buffer: take `send` or `sendmmsg`";
            return refuse("sender", self.sender, reason);
        }
        if kind == Kind::Pps && self.reader != Reader::Recv {
            return refuse("reader", self.reader, "nobody receives a pps: leave it out");
        }
        if self.direction != Direction::Forward && !kind.is_stream() {
            return refuse("direction", self.direction, format!("a {kind} has one way only: leave it out"));
        }
        if self.verify && self.reader == Reader::Trunc {
            return refuse("verify", true, "`trunc` throws the bytes away unread: use another reader");
        }
        if !self.connected && !kind.is_udp() {
            return refuse("connected", false, format!("a {kind} is connected by its nature: leave it out"));
        }
        Ok(())
    }

    /// Paces that this kind of traffic cannot have.
    fn check_pace(&self) -> Result<()> {
        let kind = self.kind;
        let pipelines = matches!(kind, Kind::TcpRr | Kind::UdpRr);
        if self.in_flight == 0 || self.in_flight > MAX_IN_FLIGHT {
            return refuse("in_flight", self.in_flight, format!("1 to {MAX_IN_FLIGHT} transactions"));
        }
        if self.in_flight > 1 && !pipelines {
            let reason = format!("a {kind} has no transactions side by side: take tcp_rr or udp_rr");
            return refuse("in_flight", self.in_flight, reason);
        }
        let bytes = self.message.min(self.response);
        if kind == Kind::UdpRr && bytes == 1 && self.in_flight > 128 {
            let reason = "one byte tells 128 transactions apart: take messages and answers of 2 bytes";
            return refuse("in_flight", self.in_flight, reason);
        }
        if let Some(rate) = self.rate {
            if !kind.is_rr() {
                return refuse("rate", rate, format!("a {kind} has no requests: `pacing` sets its pace"));
            }
            if rate == 0 || rate > MAX_RATE {
                return refuse("rate", rate, format!("1 to {MAX_RATE} requests per second"));
            }
        }
        if let Some(pacing) = self.pacing {
            if kind.is_rr() {
                return refuse("pacing", pacing, format!("`rate` sets the pace of a {kind}"));
            }
            if !PACINGS.contains(&pacing) {
                return refuse("pacing", pacing, format!("{} to {} bits/s", PACINGS.start(), PACINGS.end()));
            }
        }
        Ok(())
    }

    /// Socket options out of their range, or of another protocol.
    fn check_options(&self) -> Result<()> {
        let kind = self.kind;
        match self.busy_poll {
            Some(0) => return refuse("busy_poll", 0, "leave it out to sleep"),
            Some(time) if time > MAX_BUSY_POLL => {
                return refuse("busy_poll", time, format!("at most {MAX_BUSY_POLL} µs"));
            }
            _ => {}
        }
        if let Some(name) = &self.congestion_control {
            if kind.is_udp() {
                let reason = format!("a {kind} has no congestion control: leave it out");
                return refuse("congestion_control", name, reason);
            }
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
            if name.is_empty() || name.len() > MAX_CONGESTION_CONTROL || !name.bytes().all(plain) {
                return refuse("congestion_control", name, "a kernel name such as `cubic` or `bbr`");
            }
        }
        if let Some(dscp) = self.dscp.filter(|dscp| *dscp > 63) {
            return refuse("dscp", dscp, "0 to 63 (RFC 2474)");
        }
        if let Some(nodelay) = self.nodelay.filter(|_| kind.is_udp()) {
            return refuse("nodelay", nodelay, format!("a {kind} delays nothing: leave it out"));
        }
        Ok(())
    }
}
