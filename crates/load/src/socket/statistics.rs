//! The kernel's view of a socket: queues and drops, and TCP's options and statistics.

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use serde::{Deserialize, Serialize};
use socket2::{Socket, Type};

use crate::error::{Context, Result};
use crate::sys::{self, check};

// Each field: how those of two connections are combined, and its offset in `struct tcp_info` of
// linux/tcp.h, which only grows at its end.
macro_rules! tcp_info {
    ($($(#[doc = $doc:literal])+ $field:ident: $type:ty = $combined:ident $read:ident $at:literal;)+) => {
        /// Statistics of one TCP connection over its whole life, from `TCP_INFO`. A field that an
        /// older kernel lacks is 0.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct TcpInfo {
            $($(#[doc = $doc])+ pub $field: $type,)+
        }

        impl TcpInfo {
            pub(crate) fn read(socket: &Socket) -> Option<Self> {
                info(socket).ok().map(|raw| Self::parse(&raw))
            }

            pub(crate) fn and(self, other: &Self) -> Self {
                Self { $($field: self.$field.$combined(other.$field)),+ }
            }

            fn parse(raw: &[u8]) -> Self {
                Self { $($field: $read(raw, $at).into()),+ }
            }
        }
    };
}

tcp_info! {
    /// Segments retransmitted.
    retransmits: u64 = saturating_add u32_at 100;
    /// Segments that the peer received twice (RFC 2883): retransmitted needlessly.
    duplicates: u64 = saturating_add u32_at 216;
    /// Times that reordering was detected.
    reorderings: u64 = saturating_add u32_at 220;
    /// Payload bytes retransmitted.
    retransmitted_bytes: u64 = saturating_add u64_at 208;
    /// Segments sent. A segment that an offload splits counts as its parts.
    segments_out: u64 = saturating_add u32_at 136;
    /// Segments received.
    segments_in: u64 = saturating_add u32_at 140;
    /// Largest payload of a segment sent, bytes.
    mss: u32 = min u32_at 16;
    /// Smoothed round-trip time, µs.
    rtt_us: u32 = max u32_at 68;
    /// The congestion window, segments.
    congestion_window: u32 = min u32_at 80;
    /// Time with data to send, µs.
    busy_us: u64 = saturating_add u64_at 168;
    /// Part of it limited by the receiver's window, µs.
    receiver_limited_us: u64 = saturating_add u64_at 176;
    /// Part of it limited by this end's send buffer, µs.
    buffer_limited_us: u64 = saturating_add u64_at 184;
}

/// Sums over readings of `TCP_INFO`, one per connection; [`TcpReadings::mean`] tells the mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpReadings {
    /// The number of readings.
    pub count: u64,
    /// Smoothed round-trip times, µs.
    pub rtt_us: u64,
    /// Congestion windows, segments.
    pub congestion_window: u64,
}

impl TcpReadings {
    pub(crate) fn read(&mut self, socket: &Socket) {
        let Some(info) = TcpInfo::read(socket) else { return };
        self.count += 1;
        self.rtt_us += u64::from(info.rtt_us);
        self.congestion_window += u64::from(info.congestion_window);
    }

    fn zip(&self, other: &Self, combine: fn(u64, u64) -> u64) -> Self {
        Self {
            count: combine(self.count, other.count),
            rtt_us: combine(self.rtt_us, other.rtt_us),
            congestion_window: combine(self.congestion_window, other.congestion_window),
        }
    }

    /// The readings after `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        self.zip(earlier, u64::saturating_sub)
    }

    /// The readings of both.
    pub fn plus(&self, other: &Self) -> Self {
        self.zip(other, u64::saturating_add)
    }

    /// Whether nothing was read.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The mean of one of the sums; `None` without a reading.
    pub fn mean(&self, sum: u64) -> Option<f64> {
        (self.count > 0).then(|| sum as f64 / self.count as f64)
    }
}

/// The options of a TCP connection, negotiated or local.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpApplied {
    /// The congestion control by its kernel name.
    pub congestion_control: String,
    /// Whether small segments are sent at once (`TCP_NODELAY`).
    pub nodelay: bool,
    /// Largest payload of a segment sent, bytes.
    pub mss: u32,
    /// The window scales: the peer's, and this end's.
    pub window_scales: [u8; 2],
    /// Whether segments carry timestamps.
    pub timestamps: bool,
    /// Whether selective acknowledgments were negotiated (SACK).
    pub sack: bool,
    /// Whether explicit congestion notification was negotiated.
    pub ecn: bool,
}

impl TcpApplied {
    pub(crate) fn read(socket: &Socket) -> Result<Self> {
        const WHAT: &str = "a connected socket";
        let name = socket.tcp_congestion().or_setup("getsockopt TCP_CONGESTION", WHAT)?;
        // The kernel fills its name up with zeros.
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        let raw = info(socket).or_setup("getsockopt TCP_INFO", WHAT)?;
        // `TCPI_OPT_*` of linux/tcp.h.
        let agreed = |bit: u8| raw.get(5).is_some_and(|options| options & bit != 0);
        // Two bit fields of four bits, the first one in the lower half.
        let scales = raw.get(6).copied().unwrap_or(0);
        Ok(Self {
            congestion_control: String::from_utf8_lossy(name).into_owned(),
            nodelay: socket.tcp_nodelay().or_setup("getsockopt TCP_NODELAY", WHAT)?,
            mss: u32_at(&raw, 16),
            window_scales: [scales & 15, scales >> 4],
            timestamps: agreed(1),
            sack: agreed(2),
            ecn: agreed(8),
        })
    }
}

fn info(socket: &Socket) -> std::io::Result<Vec<u8>> {
    // The kernel fills what it knows; fields behind those that are read here are cut off.
    let mut raw = vec![0u8; 256];
    let len = sys::option(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, &mut raw)?;
    raw.truncate(len);
    Ok(raw)
}

fn u32_at(raw: &[u8], at: usize) -> u32 {
    raw.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u32::from_ne_bytes(*bytes))
}

fn u64_at(raw: &[u8], at: usize) -> u64 {
    raw.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}

// `SIOCOUTQ`: unacknowledged bytes for TCP, queued ones for UDP. A TCP connection that the peer has
// reset still counts bytes in transit, which nobody acknowledges: it has 0 here.
pub(crate) fn unsent_to_a_peer(socket: &Socket) -> io::Result<u64> {
    let is_gone = socket.r#type()? == Type::STREAM && socket.peer_addr().is_err();
    if is_gone { Ok(0) } else { bytes(socket.as_raw_fd(), libc::TIOCOUTQ) }
}

pub(crate) fn unread(fd: RawFd) -> io::Result<u64> {
    bytes(fd, libc::FIONREAD)
}

// `TIOCOUTQ` and `FIONREAD` are other names of these requests.
fn bytes(fd: RawFd, request: libc::Ioctl) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: both requests write one int through the pointer.
    let done = unsafe { libc::ioctl(fd, request, &raw mut bytes) };
    check(done).map(|_| u64::try_from(bytes).unwrap_or(0))
}

// Modulo 2^32, as the kernel counts them.
pub(crate) fn drops(socket: &Socket) -> u32 {
    // The last of the nine numbers of `SO_MEMINFO` (linux/sock_diag.h, SK_MEMINFO_DROPS).
    const DROPS: usize = 8;
    let mut words = [0u8; 4 * (DROPS + 1)];
    match sys::option(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_MEMINFO, &mut words) {
        Ok(len) if len == words.len() => {
            let [.., a, b, c, d] = words;
            u32::from_ne_bytes([a, b, c, d])
        }
        // Drops that are not known are among the unaccounted datagrams.
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    #[test]
    fn a_real_connection_is_described() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut receiver = listener.accept().unwrap().0;
        sender.write_all(&[1; 100_000]).unwrap();
        receiver.read_exact(&mut [0; 100_000]).unwrap();
        let info = TcpInfo::read(&sender.into()).unwrap();
        assert!(info.mss > 1000 && info.mss < 65_536, "{info:?}");
        assert!(info.segments_out >= 3 && info.segments_in >= 2, "{info:?}");
        assert!(info.rtt_us < 10_000_000 && info.congestion_window > 0, "{info:?}");
        assert!(info.receiver_limited_us <= info.busy_us, "{info:?}");
    }

    #[test]
    fn an_old_kernels_shorter_answer_reads_as_zeros() {
        let raw = [1u8; 104];
        let info = TcpInfo::parse(&raw);
        assert_eq!(info.retransmits, 0x0101_0101);
        assert_eq!((info.segments_out, info.busy_us), (0, 0));
        assert_eq!(TcpInfo::parse(&raw[..102]).retransmits, 0);
    }

    /// A transaction's end would wait for this in vain: a request to a peer that has just ended is
    /// reset.
    #[test]
    fn a_connection_that_was_reset_has_nothing_left_to_send() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut here = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        drop(listener.accept().unwrap());
        std::thread::sleep(Duration::from_millis(20));
        here.write_all(&[1]).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        let here = Socket::from(here);
        assert_eq!(
            (bytes(here.as_raw_fd(), libc::TIOCOUTQ).unwrap(), unsent_to_a_peer(&here).unwrap()),
            (1, 0)
        );
    }
}
