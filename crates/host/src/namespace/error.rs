use std::io;

use nix::errno::Errno;
use thiserror::Error;

use crate::privileges::UserNamespaces;

/// Why a namespace could not be entered.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NamespaceError {
    /// The kernel moves only processes with one thread between user namespaces.
    #[error("cannot change the user namespace: this process has {threads} threads and may have only one")]
    Threads {
        /// How many it has.
        threads: usize,
    },
    /// No user namespace.
    #[error("cannot {step}: {errno}; {way_out}")]
    User {
        /// What was being done.
        step: String,
        /// The kernel's answer.
        errno: io::Error,
        /// What forbids it and how to allow it.
        way_out: &'static str,
    },
    /// No new network namespace.
    #[error(
        "cannot make a network namespace: {errno}; it needs CAP_SYS_ADMIN: be root, or enter a user namespace first \
         (the limit of them is `sysctl user.max_net_namespaces`)"
    )]
    Net {
        /// The kernel's answer.
        errno: io::Error,
    },
    /// Another process's namespace could not be joined.
    #[error(
        "cannot join the {kind} namespace of process {pid}: {errno} (the process must run, and belong to the same user)"
    )]
    Join {
        /// `user` or `net`.
        kind: &'static str,
        /// The other process.
        pid: u32,
        /// The kernel's answer.
        errno: io::Error,
    },
    /// No sysfs of this network namespace.
    #[error(
        "cannot mount a sysfs of this network namespace: {step}: {errno}; receive work cannot be steered then (inside \
         containers that cover parts of /sys this needs root)"
    )]
    Sysfs {
        /// What was being done.
        step: &'static str,
        /// The kernel's answer.
        errno: io::Error,
    },
    /// The signal at the parent's death could not be asked for.
    #[error("cannot request to be killed with the parent: {errno}")]
    DeathSignal {
        /// The kernel's answer.
        errno: io::Error,
    },
    /// The parent died before it could be watched.
    #[error("the process that started this one ({parent}) has exited; the parent is now {found}")]
    ParentGone {
        /// The parent expected.
        parent: u32,
        /// The parent found; 0 if it is outside this process namespace.
        found: u32,
    },
}

impl NamespaceError {
    /// Says what, by the machine's settings, made a step towards a user namespace fail.
    pub(super) fn user(step: String, errno: io::Error, settings: &UserNamespaces) -> Self {
        let way_out = match errno.raw_os_error().map(Errno::from_raw) {
            Some(Errno::ENOSPC | Errno::EUSERS) if settings.max != Some(0) => {
                "the limit of user namespaces is reached: raise it with `sysctl user.max_user_namespaces`, or leave some of \
                 those nested here"
            }
            Some(Errno::EINVAL) if !settings.supported => NOT_BUILT_IN,
            _ => settings.obstacle().unwrap_or(UNKNOWN),
        };
        Self::User { step, errno, way_out }
    }
}

const NOT_BUILT_IN: &str = "this kernel has no user namespaces (CONFIG_USER_NS); run as root";
const UNKNOWN: &str = "no setting forbids it, so a security module, a seccomp filter (a container's?) or a chroot does; run as \
                       root, or outside of it";

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(errno: Errno, settings: &UserNamespaces) -> String {
        NamespaceError::user("make a user namespace".to_owned(), errno.into(), settings).to_string()
    }

    #[test]
    fn the_setting_that_forbids_it_is_named() {
        let free = UserNamespaces { supported: true, max: Some(100), ..UserNamespaces::default() };
        let off = UserNamespaces { max: Some(0), ..free.clone() };
        assert_eq!(
            refused(Errno::ENOSPC, &off),
            "cannot make a user namespace: No space left on device (os error 28); user namespaces are off: `sysctl \
             user.max_user_namespaces=15000` allows them, or run as root"
        );
        assert!(refused(Errno::ENOSPC, &free).contains("the limit of user namespaces is reached"));
        let debian = UserNamespaces { unprivileged_clone: Some(false), ..free.clone() };
        assert!(refused(Errno::EPERM, &debian).contains("kernel.unprivileged_userns_clone=1"));
        let ubuntu = UserNamespaces { apparmor_restricts: Some(true), ..free.clone() };
        assert!(refused(Errno::EPERM, &ubuntu).contains("kernel.apparmor_restrict_unprivileged_userns=0"));
        assert!(refused(Errno::EPERM, &free).contains("seccomp"));
        assert!(refused(Errno::EINVAL, &UserNamespaces::default()).contains("CONFIG_USER_NS"));
    }
}
