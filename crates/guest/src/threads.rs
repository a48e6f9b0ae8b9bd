//! The threads of a QEMU process.

use std::fs;
use std::io;

use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

/// The threads of one QEMU process by what they do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Threads {
    /// Those that run the guest's instructions: one for each virtual CPU, or one for all under single-threaded emulation.
    pub vcpus: Vec<u32>,
    /// All others: the main loop, which moves packets between tap and guest, and QEMU's helpers.
    pub io: Vec<u32>,
}

impl Threads {
    /// Reads the threads of the process `pid`, a QEMU started with `-name …,debug-threads=on`.
    ///
    /// # Errors
    /// When the process is gone.
    pub fn read(pid: u32) -> io::Result<Self> {
        let mut threads = Self::default();
        for entry in fs::read_dir(format!("/proc/{pid}/task"))? {
            let entry = entry?;
            let Some(thread) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            // A helper may end while it is looked at.
            let Ok(name) = fs::read_to_string(entry.path().join("comm")) else { continue };
            if is_vcpu(&name) { threads.vcpus.push(thread) } else { threads.io.push(thread) }
        }
        threads.vcpus.sort_unstable();
        threads.io.sort_unstable();
        Ok(threads)
    }

    /// Lets each virtual CPU's thread run on one of `cpus`, or on all of them where they are fewer than the threads.
    pub(crate) fn pin(&self, cpus: &[u32]) -> io::Result<()> {
        for (index, &thread) in self.vcpus.iter().enumerate() {
            let own = if self.vcpus.len() > cpus.len() || self.vcpus.len() == 1 {
                cpus
            } else {
                &cpus[index..=index]
            };
            let mut set = CpuSet::new();
            for cpu in own {
                set.set(usize::try_from(*cpu).unwrap_or(usize::MAX))?;
            }
            let thread = i32::try_from(thread).map_err(io::Error::other)?;
            sched_setaffinity(Pid::from_raw(thread), &set)?;
        }
        Ok(())
    }
}

/// QEMU's names: "CPU 0/KVM", "CPU 1/TCG", "ALL CPUs/TCG".
fn is_vcpu(name: &str) -> bool {
    name.starts_with("CPU ") || name.starts_with("ALL CPUs/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_cpus_are_told_by_name() {
        assert!(is_vcpu("CPU 0/KVM\n") && is_vcpu("ALL CPUs/TCG\n"));
        assert!(!is_vcpu("qemu-system-x86\n") && !is_vcpu("call_rcu\n"));
    }

    #[test]
    fn a_process_that_is_no_qemu_has_only_other_threads() {
        let threads = Threads::read(std::process::id()).unwrap();
        assert!(threads.vcpus.is_empty() && threads.io.contains(&std::process::id()));
        assert!(Threads::read(u32::MAX).is_err());
    }
}
