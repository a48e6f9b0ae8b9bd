//! The file of a journal: opened safely, written durably.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, fallocate};

use super::directory::{LARGEST, open_ours, sync, try_lock};
use super::line::{Header, Record, parse, unfinished, write};
use crate::error::Error;

// The longest first line that is looked at, in bytes.
const LONGEST_HEADER: u64 = 4096;

// The least space on the disk for the lines of the undo, in bytes: the disk may be full by then.
const UNDO_SPACE: u64 = 64 << 10;

#[derive(Debug)]
pub(super) struct JournalFile {
    pub(super) path: PathBuf,
    file: File,
    /// The offset of the next line, behind which an incomplete one may stand.
    end: u64,
    /// The line before is damaged and has no end.
    is_open: bool,
}

impl JournalFile {
    /// Makes a journal with its first line; its name appears once it is complete.
    pub(super) fn make(path: &Path, first: &Record) -> Result<Self, Error> {
        // Restores pass over this ending: without its whole first line a journal has no owner.
        let unfinished = path.with_extension("new");
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished);
        let mut file = made.map_err(Error::journal("make", &unfinished))?;
        // Locked before it has its name: a restore takes an unlocked journal for a dead process's.
        file.try_lock().map_err(|error| Error::journal("lock", &unfinished)(error.into()))?;
        let first = write(first);
        let written = reserve(&file, 0, UNDO_SPACE).and_then(|()| file.write_all(&first));
        let written = written.and_then(|()| file.sync_all());
        written.map_err(Error::journal("write", &unfinished))?;
        std::fs::rename(&unfinished, path).map_err(Error::journal("name", path))?;
        let file = Self { path: path.to_owned(), file, end: first.len() as u64, is_open: false };
        // The name, too, is on disk before the first change.
        file.sync_place()?;
        Ok(file)
    }

    /// Opens and reads a journal. `None` if another process holds it, or it is gone.
    pub(super) fn open(path: &Path) -> Result<Option<(Self, Vec<u8>)>, Error> {
        let Some(mut file) = Self::find(path)? else { return Ok(None) };
        if !try_lock(&file, path)? {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(Error::journal("read", path))?;
        let end = unfinished(&bytes).unwrap_or(bytes.len());
        let is_open = bytes[..end].last().is_some_and(|byte| *byte != b'\n');
        Ok(Some((Self { path: path.to_owned(), file, end: end as u64, is_open }, bytes)))
    }

    pub(super) fn header(path: &Path) -> Option<Header> {
        let mut first = Vec::new();
        let file = Self::find(path).ok().flatten()?;
        BufReader::new(file.take(LONGEST_HEADER)).read_until(b'\n', &mut first).ok()?;
        parse(&first).header
    }

    fn find(path: &Path) -> Result<Option<File>, Error> {
        match open_ours(path, false) {
            Err(Error::Journal { errno, .. }) if errno.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// Adds lines, and returns when they are on disk.
    pub(super) fn add(&mut self, records: &[Record]) -> Result<(), Error> {
        self.append(records, false).map_err(Error::journal("write", &self.path))
    }

    /// Adds lines that announce changes, if there is space on the disk for their undo.
    pub(super) fn announce(&mut self, records: &[Record]) -> Result<(), Error> {
        self.append(records, true).map_err(Error::journal("write", &self.path))
    }

    fn append(&mut self, records: &[Record], needs_undo_space: bool) -> io::Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let mut text = if self.is_open { vec![b'\n'] } else { Vec::new() };
        text.extend(records.iter().flat_map(write));
        let length = text.len() as u64;
        if self.end + length > LARGEST {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it would be too long to be read back"));
        }
        if self.file.metadata()?.len() > self.end {
            // This also gives reserved space back, so it is done only where it must be.
            self.file.set_len(self.end)?;
        }
        let reserved = reserve(&self.file, self.end, length + UNDO_SPACE.max(self.end));
        // Lines of an undo are written into the space that was reserved with its changes.
        if needs_undo_space {
            reserved?;
        }
        self.file.seek(SeekFrom::Start(self.end))?;
        let written = self.file.write_all(&text).and_then(|()| self.file.sync_all());
        if written.is_ok() {
            self.end += length;
            self.is_open = false;
        } else {
            // On failure none of the lines counts. If this fails too, the next line replaces the
            // rest of them.
            let _ = self.file.set_len(self.end);
        }
        written
    }

    pub(super) fn remove(self) -> Result<(), Error> {
        std::fs::remove_file(&self.path).map_err(Error::journal("remove", &self.path))?;
        self.sync_place()
    }

    pub(super) fn set_aside(self) -> Result<PathBuf, Error> {
        let aside = self.path.with_extension("set-aside");
        std::fs::rename(&self.path, &aside).map_err(Error::journal("set aside", &self.path))?;
        self.sync_place()?;
        Ok(aside)
    }

    fn sync_place(&self) -> Result<(), Error> {
        self.path.parent().map_or(Ok(()), sync)
    }
}

/// Reserves space on the disk for this many bytes behind `end`; the file's length stays.
fn reserve(file: &File, end: u64, bytes: u64) -> io::Result<()> {
    let [end, bytes] = [end, bytes].map(u64::cast_signed);
    loop {
        match fallocate(file.as_fd(), FallocateFlags::FALLOC_FL_KEEP_SIZE, end, bytes) {
            Err(Errno::EINTR) => {}
            // Not every file system can do that.
            Err(Errno::EOPNOTSUPP | Errno::ENOSYS) => return Ok(()),
            reserved => return Ok(reserved?),
        }
    }
}
