//! The end of another process's standard error.

use std::io::{self, ErrorKind, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use agent::ReadLimiter;

/// The bytes that are kept, the last ones: more than an error shows.
const KEPT: usize = 4 << 10;

/// Time for the reader to end after its agent. A child of the agent may hold the pipe open.
const PATIENCE: Duration = Duration::from_millis(100);

/// The end of what an agent wrote. A thread reads it, because an agent blocks once it has filled
/// its pipe; the thread ends when every writer has closed it, or this is dropped.
#[derive(Debug)]
pub(crate) struct StderrTail {
    shared: Arc<SharedTail>,
}

#[derive(Debug, Default)]
struct SharedTail {
    end: Mutex<TailBytes>,
    closed: Condvar,
}

#[derive(Debug, Default)]
struct TailBytes {
    bytes: Vec<u8>,
    is_closed: bool,
}

impl StderrTail {
    pub(crate) fn read(mut pipe: impl Read + Send + 'static) -> io::Result<Self> {
        let shared = Arc::new(SharedTail::default());
        let theirs = Arc::clone(&shared);
        Builder::new().name("stderr".to_owned()).spawn(move || {
            let (mut piece, mut pace) = ([0; 4096], ReadLimiter::default());
            // Without a reader of its own, what is left of the agent is not read either.
            while Arc::strong_count(&theirs) > 1 {
                match pipe.read(&mut piece) {
                    Ok(0) => break,
                    Ok(count) => theirs.lock().add(&piece[..count]),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
                pace.pause();
            }
            theirs.lock().is_closed = true;
            theirs.closed.notify_all();
        })?;
        Ok(Self { shared })
    }

    /// The end of it, for an error about an agent that has exited: bounded, without control
    /// characters. Empty if it wrote nothing.
    pub(crate) fn last_words(&self) -> String {
        let end = self.shared.closed.wait_timeout_while(self.shared.lock(), PATIENCE, |end| !end.is_closed);
        let (end, _) = end.unwrap_or_else(PoisonError::into_inner);
        words::last_words(&String::from_utf8_lossy(&end.bytes))
    }
}

impl SharedTail {
    /// The bytes are whole even if a thread panicked.
    fn lock(&self) -> MutexGuard<'_, TailBytes> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TailBytes {
    fn add(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
        let over = self.bytes.len().saturating_sub(KEPT);
        self.bytes.drain(..over);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn only_the_end_of_much_is_kept() {
        let (reader, mut writer) = io::pipe().unwrap();
        let said = StderrTail::read(reader).unwrap();
        // It would block after 64 KiB without a reader.
        for _ in 0..1 << 14 {
            writer.write_all(&[b'x'; 64]).unwrap();
        }
        writer.write_all(b"\nthe end\x1b[2J").unwrap();
        drop(writer);
        let words = said.last_words();
        assert!(words.ends_with("xx the end\\u{1b}[2J"), "{words}");
        assert!(words.len() <= words::LONGEST_REASON);
        let end = said.shared.lock();
        assert!(end.bytes.len() == KEPT && end.bytes.capacity() <= 4 * KEPT, "{}", end.bytes.capacity());
    }

    #[test]
    fn endless_words_are_read_slowly_and_not_at_all_once_nobody_asks() {
        let (reader, mut writer) = io::pipe().unwrap();
        let said = StderrTail::read(reader).unwrap();
        let writer = std::thread::spawn(move || (0u128..).find(|_| writer.write_all(&[b'x'; 4096]).is_err()));
        let begun = std::time::Instant::now();
        std::thread::sleep(Duration::from_millis(300));
        drop(said);
        let (pieces, milliseconds) = (writer.join().unwrap().unwrap(), begun.elapsed().as_millis());
        assert!(pieces < 2000 + milliseconds + 32, "{pieces} in {milliseconds} ms");
    }

    #[test]
    fn what_has_come_is_reported_while_a_writer_is_left() {
        let (reader, mut writer) = io::pipe().unwrap();
        let said = StderrTail::read(reader).unwrap();
        writer.write_all(b"so far").unwrap();
        assert_eq!(said.last_words(), "so far");
        drop(writer);
    }
}
