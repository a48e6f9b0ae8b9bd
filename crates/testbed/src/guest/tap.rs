//! The tap of a guest's network card, passed to QEMU open: only root may open its device, and QEMU
//! runs as nobody.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};

/// A tap by its name, and the descriptor number under which QEMU finds it.
#[derive(Debug)]
pub(crate) struct Tap {
    /// Reserves the number, which the command line names before the tap can be opened.
    place: OwnedFd,
    name: [libc::c_char; libc::IFNAMSIZ],
    flags: libc::c_short,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct TapRequest {
    place: RawFd,
    name: [libc::c_char; libc::IFNAMSIZ],
    flags: libc::c_short,
}

impl Tap {
    /// The tap of this name; `header`: with the header for unfinished checksums and segments.
    pub(crate) fn named(name: &str, header: bool) -> io::Result<Self> {
        let mut bytes = [0; libc::IFNAMSIZ];
        if name.len() >= bytes.len() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        for (to, from) in bytes.iter_mut().zip(name.bytes()) {
            *to = libc::c_char::from_ne_bytes([from]);
        }
        let flags = libc::IFF_TAP | libc::IFF_NO_PI | if header { libc::IFF_VNET_HDR } else { 0 };
        // The flags are far below 2^15.
        Ok(Self { place: File::open("/dev/null")?.into(), name: bytes, flags: flags as libc::c_short })
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.place.as_raw_fd()
    }

    pub(crate) fn wanted(&self) -> TapRequest {
        TapRequest { place: self.fd(), name: self.name, flags: self.flags }
    }
}

/// Opens it in the network namespace of the calling process, between `fork` and `exec`: a device
/// belongs to the namespace that opened it. `exec` does not close it.
pub(crate) fn open(wanted: TapRequest) -> io::Result<()> {
    let check = |result: i32| if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) };
    // SAFETY: a text that ends with zero.
    let device = check(unsafe { libc::open(c"/dev/net/tun".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) })?;
    // SAFETY: `struct ifreq` is plain numbers, for which all bits zero are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name = wanted.name;
    request.ifr_ifru.ifru_flags = wanted.flags;
    // SAFETY: the request outlives the call, which reads it and writes the name back.
    check(unsafe { libc::ioctl(device, libc::TUNSETIFF, &raw mut request) })?;
    // SAFETY: two descriptors of this process; nobody uses the second yet.
    check(unsafe { libc::dup2(device, wanted.place) }).map(drop)
}
