//! The sockets of both ends, used by one thread.

use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::time::Duration;

use socket2::{SockAddr, Socket};
use words::{Kind, Reader, Sender, Traffic};

use crate::error::{Context, Error, Result, errno_of};
use crate::message::Buffer;
use crate::socket::{self, Applied};
use crate::spec::Spec;
use crate::workload::udp_stream::receive::Merged;
use crate::workload::udp_stream::send::{self, DatagramWriter as _};

// A message has arrived when its sending returns, or waits for one timer of the kernel.
pub(super) const LOST: Duration = Duration::from_secs(5);

// Ports that the kernel chose would change places in its tables. Both are below its range.
const PORTS: [u16; 2] = [5471, 5472];

// TCP's own sizes, and window updates with them, depend on round-trip times and timer ticks.
const BUFFER: u32 = 1 << 20;

// The most charged for a datagram beside twice its bytes: the kernel allocates powers of two.
const CHARGE: u64 = 2048;

fn steady(traffic: &Traffic) -> Traffic {
    let size = if traffic.kind.is_udp() {
        let buffers = if traffic.sender == Sender::Sendmmsg { send::Many::BUFFERS } else { 1 };
        let datagrams = buffers * send::datagrams_in_buffer(traffic.sender, traffic.message as usize);
        let waiting = datagrams as u64 * (2 * u64::from(traffic.message) + CHARGE);
        u32::try_from(waiting).ok().filter(|bytes| *bytes > BUFFER / 2)
    } else {
        Some(BUFFER)
    };
    Traffic { socket_buffer: traffic.socket_buffer.or(size), ..traffic.clone() }
}

/// The receiving socket, which stays in the network namespace of the thread that opened it.
#[derive(Debug)]
pub struct ReceivingEnd {
    socket: Socket,
    address: SocketAddr,
}

impl ReceivingEnd {
    /// Opens it in the network namespace of the calling thread.
    ///
    /// # Errors
    /// An invalid workload or address.
    pub fn open(spec: &Spec) -> Result<Self> {
        spec.validate()?;
        spec.traffic.validate_exact()?;
        let what = "the receiving end";
        let socket = socket::open(&steady(&spec.traffic), spec.local, what)?;
        let local = SocketAddr::new(spec.local, spec.traffic.port.unwrap_or(PORTS[0]));
        let address = socket::bind(&socket, local, what)?;
        if spec.traffic.reader == Reader::Gro {
            Merged::enable(socket.as_raw_fd(), 0)?;
        }
        if !spec.traffic.kind.is_udp() {
            socket.listen(1).or_setup("listen", what)?;
        }
        Ok(Self { socket, address })
    }

    fn join(self, traffic: &Traffic, from: SocketAddr) -> Result<Socket> {
        let what = "the receiving end";
        let socket = if traffic.kind.is_udp() {
            self.socket.connect(&from.into()).map_err(|e| flow("connect", from, &e))?;
            self.socket
        } else {
            let accepted = self.socket.accept().map_err(|e| flow("accept", from, &e))?.0;
            if let Some(dscp) = traffic.dscp {
                socket::prioritize(&accepted, self.address.ip(), dscp)?;
            }
            accepted
        };
        prepare(&socket, traffic, what)?;
        Ok(socket)
    }
}

pub(super) struct Ends {
    pub(super) source: Socket,
    pub(super) sink: Option<Socket>,
    pub(super) peer: SocketAddr,
    // `None` for connected sockets.
    pub(super) destination: Option<SockAddr>,
    // The sending one first.
    pub(super) applied: Vec<Applied>,
    // The longest message; the others begin with the same bytes.
    pub(super) pattern: Buffer,
}

impl Ends {
    pub(super) fn connect(
        spec: &Spec,
        receiver: Option<ReceivingEnd>,
        nobody: Option<SocketAddr>,
    ) -> Result<Self> {
        spec.validate()?;
        spec.traffic.validate_exact()?;
        let what = "the sending end";
        let steady = steady(&spec.traffic);
        let source = socket::open(&steady, spec.local, what)?;
        let local = socket::bind(&source, SocketAddr::new(spec.local, PORTS[1]), what)?;
        prepare(&source, &spec.traffic, what)?;
        let Some(peer) = receiver.as_ref().map(|receiver| receiver.address).or(nobody) else {
            return Err(Error::mismatch("receiver", "no address", "a receiver is required"));
        };
        if spec.traffic.connects(true) {
            source.connect_timeout(&peer.into(), socket::CONNECT).map_err(|e| flow("connect", peer, &e))?;
        }
        if spec.traffic.sender == Sender::Sendfile {
            // Its call has no flag for it.
            source.set_nonblocking(true).or_setup("fcntl O_NONBLOCK", what)?;
        }
        if spec.traffic.sender.segments() {
            send::enable_gso(source.as_raw_fd(), spec.traffic.message as usize, 0)?;
        }
        let sink = receiver.map(|receiver| receiver.join(&steady, local)).transpose()?;
        let both = [Some(&source), sink.as_ref()].into_iter().flatten();
        let applied = both.map(|one| Applied::read_as_asked(one, &steady)).collect::<Result<Vec<_>>>()?;
        let destination = (!spec.traffic.connected).then(|| peer.into());
        let pattern = Buffer::pattern(steady.message.max(steady.response) as usize);
        Ok(Self { source, sink, peer, destination, applied, pattern })
    }
}

fn prepare(socket: &Socket, traffic: &Traffic, what: &str) -> Result<()> {
    // As the sending end of any workload.
    if traffic.kind != Kind::Pps {
        socket::give_role(socket, traffic, true, what)?;
    }
    if !traffic.kind.is_udp() {
        // Closed with a reset: a lingering connection would block the ports of the next run.
        socket.set_linger(Some(Duration::ZERO)).or_setup("setsockopt SO_LINGER", what)?;
    }
    socket.set_read_timeout(Some(LOST)).or_setup("setsockopt SO_RCVTIMEO", what)
}

pub(super) fn flow(call: &'static str, peer: SocketAddr, error: &std::io::Error) -> Error {
    Error::call(0, call, peer, errno_of(error))
}
