//! Datagrams that the kernel or the device splits from one buffer (`UDP_SEGMENT`).

use std::os::fd::RawFd;

use crate::error::{Context, Errno, Error, Result};
use crate::lane::{Call, Lane, LoopStep};
use crate::sys;

/// The most datagrams of one buffer (`UDP_MAX_SEGMENTS` of linux/udp.h before 6.9, which doubled
/// it).
const MOST_SEGMENTS: usize = 64;
/// The most bytes of one buffer: those of a datagram over IPv4.
const MOST_BYTES: usize = 65_507;

pub(crate) fn segments(message: usize) -> usize {
    (MOST_BYTES / message).clamp(1, MOST_SEGMENTS)
}

/// Makes the kernel split all buffers of a flow's socket into datagrams of `message` bytes.
pub(crate) fn enable(fd: RawFd, message: usize, flow: usize) -> Result<()> {
    let size = libc::c_int::try_from(message).unwrap_or(libc::c_int::MAX);
    sys::set_option(fd, libc::SOL_UDP, libc::UDP_SEGMENT, size)
        .or_setup("setsockopt UDP_SEGMENT", crate::socket::flow(flow))
}

/// Judges a call that sent nothing: an error of the splitting names the path's MTU.
#[cold]
#[inline(never)]
pub(super) fn trouble(lane: &Lane, call: Call, returned: isize) -> Result<LoopStep> {
    let errno = sys::errno();
    let segmenting = lane.traffic.sender.segments();
    if segmenting && returned < 0 && matches!(errno, libc::EINVAL | libc::EMSGSIZE | libc::EIO) {
        let (call, message, peer, errno) = (call.name(), lane.message, lane.peer, Errno(errno));
        return Err(Error::flow(
            lane.flow,
            format!(
                "{call} of datagrams of {message} bytes, split from one buffer (UDP_SEGMENT), with {peer}: {errno}; {}",
                way_out(message, path_mtu(lane), errno)
            ),
        ));
    }
    if returned < 0 { lane.judge(call, errno) } else { lane.trouble(call, returned) }
}

/// Datagrams of a split buffer are never fragmented, so the MTU limits each. `most` is the result
/// of [`path_mtu`].
fn way_out(message: usize, most: Option<(u32, u32)>, errno: Errno) -> String {
    match most {
        Some((mtu, most)) if message > most as usize => format!(
            "the path's MTU is {mtu}: use a `message` of at most {most} bytes, a larger MTU, or the sender `send`"
        ),
        _ if errno.0 == libc::EIO => {
            "the device does not compute UDP checksums, or IPsec is on the path: turn transmit \
                                      checksumming on, or use the sender `send` or `sendmmsg`"
                .to_owned()
        }
        _ => "use the sender `send` or `sendmmsg`".to_owned(),
    }
}

/// The path's MTU, and the payload of the largest datagram that fits it.
fn path_mtu(lane: &Lane) -> Option<(u32, u32)> {
    let ipv6 = lane.peer.is_ipv6();
    // Only a connected socket knows its path, and the flow's may not be connected.
    let any = if ipv6 { "[::]:0" } else { "0.0.0.0:0" };
    let probe = std::net::UdpSocket::bind(any).ok()?;
    probe.connect(lane.peer).ok()?;
    let (level, name, headers) =
        if ipv6 { (libc::SOL_IPV6, libc::IPV6_MTU, 40 + 8) } else { (libc::SOL_IP, libc::IP_MTU, 20 + 8) };
    let mut mtu = [0; 4];
    sys::option(std::os::fd::AsRawFd::as_raw_fd(&probe), level, name, &mut mtu).ok()?;
    let mtu = u32::from_ne_bytes(mtu);
    Some((mtu, mtu.saturating_sub(headers)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_holds_what_the_kernel_takes() {
        assert_eq!(segments(18), 64);
        assert_eq!(segments(1472), 44);
        assert_eq!(segments(32_753), 2);
        assert_eq!(segments(32_754), 1);
        assert_eq!(segments(65_527), 1);
    }
}
