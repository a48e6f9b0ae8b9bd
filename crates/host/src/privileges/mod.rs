//! What this process may do, and giving up what it does not need.

mod least;

use serde::{Deserialize, Serialize};

pub use least::{
    Capability, close_inherited, gain_no_privileges, keep_capabilities, lower_bounds, open_files,
};

use crate::kernel::files::Files;

/// The privileges of this process, and whether it could get more inside a user namespace of its
/// own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Privileges {
    /// The effective user, as numbered in its user namespace.
    pub effective_uid: u32,
    /// Whether the process is inside a user namespace other than the machine's first; `None` if
    /// `/proc` does not tell.
    pub in_user_namespace: Option<bool>,
    /// Whether `CAP_NET_ADMIN` is effective: interfaces and features can be changed (in the network
    /// namespaces that the user namespace owns).
    pub net_admin: bool,
    /// Whether `CAP_SYS_ADMIN` is effective: namespaces can be made without a user namespace.
    pub sys_admin: bool,
    /// The lines of `/proc/self/uid_map`: first number inside, first number outside, count.
    pub uid_map: Vec<String>,
    /// What the machine's settings say about user namespaces.
    pub user_namespaces: UserNamespaces,
}

/// The settings that allow or forbid user namespaces to ordinary users.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserNamespaces {
    /// Whether the kernel has them at all (`/proc/self/ns/user`).
    pub supported: bool,
    /// `user.max_user_namespaces`: how many a user may have.
    pub max: Option<u64>,
    /// `kernel.unprivileged_userns_clone`, a switch of Debian's kernels.
    pub unprivileged_clone: Option<bool>,
    /// `kernel.apparmor_restrict_unprivileged_userns`, a switch of Ubuntu's kernels: when on, only
    /// programs with an AppArmor profile of their own get capabilities in one.
    pub apparmor_restricts: Option<bool>,
}

impl Privileges {
    /// Reads them.
    pub fn read() -> Self {
        Self::read_from(&Files::system(), nix::unistd::geteuid().as_raw())
    }

    fn read_from(files: &Files, effective_uid: u32) -> Self {
        let capabilities =
            files.text("proc/self/status").and_then(|text| effective_capabilities(&text)).unwrap_or(0);
        let uid_map: Vec<String> = files
            .text("proc/self/uid_map")
            .map(|text| {
                text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
            })
            .unwrap_or_default();
        Self {
            effective_uid,
            // The machine's first user namespace maps every number to itself.
            in_user_namespace: (!uid_map.is_empty()).then(|| uid_map != ["0 0 4294967295"]),
            net_admin: capabilities & CAP_NET_ADMIN != 0,
            sys_admin: capabilities & CAP_SYS_ADMIN != 0,
            uid_map,
            user_namespaces: UserNamespaces::read_from(files),
        }
    }

    /// Whether network namespaces can be made straight away, without a user namespace.
    pub fn privileged(&self) -> bool {
        self.net_admin && self.sys_admin
    }
}

impl UserNamespaces {
    /// Reads them.
    pub fn read() -> Self {
        Self::read_from(&Files::system())
    }

    fn read_from(files: &Files) -> Self {
        Self {
            supported: !files.names("proc/self/ns", "user").is_empty(),
            max: files.number("proc/sys/user/max_user_namespaces"),
            unprivileged_clone: files.switch("proc/sys/kernel/unprivileged_userns_clone"),
            apparmor_restricts: files.switch("proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
        }
    }

    /// What, by these settings, keeps an ordinary user from having one, with the way out; `None` if
    /// nothing does. Seccomp filters and security modules can still forbid it: only trying tells.
    pub fn obstacle(&self) -> Option<&'static str> {
        if !self.supported {
            Some("this kernel has no user namespaces (CONFIG_USER_NS); run as root")
        } else if self.max == Some(0) {
            Some(
                "user namespaces are off: `sysctl user.max_user_namespaces=15000` allows them, or run as root",
            )
        } else if self.unprivileged_clone == Some(false) {
            Some(
                "user namespaces are for root only: `sysctl kernel.unprivileged_userns_clone=1` allows them to all users, or \
                 run as root",
            )
        } else if self.apparmor_restricts == Some(true) {
            Some(
                "AppArmor removes the capabilities in user namespaces: `sysctl \
                 kernel.apparmor_restrict_unprivileged_userns=0` or an AppArmor profile with `userns,` allows them, or run as \
                 root",
            )
        } else {
            None
        }
    }
}

/// From `linux/capability.h`.
const CAP_NET_ADMIN: u64 = 1 << 12;
const CAP_SYS_ADMIN: u64 = 1 << 21;

fn effective_capabilities(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::files::fixture::files;

    #[test]
    fn root_on_the_machine_and_an_ordinary_user_are_told_apart() {
        let (_keep, root) = files(&[
            ("proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\n"),
            ("proc/self/uid_map", "         0          0 4294967295\n"),
            ("proc/self/ns/user", ""),
        ]);
        let root = Privileges::read_from(&root, 0);
        assert_eq!(root.in_user_namespace, Some(false));
        assert!(root.privileged());

        let (_keep, user) = files(&[
            ("proc/self/status", "CapEff:\t0000000000001000\n"),
            ("proc/self/uid_map", "         0       1000          1\n"),
        ]);
        let user = Privileges::read_from(&user, 0);
        assert_eq!(user.in_user_namespace, Some(true));
        assert_eq!(user.uid_map, ["0 1000 1"]);
        assert!(user.net_admin && !user.sys_admin && !user.privileged());
    }

    #[test]
    fn the_first_obstacle_to_a_user_namespace_is_named_with_the_way_out() {
        let free = UserNamespaces { supported: true, max: Some(100), ..UserNamespaces::default() };
        assert_eq!(free.obstacle(), None);
        let off = UserNamespaces { max: Some(0), ..free.clone() };
        assert!(off.obstacle().unwrap().contains("user.max_user_namespaces=15000"));
        let debian = UserNamespaces { unprivileged_clone: Some(false), ..free.clone() };
        assert!(debian.obstacle().unwrap().contains("kernel.unprivileged_userns_clone=1"));
        let ubuntu = UserNamespaces { apparmor_restricts: Some(true), ..free.clone() };
        assert!(ubuntu.obstacle().unwrap().contains("kernel.apparmor_restrict_unprivileged_userns=0"));
        let none = UserNamespaces { supported: false, ..free };
        assert!(none.obstacle().unwrap().contains("CONFIG_USER_NS"));
    }

    #[test]
    fn this_process_is_read() {
        let privileges = Privileges::read();
        assert!(!privileges.uid_map.is_empty());
        assert!(privileges.user_namespaces.supported);
    }
}
