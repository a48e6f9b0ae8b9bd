//! Tests that need a file system of their own: they run again, alone, in a child with a private
//! mount namespace.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const DIRECTORY: &str = "NETASSAY_TEST_DIRECTORY";

/// Runs the test `name` again in a child whose mounts are its own, after the shell commands
/// `mounts`, which know the directory as `$1`. Returns the directory in the child, where the test
/// goes on; in the parent the child has then passed, or this panics.
pub(crate) fn inside(name: &str, directory: &Path, mounts: &str) -> Option<PathBuf> {
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        return Some(PathBuf::from(directory));
    }
    if let Err(reason) = probe() {
        skip(name, &reason);
        return None;
    }
    let script = format!("set -e\n{mounts}\nshift\nexec \"$@\"");
    let output = unshare()
        .args(["sh", "-c", &script, "sh"])
        .arg(directory)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(DIRECTORY, directory)
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(output.status.success(), "in the namespace: {text}");
    assert!(text.contains("1 passed"), "the child ran no test: {text}");
    None
}

fn probe() -> Result<(), String> {
    let output = unshare().arg("true").stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }
}

fn unshare() -> Command {
    let mut command = Command::new("unshare");
    let is_root =
        std::fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0);
    if !is_root {
        command.arg("--map-root-user");
    }
    command.arg("--mount");
    command
}

fn skip(name: &str, reason: &str) {
    let line = format!("SKIPPED: {name}: no private mount namespace: {reason}");
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{line}");
    std::io::Write::write_all(&mut std::io::stderr(), format!("{line}\n").as_bytes()).unwrap();
}
