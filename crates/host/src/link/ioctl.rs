//! Ethtool's ioctl, for the driver's version and counters and the hash, which netlink lacks.

use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use words::DeviceSetting;

use crate::error::Error;
use crate::kernel::attributes::{u32_at, u64_at};

// The most counters that are read. A card with 128 queues has some 13,000.
const MOST: usize = 16 << 10;

// Room for the answer: another program may add queues, and so counters, meanwhile.
const ROOM: usize = 4 * MOST;

// Bytes of a name (`ETH_GSTRING_LEN`).
const NAME: usize = 32;

// `ETHTOOL_GDRVINFO`, `GSTRINGS`, `GSTATS`, `GSSET_INFO`, `GRXFH` and `SRXFH`.
const DRIVER: u32 = 0x03;
const NAMES: u32 = 0x1b;
const VALUES: u32 = 0x1d;
const COUNT: u32 = 0x37;
const GET_FLOW_HASH: u32 = 0x29;
const SET_FLOW_HASH: u32 = 0x2a;
// `ETH_SS_STATS`.
const COUNTERS: u32 = 1;

// Fields of a packet by its kind (`linux/ethtool.h`). Netlink has them since Linux 6.17 only.
const FLOW_HASHES: [(DeviceSetting, u32); 4] = [
    (DeviceSetting::FlowHashTcp4, 1),
    (DeviceSetting::FlowHashUdp4, 2),
    (DeviceSetting::FlowHashTcp6, 5),
    (DeviceSetting::FlowHashUdp6, 6),
];

/// The version of an interface's driver, its firmware and its bus.
pub(crate) fn driver_info(interface: &str) -> [Option<String>; 3] {
    // `struct ethtool_drvinfo`: command, five texts (the driver first), 12 bytes, five numbers.
    let room = 4 + 5 * NAME + 12 + 5 * 4;
    let answer = open().and_then(|socket| request(&socket, interface, encoded(&[DRIVER]), room));
    [1, 2, 3].map(|index| {
        let start = 4 + index * NAME;
        let text = name(&answer.as_ref().ok()?[start..start + NAME]);
        Some(text).filter(|text| !text.is_empty() && text != "N/A")
    })
}

pub(crate) fn counter_names(socket: &OwnedFd, interface: &str) -> Option<Vec<String>> {
    // `struct ethtool_sset_info`: command, reserved, mask of sets, a number for each set.
    let count = request(socket, interface, encoded(&[COUNT, 0, 1 << COUNTERS, 0, 0]), 0).ok()?;
    let expected = u32_at(&count, 16).filter(|_| u32_at(&count, 8) == Some(1 << COUNTERS))?;
    if expected == 0 || expected as usize > MOST {
        return None;
    }
    // `struct ethtool_gstrings`: the command, the set, the number of names, the names.
    let names = encoded(&[NAMES, COUNTERS, expected]);
    let names = request(socket, interface, names, 12 + ROOM * NAME).ok()?;
    let found = (u32_at(&names, 8)? as usize).min(MOST);
    Some(names[12..12 + found * NAME].chunks_exact(NAME).map(name).collect())
}

/// The values of these many counters.
pub(crate) fn counter_values(socket: &OwnedFd, interface: &str, count: usize) -> Option<Vec<u64>> {
    // `struct ethtool_stats`: the command, the number of values, the values.
    let values = encoded(&[VALUES, u32::try_from(count).ok()?]);
    let values = request(socket, interface, values, 8 + ROOM * 8).ok()?;
    // With another number of queues the driver has other counters than those that were named.
    if u32_at(&values, 4)? as usize != count {
        return None;
    }
    (1..=count).map(|place| u64_at(&values, 8 * place)).collect()
}

pub(crate) fn flow_hashes(interface: &str) -> impl Iterator<Item = (DeviceSetting, u32)> {
    let socket = open().ok();
    FLOW_HASHES.into_iter().filter_map(move |(setting, flow)| {
        let answer = request(socket.as_ref()?, interface, flow_hash(GET_FLOW_HASH, flow, 0), 0);
        Some((setting, fields(&answer.ok()?)?))
    })
}

pub(crate) fn set_flow_hash(
    interface: &str,
    setting: DeviceSetting,
    fields: u32,
) -> Option<Result<(), Error>> {
    let (_, flow) = FLOW_HASHES.into_iter().find(|(one, _)| *one == setting)?;
    let message = flow_hash(SET_FLOW_HASH, flow, fields.into());
    let done = open().and_then(|socket| request(&socket, interface, message, 0));
    Some(done.map(drop).map_err(|errno| {
        let why = match errno {
            Errno::EPERM => "; it needs root, or CAP_NET_ADMIN",
            Errno::EINVAL | Errno::EOPNOTSUPP => "; the driver cannot select a queue by these fields",
            _ => "",
        };
        Error::from(format!("the kernel says {errno}{why}"))
    }))
}

/// The first members of `struct ethtool_rxnfc`: the command, the packets, 64 bits of fields.
fn flow_hash(command: u32, flow: u32, fields: u64) -> Vec<u8> {
    [encoded(&[command, flow]), fields.to_ne_bytes().to_vec()].concat()
}

fn fields(message: &[u8]) -> Option<u32> {
    u64_at(message, 8)?.try_into().ok()
}

fn encoded(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_ne_bytes()).collect()
}

fn name(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    words::sanitised_line(String::from_utf8_lossy(&bytes[..end]).trim()).into_owned()
}

pub(crate) fn open() -> nix::Result<OwnedFd> {
    socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)
}

/// Asks the driver of an interface. The message begins with the command; it gets at least `room`
/// bytes, enough for the longest answer to it, and is returned as the answer.
fn request(socket: &OwnedFd, interface: &str, mut message: Vec<u8>, room: usize) -> nix::Result<Vec<u8>> {
    if interface.len() >= libc::IFNAMSIZ {
        return Err(Errno::ENODEV);
    }
    message.resize(message.len().max(room), 0);
    let mut request = about(interface);
    request.ifr_ifru.ifru_data = message.as_mut_ptr().cast();
    // SAFETY: the message lives until the call returns, and has room for more than the kernel
    // writes: for counters four times as many as are read at most.
    let answered = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL as _, &raw mut request) };
    Errno::result(answered).map(|_| message)
}

pub(crate) fn about(interface: &str) -> libc::ifreq {
    // SAFETY: `struct ifreq` is plain numbers, for which all bits zero are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(interface.bytes()) {
        *to = libc::c_char::from_ne_bytes([from]);
    }
    request
}

#[cfg(test)]
mod tests {
    use words::DeviceForm;

    use super::*;

    #[test]
    fn a_message_is_the_kernels_structure() {
        let sent = flow_hash(SET_FLOW_HASH, 2, 0xf0);
        assert_eq!(sent, [encoded(&[0x2a, 2]), 0xf0_u64.to_ne_bytes().to_vec()].concat());
        assert_eq!(fields(&sent), Some(0xf0));
        // Fields of a future kernel are not set back by a part of them.
        assert_eq!(fields(&flow_hash(GET_FLOW_HASH, 2, 1 << 40)), None);
    }

    #[test]
    fn every_setting_of_fields_has_its_packets() {
        for setting in DeviceSetting::ALL {
            let is_here = FLOW_HASHES.iter().any(|(one, _)| *one == setting);
            assert_eq!(is_here, setting.form() == DeviceForm::Fields, "{setting}");
        }
    }

    #[test]
    fn a_device_without_a_hash_has_none_and_refuses_one() {
        assert_eq!(flow_hashes("lo").chain(flow_hashes("a-name-that-is-too-long")).count(), 0);
        let refused =
            set_flow_hash("lo", DeviceSetting::FlowHashUdp4, 0xf0).unwrap().unwrap_err().to_string();
        assert!(refused.contains("EOPNOTSUPP") || refused.contains("EPERM"), "{refused}");
        assert!(set_flow_hash("lo", DeviceSetting::RxRing, 256).is_none());
    }

    #[test]
    fn a_name_ends_at_its_nul_and_has_no_control_characters() {
        assert_eq!(name(b"rx_queue_0_drops\0junk"), "rx_queue_0_drops");
        assert!(!name(b"a\x1b[2Jb\nc\0").contains(['\x1b', '\n']));
        assert_eq!(name(b"\0"), "");
        assert_eq!(name(&[b'x'; NAME]).len(), NAME);
    }

    #[test]
    fn an_interface_that_is_not_there_has_no_driver() {
        assert_eq!(driver_info("no-such-thing"), [None, None, None]);
        let socket = open().unwrap();
        assert!(counter_names(&socket, "no-such-thing").is_none());
        assert!(counter_names(&socket, "a-name-that-is-too-long").is_none());
    }
}
