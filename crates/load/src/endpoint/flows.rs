//! The connected sockets of one end, one for each flow, and their properties.

use std::cell::Cell;
use std::net::{Shutdown, SocketAddr};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

use socket2::Socket;
use words::{Kind, Side, Traffic};

use crate::error::Result;
use crate::lane::{Control, Counts, Lane, LaneResult, Sample};
use crate::message::pattern_bytes;
use crate::socket::{self, Applied, SocketSwitches, TcpReadings};
use crate::spec::Spec;
use crate::workload::tcp_stream;

#[derive(Debug)]
pub(super) struct EndpointFlows {
    side: Side,
    pub(super) spec: Arc<Spec>,
    pub(super) traffic: Arc<Traffic>,
    expected: Arc<[u8]>,
    pub(super) sockets: Vec<Socket>,
    pub(super) peers: Vec<SocketAddr>,
    // Drops of each socket before it was attached, modulo 2^32.
    dropped_before: Vec<u32>,
    readings: Mutex<TcpReadings>,
    // The low-water mark of receiving sockets, in bytes; 0: none.
    mark: AtomicU32,
    // The results that are known before the threads start.
    pub(super) begun: LaneResult,
}

impl EndpointFlows {
    // Connected sockets, one per lane; for `tcp_crr` the shared listener, or placeholders.
    pub(super) fn new(side: Side, spec: &Spec, sockets: Vec<Socket>, peers: Vec<SocketAddr>) -> Result<Self> {
        let traffic = Arc::new(spec.traffic.clone());
        let mark = tcp_stream::low_water_mark(&traffic, spec.local);
        let mut begun = LaneResult::default();
        for (flow, one) in sockets.iter().enumerate() {
            let sends = sends(side, &traffic, flow);
            socket::give_role(one, &traffic, sends, socket::flow(flow))?;
            if let Some(mark) = mark.filter(|_| !sends) {
                tcp_stream::set_low_water(one, mark, flow)?;
            }
            // The sockets of `tcp_crr` are not connections.
            if traffic.kind != Kind::TcpCrr {
                socket::collect(&mut begun.applied, Applied::read_as_asked(one, &traffic)?);
            }
            begun.sleeps(traffic.busy_poll.and_then(|time| socket::poll_busily(one, time)));
        }
        let dropped_before = sockets.iter().map(socket::drops).collect();
        Ok(Self {
            side,
            spec: Arc::new(spec.clone()),
            expected: pattern_bytes(traffic.message.max(traffic.response) as usize),
            traffic,
            sockets,
            peers,
            dropped_before,
            readings: Mutex::default(),
            mark: mark.unwrap_or(0).into(),
            begun,
        })
    }

    pub(super) fn sends(&self, lane: usize) -> bool {
        sends(self.side, &self.traffic, lane)
    }

    pub(super) fn sending(&self) -> impl Iterator<Item = &Socket> {
        self.sockets.iter().enumerate().filter(|(flow, _)| self.sends(*flow)).map(|(_, one)| one)
    }

    pub(super) fn lane(&self, flow: usize, control: &Arc<Control>, readiness: Option<Sender<()>>) -> Lane {
        Lane {
            flow,
            fd: self.sockets[flow].as_raw_fd(),
            peer: self.peers[flow],
            spec: Arc::clone(&self.spec),
            message: self.traffic.message as usize,
            response: self.traffic.response as usize,
            traffic: Arc::clone(&self.traffic),
            expected: Arc::clone(&self.expected),
            control: Arc::clone(control),
            readiness: Cell::new(readiness),
            lent: Cell::default(),
        }
    }

    pub(super) fn sample(&self, mut flows: Vec<Counts>, at_ns: u64) -> Sample {
        let mark = self.mark.load(Ordering::Relaxed);
        for (flow, (counts, one)) in flows.iter_mut().zip(&self.sockets).enumerate() {
            if mark > 0 && !self.sends(flow) {
                // Otherwise a slow stream whose bytes do not wake the receiver comes in lumps.
                counts.bytes += socket::unread(one.as_raw_fd()).unwrap_or(0).min(mark.into());
            }
        }
        if self.traffic.kind == Kind::TcpStream {
            // Calls move parts of messages: only the bytes tell the whole ones.
            let message = u64::from(self.traffic.message);
            flows.iter_mut().for_each(|flow| flow.messages = flow.bytes / message);
        }
        if self.traffic.kind.is_udp() {
            for ((flow, before), one) in flows.iter_mut().zip(&self.dropped_before).zip(&self.sockets) {
                flow.socket_drops = socket::drops(one).wrapping_sub(*before).into();
            }
        }
        let mut readings = self.readings.lock().unwrap_or_else(PoisonError::into_inner);
        if self.traffic.kind.is_tcp() && self.traffic.kind != Kind::TcpCrr {
            self.sockets.iter().for_each(|one| readings.read(one));
        }
        let one_way =
            |sending| flows.iter().enumerate().filter(move |(flow, _)| self.sends(*flow) == sending);
        let sum = |sending| one_way(sending).map(|(_, counts)| *counts).sum();
        Sample { at_ns, sent: sum(true), received: sum(false), flows, tcp: *readings }
    }

    pub(super) fn switch(&self, switches: &SocketSwitches, state: usize) -> Result<()> {
        let mark = tcp_stream::low_water_mark(&switches.states[state], self.spec.local).unwrap_or(0);
        let is_marked_anew = self.mark.swap(mark, Ordering::Relaxed) != mark;
        for (flow, one) in self.sockets.iter().enumerate() {
            let sends = self.sends(flow);
            if is_marked_anew && !sends {
                tcp_stream::set_low_water(one, mark, flow)?;
            }
            switches.switch(one, sends, state, flow)?;
        }
        Ok(())
    }

    pub(super) fn end_sending(&self) {
        for one in self.sending() {
            if self.traffic.kind == Kind::TcpStream && self.traffic.pacing.is_some() {
                // A full buffer at a slow pace would take longer than the time to drain it.
                socket::unpace(one);
            }
            // A shutdown wakes a thread that waits in a call.
            // The end of the stream follows the queued data. A closed connection needs no shutdown.
            // A datagram socket whose sender waits for room gets it as its queue empties.
            let how = match self.traffic.kind {
                Kind::TcpStream => Shutdown::Write,
                Kind::UdpStream | Kind::Pps => continue,
                _ => Shutdown::Both,
            };
            let _ = one.shutdown(how);
        }
    }

    pub(super) fn shut(&self, how: Shutdown) {
        for one in &self.sockets {
            // A closed connection needs no shutdown.
            let _ = one.shutdown(how);
        }
    }

    // The number of a closed socket could be reused while a thread still uses it.
    pub(super) fn abandon(&mut self) {
        std::mem::forget(std::mem::take(&mut self.sockets));
    }
}

fn sends(side: Side, traffic: &Traffic, lane: usize) -> bool {
    (side == Side::Transmitter) == traffic.is_forward(lane)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys;
    use std::net::{IpAddr, TcpListener, TcpStream};
    use words::Reader;

    /// The `SO_RCVLOWAT` that a connected socket reads back at this `side` and address.
    fn mark(side: Side, traffic: Traffic, local: &str) -> libc::c_int {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let _far = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (near, peer) = listener.accept().unwrap();
        near.set_nodelay(traffic.is_nodelay()).unwrap();
        let spec = Spec { traffic, local: local.parse().unwrap(), cpus: vec![], interface: None };
        let flows = EndpointFlows::new(side, &spec, vec![near.into()], vec![peer]).unwrap();
        sys::option_number(flows.sockets[0].as_raw_fd(), libc::SOL_SOCKET, libc::SO_RCVLOWAT).unwrap()
    }

    #[test]
    fn receivers_that_sleep_have_a_low_water_mark_over_loopback_or_for_large_writes() {
        const NONE: libc::c_int = 1;
        for local in ["127.0.0.1", "::1", "198.51.100.1", "2001:db8::1"] {
            let loopback = local.parse::<IpAddr>().unwrap().is_loopback();
            for reader in Reader::ALL.into_iter().filter(|reader| reader.takes(Kind::TcpStream)) {
                for (message, large) in [(4096, false), (8192, true)] {
                    let stream = || Traffic { reader, message, ..Traffic::new(Kind::TcpStream) };
                    let marked = (loopback || large) && reader != Reader::Spin;
                    let expected = if marked { 128 << 10 } else { NONE };
                    assert_eq!(mark(Side::Receiver, stream(), local), expected, "{reader} {local} {message}");
                    assert_eq!(mark(Side::Transmitter, stream(), local), NONE, "{reader} {local}");
                }
            }
            for kind in [Kind::TcpRr, Kind::TcpCrr] {
                assert_eq!(mark(Side::Receiver, Traffic::new(kind), local), NONE, "{kind} {local}");
            }
        }
    }
}
