//! The files, in sequence.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use samples::ministat::{MinistatRequest, Rejection, Set};

use super::blocks::{self, ReadError};

pub(super) fn read(request: &MinistatRequest) -> Result<(Vec<Set>, Vec<Vec<u8>>), Rejection> {
    let standard_input = [b"-".to_vec()];
    let files = if request.files.is_empty() { &standard_input } else { request.files.as_slice() };
    let mut stdin_is_free = true;
    let mut sets = Vec::new();
    let mut names = Vec::new();
    for file in files {
        let source = open(file, &mut stdin_is_free)?;
        let name = printable_name(file);
        sets.push(set(source, &name, request)?);
        names.push(name);
    }
    Ok((sets, names))
}

/// The reason in an error of the operating system, in the C library's words.
pub(super) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let Some(code) = error.raw_os_error() else { return text };
    text.strip_suffix(&format!(" (os error {code})")).map_or(text.clone(), str::to_owned)
}

/// Replaces characters that a terminal must not receive; ministat(1) prints them.
fn printable_name(file: &[u8]) -> Vec<u8> {
    if file == b"-" {
        return b"<stdin>".to_vec();
    }
    let name = String::from_utf8_lossy(file);
    if words::is_plain(&name) {
        file.to_vec()
    } else {
        words::sanitised_line(&name).into_owned().into_bytes()
    }
}

fn open(file: &[u8], stdin_is_free: &mut bool) -> Result<File, Rejection> {
    let opened = if file != b"-" {
        File::open(OsStr::from_bytes(file))
    } else if std::mem::take(stdin_is_free) {
        io::stdin().as_fd().try_clone_to_owned().map(File::from)
    } else {
        return Err(Rejection::other("standard input can be read only once: give - once", 2));
    };
    opened.map_err(|error| Rejection::cannot_open(&printable_name(file), &reason(&error)))
}

fn set(source: File, name: &[u8], request: &MinistatRequest) -> Result<Set, Rejection> {
    let values = blocks::read(source, &request.format()).map_err(|error| match error {
        ReadError::InvalidData(line) => Rejection::invalid_data(name, line),
        ReadError::Io(error) => Rejection::cannot_read(name, &reason(&error)),
    })?;
    let readable = String::from_utf8_lossy(name).into_owned();
    Set::summed(readable, values, request.plot).map_err(|_| Rejection::too_few_points(name))
}
