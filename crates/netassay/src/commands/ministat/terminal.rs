//! Standard output, and its width.

use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStrExt;

use samples::ministat::columns;

const WIDTH: usize = 74;

/// The terminal's width (`COLUMNS`, else what the terminal reports) less the plot's frame.
pub(super) fn plot_width() -> usize {
    if !io::stdout().is_terminal() {
        return WIDTH;
    }
    let told = std::env::var_os("COLUMNS").and_then(|text| columns(text.as_bytes()));
    let reported = || {
        let (width, _) = terminal_size::terminal_size_of(io::stdout())?;
        Some(usize::from(width.0)).filter(|columns| *columns > 3).map(|columns| columns - 2)
    };
    told.or_else(reported).unwrap_or(WIDTH)
}

/// A closed pipe ends the program silently, as other filters.
pub(super) fn end_on_broken_pipe() {
    // Rust turns that off before `main`.
    // SAFETY: the default action runs no code of this program, and no other thread runs yet.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}
