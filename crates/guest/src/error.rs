//! What can go wrong with a guest.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use crate::patience::Hang;

/// Why there is no kernel, no guest, or no guest any more.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// QEMU, the program of this name, is not in the `PATH`.
    #[error(
        "no {0} in the PATH: guests need it; on Debian: apt-get install --no-install-recommends qemu-system-x86"
    )]
    NoQemu(&'static str),
    /// Only x86-64 guests are made, by x86-64 machines, and this is another.
    #[error("guests need an x86-64 machine, and this is {0}")]
    Machine(&'static str),
    /// The running kernel's image cannot be found.
    #[error(
        "no image of the running kernel {release} (looked for {looked}): give one with kernel = \"PATH\" in [guest], or fetch a \
         distribution's with `netassay kernel fetch linux-image-cloud-amd64` and give kernel = \"linux-image-cloud-amd64\""
    )]
    NoRunningImage {
        /// The running kernel's release.
        release: String,
        /// The paths looked at.
        looked: String,
    },
    /// There is no kernel that is called so.
    #[error(
        "no kernel {0:?}: neither a file, nor a directory with boot/vmlinuz-*, nor a fetched package (`netassay kernel list` \
         shows those; `netassay kernel fetch {0}` may download it)"
    )]
    NoKernel(String),
    /// A directory holds no image, or several.
    #[error("{} holds {found}: give the path of one kernel image", .directory.display())]
    Images {
        /// The directory.
        directory: PathBuf,
        /// What it holds.
        found: String,
    },
    /// The file is no kernel image.
    #[error("{} is no bootable x86 kernel image: give the path of a vmlinuz (bzImage)", .0.display())]
    NotAnImage(PathBuf),
    /// A file could not be read.
    #[error("cannot read {}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {}: {source}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The program for `/init` is no 64-bit ELF file.
    #[error("{} cannot be used as a guest's /init: {why}", .path.display())]
    Program {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A module file cannot be understood.
    #[error("cannot use the kernel module {}: {why}", .path.display())]
    Module {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The kernel lacks drivers for devices that the guest must have.
    #[error(
        "the kernel {} has no {lacking}, which a guest needs: neither built in nor {}; {way_out}",
        .image.display(), searched(.modules.as_deref(), .release.as_deref())
    )]
    NoDriver {
        /// The image.
        image: PathBuf,
        /// The modules that are missing, and what each is for.
        lacking: String,
        /// The directory that was searched, if there is one.
        modules: Option<PathBuf>,
        /// The kernel's release.
        release: Option<String>,
        /// What helps.
        way_out: &'static str,
    },
    /// The order contradicts itself.
    #[error("the {name} cannot be started: {why}")]
    Order {
        /// The guest.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// KVM was insisted on, and this is why it cannot be had.
    #[error("KVM cannot run a guest here: {0}; acceleration = \"auto\" falls back to emulation")]
    NoKvm(String),
    /// QEMU could not be started.
    #[error("cannot start QEMU for the {name}: cannot {step}: {source}")]
    Start {
        /// The guest.
        name: String,
        /// What could not be done.
        step: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// The guest's kernel panicked.
    #[error("the {name}'s kernel panicked: {what}\n{console}")]
    Panicked {
        /// The guest.
        name: String,
        /// The panic's own line.
        what: String,
        /// The console's last lines.
        console: String,
    },
    /// The guest's boot came to a stop.
    #[error("the {name} did not boot within {} s: {hang}\n{console}", .waited.as_secs())]
    Hung {
        /// The guest.
        name: String,
        /// How long was waited, by the clock.
        waited: Duration,
        /// What its virtual CPUs did meanwhile.
        hang: Hang,
        /// The console's last lines.
        console: String,
    },
    /// The guest's first process says that it cannot serve.
    #[error("the {name} booted, but its agent did not start: {why}\n{console}")]
    Init {
        /// The guest.
        name: String,
        /// Its words.
        why: String,
        /// The console's last lines.
        console: String,
    },
    /// The guest ended itself before it served, without a panic: a triple fault, or a command line
    /// that ends it.
    #[error("the {name} reset or powered off before it booted\n{console}")]
    Reset {
        /// The guest.
        name: String,
        /// The console's last lines.
        console: String,
    },
    /// QEMU ended.
    #[error("the {name}'s QEMU exited ({status})\n{console}")]
    Exited {
        /// The guest.
        name: String,
        /// How.
        status: String,
        /// Is that how QEMU ends when its guest does?
        well: bool,
        /// The console's last lines, QEMU's own words among them.
        console: String,
    },
    /// The guest did not boot, and did not when it was tried once more either.
    #[error("{second}\n{}", earlier(.first, .second))]
    Twice {
        /// Why not the first time.
        first: Box<Error>,
        /// Why not the second time.
        second: Box<Error>,
    },
    /// Threads could not be pinned.
    #[error("cannot pin the {name}'s virtual CPUs to CPUs {cpus:?}: {source}")]
    Pin {
        /// The guest.
        name: String,
        /// The CPUs.
        cpus: Vec<u32>,
        /// What the kernel said.
        source: io::Error,
    },
    /// The program of this name is missing, and `fetch` needs it.
    #[error(
        "no {0} in the PATH: netassay fetches packages with Debian's tools; on other systems unpack a kernel package by hand and give \
         kernel = \"DIRECTORY\", which holds boot/vmlinuz-* and lib/modules"
    )]
    NoTool(&'static str),
    /// There is no such package, or it cannot be had.
    #[error("cannot fetch {package}: {why}")]
    Fetch {
        /// The package.
        package: String,
        /// What the tool said, and what helps.
        why: String,
    },
    /// There is nowhere to keep kernels.
    #[error("cannot store fetched kernels: neither XDG_DATA_HOME nor HOME is set; set one")]
    NoHome,
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// Is it worth another try? A guest that panics, hangs or resets may do so once in many boots;
    /// what is wrong with an order or with this machine stays wrong.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Panicked { .. } | Self::Hung { .. } | Self::Reset { .. })
    }

    /// The error without the console's lines.
    #[must_use]
    pub fn reason(&self) -> String {
        self.to_string().lines().next().unwrap_or_default().to_owned()
    }

    pub(crate) fn read(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Read { path, source }
    }

    pub(crate) fn write(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Write { path, source }
    }
}

/// Where modules were searched; where there is no such place, what gives one.
fn searched(modules: Option<&Path>, release: Option<&str>) -> String {
    match modules {
        Some(directory) => format!("in {}", directory.display()),
        None => format!(
            "as modules (there is no lib/modules/{} beside it or on this machine): give the directory of an unpacked package or of \
             `make tar-pkg`, which has boot/ and lib/modules/",
            release.unwrap_or("RELEASE")
        ),
    }
}

/// What of a first failure the second does not tell.
fn earlier(first: &Error, second: &Error) -> String {
    // Times differ, and say nothing of the reason.
    let plain = |error: &Error| error.reason().replace(|c: char| c.is_ascii_digit(), "");
    if plain(first) == plain(second) {
        "it was booted twice, and failed for the same reason both times".to_owned()
    } else {
        format!("it was booted twice; the first time {first}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panicked(what: &str) -> Error {
        Error::Panicked { name: "guest".to_owned(), what: what.to_owned(), console: "  | x".to_owned() }
    }

    #[test]
    fn two_failures_are_both_told_and_the_same_one_once() {
        let twice =
            |first, second| Error::Twice { first: Box::new(first), second: Box::new(second) }.to_string();
        let same = twice(panicked("no init"), panicked("no init"));
        assert_eq!(same.matches("no init").count(), 1, "{same}");
        assert!(same.ends_with("\nit was booted twice, and failed for the same reason both times"), "{same}");
        let other = twice(panicked("out of memory"), panicked("no init"));
        assert!(
            other.starts_with("the guest's kernel panicked: no init\n  | x\n")
                && other.ends_with("the first time the guest's kernel panicked: out of memory\n  | x"),
            "{other}"
        );
    }

    #[test]
    fn only_what_may_pass_is_worth_another_try() {
        assert!(panicked("no init").may_pass());
        assert!(!Error::NoHome.may_pass());
        let why = "no port".to_owned();
        assert!(!Error::Init { name: String::new(), why, console: String::new() }.may_pass());
    }
}
