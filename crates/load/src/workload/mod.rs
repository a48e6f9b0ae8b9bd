//! The loops: one for each kind of traffic and each way of sending and of reading, and their common
//! parts.

pub(crate) mod lent;
pub(crate) mod pace;
pub(crate) mod port;
pub(crate) mod shared;
pub(crate) mod source;
mod tcp_crr;
mod tcp_rr;
pub(crate) mod tcp_stream;
mod udp_rr;
pub(crate) mod udp_stream;

use std::time::Duration;

use words::Kind;

use crate::error::Result;
use crate::lane::{ABORT, Lane, LaneResult};
use crate::sys;

/// The loop of a thread that serves these lanes, all of one direction.
pub(crate) fn run(lanes: &[Lane], sends: bool) -> Result<Vec<LaneResult>> {
    match lanes {
        [lane] => alone(lane, sends).map(|end| vec![end]),
        lanes => together(lanes, sends),
    }
}

/// One lane, whose thread waits in its calls.
fn alone(lane: &Lane, sends: bool) -> Result<LaneResult> {
    match (lane.traffic.kind, sends) {
        (Kind::TcpStream, true) => in_turns(lane, tcp_stream::send),
        (Kind::TcpStream, false) => in_turns(lane, tcp_stream::receive),
        (Kind::UdpStream | Kind::Pps, true) => in_turns(lane, udp_stream::send),
        (Kind::UdpStream | Kind::Pps, false) => udp_stream::receive(lane),
        (Kind::TcpRr, true) => tcp_rr::send(lane),
        (Kind::TcpRr, false) => tcp_rr::receive(lane),
        (Kind::TcpCrr, true) => tcp_crr::send(lane),
        (Kind::TcpCrr, false) => tcp_crr::receive(lane),
        (Kind::UdpRr, true) => udp_rr::send(lane),
        (Kind::UdpRr, false) => udp_rr::receive(lane),
    }
}

/// Sends, or receives a stream, in one loop after the other, as conditions that take turns change
/// it.
fn in_turns(lane: &Lane, run: fn(&Lane) -> Result<LaneResult>) -> Result<LaneResult> {
    let mut sum = run(lane)?;
    while let Some(ways) = lane.control.loop_switch.next() {
        let lane_of_turn = lane.with_modes(ways);
        let end = run(&lane_of_turn)?;
        lane.lent.set(lane_of_turn.lent.get());
        sum.zerocopy = end.zerocopy.map(|own| own.plus(sum.zerocopy.unwrap_or_default())).or(sum.zerocopy);
        sum.verified += end.verified;
    }
    Ok(sum)
}

/// Several lanes, whose thread waits for all of them.
fn together(lanes: &[Lane], sends: bool) -> Result<Vec<LaneResult>> {
    match (lanes[0].traffic.kind, sends) {
        (Kind::TcpStream, true) => tcp_stream::shared::send(lanes),
        (Kind::TcpStream, false) => tcp_stream::shared::receive(lanes),
        (Kind::UdpStream | Kind::Pps, true) => udp_stream::shared::send(lanes),
        (Kind::UdpStream | Kind::Pps, false) => udp_stream::shared::receive(lanes),
        (Kind::TcpRr, true) => tcp_rr::shared::send(lanes),
        (Kind::TcpRr, false) => tcp_rr::shared::receive(lanes),
        (Kind::UdpRr, true) => udp_rr::shared::send(lanes),
        (Kind::UdpRr, false) => udp_rr::shared::receive(lanes),
        // `Traffic::validate` rejects it.
        (Kind::TcpCrr, _) => Ok(Vec::new()),
    }
}

/// Silence after its sender's end after which a socket is empty for good, in ns.
const IDLE: u64 = 25_000_000;
/// Checks in a row that must find nothing: on a busy machine the kernel's delivery waits for a CPU
/// too.
const LOOKS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(1);

/// Receives until nothing has come for [`IDLE`]. `ABORT` bounds it. `take` receives without waiting
/// and returns whether anything came.
pub(crate) fn drain_with(lane: &Lane, mut take: impl FnMut() -> Result<bool>) -> Result<()> {
    let (mut idle_since, mut looks) = (sys::now(), 0);
    while lane.phase().load() < ABORT {
        if take()? {
            (idle_since, looks) = (0, 0);
            continue;
        }
        let now = sys::now();
        if idle_since == 0 {
            idle_since = now;
        }
        looks += 1;
        if looks >= LOOKS && now - idle_since >= IDLE {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}
