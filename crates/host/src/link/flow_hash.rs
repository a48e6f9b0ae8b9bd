//! The fields of a packet that select its receive queue (`ethtool -n` and `-N … rx-flow-hash`), by
//! ioctl: netlink has them since Linux 6.17 only (`ETHTOOL_A_RSS_FLOW_HASH` of
//! `ETHTOOL_MSG_RSS_GET` and `_SET`), and every kernel has the ioctl.

use nix::errno::Errno;
use words::DeviceSetting;

use crate::link::ioctl::{open, request};

// `ETHTOOL_GRXFH` and `ETHTOOL_SRXFH`.
const GET: u32 = 0x29;
const SET: u32 = 0x2a;

/// The packets of a setting (`TCP_V4_FLOW` and others of `linux/ethtool.h`); `None` for a setting
/// of another kind.
fn flow(setting: DeviceSetting) -> Option<u32> {
    match setting {
        DeviceSetting::FlowHashTcp4 => Some(1),
        DeviceSetting::FlowHashUdp4 => Some(2),
        DeviceSetting::FlowHashTcp6 => Some(5),
        DeviceSetting::FlowHashUdp6 => Some(6),
        _ => None,
    }
}

/// The hash fields of an interface; empty if its driver does not tell, or hashes nothing.
pub(crate) fn read(interface: &str) -> Vec<(DeviceSetting, u32)> {
    let Ok(socket) = open() else { return Vec::new() };
    let value = |setting: DeviceSetting| {
        let mut message = message(GET, flow(setting)?, 0);
        request(&socket, interface, &mut message).ok()?;
        Some((setting, fields(&message)?))
    };
    DeviceSetting::ALL.into_iter().filter_map(value).collect()
}

/// Sets the fields; `None` for a setting of another kind.
pub(crate) fn write(interface: &str, setting: DeviceSetting, fields: u32) -> Option<Result<(), String>> {
    let mut message = message(SET, flow(setting)?, fields.into());
    let done = open().and_then(|socket| request(&socket, interface, &mut message));
    Some(done.map_err(|errno| {
        let why = match errno {
            Errno::EPERM => "; it needs root, or CAP_NET_ADMIN",
            Errno::EINVAL | Errno::EOPNOTSUPP => "; the driver cannot select a queue by these fields",
            _ => "",
        };
        format!("the kernel says {errno}{why}")
    }))
}

/// The first members of `struct ethtool_rxnfc`, which are all that these two commands have: the
/// command, the packets, 64 bits of fields.
fn message(command: u32, flow: u32, fields: u64) -> [u8; 16] {
    let mut message = [0; 16];
    message[..4].copy_from_slice(&command.to_ne_bytes());
    message[4..8].copy_from_slice(&flow.to_ne_bytes());
    message[8..].copy_from_slice(&fields.to_ne_bytes());
    message
}

fn fields(message: &[u8; 16]) -> Option<u32> {
    let bytes = message[8..].try_into().ok()?;
    u32::try_from(u64::from_ne_bytes(bytes)).ok()
}

#[cfg(test)]
mod tests {
    use words::DeviceForm;

    use super::*;

    #[test]
    fn a_message_is_the_kernels_structure() {
        let sent = message(SET, flow(DeviceSetting::FlowHashUdp4).unwrap(), 0xf0);
        let words = [0x2a_u32, 2].map(u32::to_ne_bytes).concat();
        assert_eq!(sent[..], [words, 0xf0_u64.to_ne_bytes().to_vec()].concat());
        assert_eq!(fields(&sent), Some(0xf0));
        // Fields of a future kernel are not set back by a part of them.
        assert_eq!(fields(&message(GET, 2, 1 << 40)), None);
    }

    #[test]
    fn every_setting_of_fields_has_its_packets() {
        for setting in DeviceSetting::ALL {
            assert_eq!(flow(setting).is_some(), setting.form() == DeviceForm::Fields, "{setting}");
        }
    }

    #[test]
    fn a_device_without_a_hash_has_none_and_refuses_one() {
        assert!(read("lo").is_empty() && read("a-name-that-is-too-long").is_empty());
        let refused = write("lo", DeviceSetting::FlowHashUdp4, 0xf0).unwrap().unwrap_err();
        assert!(refused.contains("EOPNOTSUPP") || refused.contains("EPERM"), "{refused}");
        assert!(write("lo", DeviceSetting::RxRing, 256).is_none());
    }
}
