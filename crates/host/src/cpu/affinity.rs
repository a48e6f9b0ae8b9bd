//! The CPUs of a machine, those that a thread may use, and sets of CPUs as the masks of sysfs.

use std::collections::BTreeSet;
use std::io;

use nix::libc;
use words::HIGHEST_CPU;
pub use words::{format_cpu_list, parse_cpu_list};

use crate::error::Error;
use crate::kernel::files::{Machine, field};

/// The CPUs that are online on this machine, in order.
pub fn online_cpus() -> Vec<u32> {
    let files = Machine::system();
    online(&files).unwrap_or_else(|| allowed(&files))
}

/// The CPUs that the calling thread may use, in order: a cpuset or `taskset` limits them.
pub fn allowed_cpus() -> Vec<u32> {
    allowed(&Machine::system())
}

pub(crate) fn online(files: &Machine) -> Option<Vec<u32>> {
    nonempty_list(&files.text("sys/devices/system/cpu/online")?)
}

// Text, because kernels for more CPUs refuse a fixed-size mask. It also lists offline CPUs.
fn allowed(files: &Machine) -> Vec<u32> {
    let status = files.text("proc/thread-self/status");
    let may = status.and_then(|status| nonempty_list(field(&status, "Cpus_allowed_list")?));
    match (may, online(files)) {
        (Some(may), Some(online)) => {
            let online: BTreeSet<u32> = online.into_iter().collect();
            may.into_iter().filter(|cpu| online.contains(cpu)).collect()
        }
        (may, online) => may.or(online).unwrap_or_default(),
    }
}

fn nonempty_list(text: &str) -> Option<Vec<u32>> {
    parse_cpu_list(text).ok().filter(|cpus| !cpus.is_empty())
}

/// The CPUs that the calling thread may use, each with its core's lowest CPU (unknown: itself).
pub fn usable() -> Vec<(u32, u32)> {
    let files = Machine::system();
    let core = |cpu: u32| siblings(&files, cpu)?.into_iter().min();
    allowed(&files).into_iter().map(|cpu| (cpu, core(cpu).unwrap_or(cpu))).collect()
}

pub(crate) fn siblings(files: &Machine, cpu: u32) -> Option<Vec<u32>> {
    let file = format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    nonempty_list(&files.text(&file)?)
}

/// Pins the calling thread, and threads that it starts later, to `cpus`.
///
/// # Errors
/// If none of them is online, or a cpuset forbids them.
pub fn pin_current_thread(cpus: &[u32]) -> Result<(), Error> {
    pin(THIS_THREAD, cpus).map_err(|errno| {
        let allowed = format_cpu_list(&allowed_cpus());
        let way_out = format!("; it may run on CPUs {allowed} (cpuset, taskset)");
        Error::failed(format!("cannot pin this thread to CPUs {}", format_cpu_list(cpus)), errno, way_out)
    })
}

/// Pins a thread of this machine, by its number, to `cpus`.
///
/// # Errors
/// As the kernel says, and for a CPU that no machine has.
pub fn pin(thread: i32, cpus: &[u32]) -> io::Result<()> {
    const WORD: u32 = libc::c_ulong::BITS;
    let highest = cpus.iter().copied().max().unwrap_or(0);
    if highest > HIGHEST_CPU {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    let mut mask: Vec<libc::c_ulong> = vec![0; highest as usize / WORD as usize + 1];
    cpus.iter().for_each(|cpu| mask[(cpu / WORD) as usize] |= 1 << (cpu % WORD));
    // SAFETY: pointer and size are those of `mask`, a bit mask of whole words.
    let done = unsafe { libc::sched_setaffinity(thread, size_of_val(mask.as_slice()), mask.as_ptr().cast()) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

const THIS_THREAD: i32 = 0;

/// For `rps_cpus`: words of 32 CPUs, the highest first.
pub(crate) fn format_cpu_mask(cpus: &[u32]) -> Result<String, Error> {
    let mut words = vec![0u32];
    for &cpu in cpus {
        // Numbers come from messages: a mask up to the greatest could fill the memory.
        if cpu > HIGHEST_CPU {
            return Err(format!("no machine has a CPU {cpu}").into());
        }
        let word = (cpu / 32) as usize;
        words.resize(words.len().max(word + 1), 0);
        words[word] |= 1 << (cpu % 32);
    }
    Ok(words.iter().rev().map(|word| format!("{word:08x}")).collect::<Vec<_>>().join(","))
}

pub(crate) fn parse_cpu_mask(text: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    // The word of the lowest CPUs stands last.
    for (index, word) in (0u32..).zip(text.trim().rsplit(',')) {
        let bits = u32::from_str_radix(word, 16).ok()?;
        cpus.extend((0..32).filter(|bit| bits >> bit & 1 == 1).map(|bit| index * 32 + bit));
    }
    Some(cpus)
}

// The nice value of the highest priority.
const URGENT: i32 = -20;

/// Raises the priority of the calling thread, not of its children, so that it runs soon after it
/// wakes on busy CPUs. Returns whether it was granted: it needs `CAP_SYS_NICE`.
pub fn prioritise_current_thread() -> bool {
    // SAFETY: `struct sched_attr` is plain numbers, for which all bits zero are valid.
    let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    attributes.size = size_of::<libc::sched_attr>() as u32;
    attributes.sched_flags = libc::SCHED_FLAG_RESET_ON_FORK as u64;
    attributes.sched_nice = URGENT;
    // SAFETY: 0 is the calling thread; the kernel reads as many bytes as the structure states, and
    // the flags of the call must be 0.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, std::ptr::from_ref(&attributes), 0) == 0 }
}

#[cfg(test)]
mod tests;
