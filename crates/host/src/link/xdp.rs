//! The smallest XDP program, `return XDP_DROP`, attached by netlink, without a loader.

use std::os::fd::AsRawFd;

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkXdp};

use crate::error::Error;
use crate::kernel::bpf::{Program, load_return};
use crate::link::links::{Links, named};

/// Makes the interface drop all received packets before the network stack. The program lives as
/// long as the interface.
///
/// # Errors
/// The kernel or the interface rejects the program.
pub(crate) fn drop_all(links: &mut Links, name: &str) -> Result<(), Error> {
    let program = load_return(Program::Xdp, XDP_DROP).map_err(|errno| {
        let way_out = "; it needs root (CAP_BPF and CAP_NET_ADMIN outside of any user namespace) and a kernel with \
                       CONFIG_BPF_SYSCALL";
        Error::failed("cannot load an XDP program", errno, way_out)
    })?;
    let mut message = named(name)?;
    message.attributes.push(LinkAttribute::Xdp(vec![LinkXdp::Fd(program.as_raw_fd())]));
    links.change(RouteNetlinkMessage::SetLink(message), 0, name, || {
        format!("make interface {name:?} drop all received packets (XDP)")
    })
}

const XDP_DROP: i32 = 1;
