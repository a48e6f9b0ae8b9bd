//! The CPUs of a machine, and those that a thread may use.

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
pub use words::{CpuListError, format_cpu_list, parse_cpu_list};

use crate::error::Error;
use crate::kernel::files::Files;

/// The CPUs that are online on this machine, in order.
pub fn online_cpus() -> Vec<u32> {
    let listed =
        Files::system().text("sys/devices/system/cpu/online").and_then(|text| parse_cpu_list(&text).ok());
    listed.filter(|cpus| !cpus.is_empty()).unwrap_or_else(allowed_cpus)
}

/// The CPUs that the calling thread may use, in order: a cpuset or `taskset` limits them.
pub fn allowed_cpus() -> Vec<u32> {
    let set = sched_getaffinity(THIS_THREAD).unwrap_or_default();
    let cpus = (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu).unwrap_or(false));
    cpus.filter_map(|cpu| u32::try_from(cpu).ok()).collect()
}

/// The CPUs that the calling thread may use, each with its core: the lowest CPU of that core. A CPU
/// whose core is unknown counts as a core.
pub fn usable() -> Vec<(u32, u32)> {
    let core = |cpu: u32| {
        let siblings = Files::system()
            .text(&format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"))?;
        parse_cpu_list(&siblings).ok()?.into_iter().min()
    };
    allowed_cpus().into_iter().map(|cpu| (cpu, core(cpu).unwrap_or(cpu))).collect()
}

/// Pins the calling thread to `cpus`. Threads that it starts later inherit this.
///
/// # Errors
/// If none of them is online, or a cpuset forbids them.
pub fn pin_current_thread(cpus: &[u32]) -> Result<(), Error> {
    let refused = |errno: Errno| {
        let allowed = format_cpu_list(&allowed_cpus());
        let way_out = format!("; it may run on CPUs {allowed} (cpuset, taskset)");
        Error::failed(format!("cannot pin this thread to CPUs {}", format_cpu_list(cpus)), errno, way_out)
    };
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(usize::try_from(*cpu).unwrap_or(usize::MAX)).map_err(refused)?;
    }
    sched_setaffinity(THIS_THREAD, &set).map_err(refused)
}

const THIS_THREAD: Pid = Pid::from_raw(0);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_pinned_and_what_cannot_be_is_refused_with_the_way_out() {
        std::thread::spawn(|| {
            let cpu = *allowed_cpus().last().unwrap();
            pin_current_thread(&[cpu]).unwrap();
            assert_eq!(allowed_cpus(), [cpu]);
            let error = pin_current_thread(&[]).unwrap_err().to_string();
            assert!(error.contains(&format!("may run on CPUs {cpu}")), "{error}");
            assert!(pin_current_thread(&[999_999]).unwrap_err().to_string().contains("CPUs 999999"));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn every_cpu_allowed_is_online() {
        let online = online_cpus();
        assert!(!online.is_empty());
        assert!(allowed_cpus().iter().all(|cpu| online.contains(cpu)));
    }
}
