//! A priority for a thread that mostly sleeps and must run soon after it wakes.

use nix::libc;

// The nice value of such a thread: the highest priority.
const URGENT: i32 = -20;

/// Raises the priority of the calling thread, so that it runs soon after it wakes on busy CPUs. Its
/// children do not inherit this. Needs `CAP_SYS_NICE` outside of any user namespace. Returns
/// whether it was granted.
pub fn prioritise_current_thread() -> bool {
    // SAFETY: `struct sched_attr` is plain numbers, for which all bits zero are valid.
    let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    attributes.size = size_of::<libc::sched_attr>() as u32;
    // Children get normal priority.
    attributes.sched_flags = libc::SCHED_FLAG_RESET_ON_FORK as u64;
    attributes.sched_nice = URGENT;
    // SAFETY: 0 is the calling thread; the kernel reads as many bytes as the structure states, and
    // the flags of the call must be 0.
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
