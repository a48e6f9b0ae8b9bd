//! Ethtool's ioctl, for settings that its netlink family does not have.

use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

const SIOCETHTOOL: u64 = 0x8946;

/// A socket of the network namespace of the calling thread.
pub(crate) fn open() -> nix::Result<OwnedFd> {
    socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)
}

/// Asks the driver of an interface. The buffer begins with the command, and must have room for the
/// longest answer to it.
///
/// # Errors
/// The kernel or the driver refuses.
pub(crate) fn request(socket: &OwnedFd, interface: &str, buffer: &mut [u8]) -> nix::Result<()> {
    #[repr(C)]
    struct Request {
        name: [u8; libc::IFNAMSIZ],
        data: *mut u8,
        rest: [u8; 16],
    }
    let mut name = [0; libc::IFNAMSIZ];
    let bytes = interface.as_bytes();
    if bytes.len() >= name.len() {
        return Err(Errno::ENODEV);
    }
    name[..bytes.len()].copy_from_slice(bytes);
    let mut request = Request { name, data: buffer.as_mut_ptr(), rest: [0; 16] };
    // SAFETY: `request` begins as `struct ifreq` with a pointer as its data, and is at least as
    // long; the buffer lives until the call returns, and has room for more than the kernel writes:
    // for counters four times as many as are read at most.
    let answered = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) };
    Errno::result(answered).map(drop)
}
