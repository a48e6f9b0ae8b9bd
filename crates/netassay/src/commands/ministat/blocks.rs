//! One file in blocks: read in sequence, parsed on all processors, summed in order.

use std::fs::File;
use std::io::{self, Read};
use std::mem;
use std::num::NonZero;
use std::thread;

use samples::ministat::{InvalidData, ValueFormat, Values};

const BLOCK: usize = 1 << 18;

const WORTH_THREADS: usize = 1 << 20;

// More do not help: one thread sums.
const MOST_THREADS: usize = 8;

const BLOCKS_A_THREAD: usize = 4;

// 1 GiB of memory. More is an endless stream, not a file of measurements.
const MOST_VALUES: usize = 1 << 27;

/// The longest line, in bytes.
// ministat(1) splits lines at 8191 bytes.
const LONGEST_LINE: usize = 1 << 20;

/// The most bytes after the last value: comments, empty lines.
const MOST_WITHOUT_VALUE: usize = 1 << 26;

const MOST_BYTES: usize = 1 << 36;

#[derive(Debug)]
pub(super) enum ReadError {
    /// An invalid line, counted from 1.
    InvalidData(u64),
    Io(io::Error),
}

pub(super) fn read(file: File, format: &ValueFormat) -> Result<Values, ReadError> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
    let mut source = BlockSource { file, format, rest: Vec::new(), bytes: 0, line: 0, has_ended: false };
    let (mut values, mut lines) = (Values::default(), 0);
    // Bytes of the blocks after the last one with a value.
    let mut without_value = 0;
    let mut blocks = Vec::new();
    while !source.has_ended {
        let is_large = source.bytes >= WORTH_THREADS;
        blocks.resize_with(if is_large { threads * BLOCKS_A_THREAD } else { 1 }, ValueBlock::new);
        thread::scope(|scope| {
            for chunk in blocks.chunks_mut(BLOCKS_A_THREAD) {
                chunk.iter_mut().for_each(|block| block.fill(&mut source));
                let mut parse = move || chunk.iter_mut().for_each(|block| block.parse(format));
                if is_large {
                    scope.spawn(parse);
                } else {
                    parse();
                }
            }
        });
        for block in &mut blocks {
            lines += match mem::replace(&mut block.lines, Ok(0)) {
                Err(ReadError::InvalidData(line)) => return Err(ReadError::InvalidData(lines + line)),
                read => read?,
            };
            without_value = if block.values.is_empty() { without_value + block.length } else { 0 };
            if without_value > MOST_WITHOUT_VALUE {
                return Err(ReadError::Io(endless(&format!("{MOST_WITHOUT_VALUE} bytes without a value"))));
            }
            if values.all.len() + block.values.len() > MOST_VALUES {
                return Err(ReadError::Io(endless(&format!("more than {MOST_VALUES} values"))));
            }
            values.extend(&block.values);
        }
    }
    Ok(values)
}

struct BlockSource<'a> {
    file: File,
    format: &'a ValueFormat,
    /// The start of a line whose end was not read yet.
    rest: Vec<u8>,
    bytes: usize,
    /// Bytes of the line that continues in the next block.
    line: usize,
    has_ended: bool,
}

impl BlockSource<'_> {
    /// Returns the number of bytes in `buffer` that are whole lines.
    fn fill(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut length = self.rest.len();
        buffer[..length].copy_from_slice(&self.rest);
        self.rest.clear();
        while !self.has_ended {
            match self.file.read(&mut buffer[length..]) {
                Ok(0) => self.has_ended = true,
                Ok(more) => {
                    length += more;
                    self.bytes += more;
                    let complete = self.format.complete(&buffer[..length]);
                    if complete > 0 {
                        self.bound(&buffer[..complete])?;
                        self.rest.extend_from_slice(&buffer[complete..length]);
                        return Ok(complete);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A directory can be opened, but has nothing to read.
                Err(error) if error.kind() == io::ErrorKind::IsADirectory => self.has_ended = true,
                Err(error) => {
                    self.has_ended = true;
                    return Err(error);
                }
            }
        }
        Ok(length)
    }

    /// Rejects endless input, at the end of a block.
    fn bound(&mut self, block: &[u8]) -> io::Result<()> {
        self.line = match block.iter().rposition(|byte| *byte == b'\n') {
            Some(newline) => block.len() - newline - 1,
            None => self.line + block.len(),
        };
        let what = if self.line > LONGEST_LINE {
            format!("a line of more than {LONGEST_LINE} bytes")
        } else if self.bytes > MOST_BYTES {
            format!("more than {MOST_BYTES} bytes")
        } else {
            return Ok(());
        };
        self.has_ended = true;
        Err(endless(&what))
    }
}

fn endless(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("{what}: not a file of measurements"))
}

struct ValueBlock {
    buffer: Vec<u8>,
    length: usize,
    values: Vec<f64>,
    lines: Result<u64, ReadError>,
}

impl ValueBlock {
    fn new() -> Self {
        Self { buffer: vec![0; BLOCK], length: 0, values: Vec::new(), lines: Ok(0) }
    }

    fn fill(&mut self, source: &mut BlockSource<'_>) {
        (self.length, self.lines) = match source.fill(&mut self.buffer) {
            Ok(length) => (length, Ok(0)),
            Err(error) => (0, Err(ReadError::Io(error))),
        };
    }

    fn parse(&mut self, format: &ValueFormat) {
        self.values.clear();
        if self.lines.is_ok() {
            let lines = format.read(&self.buffer[..self.length], &mut self.values);
            self.lines = lines.map_err(|InvalidData { line }| ReadError::InvalidData(line));
        }
    }
}
