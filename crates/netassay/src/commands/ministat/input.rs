//! The files, in sequence.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use ministat::{Format, InvalidData, Points, Refusal, Request, Set, Values};

/// Bytes of one read.
const BLOCK: usize = 1 << 18;

/// The most values of a file: 1 GiB of memory. More is an endless stream, not a file of
/// measurements.
const MOST_VALUES: usize = 1 << 27;

/// The longest line, in bytes. ministat(1) splits lines at 8191 bytes.
const LONGEST_LINE: usize = 1 << 20;

/// The most bytes after the last value: comments, empty lines.
const MOST_WITHOUT_VALUE: usize = 1 << 26;

/// The most bytes of a file.
const MOST_BYTES: usize = 1 << 36;

/// The sets of all files, with their shown names.
pub(super) fn read(request: &Request) -> Result<(Vec<Set>, Vec<Vec<u8>>), Refusal> {
    let standard_input = [b"-".to_vec()];
    let files = if request.files.is_empty() { &standard_input } else { request.files.as_slice() };
    let mut stdin_is_free = true;
    let mut opened = VecDeque::new();
    if request.dialect.opens_all_first() {
        for file in files {
            opened.push_back(open(file, request, &mut stdin_is_free)?);
        }
    }
    let mut sets = Vec::new();
    let mut names = Vec::new();
    for file in files {
        let source = match opened.pop_front() {
            Some(source) => source,
            None => open(file, request, &mut stdin_is_free)?,
        };
        let name = shown(file);
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

/// A file's name with characters replaced that a terminal must not receive; ministat(1) prints
/// them.
fn shown(file: &[u8]) -> Vec<u8> {
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

fn open(file: &[u8], request: &Request, stdin_is_free: &mut bool) -> Result<File, Refusal> {
    let opened = if file != b"-" {
        File::open(OsStr::from_bytes(file))
    } else if std::mem::take(stdin_is_free) {
        io::stdin().as_fd().try_clone_to_owned().map(File::from)
    } else {
        return Err(Refusal::other("standard input can be read only once: give - once", 2));
    };
    opened.map_err(|error| Refusal::cannot_open(&shown(file), &reason(&error), request.dialect))
}

fn set(source: File, name: &[u8], request: &Request) -> Result<Set, Refusal> {
    let values = values(source, &request.format()).map_err(|error| match error {
        ReadError::InvalidData { line } => Refusal::invalid_data(name, line),
        ReadError::Io(error) => Refusal::cannot_read(name, &reason(&error)),
    })?;
    let points = if request.plot { Points::Keep } else { Points::Drop };
    let readable = String::from_utf8_lossy(name);
    Set::summed(readable, values, request.dialect, points).map_err(|_| Refusal::too_few_points(name))
}

/// Why a file has no values.
enum ReadError {
    /// An invalid line, counted from 1.
    InvalidData {
        line: u64,
    },
    Io(io::Error),
}

/// The values of a file, whose blocks of whole lines are parsed one after the other.
fn values(mut file: File, format: &Format) -> Result<Values, ReadError> {
    let (mut buffer, mut filled) = (vec![0; BLOCK], 0);
    let (mut values, mut of_block) = (Values::new(), Vec::new());
    // Bytes of the file, of the line that continues in the next block, and since the last value.
    let (mut bytes, mut line, mut without_value) = (0, 0, 0);
    let mut lines = 0;
    loop {
        let read = match file.read(&mut buffer[filled..]) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            // A directory can be opened, but has nothing to read.
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => 0,
            Err(error) => return Err(ReadError::Io(error)),
        };
        (filled, bytes) = (filled + read, bytes + read);
        let complete = if read == 0 { filled } else { format.complete(&buffer[..filled]) };
        let block = &buffer[..complete];
        line = match block.iter().rposition(|byte| *byte == b'\n') {
            Some(newline) => complete - newline - 1,
            None => line + complete,
        };
        of_block.clear();
        let counted = format.read(block, &mut of_block);
        lines += counted.map_err(|InvalidData { line }| ReadError::InvalidData { line: lines + line })?;
        without_value = if of_block.is_empty() { without_value + complete } else { 0 };
        let bounds = [
            (line, LONGEST_LINE, ["a line of more than", "bytes"]),
            (bytes, MOST_BYTES, ["more than", "bytes"]),
            (without_value, MOST_WITHOUT_VALUE, ["more than", "bytes without a value"]),
            (values.len() + of_block.len(), MOST_VALUES, ["more than", "values"]),
        ];
        if let Some((_, most, [before, behind])) = bounds.into_iter().find(|(amount, most, _)| amount > most)
        {
            let why = format!("{before} {most} {behind}: not a file of measurements");
            return Err(ReadError::Io(io::Error::new(io::ErrorKind::FileTooLarge, why)));
        }
        values.extend(&of_block);
        if read == 0 {
            return Ok(values);
        }
        buffer.copy_within(complete..filled, 0);
        filled -= complete;
    }
}
