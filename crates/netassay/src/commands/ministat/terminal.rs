//! Standard output, and its width.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use ministat::columns;

/// A plot's width where there is no terminal.
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
    told.or_else(|| terminal_columns().map(|columns| columns - 2)).unwrap_or(WIDTH)
}

/// The terminal's columns, if a plot fits.
fn terminal_columns() -> Option<usize> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the kernel writes a winsize, which the pointer points to.
    let result = unsafe { libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size) };
    (result == 0 && size.ws_col > 3).then_some(usize::from(size.ws_col))
}

/// A closed pipe ends the program silently, as other filters. Rust turns that off before `main`.
pub(super) fn end_on_broken_pipe() {
    // SAFETY: the default action runs no code of this program, and no other thread runs yet.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}
