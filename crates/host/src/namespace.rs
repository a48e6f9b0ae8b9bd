//! Entering namespaces, which separate the hosts of a testbed on one machine.
//!
//! All of these change the calling thread (or process) for good; an agent calls them first, while
//! it has one thread. The order is: [`enter_user`] or [`join_user`], [`new_net`] or [`join_net`],
//! [`mount_sysfs`], and [`die_with_parent`] after the user namespace: the kernel clears the death
//! signal when a process changes its user, or joins another user's user namespace (seen on Linux
//! 6.18; entering one's own, or one of the same user, keeps it).

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{getegid, geteuid, getppid};

use crate::error::Error;
use crate::privileges::Privileges;

/// Moves this process, of a single thread, into a new user namespace as root (user and group 0, all
/// capabilities), mapped to its user outside.
///
/// # Errors
/// With more than one thread; or the kernel's error, with the setting that forbids it.
pub fn enter_user() -> Result<(), Error> {
    let (user, group) = (geteuid(), getegid());
    let refused = |step: &str, errno: io::Error| user_refused(step, errno, &Privileges::read());
    // A process is not dumpable after a change of user without `exec`: then root owns its files in
    // `/proc`, so that it cannot write its maps (`EACCES`) and other agents cannot join it.
    prctl::set_dumpable(true).map_err(|errno| refused("make the process dumpable", errno.into()))?;
    unshare(CloneFlags::CLONE_NEWUSER).map_err(|errno| refused("make a user namespace", errno.into()))?;
    // Without privileges the group map may be written only after setgroups is denied.
    let maps = [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("0 {user} 1")),
        ("/proc/self/gid_map", format!("0 {group} 1")),
    ];
    for (path, text) in maps {
        // The kernel accepts these files only in a single write.
        std::fs::write(path, &text).map_err(|errno| refused(&format!("write {text:?} to {path}"), errno))?;
    }
    Ok(())
}

/// Moves this process, of a single thread, into the user namespace of this user's process `pid`.
pub fn join_user(pid: u32) -> Result<(), Error> {
    join("user", pid, CloneFlags::CLONE_NEWUSER)
}

/// Moves the calling thread, and its later children, into a new network namespace.
pub fn new_net() -> Result<(), Error> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(|errno| net_refused(errno, &Privileges::read()))
}

fn net_refused(errno: Errno, own: &Privileges) -> Error {
    // Where AppArmor restricts them, a user namespace can be made and has no capabilities.
    let is_powerless = errno == Errno::EPERM && own.in_user_namespace == Some(true);
    let way_out = own.apparmor().filter(|_| is_powerless).unwrap_or_else(|| {
        "it needs CAP_SYS_ADMIN: be root, or enter a user namespace first (the limit of them is `sysctl \
         user.max_net_namespaces`)"
            .to_owned()
    });
    Error::failed("cannot make a network namespace", errno, format!("; {way_out}"))
}

/// Moves the calling thread into another's network namespace; the same one needs no privilege.
pub fn join_net(pid: u32) -> Result<(), Error> {
    let name = |thread: &str| std::fs::read_link(format!("/proc/{thread}/ns/net")).ok();
    if name("thread-self").is_some_and(|own| name(&pid.to_string()) == Some(own)) {
        return Ok(());
    }
    join("net", pid, CloneFlags::CLONE_NEWNET)
}

/// Moves the calling thread into a mount namespace of its own and mounts a sysfs of its network
/// namespace on `/sys`. This hides tracing and debugging file systems there. Without root the
/// kernel refuses it in containers that cover parts of `/sys`.
pub fn mount_sysfs() -> Result<(), Error> {
    let refused = |step: &'static str| {
        move |errno: Errno| {
            let what = format!("cannot mount a sysfs of this network namespace: {step}");
            let way_out = "; receive work cannot be steered then (inside containers that cover parts of /sys this needs root)";
            Error::failed(what, errno, way_out)
        }
    };
    unshare(CloneFlags::CLONE_NEWNS).map_err(refused("make a mount namespace"))?;
    // Otherwise the mount would spread to the namespace that this one was copied from.
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(NOTHING, "/", NOTHING, private, NOTHING).map_err(refused("make the mounts private"))?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("sysfs"), "/sys", Some("sysfs"), flags, NOTHING).map_err(refused("mount it"))
}

/// Makes the kernel kill this process when the thread that started it ends. `parent` is its process
/// number, known before this one was started; it is an error if it is gone already.
pub fn die_with_parent(parent: u32) -> Result<(), Error> {
    prctl::set_pdeathsig(Signal::SIGKILL)
        .map_err(|errno| Error::failed("cannot request to be killed with the parent", errno, ""))?;
    // Checked after the request, so that an earlier death is not missed.
    let found = u32::try_from(getppid().as_raw()).unwrap_or(0);
    if found == parent {
        return Ok(());
    }
    // 0 is a parent outside of this process namespace.
    Err(format!("the process that started this one ({parent}) has exited; the parent is now {found}").into())
}

const NOTHING: Option<&str> = None;

fn join(kind: &str, pid: u32, flag: CloneFlags) -> Result<(), Error> {
    let refused = |errno: io::Error| {
        let what = format!("cannot join the {kind} namespace of process {pid}");
        Error::failed(what, errno, " (the process must run, and belong to the same user)")
    };
    let namespace = File::open(format!("/proc/{pid}/ns/{kind}")).map_err(refused)?;
    setns(namespace.as_fd(), flag).map_err(|errno| refused(errno.into()))
}

fn user_refused(step: &str, errno: io::Error, settings: &Privileges) -> Error {
    let way_out = match errno.raw_os_error().map(Errno::from_raw) {
        Some(Errno::ENOSPC | Errno::EUSERS) if settings.max_user_namespaces != Some(0) => {
            "the limit of user namespaces is reached: raise it with `sysctl user.max_user_namespaces`, or leave some of those \
             nested here"
                .to_owned()
        }
        _ => settings.obstacle().or_else(|| settings.apparmor()).unwrap_or_else(|| {
            "no setting forbids it, so a security module, a seccomp filter (a container's?) or a chroot does; run as root, or \
             outside of it"
                .to_owned()
        }),
    };
    Error::failed(format!("cannot {step}"), errno, format!("; {way_out}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_that_forbids_it_is_named() {
        let free = Privileges {
            user_namespaces: true,
            max_user_namespaces: Some(100),
            unprivileged_clone: None,
            apparmor_restricts: None,
            apparmor_profile: None,
            ..Privileges::read()
        };
        let off = Privileges { max_user_namespaces: Some(0), ..free.clone() };
        let debian = Privileges { unprivileged_clone: Some(false), ..free.clone() };
        let ubuntu = Privileges { apparmor_restricts: Some(true), ..free.clone() };
        let confined = Privileges { apparmor_profile: Some("docker-default".to_owned()), ..ubuntu.clone() };
        let without = Privileges { user_namespaces: false, ..free.clone() };
        for (errno, settings, text) in [
            (
                Errno::ENOSPC,
                &off,
                "cannot make a user namespace: No space left on device (os error 28); user namespaces are off: `sysctl \
                 user.max_user_namespaces=15000` allows them, or run as root",
            ),
            (Errno::ENOSPC, &free, "the limit of user namespaces is reached"),
            (Errno::EPERM, &debian, "kernel.unprivileged_userns_clone=1"),
            (Errno::EPERM, &ubuntu, "kernel.apparmor_restrict_unprivileged_userns=0"),
            (Errno::EACCES, &confined, "(profile `docker-default`): `sysctl kernel.apparmor_restrict"),
            (Errno::EPERM, &free, "seccomp"),
            (Errno::EINVAL, &without, "CONFIG_USER_NS"),
        ] {
            let refused = user_refused("make a user namespace", errno.into(), settings).to_string();
            assert!(refused.contains(text), "{refused}");
        }
        // The namespace was made.
        let of_userns = |in_user_namespace, settings: &Privileges| {
            let own = Privileges { in_user_namespace, ..settings.clone() };
            net_refused(Errno::EPERM, &own).to_string()
        };
        let powerless = of_userns(Some(true), &ubuntu);
        assert!(powerless.contains("kernel.apparmor_restrict_unprivileged_userns=0"), "{powerless}");
        for other in [of_userns(Some(true), &free), of_userns(Some(false), &ubuntu)] {
            assert!(other.contains("enter a user namespace first"), "{other}");
        }
    }
}
