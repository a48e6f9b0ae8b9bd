//! The transmitter's side: connect, ask, receive the answer to its end, close.

use std::net::SocketAddr;

use socket2::{SockAddr, Socket};

use super::connection::{CrrConnection, Moved, spins};
use crate::error::{Context, Errno, Error, Result};
use crate::lane::{Call, Lane, LaneResult, QUIET, Recorder, TAIL, Tally};
use crate::message::Buffer;
use crate::socket::{self, Applied, options};
use crate::sys;
use crate::workload::source::{Closed, Open, Source};

pub(crate) fn send(lane: &Lane) -> Result<LaneResult> {
    let caller = Caller {
        lane,
        request: Buffer::pattern(lane.message),
        // One byte more than an answer, so that receiving ends only with the stream.
        answer: Buffer::room(lane.response + 1),
        peer: lane.peer.into(),
        tally: lane.tally(),
        answered: false,
        end: LaneResult::default(),
    };
    lane.ready();
    match lane.traffic.rate {
        None => run(caller, Closed),
        Some(_) => {
            sys::sharpen_timers();
            run(caller, Open::begin(lane))
        }
    }
}

/// Transactions in sequence. One that is due during another waits for its end.
fn run(mut caller: Caller, mut source: impl Source) -> Result<LaneResult> {
    let lane = caller.lane;
    let mut latencies = Recorder::new(lane.flows());
    let mut now = sys::now();
    while lane.phase().load() < QUIET {
        let meant = source.next();
        if meant > now {
            if !spins(lane) {
                sys::sleep_until(meant.min(now + socket::TICK.as_nanos() as u64));
            }
            now = sys::now();
            continue;
        }
        // In a closed loop each is due now.
        let meant = if meant == 0 { now } else { meant };
        source.sent();
        if !caller.transact()? {
            break;
        }
        now = sys::now();
        if counts(&source, lane, meant) {
            latencies.record(now - meant);
        }
    }
    if caller.answered {
        caller.verify()?;
    }
    caller.end.unsent = source.end(sys::now(), lane.phase(), &mut latencies);
    Ok(LaneResult { latencies: Some(latencies), ..caller.end })
}

#[inline(always)]
fn counts<S: Source>(_: &S, lane: &Lane, meant: u64) -> bool {
    S::counts(lane.phase(), meant)
}

struct Caller<'a> {
    lane: &'a Lane,
    request: Buffer,
    answer: Buffer,
    peer: SockAddr,
    tally: Tally<'a>,
    answered: bool,
    end: LaneResult,
}

impl Caller<'_> {
    fn transact(&mut self) -> Result<bool> {
        let (lane, tally) = (self.lane, &mut self.tally);
        let socket = open(lane)?;
        // If it was not applied once, it is not tried for each connection.
        if let Some(time) = lane.traffic.busy_poll.filter(|_| !self.end.slept) {
            self.end.sleeps(options::poll_busily(&socket, time));
        }
        let connection = CrrConnection { socket, lane, over: QUIET };
        if !connect(&connection, &self.peer, tally)? {
            return Ok(false);
        }
        if self.end.applied.is_none() {
            self.end.applied = Some(Applied::read_as_asked(&connection.socket, &lane.traffic)?);
        }
        match connection.send(self.request.as_ref(), tally)? {
            Moved::All => tally.arrived(1, lane.message as u64),
            Moved::Over => return Ok(false),
            Moved::Cut(_) => return connection.cut().map(|()| false),
        }
        match connection.receive(self.answer.as_mut(), tally)? {
            Moved::Cut(got) if got == lane.response => tally.transaction(),
            Moved::Cut(_) => return connection.cut().map(|()| false),
            Moved::All => return Err(lane.damaged(lane.response, lane.response + 1)),
            Moved::Over => return Ok(false),
        }
        if lane.traffic.busy_poll.is_some() && !self.end.slept {
            self.end.sleeps(options::polled_nothing(&connection.socket));
        }
        if lane.traffic.verify {
            self.verify()?;
        }
        self.answered = true;
        Ok(true)
    }

    fn verify(&mut self) -> Result<()> {
        let (lane, answer) = (self.lane, &self.answer.as_ref()[..self.lane.response]);
        self.end.verified = lane.verify(answer, 0, lane.response)?;
        Ok(())
    }
}

fn open(lane: &Lane) -> Result<Socket> {
    const WHAT: &str = "a connection";
    let socket = socket::open(&lane.traffic, lane.local, WHAT)?;
    socket::keep_to(&socket, lane.interface.as_deref(), WHAT)?;
    socket::bind_later(&socket, SocketAddr::new(lane.local, 0), WHAT)?;
    socket::give_role(&socket, &lane.traffic, true, WHAT)?;
    if spins(lane) {
        socket.set_nonblocking(true).or_setup("fcntl O_NONBLOCK", WHAT)?;
    }
    Ok(socket)
}

fn connect(connection: &CrrConnection, peer: &SockAddr, tally: &mut Tally) -> Result<bool> {
    let lane = connection.lane;
    let mut waiting_since = 0;
    loop {
        let connected = connection.socket.connect(peer);
        tally.call();
        let Err(error) = connected else { return Ok(true) };
        match Errno::from_error(&error).0 {
            libc::EISCONN => return Ok(true),
            libc::EADDRNOTAVAIL => return Err(Error::no_port(lane.flow, lane.peer)),
            // In progress: the next call waits for it.
            libc::EINPROGRESS | libc::EALREADY => {
                if connection.judge(Call::Connect, libc::EAGAIN, &mut waiting_since)?.is_some() {
                    return Ok(false);
                }
            }
            libc::EINTR => {}
            _ if lane.phase().load() >= TAIL => return Ok(false),
            errno => return Err(lane.failed(Call::Connect.name(), errno)),
        }
    }
}
