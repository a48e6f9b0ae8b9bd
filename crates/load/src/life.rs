//! What a flow's thread does from its start to its end.

use std::sync::atomic::Ordering;

use crate::error::{Errno, Error};
use crate::kind::Kind;
use crate::lane::{End, Lane};
use crate::{sys, tcp_crr, tcp_rr, tcp_stream, udp_rr, udp_stream};

/// A thread's life. Errors go to the control, where they are seen while the others still run.
pub(crate) fn live(lane: &Lane, sends: bool, cpu: Option<u32>) -> Option<End> {
    let _report = PanicReport(lane);
    let run = || {
        if let Some(cpu) = cpu {
            sys::pin(cpu).map_err(|e| Error::Pin { flow: lane.number(), cpu, errno: Errno::of(&e) })?;
        }
        lane.control.threads[lane.flow].store(sys::thread_id(), Ordering::Relaxed);
        sys::own_descriptors(lane.fd);
        match (lane.traffic.kind, sends) {
            (Kind::TcpStream, true) => tcp_stream::send(lane),
            (Kind::TcpStream, false) => tcp_stream::receive(lane),
            (Kind::UdpStream | Kind::Pps, true) => udp_stream::send(lane),
            (Kind::UdpStream | Kind::Pps, false) => udp_stream::receive(lane),
            (Kind::TcpRr, true) => tcp_rr::send(lane),
            (Kind::TcpRr, false) => tcp_rr::receive(lane),
            (Kind::TcpCrr, true) => tcp_crr::send(lane),
            (Kind::TcpCrr, false) => tcp_crr::receive(lane),
            (Kind::UdpRr, true) => udp_rr::send(lane),
            (Kind::UdpRr, false) => udp_rr::receive(lane),
        }
    };
    match run() {
        Ok(end) => Some(end),
        Err(error) => {
            lane.control.fail(error);
            None
        }
    }
}

struct PanicReport<'a>(&'a Lane);

impl Drop for PanicReport<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.control.fail(Error::Panicked { flow: self.0.number() });
        }
        // A thread that ended before its loop must not be waited for.
        self.0.readiness.take();
    }
}
