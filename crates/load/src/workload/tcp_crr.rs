//! A new TCP connection for each request and its answer.
//!
//! The receiver closes first: the closing end keeps the state for a minute (TIME-WAIT, RFC 9293,
//! section 3.6.1), which at the connecting end would use up 28,000 ports in a second. At the
//! receiver a new connection from the same port replaces the old state (tcp_timewait_state_process
//! in net/ipv4/tcp_minisocks.c).
//!
//! All receiving threads accept from one listener. Nobody can reach a thread's connections to wake
//! it, so threads wait in short turns ([`crate::socket::TICK`]) and check the phase themselves.

use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::time::Duration;

use socket2::{SockAddr, SockRef, Socket};
use words::Reader;

use super::source::RequestSource;
use crate::error::{Context, Error, Result, errno_of};
use crate::lane::{ABORT, Call, Lane, LaneResult, QUIET, Recorder, STOP, TAIL, Tally};
use crate::message::Buffer;
use crate::socket::{self, Applied, TICK, stall};
use crate::sys;

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
        None => run(caller, RequestSource::<false>::begin(lane)),
        Some(_) => {
            sys::sharpen_timers();
            run(caller, RequestSource::<true>::begin(lane))
        }
    }
}

// A transaction that is due during another waits for its end.
fn run<const OPEN: bool>(mut caller: Caller, mut source: RequestSource<OPEN>) -> Result<LaneResult> {
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
        if RequestSource::<OPEN>::counts(lane.phase(), meant) {
            latencies.record(now - meant);
        }
    }
    if caller.answered {
        caller.verify()?;
    }
    caller.end.unsent = source.end(sys::now(), lane.phase(), &mut latencies);
    Ok(LaneResult { latencies: vec![latencies], ..caller.end })
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
            self.end.sleeps(socket::poll_busily(&socket, time));
        }
        let connection = CrrConnection { socket, lane, over: QUIET };
        if !connect(&connection, &self.peer, tally)? {
            return Ok(false);
        }
        if self.end.applied.is_empty() {
            self.end.applied.push(Applied::read_as_asked(&connection.socket, &lane.traffic)?);
        }
        match connection.send(self.request.as_ref(), tally)? {
            MovedBytes::All => tally.arrived(1, lane.message as u64),
            MovedBytes::Over => return Ok(false),
            MovedBytes::Cut(_) => return connection.cut().map(|()| false),
        }
        match connection.receive(self.answer.as_mut(), tally)? {
            MovedBytes::Cut(got) if got == lane.response => tally.transaction(),
            MovedBytes::Cut(_) => return connection.cut().map(|()| false),
            MovedBytes::All => return Err(lane.damaged(lane.response, lane.response + 1)),
            MovedBytes::Over => return Ok(false),
        }
        if lane.traffic.busy_poll.is_some() && !self.end.slept {
            self.end.sleeps(socket::polled_nothing(&connection.socket));
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
    let socket = socket::open(&lane.traffic, lane.spec.local, WHAT)?;
    socket::keep_to(&socket, lane.spec.interface.as_deref(), WHAT)?;
    // A port that is free towards this peer is enough.
    socket::bind_later(&socket, SocketAddr::new(lane.spec.local, 0), WHAT)?;
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
        match errno_of(&error) {
            libc::EISCONN => return Ok(true),
            libc::EADDRNOTAVAIL => return Err(Error::no_port(lane.flow, lane.peer)),
            // In progress: the next call waits for it.
            libc::EINPROGRESS | libc::EALREADY => {
                if connection.judge(Call::CONNECT, libc::EAGAIN, &mut waiting_since)?.is_some() {
                    return Ok(false);
                }
            }
            libc::EINTR => {}
            _ if lane.phase().load() >= TAIL => return Ok(false),
            errno => return Err(lane.failed(Call::CONNECT.name, errno)),
        }
    }
}

pub(crate) fn receive(lane: &Lane) -> Result<LaneResult> {
    let socket = lane.socket();
    let listener = SockRef::from(&socket);
    let mut request = Buffer::room(lane.message);
    let answer = Buffer::pattern(lane.response);
    let mut tally = lane.tally();
    let mut end = LaneResult::default();
    lane.ready();
    let mut idle_since = sys::now();
    while lane.phase().load() < ABORT {
        match listener.accept() {
            Ok((socket, peer)) => {
                if peer.as_socket().map(|peer| peer.ip()) == Some(lane.peer.ip()) {
                    let connection = CrrConnection { socket, lane, over: ABORT };
                    serve(connection, request.as_mut(), answer.as_ref(), &mut tally, &mut end)?;
                } else {
                    // A close with a reset informs the other process at once, and leaves no state.
                    let _ = socket.set_linger(Some(Duration::ZERO));
                    end.rejected += 1;
                }
                idle_since = 0;
            }
            Err(error) => match error.raw_os_error() {
                Some(libc::EAGAIN) => {
                    let now = sys::now();
                    if idle_since == 0 {
                        idle_since = now;
                    }
                    if lane.phase().load() >= STOP && u128::from(now - idle_since) >= TICK.as_nanos() {
                        break;
                    }
                }
                // A connection that was reset while it waited has no request.
                Some(libc::EINTR | libc::ECONNABORTED) => {}
                _ if lane.phase().load() >= ABORT => break,
                _ => return Err(lane.failed("accept", errno_of(&error))),
            },
        }
    }
    if tally.messages > 0 {
        end.verified = lane.verify(request.as_ref(), 0, lane.message)?;
    }
    Ok(end)
}

// The client reads until the end of the stream, so the connection is closed here.
fn serve(
    connection: CrrConnection,
    request: &mut [u8],
    answer: &[u8],
    tally: &mut Tally,
    end: &mut LaneResult,
) -> Result<()> {
    let lane = connection.lane;
    if let Some(dscp) = lane.traffic.dscp {
        socket::prioritize(&connection.socket, lane.spec.local, dscp)?;
    }
    if end.applied.is_empty() {
        end.applied.push(Applied::read_as_asked(&connection.socket, &lane.traffic)?);
    }
    match connection.receive(request, tally)? {
        MovedBytes::All => tally.arrived(1, request.len() as u64),
        MovedBytes::Over => return Ok(()),
        MovedBytes::Cut(0) => {
            // It sent no request: a port scanner, or a transmitter that ended after connecting.
            end.rejected += u64::from(lane.phase().load() < TAIL);
            return Ok(());
        }
        MovedBytes::Cut(_) => return connection.cut(),
    }
    if lane.traffic.verify {
        lane.verify(request, 0, lane.message)?;
    }
    match connection.send(answer, tally)? {
        MovedBytes::All => tally.transaction(),
        MovedBytes::Over => return Ok(()),
        MovedBytes::Cut(_) => return connection.cut(),
    }
    // Only a socket that has received something knows the queue of its device.
    if lane.traffic.busy_poll.is_some() && !end.slept {
        end.sleeps(socket::polled_nothing(&connection.socket));
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MovedBytes {
    All,
    // The other end closed or reset the connection after this many bytes.
    Cut(usize),
    Over,
}

// It closes when it is dropped, which must be its last step.
struct CrrConnection<'a> {
    socket: Socket,
    lane: &'a Lane,
    over: u8,
}

impl CrrConnection<'_> {
    fn send(&self, bytes: &[u8], tally: &mut Tally) -> Result<MovedBytes> {
        let fd = self.socket.as_raw_fd();
        self.transfer(Call::SEND, bytes.len(), tally, |done| sys::send_flags(fd, &bytes[done..], 0))
    }

    /// Receives until `room` is full, or to the end of the stream.
    fn receive(&self, room: &mut [u8], tally: &mut Tally) -> Result<MovedBytes> {
        // A thread that spins receives what is there.
        let flags = if spins(self.lane) { libc::MSG_DONTWAIT } else { libc::MSG_WAITALL };
        let (fd, len) = (self.socket.as_raw_fd(), room.len());
        self.transfer(Call::RECV, len, tally, |done| sys::receive(fd, &mut room[done..], flags))
    }

    /// Repeats a call, which continues after the bytes that are done, until all of `len` are.
    #[inline(always)]
    fn transfer(
        &self,
        call: Call,
        len: usize,
        tally: &mut Tally,
        mut step: impl FnMut(usize) -> isize,
    ) -> Result<MovedBytes> {
        let (mut done, mut waiting_since) = (0, 0);
        loop {
            let moved = step(done);
            tally.call();
            if moved > 0 {
                (done, waiting_since) = (done + moved as usize, 0);
                if done == len {
                    return Ok(MovedBytes::All);
                }
            } else if moved == 0 {
                return Ok(MovedBytes::Cut(done));
            } else if let Some(end) = self.judge(call, sys::errno(), &mut waiting_since)? {
                // A reset has no count.
                return Ok(if matches!(end, MovedBytes::Cut(_)) { MovedBytes::Cut(done) } else { end });
            }
        }
    }

    // A transaction may be broken off after the window.
    fn cut(&self) -> Result<()> {
        if self.lane.phase().load() < TAIL { Err(self.lane.closed()) } else { Ok(()) }
    }

    /// `None`: again.
    #[cold]
    fn judge(&self, call: Call, errno: i32, waiting_since: &mut u64) -> Result<Option<MovedBytes>> {
        match errno {
            libc::EINTR => Ok(None),
            libc::EPIPE | libc::ECONNRESET => Ok(Some(MovedBytes::Cut(0))),
            // A timeout, or, for a thread that spins, nothing yet.
            libc::EAGAIN => {
                if self.lane.phase().load() >= self.over {
                    return Ok(Some(MovedBytes::Over));
                }
                let now = sys::now();
                if *waiting_since == 0 {
                    *waiting_since = now;
                }
                if u128::from(now - *waiting_since) >= stall(self.lane.flows()).as_nanos() {
                    return Err(self.lane.stalled(call.silence));
                }
                Ok(None)
            }
            _ if self.lane.phase().load() >= ABORT => Ok(Some(MovedBytes::Over)),
            _ => Err(self.lane.failed(call.name, errno)),
        }
    }
}

fn spins(lane: &Lane) -> bool {
    lane.traffic.reader == Reader::Spin
}
