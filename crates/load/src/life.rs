//! What a thread does from its start to its end.

use std::sync::atomic::Ordering;
use words::Kind;

use crate::error::{Errno, Error, Result};
use crate::lane::{End, Lane};
use crate::{sys, tcp_crr, tcp_rr, tcp_stream, udp_rr, udp_stream};

/// The life of thread number `thread`, which serves these lanes. Errors go to the control, where they are seen while the others
/// still run.
pub(crate) fn live(lanes: &[Lane], thread: usize, sends: bool, cpu: Option<u32>) -> Option<Vec<End>> {
    let first = lanes.first()?;
    let _report = PanicReport(first);
    let run = || {
        if let Some(cpu) = cpu {
            sys::pin(cpu).map_err(|e| Error::Pin { flow: first.number(), cpu, errno: Errno::of(&e) })?;
        }
        first.control.threads[thread].store(sys::thread_id(), Ordering::Relaxed);
        sys::own_descriptors(lanes.iter().map(|lane| lane.fd));
        match lanes {
            [lane] => alone(lane, sends).map(|end| vec![end]),
            lanes => together(lanes, sends),
        }
    };
    match run() {
        Ok(ends) => Some(ends),
        Err(error) => {
            first.control.fail(error);
            None
        }
    }
}

/// One lane, whose thread waits in its calls.
fn alone(lane: &Lane, sends: bool) -> Result<End> {
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
}

/// Several lanes, whose thread waits for all of them.
fn together(lanes: &[Lane], sends: bool) -> Result<Vec<End>> {
    match (lanes[0].traffic.kind, sends) {
        (Kind::TcpStream, true) => tcp_stream::shared::send(lanes),
        (Kind::TcpStream, false) => tcp_stream::shared::receive(lanes),
        (Kind::UdpStream | Kind::Pps, true) => udp_stream::shared::send(lanes),
        (Kind::UdpStream | Kind::Pps, false) => udp_stream::shared::receive(lanes),
        (Kind::TcpRr, true) => tcp_rr::shared::send(lanes),
        (Kind::TcpRr, false) => tcp_rr::shared::receive(lanes),
        (Kind::UdpRr, true) => udp_rr::shared::send(lanes),
        (Kind::UdpRr, false) => udp_rr::shared::receive(lanes),
        // `Traffic::validate` refuses it.
        (Kind::TcpCrr, _) => Ok(Vec::new()),
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
