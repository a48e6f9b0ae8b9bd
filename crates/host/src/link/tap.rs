//! Taps: interfaces whose far end is a program, here a virtual machine.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::libc;

use crate::error::Error;
use crate::link::links::{Links, check_name};

const DEVICE: &str = "/dev/net/tun";

/// Makes a tap in the network namespace of the calling thread. It stays without a program, and ends
/// with the namespace.
///
/// With `IFF_VNET_HDR` it exchanges packets with unfinished checksums and segmentation with a
/// program that supports them: only then can the offloads of a guest's interface be switched.
///
/// # Errors
/// No `/dev/net/tun`, no right to it, or none to this network namespace; an interface of that name.
pub fn create_tap(name: &str) -> Result<(), Error> {
    check_name(name)?;
    let refused = |step: &str, errno: io::Error| {
        let way_out = "; it needs a kernel with CONFIG_TUN, read and write access to /dev/net/tun (`sudo chmod 0666 \
                       /dev/net/tun` gives it to all, as most distributions do) and CAP_NET_ADMIN over this network namespace";
        Error::failed(format!("cannot make the tap {name:?}: {step}"), errno, way_out)
    };
    let mut links = Links::open()?;
    // The kernel would give another program's tap.
    if links.find(name).is_ok() {
        return Err(format!("cannot make the tap {name:?}: an interface of that name is there").into());
    }
    let device = File::options().read(true).write(true).open(DEVICE);
    let device = device.map_err(|errno| refused("open /dev/net/tun", errno))?;
    // SAFETY: `struct ifreq` is plain numbers, for which all bits zero are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // At most 15 bytes, so that the last stays NUL.
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = libc::c_char::from_ne_bytes([from]);
    }
    // The flags are far below 2^15.
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
    // SAFETY: the request outlives the call, which reads it and writes the name back.
    let made = unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
    Errno::result(made).map_err(|errno| refused("make it", errno.into()))?;
    // The tap ends with this process until it is in netassay's group.
    links.set_group(name)?;
    // SAFETY: the argument is a plain number.
    let kept = unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETPERSIST, 1) };
    Errno::result(kept).map_err(|errno| refused("make it stay", errno.into()))?;
    Ok(())
}
