//! One call of xtask: where files and programs are, and what was found.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::program::output;
use crate::report::Report;
use crate::test::Tier;

pub(crate) struct Session {
    /// The root of the repository.
    pub(crate) root: PathBuf,
    /// `target`.
    pub(crate) target: PathBuf,
    /// `target/<triple>`, where `debug` and `release` are: cargo always builds for a named target.
    pub(crate) built: PathBuf,
    /// `CI=true`: then nothing may be skipped.
    pub(crate) ci: bool,
    pub(crate) tier: Tier,
    pub(crate) report: Report,
}

impl Session {
    /// From the environment that `cargo run` gives.
    pub(crate) fn find() -> Result<Self> {
        let manifest = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
        let binary = env::current_exe().map_err(|error| format!("cannot find my own binary: {error}"))?;
        // target/<triple>/debug/xtask
        let (root, built) = (Path::new(&manifest).parent(), binary.ancestors().nth(2));
        let (Some(root), Some(built), Some(target)) = (root, built, built.and_then(Path::parent)) else {
            return Err("start me as `cargo xtask`".to_owned());
        };
        Ok(Self {
            root: root.to_owned(),
            target: target.to_owned(),
            built: built.to_owned(),
            ci: env::var_os("CI").is_some_and(|value| value == "true"),
            tier: Tier::Gate,
            report: Report::default(),
        })
    }

    /// A program that starts in the root of the repository, with the administrator's directories in
    /// its `PATH`.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(&self.root).env("PATH", search_path());
        // `cargo run` describes the package xtask; for other packages that is not true, and build
        // scripts that look at it would run again.
        for name in env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()) {
            if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|start| name.starts_with(start)) {
                command.env_remove(name);
            }
        }
        command
    }

    /// The cargo that started us; manifests outside the workspace share its build directory. CI
    /// builds once: what cargo would keep to build faster the next time doubles that directory, and
    /// a full disk shows as a linker that dies of SIGBUS.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
        command.args(arguments).env("CARGO_TARGET_DIR", &self.target);
        if self.ci {
            command.env("CARGO_INCREMENTAL", "0");
        }
        command
    }

    /// The files that git tracks and that are there, relative to the root. Links are left out.
    pub(crate) fn tracked_files(&self) -> Result<Vec<String>> {
        let names = output(self.command("git").args(["ls-files", "-z"]))?;
        let is_file = |name: &&str| {
            let metadata = self.root.join(name).symlink_metadata();
            metadata.is_ok_and(|metadata| metadata.file_type().is_file())
        };
        Ok(names.split('\0').filter(|name| !name.is_empty()).filter(is_file).map(str::to_owned).collect())
    }

    /// A file of the repository. Bytes that are no text are replaced.
    pub(crate) fn read(&self, name: &str) -> Result<String> {
        let bytes = fs::read(self.root.join(name)).map_err(|error| format!("cannot read {name}: {error}"))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

pub(crate) fn write(path: &Path, text: &str) -> Result {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

pub(crate) fn make_directory(path: &Path) -> Result {
    fs::create_dir_all(path).map_err(|error| format!("cannot make {}: {error}", path.display()))
}

/// A program by its name, in the search path.
pub(crate) fn has_program(name: &str) -> bool {
    env::split_paths(&search_path()).any(|directory| directory.join(name).is_file())
}

/// `PATH`, and the administrator's directories: Debian leaves them out for ordinary users.
fn search_path() -> OsString {
    let path = env::var_os("PATH").unwrap_or_default();
    let extra = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    env::join_paths(env::split_paths(&path).chain(extra)).unwrap_or(path)
}
