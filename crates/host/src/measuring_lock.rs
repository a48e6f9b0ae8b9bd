//! The lock that lets one measuring session at a time run on a machine.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::sys::stat::{major, minor};
use nix::unistd::geteuid;

use crate::error::{Error, LockHolder};
use crate::journal;
use crate::journal::directory::{in_user_namespace, lock, make, process};

const OF_ROOT: &str = "/run/netassay";

/// Takes the right to measure on this machine until the file is closed, or names the session that
/// has it: a locked file of root, or of the user, for this network namespace. Users cannot block
/// each other, and wait for root's session.
///
/// # Errors
/// If no directory can hold the file.
pub fn take_measuring_lock() -> Result<Result<File, LockHolder>, Error> {
    let name = network_file()?;
    let mut refused = None;
    let is_root = geteuid().is_root() && !in_user_namespace();
    if !is_root && let Some(holder) = holder_seen_from_outside(&Path::new(OF_ROOT).join(&name)) {
        return Ok(Err(holder));
    }
    for directory in directories(is_root) {
        match take_in(&directory, &name) {
            Ok(taken) => return Ok(taken),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    let why = match refused {
        Some(Error::Journal { path, errno, .. }) => format!("{}: {errno}", path.display()),
        Some(error) => error.to_string(),
        None => String::new(),
    };
    Err(Error::from(format!(
        "cannot find out whether another netassay session measures on this machine: {why}; --beside measures all the same"
    )))
}

/// Takes the right to measure for an agent on a machine of the user's, or names the session that
/// has it. `None`: nobody has it, and it is not taken: an agent that is not root's would leave a
/// file in somebody's home, and without `/run` there is no place that ends with the boot.
///
/// `session` names the controller's session: an earlier agent of it that is stuck is no other one.
///
/// # Errors
/// The session that has the right.
pub fn take_lock_of_root(session: &str) -> Result<Option<File>, LockHolder> {
    let Ok(name) = network_file() else { return Ok(None) };
    let signature = format!(", session {session}");
    if geteuid().is_root() && !in_user_namespace() {
        return match take_in(Path::new(OF_ROOT), &name) {
            Ok(Ok(mut file)) => {
                // Without it a stuck agent would be waited for.
                let _ = file.write_all(signature.as_bytes());
                Ok(Some(file))
            }
            Ok(Err(holder)) if !holder.0.ends_with(&signature) => Err(holder),
            Ok(Err(_)) | Err(_) => Ok(None),
        };
    }
    holder_seen_from_outside(&Path::new(OF_ROOT).join(&name)).map_or(Ok(None), Err)
}

fn take_in(directory: &Path, name: &str) -> Result<Result<File, LockHolder>, Error> {
    // Other users may look at root's file (`holder_seen_from_outside`), and not open it.
    make(directory, 0o711)?;
    lock(&directory.join(name))
}

/// The directories that may hold the file, the best first.
fn directories(is_root: bool) -> impl Iterator<Item = PathBuf> {
    let user = geteuid();
    let runtime = match std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from) {
        _ if is_root => PathBuf::from(OF_ROOT),
        Some(path) if path.is_absolute() => path.join("netassay"),
        _ => PathBuf::from(format!("/run/user/{user}/netassay")),
    };
    // A container may have neither: then only the last place is left.
    let state = journal::directory().ok().and_then(|undo| undo.parent().map(Path::to_owned));
    let temporary = PathBuf::from(format!("/tmp/netassay-turn-{user}"));
    [runtime].into_iter().chain(state).chain([temporary])
}

fn network_file() -> Result<String, Error> {
    const NETWORK: &str = "/proc/thread-self/ns/net";
    let network = fs::metadata(NETWORK).map_err(Error::unreadable(NETWORK))?;
    Ok(format!("turn-{}", network.ino()))
}

/// The process that holds root's lock.
fn holder_seen_from_outside(path: &Path) -> Option<LockHolder> {
    // This user cannot open the file, but can see it, and the kernel lists all processes' locks.
    let file = fs::symlink_metadata(path).ok()?;
    let id = format!("{:02x}:{:02x}:{}", major(file.dev()), minor(file.dev()), file.ino());
    let locks = fs::read_to_string("/proc/locks").ok()?;
    // proc_locks(5): number, FLOCK, ADVISORY, WRITE, process, file, range.
    let process = locks.lines().find_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let (kind, process, locked) = (words.next()?, words.nth(2)?, words.next()?);
        (kind == "FLOCK" && locked == id).then(|| process.parse().ok()).flatten()
    })?;
    Some(LockHolder(format!("{}, user root", self::process(process))))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn one_has_the_turn_and_the_others_learn_who() {
        let directory = tempfile::tempdir().unwrap();
        let take = |name: &str| take_in(directory.path(), name).unwrap();
        let turn = take("turn-1").unwrap();
        let holder = take("turn-1").unwrap_err().to_string();
        assert!(holder.starts_with(&format!("process {} (netassay_host-", std::process::id())), "{holder}");
        assert!(holder.contains("), user "), "{holder}");
        // Another user sees the same process.
        let path = directory.path().join("turn-1");
        let outside = holder_seen_from_outside(&path).unwrap().to_string();
        assert!(holder.starts_with(outside.trim_end_matches(", user root")), "{outside}");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "others could lock it");
        drop(take("turn-2").unwrap());
        drop(turn);
        assert_eq!(holder_seen_from_outside(&path), None);
        drop(take("turn-1").unwrap());
    }

    /// Each of them is refused at once, with its reason.
    #[test]
    fn what_others_put_in_the_place_of_the_turn_is_refused_and_left() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("target"), "text").unwrap();
        symlink(at("target"), at("link")).unwrap();
        nix::unistd::mkfifo(&at("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        fs::create_dir(at("directory")).unwrap();
        fs::write(at("open"), "").unwrap();
        fs::set_permissions(at("open"), PermissionsExt::from_mode(0o666)).unwrap();
        for (name, why) in [
            ("link", "symbolic link"),
            ("fifo", "not a regular file"),
            ("directory", "Is a directory"),
            ("open", "others may write it: mode 666"),
        ] {
            let error = take_in(directory.path(), name).unwrap_err().to_string();
            assert!(error.contains(why), "{name}: {error}");
        }
        assert_eq!(fs::read_to_string(at("target")).unwrap(), "text");
        let world = at("world");
        fs::create_dir(&world).unwrap();
        fs::set_permissions(&world, PermissionsExt::from_mode(0o777)).unwrap();
        let error = take_in(&world, "turn-1").unwrap_err().to_string();
        assert!(error.contains("others may write it: mode 777"), "{error}");
        assert!(!world.join("turn-1").exists());
    }
}
