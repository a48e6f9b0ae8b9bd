//! Standard output, and its width.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use samples::ministat::columns;

const WIDTH: usize = 74;

/// Standard output without Rust's line buffer.
pub(super) fn standard_output() -> io::Result<File> {
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

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

/// A closed pipe ends the program silently, as other filters. Rust turns that off before `main`.
pub(super) fn end_on_broken_pipe() {
    // SAFETY: the default action runs no code of this program, and no other thread runs yet.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}
