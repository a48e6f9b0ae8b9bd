//! The programs that tests and benches need, and the Debian packages that bring them.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use crate::failure::Failure;
use crate::process::{output, run};
use crate::report::{Ending, Report};
use crate::workspace::{Workspace, find_program};

/// A package, the program it brings, and what that is for.
struct Need {
    package: &'static str,
    program: &'static str,
    purpose: &'static str,
}

/// The one place for such packages.
const NEEDS: &[Need] = &[
    Need {
        package: "busybox-static",
        program: "busybox",
        purpose: "the machines of tests that restart; the other guest in the bench of boots, and in its smoke test",
    },
    Need {
        package: "chromium",
        program: "chromium",
        purpose: "the browser in which the reports of the tests are looked at",
    },
    Need {
        package: "clang-14",
        program: "clang-14",
        purpose: "the check that the checked-in programs for the kernel are what their source says",
    },
    Need {
        package: "e2fsprogs",
        program: "mke2fs",
        purpose: "the disks of the machines of tests that restart",
    },
    Need { package: "ethtool", program: "ethtool", purpose: "second opinion on offload features in tests" },
    Need { package: "g++", program: "c++", purpose: "libFuzzer, for the fuzz targets" },
    Need { package: "grub-common", program: "grub-editenv", purpose: "the machines of tests that restart" },
    Need { package: "grub-pc-bin", program: "/usr/lib/grub/i386-pc/lnxboot.img", purpose: "the same" },
    Need { package: "grub2-common", program: "grub-reboot", purpose: "the same" },
    Need { package: "iperf", program: "iperf", purpose: "a peer in the bench, and in its smoke test" },
    Need { package: "iperf3", program: "iperf3", purpose: "a peer in the bench, and in its smoke test" },
    Need { package: "iproute2", program: "ip", purpose: "second opinion on links and namespaces in tests" },
    Need { package: "kexec-tools", program: "kexec", purpose: "the machines of tests that restart" },
    Need { package: "llvm-14", program: "llvm-strip-14", purpose: "the same" },
    Need { package: "lxc", program: "lxc-start", purpose: "containers that tests measure between" },
    Need {
        package: "ministat",
        program: "ministat",
        purpose: "second opinion on the classic t-test in tests",
    },
    Need { package: "nodejs", program: "node", purpose: "the program that steers the browser" },
    Need { package: "npm", program: "npm", purpose: "the libraries of the program that steers the browser" },
    Need { package: "openssh-server", program: "sshd", purpose: "the machines of tests, reached over ssh" },
    Need { package: "nftables", program: "nft", purpose: "a machine of tests with a filter" },
    Need { package: "nuttcp", program: "nuttcp", purpose: "a peer in the bench, and in its smoke test" },
    Need {
        package: "qemu-system-x86",
        program: "qemu-system-x86_64",
        purpose: "the guests of tests and benches",
    },
    Need { package: "python3-yaml", program: "python3", purpose: "the check of the workflow files" },
    Need { package: "shellcheck", program: "shellcheck", purpose: "the check of the shell scripts" },
    Need { package: "sockperf", program: "sockperf", purpose: "a peer in the bench, and in its smoke test" },
];

/// Free disk that a build from nothing and its tests take up, in MiB: the build directory had 3.6
/// GiB at their end with `CI=true`, where nothing is kept for the next build; some more is for what
/// tests write.
const DISK: u64 = 5 * 1024;

/// Installs what is missing when that is possible; says how otherwise. What stays missing fails
/// with `CI=true`.
pub(crate) fn check(workspace: &Workspace, report: &mut Report) -> Result<Ending, Failure> {
    if let Some(note) = free_disk(workspace).and_then(short_of_disk) {
        report.note(note);
    }
    if missing().is_empty() {
        return Ok(Ending::Ok);
    }
    if is_root() && find_program("apt-get").is_some() {
        install(workspace, &missing())?;
    }
    match tell(&missing()) {
        None => Ok(Ending::Ok),
        Some(text) if workspace.ci => Err(Failure::Check(text)),
        Some(text) => {
            report.note(text);
            Ok(Ending::Ok)
        }
    }
}

/// Free disk where the workspace is, in MiB; `None` where `df` does not say.
fn free_disk(workspace: &Workspace) -> Option<u64> {
    let mut df = workspace.command("df");
    df.args(["--output=avail", "--block-size=1M", "."]);
    output(&mut df).ok()?.lines().nth(1)?.trim().parse().ok()
}

/// A note and no failure: a build directory that is there already needs less.
fn short_of_disk(free: u64) -> Option<String> {
    (free < DISK).then(|| {
        format!(
            "{free} MiB of disk are free; a build from nothing and its tests need {DISK}: \
             free some, or set CARGO_TARGET_DIR to a larger disk"
        )
    })
}

fn missing() -> Vec<&'static Need> {
    NEEDS.iter().filter(|need| find_program(need.program).is_none()).collect()
}

fn install(workspace: &Workspace, missing: &[&Need]) -> Result<(), Failure> {
    let apt = |arguments: &[&str]| {
        let mut command = workspace.command("apt-get");
        run(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    apt(&["-q", "update"])?;
    let mut arguments = vec!["-q", "--yes", "--no-install-recommends", "install"];
    arguments.extend(missing.iter().map(|need| need.package));
    apt(&arguments)
}

fn tell(missing: &[&Need]) -> Option<String> {
    if missing.is_empty() {
        return None;
    }
    let lines: Vec<String> = missing.iter().map(|n| format!("{} ({})", n.program, n.purpose)).collect();
    let packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    Some(format!(
        "missing: {}; on Debian: sudo apt-get install --no-install-recommends {}",
        lines.join(", "),
        packages.join(" ")
    ))
}

/// The kernel gives a process's directory to its effective user.
fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_nearly_full_is_noted() {
        assert_eq!(short_of_disk(DISK), None);
        let note = short_of_disk(3_700).unwrap();
        assert!(note.starts_with("3700 MiB of disk are free;"), "{note}");
    }

    #[test]
    fn what_is_missing_is_reported_with_the_way_out() {
        assert_eq!(tell(&[]), None);
        let [first, .., last] = NEEDS else { panic!("there are some") };
        let text = tell(&[first, last]).unwrap();
        assert!(text.contains(&format!("busybox ({})", first.purpose)), "{text}");
        assert!(text.ends_with("install --no-install-recommends busybox-static sockperf"), "{text}");
    }
}
