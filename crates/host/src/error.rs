use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::kernel::netlink::Failure;

/// What can go wrong when looking at, or changing, this machine. Each message names the thing, the
/// place and, where there is one, the way out; the kernel's own words are in it, so that it can
/// cross the agent protocol as plain text.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// No netlink socket: no file descriptors left, or a sandbox forbids netlink.
    #[error("cannot open a netlink socket for {purpose}: {errno}")]
    Socket {
        /// What the socket was for.
        purpose: &'static str,
        /// The kernel's answer.
        errno: io::Error,
    },
    /// A name that no interface can have.
    #[error(
        "{name:?} cannot be the name of an interface: 1 to 15 bytes, not '.' or '..', without '/', ':' and white space"
    )]
    InterfaceName {
        /// The name as given.
        name: String,
    },
    /// The interface is not in the network namespace of the socket.
    #[error(
        "cannot {action}: no interface {name:?} in this network namespace (it was not created, or was removed)"
    )]
    NoInterface {
        /// What was being done.
        action: String,
        /// The interface asked for.
        name: String,
    },
    /// No interface has this link-layer address.
    #[error(
        "no interface here has the link-layer address {address} (there are: {found}): its device was not created, or this kernel has no driver for it"
    )]
    NoAddress {
        /// The address asked for.
        address: String,
        /// The interfaces that there are.
        found: String,
    },
    /// The kernel understood and refused.
    #[error("cannot {action}: {errno}{said}{hint}")]
    Refused {
        /// What was being done.
        action: String,
        /// The kernel's answer.
        errno: io::Error,
        /// The kernel's own sentence (extended acknowledgement), with its leading separator; empty
        /// without one.
        said: String,
        /// The way out, with its leading separator; empty if there is none to name.
        hint: &'static str,
    },
    /// Sending or receiving failed.
    #[error("cannot {action}: the netlink socket failed: {errno}")]
    Transport {
        /// What was being done.
        action: String,
        /// The kernel's answer.
        errno: io::Error,
    },
    /// The kernel's answer could not be read.
    #[error("cannot {action}: the kernel's answer is invalid: {why}")]
    Malformed {
        /// What was being done.
        action: String,
        /// What is wrong with the answer.
        why: String,
    },
    /// No generic netlink family `ethtool`.
    #[error(
        "this kernel has no ethtool over netlink: offload features need Linux 5.8 or newer, built with CONFIG_ETHTOOL_NETLINK"
    )]
    NoEthtool,
    /// An interface that does not come up.
    #[error(
        "interface {interface:?} has no carrier after {seconds} s: its other end was removed, or set down"
    )]
    NoCarrier {
        /// The interface.
        interface: String,
        /// How long was waited.
        seconds: u64,
    },
    /// A tunnel that is there already.
    #[error(
        "cannot make the VXLAN tunnel {interface:?}: this network namespace has an interface of that name, or a tunnel of network {id} on \
         UDP port {port}, already: delete it (`ip -d link show type vxlan` lists them), or use another network namespace"
    )]
    Tunnel {
        /// The tunnel's interface.
        interface: String,
        /// The network's number.
        id: u32,
        /// The UDP port.
        port: u16,
    },
    /// A tunnel's UDP port is taken.
    #[error(
        "cannot set the VXLAN tunnel {interface:?} up: UDP port {port} is in use in the network namespace of its underlay {underlay:?}: \
         stop the process that holds it (`ss -uapn sport = :{port}` names it)"
    )]
    TunnelPort {
        /// The tunnel's interface.
        interface: String,
        /// The UDP port.
        port: u16,
        /// The interface under the tunnel.
        underlay: String,
    },
    /// No tap.
    #[error(
        "cannot make the tap {name:?}: {step}: {errno}; it needs a kernel with CONFIG_TUN, the right to read and write /dev/net/tun \
         (`sudo chmod 0666 /dev/net/tun` gives it to all, as most distributions do) and CAP_NET_ADMIN over this network namespace"
    )]
    Tap {
        /// The tap.
        name: String,
        /// What was being done.
        step: &'static str,
        /// The kernel's answer.
        errno: io::Error,
    },
    /// No XDP program.
    #[error(
        "cannot load an XDP program: {errno}; it needs root (CAP_BPF and CAP_NET_ADMIN outside of any user namespace) and a \
         kernel with CONFIG_BPF_SYSCALL"
    )]
    Xdp {
        /// The kernel's answer.
        errno: io::Error,
    },
    /// A file of the kernel could not be read.
    #[error("cannot read {}: {errno}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The kernel's answer.
        errno: io::Error,
    },
    /// A file of the kernel does not hold what it should.
    #[error("cannot parse {path}: {why}")]
    Unreadable {
        /// The file.
        path: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// A CPU that this machine has not, or that is offline.
    #[error("CPU {cpu} is not online here (online: {online})")]
    NoCpu {
        /// The CPU asked for.
        cpu: u32,
        /// The online CPUs as a list.
        online: String,
    },
    /// Whether another session measures cannot be found out.
    #[error("cannot find out whether another netassay session measures on this machine: {errno}")]
    Turn {
        /// The kernel's answer.
        errno: io::Error,
    },
    /// The calling thread may not run on these CPUs.
    #[error("cannot pin this thread to CPUs {cpus}: {errno}; it may run on CPUs {allowed} (cpuset, taskset)")]
    Pin {
        /// The CPUs asked for, as a list.
        cpus: String,
        /// The CPUs the thread is allowed, as a list.
        allowed: String,
        /// The kernel's answer.
        errno: io::Error,
    },
}

impl Error {
    /// The errno the kernel answered with, where there was one.
    pub fn errno(&self) -> Option<i32> {
        match self {
            Self::Socket { errno, .. }
            | Self::Refused { errno, .. }
            | Self::Transport { errno, .. }
            | Self::Xdp { errno }
            | Self::Tap { errno, .. }
            | Self::Read { errno, .. }
            | Self::Pin { errno, .. } => errno.raw_os_error(),
            _ => None,
        }
    }

    /// Says what `failure` means for `action` on the interface `name`.
    pub(crate) fn netlink(action: impl Into<String>, name: &str, failure: Failure) -> Self {
        let action = action.into();
        match failure {
            Failure::Transport(errno) => Self::Transport { action, errno },
            Failure::Malformed(why) => Self::Malformed { action, why },
            Failure::Refused { errno, .. } if errno.raw_os_error() == Some(ENODEV) && !name.is_empty() => {
                Self::NoInterface { action, name: name.to_owned() }
            }
            Failure::Refused { errno, said } => {
                let hint = hint(errno.raw_os_error());
                let said = said.map(|text| format!(" (the kernel says: {text})")).unwrap_or_default();
                Self::Refused { action, errno, said, hint }
            }
        }
    }
}

const EPERM: i32 = nix::errno::Errno::EPERM as i32;
const ENODEV: i32 = nix::errno::Errno::ENODEV as i32;
const EACCES: i32 = nix::errno::Errno::EACCES as i32;
const EOPNOTSUPP: i32 = nix::errno::Errno::EOPNOTSUPP as i32;

/// The way out that holds for every netlink request refused with this errno.
fn hint(errno: Option<i32>) -> &'static str {
    match errno {
        Some(EPERM) => {
            "; it needs CAP_NET_ADMIN over this network namespace: be root, or own it in a user namespace"
        }
        // Only IPv6 answers so: an address on an interface where it is off.
        Some(EACCES) => "; IPv6 is off here: `sysctl net.ipv6.conf.all.disable_ipv6=0` turns it on",
        Some(EOPNOTSUPP) => "; this kernel is built without it, or its module is not loaded",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_action_the_errno_the_kernels_words_and_the_way_out() {
        let failure = Failure::Refused {
            errno: io::Error::from_raw_os_error(EPERM),
            said: Some("not for you".to_owned()),
        };
        let text = Error::netlink("set the MTU of v0 to 9000", "v0", failure).to_string();
        assert_eq!(
            text,
            "cannot set the MTU of v0 to 9000: Operation not permitted (os error 1) (the kernel says: not for you); it needs \
             CAP_NET_ADMIN over this network namespace: be root, or own it in a user namespace"
        );
    }

    #[test]
    fn a_missing_device_is_named() {
        let failure = Failure::Refused { errno: io::Error::from_raw_os_error(ENODEV), said: None };
        let error = Error::netlink("set up \"gone\"", "gone", failure);
        assert!(matches!(&error, Error::NoInterface { name, .. } if name == "gone"), "{error:?}");
        assert!(error.to_string().contains("no interface \"gone\""));
    }
}
