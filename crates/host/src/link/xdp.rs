//! The smallest XDP program, `return XDP_DROP`, attached by netlink: no loader needed.

use std::os::fd::AsRawFd;

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkXdp};

use crate::error::Error;
use crate::kernel::bpf::{Program, load_return};
use crate::link::links::{Links, named};

/// Has the interface drop everything that arrives on it, before the network stack sees it. The
/// program lives as long as the interface.
///
/// # Errors
/// The kernel takes no program from this process, or the interface takes none.
pub(crate) fn drop_all(links: &mut Links, name: &str) -> Result<(), Error> {
    let program = load_return(Program::Xdp, XDP_DROP).map_err(|errno| {
        let way_out = "; it needs root (CAP_BPF and CAP_NET_ADMIN outside of any user namespace) and a kernel with \
                       CONFIG_BPF_SYSCALL";
        Error::failed("cannot load an XDP program", errno, way_out)
    })?;
    let mut message = named(name)?;
    message.attributes.push(LinkAttribute::Xdp(vec![LinkXdp::Fd(program.as_raw_fd())]));
    links.change(RouteNetlinkMessage::SetLink(message), 0, name, || {
        format!("have interface {name:?} drop what arrives (XDP)")
    })
}

const XDP_DROP: i32 = 1;
