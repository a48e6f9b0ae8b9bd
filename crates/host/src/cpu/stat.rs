//! A thread's line in `/proc/PID/stat`.

use std::str::SplitAsciiWhitespace;

/// The name of a thread, and the fields after it: the first is number [`FIRST`] of proc(5). `None`
/// for invalid text.
///
/// The name may hold anything, so the fields are counted from its end.
pub(crate) fn parse(stat: &[u8]) -> Option<(&[u8], SplitAsciiWhitespace<'_>)> {
    let open = stat.iter().position(|byte| *byte == b'(')?;
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
    Some((stat.get(open + 1..close)?, rest.split_ascii_whitespace()))
}

/// The field after the name: the thread's state.
pub(crate) const FIRST: usize = 3;
