//! The calling thread.

use std::io;

use super::check;

/// The CPUs of an affinity mask here; the kernel's limit (`CONFIG_NR_CPUS`) on x86-64.
pub(crate) const MAX_CPUS: u32 = 8192;

pub(crate) fn pin(cpu: u32) -> io::Result<()> {
    const WORD: usize = libc::c_ulong::BITS as usize;
    let mut mask = [0 as libc::c_ulong; MAX_CPUS as usize / WORD];
    let cpu = cpu as usize;
    let word = mask.get_mut(cpu / WORD).ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
    *word = 1 << (cpu % WORD);
    // SAFETY: 0 is the calling thread; pointer and size are those of `mask`, a bit mask of whole
    // words.
    check(unsafe { libc::sched_setaffinity(0, size_of_val(&mask), mask.as_ptr().cast()) }).map(drop)
}

/// Describes where a thread of this process is: its state as in `ps`, its CPU, and the kernel
/// function that it waits in.
pub(crate) fn place_of(thread: u32) -> String {
    let read =
        |name: &str| std::fs::read_to_string(format!("/proc/self/task/{thread}/{name}")).unwrap_or_default();
    let stat = read("stat");
    // The name of the thread before them may have blanks, and ends with the last bracket.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3).copied().unwrap_or("unknown");
    format!("state {}, CPU {}, in {}", field(3), field(39), read("wchan"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_can_be_pinned_where_it_may_run() {
        std::thread::spawn(|| {
            // SAFETY: the call takes nothing.
            let here = unsafe { libc::sched_getcpu() };
            pin(u32::try_from(here).unwrap()).unwrap();
            let own = nix::unistd::gettid().as_raw().unsigned_abs();
            assert_eq!(place_of(own), format!("state R, CPU {here}, in 0"));
        })
        .join()
        .unwrap();
        assert_eq!(pin(MAX_CPUS - 1).unwrap_err().raw_os_error(), Some(libc::EINVAL));
    }
}
