//! Privileges of this process, and dropping them: capabilities, ways to new ones, open files.

use std::io;
use std::os::fd::RawFd;

use nix::libc;
pub use rustix::thread::CapabilitySet;
use rustix::thread::{self, CapabilitySets};

use crate::kernel::files::{Machine, field, numbers};

/// The privileges of this process, and whether a user namespace of its own could give it more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Privileges {
    /// The effective ones; none if `/proc` does not show them.
    pub capabilities: CapabilitySet,
    /// Whether this is another user namespace than the machine's first; `None` if unknown.
    pub in_user_namespace: Option<bool>,
    /// Whether the kernel has user namespaces at all (`/proc/self/ns/user`).
    pub user_namespaces: bool,
    /// `user.max_user_namespaces`: the most per user.
    pub max_user_namespaces: Option<u64>,
    /// `kernel.unprivileged_userns_clone`, of Debian's kernels.
    pub unprivileged_clone: Option<bool>,
    /// `kernel.apparmor_restrict_unprivileged_userns`, of Ubuntu's kernels: when on, only programs
    /// with their own AppArmor profile get capabilities in one.
    pub apparmor_restricts: Option<bool>,
    /// Of this process, such as `unconfined`.
    pub apparmor_profile: Option<String>,
}

impl Privileges {
    /// Reads them.
    pub fn read() -> Self {
        Self::read_from(&Machine::system())
    }

    fn read_from(files: &Machine) -> Self {
        let status = files.text("proc/self/status").unwrap_or_default();
        let capabilities = field(&status, "CapEff").and_then(|mask| u64::from_str_radix(mask, 16).ok());
        let map = files.text("proc/self/uid_map");
        Self {
            capabilities: CapabilitySet::from_bits_retain(capabilities.unwrap_or(0)),
            // The machine's first user namespace maps every number to itself.
            in_user_namespace: map.map(|map| !map.split_whitespace().eq(["0", "0", "4294967295"])),
            user_namespaces: !files.names("proc/self/ns", "user").is_empty(),
            max_user_namespaces: files.number("proc/sys/user/max_user_namespaces"),
            unprivileged_clone: files.switch("proc/sys/kernel/unprivileged_userns_clone"),
            apparmor_restricts: files.switch("proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
            apparmor_profile: files.text("proc/self/attr/apparmor/current"),
        }
    }

    /// Whether network namespaces can be made and changed directly, without a user namespace.
    pub fn privileged(&self) -> bool {
        self.capabilities.contains(CapabilitySet::NET_ADMIN | CapabilitySet::SYS_ADMIN)
    }

    /// The setting that forbids user namespaces to an ordinary user, with the remedy. Seccomp
    /// filters and security modules may still forbid them: only a try tells.
    pub fn obstacle(&self) -> Option<String> {
        let settings = [
            (!self.user_namespaces, "this kernel has no user namespaces (CONFIG_USER_NS); run as root"),
            (
                self.max_user_namespaces == Some(0),
                "user namespaces are off: `sysctl user.max_user_namespaces=15000` allows them, or run as root",
            ),
            (
                self.unprivileged_clone == Some(false),
                "user namespaces are for root only: `sysctl kernel.unprivileged_userns_clone=1` allows them to all users, or \
                 run as root",
            ),
        ];
        let setting = settings.into_iter().find(|(forbids, _)| *forbids);
        // A program's own profile may allow them.
        let is_own = |profile: &String| !SHARED_PROFILES.iter().any(|name| profile.starts_with(name));
        let by_apparmor = || self.apparmor().filter(|_| !self.apparmor_profile.as_ref().is_some_and(is_own));
        setting.map(|(_, way_out)| way_out.to_owned()).or_else(by_apparmor)
    }

    /// The restriction, with profile and remedy: a user namespace can be made, and is powerless.
    pub(crate) fn apparmor(&self) -> Option<String> {
        let profile = self.apparmor_profile.as_ref().map(|profile| format!(" (profile `{profile}`)"));
        (self.apparmor_restricts == Some(true)).then(|| {
            format!(
                "AppArmor removes the capabilities in user namespaces{}: `sysctl \
                 kernel.apparmor_restrict_unprivileged_userns=0` or an AppArmor profile with `userns,` allows them, or run as \
                 root",
                profile.unwrap_or_default()
            )
        })
    }
}

// The profiles of programs without one of their own, outside of and inside a user namespace.
const SHARED_PROFILES: [&str; 2] = ["unconfined", "unprivileged_userns"];

/// Keeps the `needed` capabilities of the calling thread and of threads that it starts later, drops
/// all others for good, and prevents new ones (`NO_NEW_PRIVS`).
pub fn keep_capabilities(needed: CapabilitySet) -> io::Result<()> {
    let had = thread::capabilities(None)?;
    // Bounds first: lowering needs a capability; without it NO_NEW_PRIVS lets none be gained.
    if had.effective.contains(CapabilitySet::SETPCAP) {
        lower_bounds(needed)?;
    }
    let [effective, permitted] = [had.effective & needed, had.permitted & needed];
    // Programs that this thread runs inherit none.
    let inheritable = CapabilitySet::empty();
    thread::set_capabilities(None, CapabilitySets { effective, permitted, inheritable })?;
    gain_no_privileges()
}

/// Removes all capabilities except `kept` from what the calling thread, and programs that it runs,
/// can ever have. It may be called between `fork` and `exec`.
///
/// # Errors
/// `EPERM` without `CAP_SETPCAP`.
pub fn lower_bounds(kept: CapabilitySet) -> io::Result<()> {
    let all = (0..u64::BITS).map(|number| CapabilitySet::from_bits_retain(1 << number));
    for capability in all.filter(|capability| !kept.contains(*capability)) {
        match thread::capability_is_in_bounding_set(capability) {
            Ok(true) => thread::remove_capability_from_bounding_set(capability)?,
            Ok(false) => {}
            // This kernel has no more.
            Err(_) => break,
        }
    }
    Ok(())
}

/// Prevents new privileges by programs that the calling thread runs. It makes system calls only.
pub fn gain_no_privileges() -> io::Result<()> {
    Ok(nix::sys::prctl::set_no_new_privs()?)
}

/// Closes all files but the standard streams, at the start of a process that owns nothing yet.
///
/// # Errors
/// If `/proc` does not list the open files.
pub fn close_inherited() -> io::Result<()> {
    for fd in open_files()? {
        // SAFETY: nothing in this process owns it; the directory that listed it is closed already,
        // and closing it again is a harmless error.
        unsafe { libc::close(fd) };
    }
    Ok(())
}

/// The open files except standard input, output and error.
///
/// # Errors
/// If `/proc` does not list the open files.
pub fn open_files() -> io::Result<Vec<RawFd>> {
    let open: Vec<RawFd> = numbers("/proc/self/fd")?;
    Ok(open.into_iter().filter(|fd| *fd > libc::STDERR_FILENO).collect())
}

#[cfg(test)]
mod tests;
