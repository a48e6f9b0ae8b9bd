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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_can_be_pinned_where_it_may_run() {
        std::thread::spawn(|| {
            // SAFETY: the call takes nothing.
            let here = unsafe { libc::sched_getcpu() };
            pin(u32::try_from(here).unwrap()).unwrap();
        })
        .join()
        .unwrap();
        assert_eq!(pin(MAX_CPUS - 1).unwrap_err().raw_os_error(), Some(libc::EINVAL));
    }
}
