//! A thread that sleeps most of the time and must run soon when it wakes.

use nix::libc;

/// The nice value of such a thread: the most urgent there is.
const URGENT: i32 = -20;

/// Has the calling thread run soon after it wakes, though many others want its CPUs. What it starts
/// from now on does not inherit this. It needs `CAP_SYS_NICE` outside of any user namespace.
/// Returns whether it was granted.
pub fn prioritise_current_thread() -> bool {
    // SAFETY: `struct sched_attr` is plain numbers, for which all bits zero are a value.
    let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    attributes.size = size_of::<libc::sched_attr>() as u32;
    // Threads and processes that this thread starts are like any other again.
    attributes.sched_flags = libc::SCHED_FLAG_RESET_ON_FORK as u64;
    attributes.sched_nice = URGENT;
    // SAFETY: 0 is the calling thread; the kernel reads as many bytes as the structure says it has,
    // and the flags of the call must be 0.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, std::ptr::from_ref(&attributes), 0) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urgency_is_not_inherited() {
        // SAFETY: it takes numbers only; 0 is the calling thread.
        let nice = || unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
        let before = nice();
        let hurried = std::thread::spawn(move || {
            let granted = prioritise_current_thread();
            (granted, nice(), std::thread::spawn(nice).join())
        });
        let (granted, own, child) = hurried.join().unwrap();
        assert_eq!(own, if granted { URGENT } else { before });
        let child = child.unwrap();
        assert_eq!(child, if granted { 0 } else { before });
    }
}
