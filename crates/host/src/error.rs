use std::fmt::Display;
use std::io;
use std::path::PathBuf;

use nix::errno::Errno;
use thiserror::Error;

use crate::kernel::netlink::Failure;

/// What can go wrong when looking at, or changing, this machine. Each message names the thing, the
/// place and, where there is one, the way out; the kernel's own words are in it, so that it can
/// cross the agent protocol as plain text.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
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
    /// A file of the kernel could not be read.
    #[error("cannot read {}: {errno}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The kernel's answer.
        errno: io::Error,
    },
    /// Anything else, which no caller tells apart.
    #[error("{what}")]
    Failed {
        /// What failed, why, and the way out.
        what: String,
        /// The number that the kernel answered with, where it did.
        errno: Option<i32>,
    },
}

impl From<String> for Error {
    fn from(what: String) -> Self {
        Self::Failed { what, errno: None }
    }
}

impl Error {
    /// The errno the kernel answered with, where there was one.
    pub fn errno(&self) -> Option<i32> {
        match self {
            Self::Read { errno, .. } => errno.raw_os_error(),
            Self::Failed { errno, .. } => *errno,
            Self::InterfaceName { .. } | Self::NoInterface { .. } => None,
        }
    }

    /// Says what failed, what the kernel answered, and (with its leading separator) the way out.
    pub(crate) fn failed(what: impl Display, errno: impl Into<io::Error>, way_out: impl Display) -> Self {
        let errno = errno.into();
        Self::Failed { what: format!("{what}: {errno}{way_out}"), errno: errno.raw_os_error() }
    }

    /// Says what `failure` means for `action` on the interface `name`.
    pub(crate) fn netlink(action: impl Into<String>, name: &str, failure: Failure) -> Self {
        let action = action.into();
        match failure {
            Failure::Transport(errno) => {
                Self::failed(format!("cannot {action}: the netlink socket failed"), errno, "")
            }
            Failure::Malformed(why) => {
                format!("cannot {action}: the kernel's answer is invalid: {why}").into()
            }
            Failure::Refused { errno, said } => {
                let number = errno.raw_os_error().map(Errno::from_raw);
                if number == Some(Errno::ENODEV) && !name.is_empty() {
                    return Self::NoInterface { action, name: name.to_owned() };
                }
                let said = said.map(|text| format!(" (the kernel says: {text})")).unwrap_or_default();
                Self::failed(format!("cannot {action}"), errno, said + hint(number))
            }
        }
    }
}

/// The way out that holds for every netlink request refused with this errno.
fn hint(errno: Option<Errno>) -> &'static str {
    match errno {
        Some(Errno::EPERM) => {
            "; it needs CAP_NET_ADMIN over this network namespace: be root, or own it in a user namespace"
        }
        // Only IPv6 answers so: an address on an interface where it is off.
        Some(Errno::EACCES) => "; IPv6 is off here: `sysctl net.ipv6.conf.all.disable_ipv6=0` turns it on",
        Some(Errno::EOPNOTSUPP) => "; this kernel is built without it, or its module is not loaded",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_action_the_errno_the_kernels_words_and_the_way_out() {
        let failure = Failure::Refused { errno: Errno::EPERM.into(), said: Some("not for you".to_owned()) };
        let error = Error::netlink("set the MTU of v0 to 9000", "v0", failure);
        assert_eq!(error.errno(), Some(1));
        assert_eq!(
            error.to_string(),
            "cannot set the MTU of v0 to 9000: Operation not permitted (os error 1) (the kernel says: not for you); it needs \
             CAP_NET_ADMIN over this network namespace: be root, or own it in a user namespace"
        );
    }

    #[test]
    fn a_missing_device_is_named() {
        let failure = Failure::Refused { errno: Errno::ENODEV.into(), said: None };
        let error = Error::netlink("set up \"gone\"", "gone", failure);
        assert!(matches!(&error, Error::NoInterface { name, .. } if name == "gone"), "{error:?}");
        assert!(error.to_string().contains("no interface \"gone\""));
    }
}
