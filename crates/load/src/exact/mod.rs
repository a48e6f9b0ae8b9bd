//! Fixed work, counted: the same few messages again and again, one at a time, by one thread that holds the sockets of both ends.
//!
//! It is made for a machine whose clock counts instructions (an emulated guest with one CPU, where one instruction takes one
//! nanosecond): there nothing runs beside it, nothing waits, and what a message costs is a whole number that any machine
//! repeats. Elsewhere it gives nanoseconds, noise and all.
//!
//! Messages are sent in batches, short enough that most see no timer tick, and the clock is read at their borders only; what a
//! message costs is that of the median batch. A second pass reads the clock around every system call: what passes in there, less
//! the known cost of reading, is the kernel's share.

mod account;
mod calls;
mod ends;
mod work;

pub use account::{Account, Spread};
pub use ends::Taker;

use std::net::SocketAddr;

use crate::error::Result;
use crate::kind::Kind;
use crate::mode::{Direction, Reader, Sender};
use crate::spec::Spec;
use crate::sys;
use crate::traffic::{Traffic, refuse};

use calls::{Bracketed, Calls, Plain};
use ends::Ends;
use work::Work;

/// How long messages flow before anything is counted, in ns of the clock, and how many at least: caches, windows and buffers of the
/// kernel have found their sizes by then, and a datagram costs a fresh socket more for its first fifth of a second.
const WARM_UP_NS: u64 = 600_000_000;
const WARM_UP: u32 = 64;
/// Batches of each pass; odd, so that the median is one of them.
const BATCHES: u32 = 201;
/// The most messages of a batch.
const MOST: u32 = 32;
/// What a batch may take, in ns: an eighth of the time between two ticks of a kernel of 250 Hz, so that seven of eight see none.
const BATCH_NS: u64 = 500_000;
/// Time between two beats, in ns.
const BEAT_NS: u64 = 1_000_000_000;
/// Readings from which the cost of one is taken.
const READINGS: usize = 1001;

/// Waits for the next whole second of the clock. When a request arrives is a matter of the machine around a guest; from here on all
/// that the work meets, timer ticks among it, comes at the same distance. Where the clock counts instructions the wait takes no time.
pub fn await_beat() {
    sys::sharpen_timers();
    sys::sleep_until((sys::now() / BEAT_NS + 1) * BEAT_NS);
}

/// Sends and takes the workload's messages, and counts. `taker` is the other end's socket, opened where it is; without one the
/// messages go to `nobody` (an address behind an interface that throws them away). The calling thread does all of it. `settled` is
/// called when the first messages have gone: the kernel has found by then whom it had to ask for.
///
/// # Errors
/// A workload that is more than one message after the other ([`check`]), a socket that cannot be had, a message that does not
/// arrive within seconds.
pub fn run(
    spec: &Spec,
    taker: Option<Taker>,
    nobody: Option<SocketAddr>,
    settled: &mut dyn FnMut(),
) -> Result<Account> {
    check(&spec.traffic)?;
    let ends = Ends::connect(spec, taker, nobody)?;
    let mut work = Work::new(&spec.traffic, &ends);
    let mut plain = Plain;
    work.messages(&mut plain, WARM_UP)?;
    settled();
    let begun = sys::now();
    while sys::now().saturating_sub(begun) < WARM_UP_NS {
        work.messages(&mut plain, 1)?;
    }
    let messages = size_of_batch(&mut work)?;
    let whole = batches(&mut work, &mut plain, messages, |_| 0)?;
    let clock_ns = cost_of_reading();
    let mut bracketed = Bracketed::default();
    // Its own paths are warmed up as well.
    work.messages(&mut bracketed, messages)?;
    let kernel = batches(&mut work, &mut bracketed, messages, |calls| calls.take(clock_ns))?;
    Ok(Account {
        messages,
        batches: BATCHES,
        clock_ns,
        whole: Spread::of(whole, messages),
        kernel: Spread::of(kernel, messages),
        applied: ends.applied.clone(),
    })
}

/// Whether traffic is one message after the other, as here it must be.
///
/// # Errors
/// [`crate::Error::Invalid`]: the field that makes it more.
pub fn check(traffic: &Traffic) -> Result<()> {
    const REASON: &str = "exact mode counts one message at a time";
    match traffic {
        Traffic { kind: Kind::TcpCrr, .. } => {
            refuse("kind", "tcp_crr", "exact mode makes no connections while it counts: take tcp_rr")
        }
        Traffic { flows, .. } if *flows != 1 => refuse("flows", flows, format!("{REASON}: take 1")),
        Traffic { sender, .. } if *sender != Sender::Send => {
            refuse("sender", sender, format!("{REASON}: take send"))
        }
        Traffic { reader, .. } if *reader != Reader::Recv => {
            refuse("reader", reader, format!("{REASON}: take recv"))
        }
        Traffic { direction, .. } if *direction != Direction::Forward => {
            refuse("direction", direction, format!("{REASON}: take forward"))
        }
        Traffic { in_flight, .. } if *in_flight != 1 => {
            refuse("in_flight", in_flight, format!("{REASON}: take 1"))
        }
        Traffic { rate: Some(rate), .. } => refuse("rate", rate, "exact mode has no time: leave it out"),
        Traffic { pacing: Some(pace), .. } => refuse("pacing", pace, "exact mode has no time: leave it out"),
        Traffic { connected: false, .. } => {
            refuse("connected", false, "exact mode sends from connected sockets: leave it out")
        }
        Traffic { verify: true, .. } => {
            refuse("verify", true, "exact mode checks how long each message is, and no more: leave it out")
        }
        _ => Ok(()),
    }
}

/// How many messages fit into a batch: a power of two, so that a small difference of what they cost changes nothing.
fn size_of_batch(work: &mut Work<'_>) -> Result<u32> {
    let mut messages = MOST;
    while messages > 1 {
        let begun = sys::now();
        work.messages(&mut Plain, messages)?;
        if sys::now().saturating_sub(begun) <= BATCH_NS {
            break;
        }
        messages /= 2;
    }
    Ok(messages)
}

/// What each batch took: between its borders, or what `inside` makes of it.
fn batches<C: Calls>(
    work: &mut Work<'_>,
    calls: &mut C,
    messages: u32,
    inside: impl Fn(&mut C) -> u64,
) -> Result<Vec<u64>> {
    let mut taken = Vec::with_capacity(BATCHES as usize);
    inside(calls);
    for _ in 0..BATCHES {
        let begun = sys::now();
        work.messages(calls, messages)?;
        let ended = sys::now();
        taken.push(if C::BRACKETS { inside(calls) } else { ended.saturating_sub(begun) });
    }
    Ok(taken)
}

/// What passes between two readings of the clock with nothing between them, in ns: the median.
fn cost_of_reading() -> u64 {
    let mut costs = [0; READINGS];
    for cost in &mut costs {
        let first = sys::now();
        *cost = sys::now().saturating_sub(first);
    }
    costs.sort_unstable();
    costs[READINGS / 2]
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::*;

    /// An address that no other test has, in this process or another: the ports are always the same.
    fn local() -> std::net::IpAddr {
        static NEXT: AtomicU8 = AtomicU8::new(1);
        let [.., high, low] = std::process::id().to_be_bytes();
        [127, high, low, NEXT.fetch_add(1, Ordering::Relaxed)].into()
    }

    fn ran(traffic: Traffic) -> Account {
        let spec = Spec { traffic, local: local(), cpus: Vec::new() };
        let taker = Taker::open(&spec).unwrap();
        run(&spec, Some(taker), None, &mut || {}).unwrap()
    }

    #[test]
    fn every_kind_is_counted_and_divides_into_user_and_kernel() {
        for kind in [Kind::UdpStream, Kind::TcpStream, Kind::UdpRr, Kind::TcpRr] {
            let account = ran(Traffic::new(kind));
            assert_eq!(account.batches, BATCHES);
            assert!(account.messages.is_power_of_two() && account.messages <= MOST, "{account:?}");
            let (whole, kernel) = (account.whole, account.kernel);
            assert!(whole.least <= whole.low && whole.low <= whole.median, "{kind}: {whole:?}");
            assert!(whole.median <= whole.high && whole.high <= whole.most, "{kind}: {whole:?}");
            assert!(whole.median > 0.0 && kernel.median > 0.0, "{kind}: {account:?}");
        }
    }

    #[test]
    fn messages_beyond_every_buffer_go_through() {
        ran(Traffic { message: 5 << 20, ..Traffic::new(Kind::TcpStream) });
        ran(Traffic {
            message: 1 << 20,
            response: 1,
            socket_buffer: Some(65_536),
            ..Traffic::new(Kind::TcpRr)
        });
        ran(Traffic { message: 65_507, ..Traffic::new(Kind::UdpStream) });
    }

    #[test]
    fn packets_to_nobody_need_no_taker() {
        let spec = Spec { traffic: Traffic::new(Kind::Pps), local: local(), cpus: Vec::new() };
        let sink = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let account = run(&spec, None, Some(sink.local_addr().unwrap()), &mut || {}).unwrap();
        assert!(account.whole.median > 0.0);
    }

    #[test]
    fn more_than_one_message_at_a_time_is_refused_by_name() {
        let plain = Traffic::new(Kind::UdpStream);
        for (traffic, words) in [
            (Traffic::new(Kind::TcpCrr), "take tcp_rr"),
            (Traffic { flows: 2, ..plain.clone() }, "`flows` = 2"),
            (Traffic { sender: Sender::Sendmmsg, ..plain.clone() }, "take send"),
            (Traffic { reader: Reader::Spin, ..plain.clone() }, "take recv"),
            (Traffic { direction: Direction::Both, ..Traffic::new(Kind::TcpStream) }, "take forward"),
            (Traffic { in_flight: 2, ..Traffic::new(Kind::UdpRr) }, "`in_flight` = 2"),
            (Traffic { pacing: Some(1000), ..plain.clone() }, "no time"),
            (Traffic { connected: false, ..plain.clone() }, "connected sockets"),
        ] {
            let text = check(&traffic).unwrap_err().to_string();
            assert!(text.contains(words), "{text}");
        }
        assert_eq!(check(&plain), Ok(()));
    }
}
