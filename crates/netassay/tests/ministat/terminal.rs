//! The plot's width on a terminal.

use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Command, Stdio};

use super::{debians, directory, has_debians, ours};

/// How wide the plot is without its frame, on a terminal of so many columns.
fn width(mut command: Command, terminal: u16, columns: Option<&str>, words: &[&str]) -> usize {
    let (mut master, mut slave) = (-1, -1);
    let size = libc::winsize { ws_row: 24, ws_col: terminal, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: two integers are written, a size is read, and the other pointers may be null.
    let result = unsafe {
        libc::openpty(
            &raw mut master,
            &raw mut slave,
            std::ptr::null_mut(),
            std::ptr::null(),
            &raw const size,
        )
    };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: openpty has just made both, and nothing else knows them.
    let (mut master, slave) = unsafe { (File::from_raw_fd(master), OwnedFd::from_raw_fd(slave)) };
    let directory = directory(&[("a", "1\n2\n4\n7\n")]);
    command.args(words).arg("a").current_dir(directory.path()).stdout(Stdio::from(slave));
    if let Some(columns) = columns {
        command.env("COLUMNS", columns);
    }
    let mut child = command.spawn().unwrap();
    // The last slave is closed with the child, and then reading fails.
    drop(command);
    let mut text = Vec::new();
    let mut some = [0; 4096];
    while let Ok(count @ 1..) = master.read(&mut some) {
        text.extend_from_slice(&some[..count]);
    }
    assert!(child.wait().unwrap().success());
    let text = String::from_utf8(text).unwrap();
    text.lines().find(|line| line.starts_with('+')).unwrap().trim_end().len() - 2
}

#[test]
fn fits_the_terminal() {
    assert_eq!(width(ours(), 80, None, &[]), 78);
    assert_eq!(width(ours(), 80, None, &["-w30"]), 30);
    assert_eq!(width(ours(), 80, Some("50"), &[]), 50, "COLUMNS is not reduced by the frame");
    assert_eq!(width(ours(), 80, Some(""), &[]), 78);
    assert_eq!(width(ours(), 0, None, &[]), 74);
}

#[test]
fn a_terminal_without_room_is_none() {
    // There, Debian's program draws nothing or crashes.
    for columns in ["abc", "0", "1", "-7"] {
        assert_eq!(width(ours(), 80, Some(columns), &[]), 78, "{columns}");
    }
    for terminal in [1, 2, 3] {
        assert_eq!(width(ours(), terminal, None, &[]), 74, "{terminal}");
    }
}

#[test]
fn equals_debians_program() {
    if !has_debians("terminal::equals_debians_program") {
        return;
    }
    for terminal in [0, 4, 5, 79, 80, 200, 1000] {
        for columns in [None, Some(""), Some("2"), Some("50"), Some("50x"), Some(" 60")] {
            let expected = width(debians(), terminal, columns, &[]);
            assert_eq!(width(ours(), terminal, columns, &[]), expected, "{terminal} {columns:?}");
        }
    }
}
