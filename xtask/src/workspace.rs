//! Where things are, and how programs are started there.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;
use crate::process;

/// The checked-out repository and its build directory.
pub(crate) struct Workspace {
    /// The root of the repository.
    pub(crate) root: PathBuf,
    /// `target`.
    pub(crate) target: PathBuf,
    /// `target/<triple>`, where `debug` and `release` are: the workspace always builds for a named
    /// target.
    pub(crate) built: PathBuf,
    /// True when `CI=true`: then nothing may be skipped.
    pub(crate) ci: bool,
}

impl Workspace {
    /// Finds the workspace from the environment that `cargo run` gives.
    pub(crate) fn find() -> Result<Workspace, Failure> {
        let start_me =
            || Failure::Check("start me as `cargo xtask`: I find the workspace through cargo".into());
        let manifest = env::var_os("CARGO_MANIFEST_DIR").ok_or_else(start_me)?;
        let root = Path::new(&manifest).parent().ok_or_else(start_me)?.to_path_buf();
        let me = env::current_exe().map_err(Failure::io("cannot find my own binary"))?;
        // target/<triple>/debug/xtask
        let built = me.ancestors().nth(2).ok_or_else(start_me)?.to_path_buf();
        let target = built.parent().ok_or_else(start_me)?.to_path_buf();
        Ok(Workspace { root, target, built, ci: env::var_os("CI").is_some_and(|value| value == "true") })
    }

    /// A program that starts in the root of the repository, with the administrator's directories in
    /// its `PATH`.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).env("PATH", search_path());
        // What `cargo run` says about the package xtask is not true of the programs started here,
        // and build scripts that look at it would run again.
        for (name, _) in env::vars_os() {
            if about_this_package(&name.to_string_lossy()) {
                command.env_remove(name);
            }
        }
        command
    }

    /// The cargo that started us. CI builds once: what cargo would keep to build faster the next
    /// time doubles the build directory, and a full disk shows as a linker that dies of SIGBUS.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".into());
        let mut command = self.command(&cargo);
        command.args(arguments);
        if self.ci {
            command.env("CARGO_INCREMENTAL", "0");
        }
        command
    }

    /// True when cargo has the subcommand `name` (`cargo-name` in the `PATH`).
    pub(crate) fn has_cargo(&self, name: &str) -> bool {
        find_program(&format!("cargo-{name}")).is_some()
    }

    /// The files that git tracks and that are there, relative to the root, in git's order. Links
    /// are left out.
    pub(crate) fn tracked_files(&self) -> Result<Vec<String>, Failure> {
        let mut git = self.command("git");
        git.args(["ls-files", "-z"]);
        let names = process::output(&mut git)?;
        let is_file = |name: &&str| {
            self.root.join(name).symlink_metadata().is_ok_and(|metadata| metadata.file_type().is_file())
        };
        Ok(names.split('\0').filter(|name| !name.is_empty()).filter(is_file).map(str::to_owned).collect())
    }
}

/// The first file of that name in the search path.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    env::split_paths(&search_path()).map(|directory| directory.join(name)).find(|path| path.is_file())
}

/// The same command, run only while nothing else wants a CPU (`SCHED_IDLE`, sched(7)); where `chrt`
/// is not there, as it is.
pub(crate) fn giving_way(command: Command) -> Command {
    let Some(chrt) = find_program("chrt") else { return command };
    let mut under = Command::new(chrt);
    under.args(["--idle", "0"]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => under.env(name, value),
            None => under.env_remove(name),
        };
    }
    if let Some(directory) = command.get_current_dir() {
        under.current_dir(directory);
    }
    under
}

/// `PATH`, and the directories of the administrator's programs: Debian leaves them out for ordinary
/// users.
fn search_path() -> OsString {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut directories: Vec<PathBuf> = env::split_paths(&path).collect();
    for extra in ["/usr/local/sbin", "/usr/sbin", "/sbin"] {
        if !directories.iter().any(|directory| directory == Path::new(extra)) {
            directories.push(extra.into());
        }
    }
    env::join_paths(directories).unwrap_or(path)
}

fn about_this_package(name: &str) -> bool {
    ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_path_has_the_administrators_programs() {
        let path = search_path();
        assert!(env::split_paths(&path).any(|directory| directory == Path::new("/usr/sbin")));
    }

    #[test]
    fn what_gives_way_is_the_same_command() {
        let mut command = Command::new("sh");
        command.args(["-c", "printf '%s %s ' \"$A\" \"$PWD\"; chrt -p $$"]).env("A", "a").current_dir("/");
        let said = process::output(&mut giving_way(command)).unwrap();
        assert!(said.starts_with("a / ") && said.contains("SCHED_IDLE"), "{said}");
    }

    #[test]
    fn programs_are_found_by_name() {
        assert!(find_program("sh").is_some());
        assert!(find_program("no-such-program-here").is_none());
    }

    #[test]
    fn only_what_cargo_says_of_this_package_is_hidden() {
        assert!(about_this_package("CARGO_PKG_VERSION"));
        assert!(!about_this_package("CARGO_TERM_COLOR"));
        assert!(!about_this_package("CARGO_HOME"));
    }
}
