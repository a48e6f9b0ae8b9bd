//! What can go wrong with a guest.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

/// Why there is no kernel, no guest, or no guest any more.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// QEMU is not in the `PATH`.
    #[error(
        "no {program} in the PATH: guests need it; on Debian: apt-get install --no-install-recommends qemu-system-x86"
    )]
    NoQemu {
        /// The program.
        program: &'static str,
    },
    /// Only x86-64 guests are made, by x86-64 machines.
    #[error("guests need an x86-64 machine, and this is {machine}")]
    Machine {
        /// What it is.
        machine: &'static str,
    },
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
    /// There is no such kernel.
    #[error(
        "no kernel {asked:?}: neither a file, nor a directory with boot/vmlinuz-*, nor a fetched package (`netassay kernel list` \
         shows those; `netassay kernel fetch {asked}` may bring it)"
    )]
    NoKernel {
        /// What was asked for.
        asked: String,
    },
    /// A directory holds no image, or several.
    #[error("{} holds {found}: give the path of the one that is meant", .directory.display())]
    Images {
        /// The directory.
        directory: PathBuf,
        /// What it holds.
        found: String,
    },
    /// The file is no kernel image.
    #[error("{} is no bootable x86 kernel image: give the path of a vmlinuz (bzImage)", .path.display())]
    NotAnImage {
        /// The file.
        path: PathBuf,
    },
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
    #[error("{} cannot become a guest's /init: {why}", .path.display())]
    Program {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A module file cannot be understood.
    #[error("the module {}: {why}", .path.display())]
    Module {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The kernel has no driver for a device that the guest must have.
    #[error(
        "the kernel {} has no {module}, neither built in nor in {}: a guest needs it for its {purpose}; {way_out}",
        .image.display(), .modules.display()
    )]
    NoDriver {
        /// The image.
        image: PathBuf,
        /// The module that is missing.
        module: String,
        /// What it is for.
        purpose: &'static str,
        /// The directory that was searched.
        modules: PathBuf,
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
    /// KVM was insisted on.
    #[error("KVM cannot run a guest here: {why}; acceleration = \"auto\" falls back to emulation")]
    NoKvm {
        /// Why.
        why: String,
    },
    /// QEMU could not be started.
    #[error("cannot start QEMU for the {name}: {step}: {source}")]
    Start {
        /// The guest.
        name: String,
        /// What was being done.
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
    /// The guest did not come to life in time.
    #[error("the {name} did not come to life within {} s\n{console}", .waited.as_secs())]
    Hung {
        /// The guest.
        name: String,
        /// How long was waited.
        waited: Duration,
        /// The console's last lines.
        console: String,
    },
    /// The guest's first process says that it cannot serve.
    #[error("the {name} started, but cannot serve: {why}\n{console}")]
    Init {
        /// The guest.
        name: String,
        /// Its words.
        why: String,
        /// The console's last lines.
        console: String,
    },
    /// QEMU ended.
    #[error("the {name}'s QEMU ended ({status})\n{console}")]
    Exited {
        /// The guest.
        name: String,
        /// How.
        status: String,
        /// The console's last lines, QEMU's own words among them.
        console: String,
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
    /// A program that `fetch` needs is missing.
    #[error(
        "no {program} in the PATH: packages are fetched with Debian's tools; elsewhere unpack a kernel package by hand and give \
         kernel = \"DIRECTORY\", which holds boot/vmlinuz-* and lib/modules"
    )]
    NoTool {
        /// The program.
        program: &'static str,
    },
    /// There is no such package, or it cannot be had.
    #[error("cannot fetch {package}: {why}")]
    Fetch {
        /// The package.
        package: String,
        /// What the tool said, and what helps.
        why: String,
    },
    /// There is nowhere to keep kernels.
    #[error("no place for fetched kernels: neither XDG_DATA_HOME nor HOME is set")]
    NoHome,
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    pub(crate) fn read(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Read { path, source }
    }

    pub(crate) fn write(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Write { path, source }
    }
}
