//! The last lines that a process writes: a guest's console with QEMU's messages, a machine's
//! console, or the standard error of an agent and of the launcher that leads to one.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use agent::ReadLimiter;
use agent::init::{CANNOT, SERVING};

const LINES: usize = 400;
const LINE_BYTES: usize = 1000;
const SHOWN: usize = 12;

// Time for the reader to end after its process. A child of that may hold the pipe open.
const PATIENCE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(crate) struct Console {
    // A thread reads the pipe, so that no process ever waits for a reader.
    shared: Arc<(Mutex<Text>, Condvar)>,
}

#[derive(Debug, Default)]
pub(crate) struct Text {
    lines: VecDeque<String>,
    pending: Vec<u8>,
    sign: Option<BootSign>,
    has_panicked: bool,
    closed: bool,
}

impl Console {
    pub(crate) fn read(mut pipe: impl Read + Send + 'static) -> std::io::Result<Self> {
        let shared = Arc::<(Mutex<Text>, Condvar)>::default();
        let theirs = Arc::clone(&shared);
        thread::Builder::new().name("console".to_owned()).spawn(move || {
            let (text, changed) = &*theirs;
            let (mut piece, mut pace) = ([0; 4096], ReadLimiter::default());
            // Without a reader of its own, what is left of the process is not read either.
            while Arc::strong_count(&theirs) > 1 {
                match pipe.read(&mut piece) {
                    Ok(0) => break,
                    Ok(count) => lock(text).add(&piece[..count]),
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    Err(_) => break,
                }
                changed.notify_all();
                pace.pause();
            }
            lock(text).close();
            changed.notify_all();
        })?;
        Ok(Self { shared })
    }

    pub(crate) fn sign_within(&self, patience: Duration) -> Option<BootSign> {
        self.wait(patience, |text| text.sign.is_none() && !text.closed).sign.clone()
    }

    pub(crate) fn closed_within(&self, patience: Duration) -> bool {
        self.wait(patience, |text| !text.closed).closed
    }

    // Early in a boot, QEMU does not exit when the kernel panics.
    pub(crate) fn ended_within(&self, patience: Duration) -> bool {
        self.wait(patience, |text| !text.closed && !text.has_panicked).closed
    }

    fn wait(&self, patience: Duration, goes_on: impl Fn(&Text) -> bool) -> MutexGuard<'_, Text> {
        let (text, changed) = &*self.shared;
        let waited = changed.wait_timeout_while(lock(text), patience, |text| goes_on(text));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    pub(crate) fn says(&self, words: &str) -> bool {
        let text = lock(&self.shared.0);
        text.lines.iter().any(|line| line.contains(words))
            || String::from_utf8_lossy(&text.pending).contains(words)
    }

    pub(crate) fn last_line(&self) -> String {
        let text = lock(&self.shared.0);
        let line = text.lines.iter().rev().find(|line| !line.trim().is_empty());
        line.map_or_else(|| "it printed nothing".to_owned(), |line| line.trim().to_owned())
    }

    pub(crate) fn last_words(&self) -> String {
        let text = self.wait(PATIENCE, |text| !text.closed);
        let pending = plain(&text.pending);
        let lines = text.lines.iter().map(String::as_str).chain([pending.as_str()]);
        words::last_words(&lines.collect::<Vec<_>>().join("\n"))
    }

    pub(crate) fn tail(&self) -> String {
        lock(&self.shared.0).tail()
    }

    pub(crate) fn last_lines(&self, most: usize) -> Vec<String> {
        lock(&self.shared.0).last_lines(most)
    }

    /// Whether the end of a panic was read since this was asked last.
    pub(crate) fn take_panic(&self) -> bool {
        std::mem::take(&mut lock(&self.shared.0).has_panicked)
    }
}

fn lock(text: &Mutex<Text>) -> MutexGuard<'_, Text> {
    text.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Text {
    pub(crate) fn add(&mut self, piece: &[u8]) {
        for &byte in piece {
            if byte == b'\n' || self.pending.len() >= LINE_BYTES {
                self.end_line();
            }
            if byte != b'\n' {
                self.pending.push(byte);
            }
        }
    }

    pub(crate) fn close(&mut self) {
        if !self.pending.is_empty() {
            self.end_line();
        }
        self.closed = true;
    }

    fn end_line(&mut self) {
        let line = plain(&std::mem::take(&mut self.pending));
        self.has_panicked |= line.contains(PANIC_END);
        // A panic explains more than earlier lines, the first of several more than the others.
        let is_panic = |sign: &BootSign| matches!(sign, BootSign::Panicked(_));
        let known = self.sign.as_ref();
        let found =
            boot_sign(&line).filter(|found| known.is_none_or(|known| is_panic(found) && !is_panic(known)));
        self.sign = found.or(self.sign.take());
        if self.lines.len() == LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    pub(crate) fn tail(&self) -> String {
        let last = self.last_lines(SHOWN);
        if last.is_empty() {
            return EMPTY.to_owned();
        }
        let shown: Vec<String> = last.iter().map(|line| format!("  | {line}")).collect();
        format!("  the last lines of its console:\n{}", shown.join("\n"))
    }

    fn last_lines(&self, most: usize) -> Vec<String> {
        let pending = plain(&self.pending);
        let lines = self.lines.iter().map(String::as_str).chain([pending.as_str()]);
        let lines: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).collect();
        let last = &lines[lines.len().saturating_sub(most)..];
        last.iter().map(|line| line.trim_end().to_owned()).collect()
    }
}

const EMPTY: &str = "  its console is empty: the kernel did not come to its first line, as with a damaged image (build or fetch it again)";

fn plain(line: &[u8]) -> String {
    words::sanitised_line(String::from_utf8_lossy(line).trim_end_matches('\r')).into_owned()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BootSign {
    Serving,
    Cannot(String),
    Panicked(String),
}

// The kernel's words, in every version (kernel/panic.c).
const PANIC: &str = "Kernel panic - not syncing";

// The last line of a panic after which the kernel stops.
const PANIC_END: &str = "---[ end Kernel panic";

fn boot_sign(line: &str) -> Option<BootSign> {
    if let Some((_, what)) = line.split_once(PANIC) {
        return Some(BootSign::Panicked(what.trim_start_matches(':').trim().to_owned()));
    }
    if let Some((_, why)) = line.split_once(CANNOT) {
        return Some(BootSign::Cannot(why.trim().to_owned()));
    }
    line.contains(SERVING).then_some(BootSign::Serving)
}

#[cfg(test)]
mod tests;
