//! Errors of guests.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use crate::guest::hang::Hang;

/// Why there is no kernel or no guest.
#[derive(Debug, Error)]
pub enum Error {
    /// QEMU, the program of this name, is not in the `PATH`.
    #[error(
        "no {0} in the PATH: guests need it; on Debian: apt-get install --no-install-recommends qemu-system-x86"
    )]
    NoQemu(&'static str),
    /// There is no kernel that is called so.
    #[error(
        "no kernel {0:?}: neither a file, nor a directory with boot/vmlinuz-*, nor a fetched package (`netassay kernel list` \
         shows those; `{fetch}` may download it)",
        fetch = words::shell_command(["netassay", "kernel", "fetch", .0])
    )]
    NoKernel(String),
    /// The file is no kernel image.
    #[error("{} is no bootable x86 kernel image: give the path of a vmlinuz (bzImage)", .0.display())]
    NotAnImage(PathBuf),
    /// A file could not be read.
    #[error("cannot read {}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {}: {source}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// KVM was insisted on, and this is why it cannot be had.
    #[error("KVM cannot run a guest here: {0}; acceleration = \"auto\" falls back to emulation")]
    NoKvm(String),
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
    #[error("the {name} did not boot within {} s: {hang}{}\n{console}", .waited.as_secs(), if *.packed { STILL_PACKED } else { "" })]
    Hung {
        /// The guest.
        name: String,
        /// The time since the start, by the clock.
        waited: Duration,
        /// The state of its virtual CPUs.
        hang: Hang,
        /// Whether it did not come as far as its kernel.
        packed: bool,
        /// The console's last lines.
        console: String,
    },
    /// The guest's work came to a stop.
    #[error("the {name} makes no progress: {hang}\n{console}")]
    Stuck {
        /// The guest.
        name: String,
        /// The state of its virtual CPUs.
        hang: Hang,
        /// The console's last lines.
        console: String,
    },
    /// The guest's first process cannot serve.
    #[error("the {name} booted, but its agent did not start: {why}\n{console}")]
    Init {
        /// The guest.
        name: String,
        /// Its reason.
        why: String,
        /// The console's last lines.
        console: String,
    },
    /// The guest ended before it served, without a panic: a triple fault, or a command line that
    /// ends it.
    #[error("the {name} reset or powered off before it booted\n{console}")]
    Reset {
        /// The guest.
        name: String,
        /// The console's last lines.
        console: String,
    },
    /// QEMU exited.
    #[error("the {name}'s QEMU exited ({status})\n{console}")]
    Exited {
        /// The guest.
        name: String,
        /// Its exit status.
        status: String,
        /// Whether QEMU exits like this when its guest ends.
        well: bool,
        /// The console's last lines, with QEMU's own messages.
        console: String,
    },
    /// The guest did not boot in two attempts.
    #[error("{second}\n{}", earlier(.first, .second))]
    Twice {
        /// Why the first attempt failed.
        first: Box<Error>,
        /// Why the second attempt failed.
        second: Box<Error>,
    },
    /// The program of this name is missing, and `fetch` needs it.
    #[error(
        "no {0} in the PATH: netassay fetches packages with Debian's tools; on other systems unpack a kernel package by hand and give \
         kernel = \"DIRECTORY\", which holds boot/vmlinuz-* and lib/modules"
    )]
    NoTool(&'static str),
    /// The package does not exist, or cannot be fetched.
    #[error("cannot fetch {package}: {why}")]
    Fetch {
        /// The package.
        package: String,
        /// The tool's message, and the remedy.
        why: String,
    },
    /// There is no directory for kernels.
    #[error("cannot store fetched kernels: neither XDG_DATA_HOME nor HOME is set; set one")]
    NoHome,
    /// Anything else, which no caller tells apart: the thing, what is wrong, and the remedy.
    #[error("{0}")]
    Failed(String),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl From<String> for Error {
    fn from(what: String) -> Self {
        Self::Failed(what)
    }
}

impl Error {
    /// Whether to try again. A guest that panics, hangs or resets may do so once in many boots; an
    /// invalid order or a missing requirement stays.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Panicked { .. } | Self::Hung { .. } | Self::Reset { .. })
    }

    /// Whether it is the guest's kernel that does not boot, and nothing that the machine lacks.
    #[must_use]
    pub fn is_of_kernel(&self) -> bool {
        match self {
            Self::Twice { second, .. } => second.is_of_kernel(),
            Self::Exited { well, .. } => *well,
            Self::Init { .. } => true,
            other => other.may_pass(),
        }
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

/// The cause of a boot that hangs before the kernel's first line.
const STILL_PACKED: &str = "; the kernel's image did not get past its decompression";

/// The first failure, beside the second; the same reason is not repeated.
fn earlier(first: &Error, second: &Error) -> String {
    // Times and addresses differ, but are not the cause; nor are the console's lines.
    let plain = |error: &Error| {
        let text = error.to_string();
        text.lines().next().unwrap_or_default().replace(|c: char| c.is_ascii_hexdigit(), "")
    };
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
    fn two_failures_are_both_reported_and_the_same_one_once() {
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
    fn a_boot_that_hangs_names_how_and_addresses_make_no_other_reason() {
        let hung = |at, packed| {
            let (name, waited) = ("guest".to_owned(), Duration::from_secs(3));
            Error::Hung { name, waited, hang: Hang::Halted(at), packed, console: "  | x".to_owned() }
        };
        let second = Box::new(hung(0x9f1c, true));
        let twice = Error::Twice { first: Box::new(hung(0x100, true)), second };
        assert_eq!(
            twice.to_string(),
            "the guest did not boot within 3 s: its CPU halted at 0x9f1c, and no interrupt can wake it; the kernel's image did not get \
             past its decompression\n  | x\nit was booted twice, and failed for the same reason both times"
        );
        assert!(
            hung(!0, false)
                .to_string()
                .contains("halted at 0xffffffffffffffff, and no interrupt can wake it\n")
        );
    }

    #[test]
    fn a_kernel_that_does_not_boot_is_told_from_what_the_machine_lacks() {
        let twice = |second| Error::Twice { first: Box::new(panicked("once")), second: Box::new(second) };
        let exited = |well| Error::Exited {
            name: "guest".to_owned(),
            status: String::new(),
            well,
            console: String::new(),
        };
        assert!(twice(panicked("no init")).is_of_kernel() && exited(true).is_of_kernel());
        for of_machine in [exited(false), twice(exited(false)), Error::NoQemu("qemu"), Error::Interrupted] {
            assert!(!of_machine.is_of_kernel(), "{of_machine}");
        }
    }

    #[test]
    fn only_transient_errors_are_tried_again() {
        assert!(panicked("no init").may_pass());
        assert!(!Error::NoHome.may_pass());
        let why = "no port".to_owned();
        assert!(!Error::Init { name: String::new(), why, console: String::new() }.may_pass());
    }
}
