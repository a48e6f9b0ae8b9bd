use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use thiserror::Error;

use crate::kernel::netlink::NetlinkFailure;

/// Errors of this machine as text, with place and remedy, that can cross the agent protocol.
#[derive(Debug, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages of its variants say it")]
pub enum Error {
    #[error(
        "{name:?} cannot be the name of an interface: 1 to 15 bytes, not '.' or '..' and not '-' at its beginning, without '/', ':', white space and control characters"
    )]
    InterfaceName { name: String },
    #[error(
        "cannot {action}: no interface {name:?} in this network namespace (it was not created, or was removed)"
    )]
    NoInterface { action: String, name: String },
    #[error(transparent)]
    Name(#[from] words::names::NameError),
    #[error("{0}")]
    Gone(String),
    #[error("cannot {action} the undo journal {}: {errno}", path.display())]
    Journal { action: &'static str, path: PathBuf, errno: io::Error },
    #[error("{what}")]
    Failed { what: String, errno: Option<i32> },
}

/// The process that holds a lock, and its user.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct LockHolder(pub String);

impl From<String> for Error {
    fn from(what: String) -> Self {
        Self::Failed { what, errno: None }
    }
}

impl From<&str> for Error {
    fn from(what: &str) -> Self {
        what.to_owned().into()
    }
}

impl Error {
    /// The kernel's error number, if there is one.
    pub fn errno(&self) -> Option<i32> {
        if let Self::Failed { errno, .. } = self { *errno } else { None }
    }

    pub(crate) fn is_gone(&self) -> bool {
        matches!(self, Self::NoInterface { .. } | Self::Gone(_))
    }

    /// Whether a place of journals is closed to this user, so that no journal in it is ours.
    pub fn is_out_of_reach(&self) -> bool {
        matches!(self, Self::Journal { errno, .. } if errno.kind() == io::ErrorKind::PermissionDenied)
    }

    pub(crate) fn journal(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |errno| Self::Journal { action, path, errno }
    }

    pub(crate) fn foreign(path: &Path, why: &str) -> Self {
        Self::from(format!(
            "{} is rejected, because other users can change it ({why}): inspect it, then remove it or make it yours \
             (chown, chmod go-w)",
            path.display()
        ))
    }

    pub(crate) fn failed(what: impl Display, errno: impl Into<io::Error>, way_out: impl Display) -> Self {
        let errno = errno.into();
        Self::Failed { what: format!("{what}: {errno}{way_out}"), errno: errno.raw_os_error() }
    }

    pub(crate) fn unreadable(path: &str) -> impl FnOnce(io::Error) -> Self {
        move |errno| Self::failed(format_args!("cannot read {path}"), errno, "")
    }

    pub(crate) fn netlink(action: impl Display, name: &str, failure: NetlinkFailure) -> Self {
        match failure {
            NetlinkFailure::Transport(errno) => {
                Self::failed(format!("cannot {action}: the netlink socket failed"), errno, "")
            }
            NetlinkFailure::Malformed(why) => {
                format!("cannot {action}: the kernel's answer is invalid: {why}").into()
            }
            NetlinkFailure::Refused { errno, said } => {
                let number = errno.raw_os_error().map(Errno::from_raw);
                if number == Some(Errno::ENODEV) && !name.is_empty() {
                    return Self::NoInterface { action: action.to_string(), name: name.to_owned() };
                }
                let said = said.map(|text| format!(" (the kernel says: {text})")).unwrap_or_default();
                Self::failed(format!("cannot {action}"), errno, said + hint(number))
            }
        }
    }
}

fn hint(errno: Option<Errno>) -> &'static str {
    match errno {
        Some(Errno::EPERM) => {
            "; it needs CAP_NET_ADMIN over this network namespace: be root, or own it in a user namespace"
        }
        // Only IPv6 reports it: an address on an interface without IPv6.
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
        let failure =
            NetlinkFailure::Refused { errno: Errno::EPERM.into(), said: Some("not for you".to_owned()) };
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
        let failure = NetlinkFailure::Refused { errno: Errno::ENODEV.into(), said: None };
        let error = Error::netlink("set up \"gone\"", "gone", failure);
        assert!(matches!(&error, Error::NoInterface { name, .. } if name == "gone"), "{error:?}");
        assert!(error.to_string().contains("no interface \"gone\""));
    }
}
