//! One file in blocks: read in sequence, parsed on all processors, summed in order.

use std::fs::File;
use std::io::{self, Read};
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

use ministat::{Format, InvalidData, Values};

/// Bytes of one read.
const BLOCK: usize = 1 << 18;

/// Bytes after which threads are worth starting.
const WORTH_THREADS: usize = 1 << 20;

/// More do not help: one thread sums.
const MOST_THREADS: usize = 8;

/// The most values of a file: 1 GiB of memory. More is an endless stream, not a file of
/// measurements.
const MOST_VALUES: usize = 1 << 27;

/// The longest line, in bytes. ministat(1) splits lines at 8191 bytes.
const LONGEST_LINE: usize = 1 << 20;

/// The most bytes after the last value: comments, empty lines.
const MOST_WITHOUT_VALUE: usize = 1 << 26;

/// The most bytes of a file.
const MOST_BYTES: usize = 1 << 36;

/// Why a file has no values.
#[derive(Debug)]
pub(super) enum ReadError {
    /// An invalid line, counted from 1.
    InvalidData {
        line: u64,
    },
    Io(io::Error),
}

pub(super) fn read(file: File, format: &Format) -> Result<Values, ReadError> {
    let mut source = Source { file, format, rest: Vec::new(), taken: 0, bytes: 0, line: 0, has_ended: false };
    let mut sums = Sums { next: 0, lines: 0, values: Values::default(), without_value: 0, error: None };
    let mut worker = Worker::new();
    while sums.error.is_none() && source.bytes < WORTH_THREADS && worker.take(&mut source) {
        worker.parse(format);
        worker.hand_in(&mut sums);
    }
    if !source.has_ended && sums.error.is_none() {
        sums = on_all_processors(source, sums, format, worker);
    }
    match sums.error {
        None => Ok(sums.values),
        Some(error) => Err(error),
    }
}

fn on_all_processors(source: Source<'_>, sums: Sums, format: &Format, first: Worker) -> Sums {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
    let work = Work {
        source: Mutex::new(source),
        sums: Mutex::new(sums),
        turn: Condvar::new(),
        is_over: AtomicBool::new(false),
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| work.go_on(Worker::new(), format));
        }
        work.go_on(first, format);
    });
    work.sums.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The state that threads share.
struct Work<'a> {
    source: Mutex<Source<'a>>,
    sums: Mutex<Sums>,
    turn: Condvar,
    is_over: AtomicBool,
}

impl Work<'_> {
    fn go_on(&self, mut worker: Worker, format: &Format) {
        while !self.is_over.load(Ordering::Relaxed) {
            if !worker.take(&mut self.source.lock().unwrap_or_else(PoisonError::into_inner)) {
                return;
            }
            worker.parse(format);
            // Nobody takes a second block before the first one is summed, which bounds the memory.
            let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
            while sums.next != worker.block {
                sums = self.turn.wait(sums).unwrap_or_else(PoisonError::into_inner);
            }
            worker.hand_in(&mut sums);
            self.is_over.fetch_or(sums.error.is_some(), Ordering::Relaxed);
            drop(sums);
            self.turn.notify_all();
        }
    }
}

/// A file, cut into blocks of whole lines.
struct Source<'a> {
    file: File,
    format: &'a Format,
    /// The start of a line whose end was not read yet.
    rest: Vec<u8>,
    /// Blocks taken.
    taken: u64,
    /// Bytes read.
    bytes: usize,
    /// Bytes of the line that continues in the next block.
    line: usize,
    has_ended: bool,
}

impl Source<'_> {
    /// Reads at least one line, unless none is left; returns how many of the bytes in `buffer` are
    /// whole lines.
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

/// The results of all blocks.
struct Sums {
    /// The block that is summed next.
    next: u64,
    lines: u64,
    values: Values,
    /// Bytes of the blocks after the last one with a value.
    without_value: usize,
    error: Option<ReadError>,
}

/// A thread with its block: taken, parsed, summed.
struct Worker {
    buffer: Vec<u8>,
    length: usize,
    block: u64,
    values: Vec<f64>,
    lines: Result<u64, ReadError>,
}

impl Worker {
    fn new() -> Worker {
        Worker { buffer: vec![0; BLOCK], length: 0, block: 0, values: Vec::new(), lines: Ok(0) }
    }

    /// False if nothing is left.
    fn take(&mut self, source: &mut Source<'_>) -> bool {
        if source.has_ended {
            return false;
        }
        self.block = source.taken;
        source.taken += 1;
        (self.length, self.lines) = match source.fill(&mut self.buffer) {
            Ok(length) => (length, Ok(0)),
            Err(error) => (0, Err(ReadError::Io(error))),
        };
        true
    }

    fn parse(&mut self, format: &Format) {
        self.values.clear();
        if self.lines.is_ok() {
            self.lines = format
                .read(&self.buffer[..self.length], &mut self.values)
                .map_err(|InvalidData { line }| ReadError::InvalidData { line });
        }
    }

    /// Called when it is the block's turn.
    fn hand_in(&mut self, sums: &mut Sums) {
        sums.next += 1;
        // After an error nothing counts.
        if sums.error.is_some() {
            return;
        }
        match std::mem::replace(&mut self.lines, Ok(0)) {
            Ok(lines) => {
                sums.lines += lines;
                sums.without_value =
                    if self.values.is_empty() { sums.without_value + self.length } else { 0 };
                if sums.without_value > MOST_WITHOUT_VALUE {
                    let what = format!("{MOST_WITHOUT_VALUE} bytes without a value");
                    sums.error = Some(ReadError::Io(endless(&what)));
                } else if sums.values.all.len() + self.values.len() > MOST_VALUES {
                    let what = format!("more than {MOST_VALUES} values");
                    sums.error = Some(ReadError::Io(endless(&what)));
                } else {
                    sums.values.extend(&self.values);
                }
            }
            Err(ReadError::InvalidData { line }) => {
                sums.error = Some(ReadError::InvalidData { line: sums.lines + line });
            }
            Err(error) => sums.error = Some(error),
        }
    }
}
