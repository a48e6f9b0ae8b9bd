//! Interfaces that discard the packets sent through them, to measure the cost of sending alone.

use std::net::IpAddr;
use std::os::fd::AsRawFd as _;

use nix::libc;

use crate::error::Error;
use crate::kernel::attributes::{encode, number};
use crate::kernel::bpf::{Program, load_return};
use crate::kernel::netlink::CREATE_NEW;
use crate::link::links::Links;
use crate::link::neighbours::Neighbour;

words::vocabulary! {
    /// The device of a discarding interface, the least work per packet first. All count a packet as
    /// sent (`tx_packets`) before it is freed.
    pub enum DiscardDevice: "a discarding device" {
        /// The kernel's own `dummy` device: its transmit function counts and frees.
        Dummy = "dummy";
        /// A bridge without ports: it counts, finds no port, and frees.
        Bridge = "bridge";
        /// A veth whose far end's XDP program drops everything, without the 14 bytes of the
        /// Ethernet header (Linux 6.18). This costs most, and needs root in the machine's first
        /// user namespace.
        VethXdp = "veth-xdp";
    }
}

// The neighbour behind a discarding interface: locally administered, no device has it.
const NOBODY: [u8; 6] = [0x02, 0x00, 0x5e, 0x10, 0x00, 0x02];

impl Links {
    /// Makes an interface that discards packets sent through it: the first of
    /// [`DiscardDevice::ALL`] that this kernel has, or `asked`. It is down and has no address yet.
    /// Returns its device, with the kernel's errors for the devices that were tried before it.
    ///
    /// # Errors
    /// The kernel's error for `asked`, or for the last one tried.
    pub fn create_discard(
        &mut self,
        name: &str,
        asked: Option<DiscardDevice>,
    ) -> Result<(DiscardDevice, Vec<String>), Error> {
        let mut refused = Vec::new();
        for device in asked.map_or_else(|| DiscardDevice::ALL.to_vec(), |device| vec![device]) {
            match self.make(name, device) {
                Ok(()) => return Ok((device, refused.iter().map(Error::to_string).collect())),
                Err(error) => refused.push(error),
            }
        }
        Err(refused.pop().expect("at least one device was tried"))
    }

    /// Adds a permanent neighbour behind the interface, so that the kernel never resolves it.
    pub fn add_neighbour_behind_discard(&mut self, name: &str, address: IpAddr) -> Result<(), Error> {
        let neighbour = Neighbour::new(self.find(name)?.index, address, NOBODY.to_vec());
        let action = format_args!("add the neighbour {address} to interface {name:?}");
        self.change(libc::RTM_NEWNEIGH, &neighbour.permanent(), CREATE_NEW, name, action)
    }

    fn make(&mut self, name: &str, device: DiscardDevice) -> Result<(), Error> {
        match device {
            DiscardDevice::Dummy => self.create(name, "dummy", &[], &[], format_args!("")),
            DiscardDevice::Bridge => self.create_bridge(name),
            DiscardDevice::VethXdp => self.make_veth_xdp(name),
        }?;
        self.quiet_ipv6(name)
    }

    fn make_veth_xdp(&mut self, name: &str) -> Result<(), Error> {
        let far = format!("{name}-far");
        self.create_veth(name, &far, std::process::id())?;
        let dropping = self.quiet_ipv6(&far).and_then(|()| drop_all(self, &far));
        // Otherwise the pair would stay, although its maker was told that there is none.
        if let Err(error) = dropping.and_then(|()| self.set_up(&far)) {
            self.delete(name)?;
            return Err(error);
        }
        Ok(())
    }
}

fn drop_all(links: &mut Links, name: &str) -> Result<(), Error> {
    let program = load_return(Program::Xdp, XDP_DROP).map_err(|errno| {
        let way_out = "; it needs root (CAP_BPF and CAP_NET_ADMIN outside of any user namespace) and a kernel with \
                       CONFIG_BPF_SYSCALL";
        Error::failed("cannot load an XDP program", errno, way_out)
    })?;
    // The interface holds the program: its descriptor may be closed at the end.
    let descriptor = encode(&[(IFLA_XDP_FD, number(program.as_raw_fd().cast_unsigned()))]);
    let action = format_args!("make interface {name:?} drop all received packets (XDP)");
    links.set(name, (libc::IFLA_XDP, descriptor), action)
}

const XDP_DROP: i32 = 1;
const IFLA_XDP_FD: u16 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back_and_are_serdes() {
        for device in DiscardDevice::ALL {
            assert_eq!(device.to_string().parse::<DiscardDevice>().unwrap(), device);
            assert_eq!(serde_json::to_value(device).unwrap(), device.to_string());
        }
        assert!("null".parse::<DiscardDevice>().unwrap_err().to_string().contains("bridge"));
    }
}
