//! Whether a test's sockets fit into the limit of open files.

use std::io;

use crate::skip::skip;

/// Descriptors of a test's process besides its sockets, generously.
const OTHERS: u64 = 256;

/// Whether both ends of so many flows may be open in this process; if not, the test is skipped. As
/// the load engine does, it raises the hard limit where a privilege allows that.
pub(crate) fn hold_both_ends(test: &str, flows: u32) -> bool {
    let needed = 2 * u64::from(flows) + OTHERS;
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for the answer.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) }, 0);
    if limit.rlim_max >= needed {
        return true;
    }
    let raised = libc::rlimit { rlim_cur: needed, rlim_max: needed };
    // SAFETY: `raised` is a valid limit that outlives the call.
    if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) } == 0 {
        return true;
    }
    let (most, error) = (limit.rlim_max, io::Error::last_os_error());
    skip(test, &format!("{flows} flows need {needed} open files, the hard limit is {most}: {error}"));
    false
}
