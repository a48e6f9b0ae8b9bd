//! The loops: one for each kind of traffic, sender and reader, and their common parts.

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

// Of one lane, whose thread waits in its calls, and of several, whose thread waits for all.
type Loops = (fn(&Lane) -> Result<LaneResult>, fn(&[Lane]) -> Result<Vec<LaneResult>>);

pub(crate) fn run(lanes: &[Lane], sends: bool) -> Result<Vec<LaneResult>> {
    let (alone, together): Loops = match (lanes[0].traffic.kind, sends) {
        (Kind::TcpStream, true) => (|lane| in_turns(lane, tcp_stream::send), tcp_stream::shared::send),
        (Kind::TcpStream, false) => (|lane| in_turns(lane, tcp_stream::receive), tcp_stream::shared::receive),
        (Kind::UdpStream | Kind::Pps, true) => {
            (|lane| in_turns(lane, udp_stream::send), udp_stream::shared::send)
        }
        (Kind::UdpStream | Kind::Pps, false) => (udp_stream::receive, udp_stream::shared::receive),
        (Kind::TcpRr, true) => (tcp_rr::send, tcp_rr::shared::serve::<true>),
        (Kind::TcpRr, false) => (tcp_rr::receive, tcp_rr::shared::serve::<false>),
        (Kind::UdpRr, true) => (udp_rr::send, udp_rr::shared::send),
        (Kind::UdpRr, false) => (udp_rr::receive, udp_rr::shared::receive),
        // `Traffic::validate` rejects several of them.
        (Kind::TcpCrr, true) => (tcp_crr::send, |_| Ok(Vec::new())),
        (Kind::TcpCrr, false) => (tcp_crr::receive, |_| Ok(Vec::new())),
    };
    if let [lane] = lanes { Ok(vec![alone(lane)?]) } else { together(lanes) }
}

/// Runs one loop after the other, as conditions that take turns change it.
fn in_turns(lane: &Lane, run: fn(&Lane) -> Result<LaneResult>) -> Result<LaneResult> {
    let mut sum = run(lane)?;
    while let Some(ways) = lane.control.next_loop() {
        let lane_of_turn = lane.with_modes(ways);
        let end = run(&lane_of_turn)?;
        // The kernel goes on counting the socket's zerocopy sends.
        lane.lent.set(lane_of_turn.lent.get());
        sum.add(end);
    }
    Ok(sum)
}

// In ns: after this silence a socket whose sender has ended is empty for good.
const IDLE: u64 = 25_000_000;
// Checks in a row that must find nothing: on a busy machine delivery waits for a CPU too.
const LOOKS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(1);

/// Receives until nothing has come for [`IDLE`]. `take` returns whether anything came.
pub(crate) fn drain_with(lane: &Lane, mut take: impl FnMut() -> Result<bool>) -> Result<()> {
    let (mut idle_since, mut looks) = (sys::now(), 0);
    while lane.phase().load() < ABORT {
        if take()? {
            // The clock is read only in pauses.
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
