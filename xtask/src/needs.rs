//! The programs that the checks need, and the Debian packages that bring them.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use crate::Result;
use crate::program::run;
use crate::session::{Session, has_program};
use crate::test::Tier;

/// A Debian package, a program in it, and what that is for.
type Need = (&'static str, &'static str, &'static str);

/// The one place for the packages of the gate.
const GATE: &[Need] = &[
    ("ethtool", "ethtool", "second opinion on offload features"),
    ("iproute2", "ip", "second opinion on links and namespaces"),
    ("ministat", "ministat", "second opinion on the classic t-test"),
    ("nftables", "nft", "a machine of tests with a filter"),
    ("openssh-server", "sshd", "machines of tests, reached over ssh"),
    ("python3-yaml", "python3", "the check of the workflow files"),
    ("qemu-system-x86", "qemu-system-x86_64", "guests of tests"),
    ("shellcheck", "shellcheck", "the check of the shell scripts"),
];

/// And of the checks that only `--all` makes.
const ALL: &[Need] = &[
    ("busybox-static", "busybox", "containers, machines that restart, a guest to compare with"),
    ("chromium", "chromium", "the browser that opens reports"),
    ("clang-14", "clang-14", "the programs for the kernel"),
    ("e2fsprogs", "mke2fs", "disks of machines that restart"),
    ("g++", "c++", "libFuzzer"),
    ("grub-common", "grub-editenv", "machines that restart"),
    ("grub-pc-bin", "/usr/lib/grub/i386-pc/lnxboot.img", "machines that restart"),
    ("grub2-common", "grub-reboot", "machines that restart"),
    ("iperf", "iperf", "a similar program in the bench"),
    ("iperf3", "iperf3", "a similar program in the bench"),
    ("kexec-tools", "kexec", "machines that restart"),
    ("lxc", "lxc-start", "containers of tests"),
    ("llvm-14", "llvm-strip-14", "the programs for the kernel"),
    ("munge", "munged", "the scheduler of tests"),
    ("nodejs", "node", "the program that steers the browser"),
    ("npm", "npm", "the libraries of the program that steers the browser"),
    ("nuttcp", "nuttcp", "a similar program in the bench"),
    ("openssl", "openssl", "the certificate of a server of tests"),
    ("postgresql", "pg_ctlcluster", "a server of tests for results of many machines"),
    ("python3-pip", "pip3", "DuckDB and pandas, which read Parquet"),
    ("slurm-client", "srun", "the scheduler of tests"),
    ("slurmctld", "slurmctld", "the scheduler of tests"),
    ("slurmd", "slurmd", "the scheduler of tests"),
    ("sockperf", "sockperf", "a similar program in the bench"),
    ("tcsh", "tcsh", "the shell of a login"),
];

/// Programs that cargo installs, and how: of the gate, and also of `--all`. cargo-deny has its
/// advisories in another place in each version, and runs for a second however it was compiled.
const CARGO: [(&str, &str); 2] = [
    ("cargo-nextest", "cargo-nextest"),
    ("cargo-deny", "--debug --config profile.dev.debug=false cargo-deny@0.20.2"),
];

/// Installs what is missing if root calls it, and says otherwise how. With `CI=true` nothing may
/// stay missing.
pub(crate) fn check(session: &mut Session) -> Result {
    let needs = if session.tier == Tier::All { [GATE, ALL].concat() } else { GATE.to_vec() };
    let is_root = fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0);
    let absent = missing(&needs);
    if !absent.is_empty() && is_root && has_program("apt-get") {
        let apt = |arguments: &[&str]| {
            run(session.command("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
        };
        apt(&["-q", "update"])?;
        let packages = absent.iter().map(|(package, ..)| *package);
        let install = ["-q", "--yes", "--no-install-recommends", "install"];
        apt(&install.into_iter().chain(packages).collect::<Vec<_>>())?;
    }
    let programs = if session.tier == Tier::All { &CARGO[..] } else { &CARGO[..1] };
    for (name, package) in programs.iter().filter(|(name, _)| !has_program(name)) {
        if !is_root && !session.ci {
            return Err(format!("{name} is missing: cargo install --locked {package}"));
        }
        run(session.cargo(&["install", "--locked"]).args(package.split(' ')))?;
    }
    let absent = missing(&needs);
    if absent.is_empty() {
        return Ok(());
    }
    let message = message(&absent);
    if session.ci {
        return Err(message);
    }
    session.report.notes.push(message);
    Ok(())
}

fn missing(needs: &[Need]) -> Vec<Need> {
    needs.iter().copied().filter(|(_, program, _)| !has_program(program)).collect()
}

/// What is missing, why, and how to get it.
fn message(missing: &[Need]) -> String {
    let lines =
        missing.iter().map(|(package, program, purpose)| format!("\n  {program} of {package}: {purpose}"));
    let packages: Vec<&str> = missing.iter().map(|(package, ..)| *package).collect();
    let install = "on Debian: sudo apt-get install --no-install-recommends";
    format!("missing; {install} {}{}", packages.join(" "), lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_programs_are_reported_with_their_packages() {
        let absent = ("b", "no-such-program", "y");
        assert_eq!(missing(&[("a", "sh", "x"), absent]), [absent]);
        let text = message(&[("iproute2", "ip", "links"), ("g++", "c++", "libFuzzer")]);
        assert!(text.contains("--no-install-recommends iproute2 g++\n  ip of iproute2: links\n"), "{text}");
    }
}
