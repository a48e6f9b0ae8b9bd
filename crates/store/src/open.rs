//! Opens a file, and reports its faults before anything is read or written.
//!
//! Closing any descriptor of a database releases the POSIX locks of every SQLite connection to it
//! in this process, so only SQLite may open an existing one.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use host::user_file::refuse_planted;
use nix::fcntl::OFlag;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::address::is_server;
use crate::error::{BUSY_TIMEOUT, Result, StoreError};
use crate::read_budget::Budget;
use crate::schema::{self, APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION};
use crate::server;
use crate::store::Store;

// In bytes. The check of every page, at 100 MB/s, delays commands that only look something up.
pub(crate) const CHECKED_WHOLE: u64 = 32 << 20;

// In bytes, before anything is written: above, some seconds for each command would become minutes.
const CHECKED_BEFORE_WRITING: u64 = 1 << 30;

// SQLite's smallest page, in bytes (<https://sqlite.org/fileformat.html>, section 1.3.2).
const SMALLEST_DATABASE: u64 = 512;

#[derive(Clone, Debug)]
pub(crate) struct DatabaseFile {
    pub(crate) named: PathBuf,
    /// Absolute and without links, for SQLite, which has special names like `:memory:`.
    pub(crate) real: PathBuf,
    id: (u64, u64),
}

impl DatabaseFile {
    /// The place of a database that is no file.
    #[cfg(feature = "postgres")]
    pub(crate) fn on_server(named: PathBuf) -> DatabaseFile {
        DatabaseFile { real: named.clone(), named, id: (0, 0) }
    }

    pub(crate) fn check(&self) -> Result<()> {
        let is_it = |about: fs::Metadata| (about.dev(), about.ino()) == self.id;
        if fs::symlink_metadata(&self.real).is_ok_and(is_it) {
            return Ok(());
        }
        Err(StoreError::Moved { path: self.named.clone() })
    }
}

type Opened = (Connection, Budget);

pub(crate) fn for_changing(path: &Path) -> Result<Store> {
    if is_server(path) {
        return server::open(path);
    }
    let place = existing(path)?;
    if fs::metadata(&place.real).is_ok_and(|about| about.len() == 0) && log_beside(&place.real).is_none() {
        return Err(StoreError::Empty { path: place.named });
    }
    for_writing(place)
}

/// Makes a database of one file, without a log beside it.
///
/// # Errors
/// [`StoreError::AlreadyThere`] if there is anything of that name.
pub(crate) fn for_packing(path: &Path) -> Result<Store> {
    let created = OpenOptions::new().write(true).create_new(true).open(path);
    created.map_err(|error| StoreError::from_creation(path, error))?;
    let place = existing(path)?;
    let (mut connection, budget) = connect(&place, &place.real, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    migrate(&mut connection, &place)?;
    let store = Store::from_opened((connection, budget), place);
    store.connection.pragma_update(None, "foreign_keys", true).map_err(|error| store.sql(error))?;
    Ok(store)
}

pub(crate) fn for_writing(place: DatabaseFile) -> Result<Store> {
    // SQLite would follow a link of these names, or apply a journal with pages of others.
    let files = ["", "-wal", "-shm", "-journal"].map(|ending| sibling(&place.real, ending));
    for path in files.iter().chain([&place.named]) {
        refuse_planted(path).map_err(|source| StoreError::Planted { path: path.clone(), source })?;
    }
    let deadline = Instant::now() + BUSY_TIMEOUT;
    loop {
        match set_up(&place) {
            // If two processes set the journal mode, SQLite refuses one without waiting.
            Err(StoreError::Busy { .. }) if Instant::now() < deadline => {
                thread::sleep(Duration::from_millis(5))
            }
            opened => return Ok(Store::from_opened(opened?, place)),
        }
    }
}

/// Opens for reading. Never creates the database and never changes its content, but applies the log
/// of a killed process if the file can be written.
pub(crate) fn for_reading(path: &Path, whole_up_to: u64) -> Result<Store> {
    if is_server(path) {
        return server::open(path);
    }
    let place = existing(path)?;
    let open_and_inspect = |opened: Result<Opened>| {
        let opened = opened?;
        let version = inspect(&opened.0, &place, whole_up_to)?;
        Ok((opened, version))
    };
    let writable = connect(&place, &place.real, OpenFlags::SQLITE_OPEN_READ_WRITE);
    let (opened, version) = match open_and_inspect(writable) {
        Err(StoreError::ReadOnly { .. }) => open_and_inspect(connect_immutable(&place))?,
        inspected => inspected?,
    };
    if version.is_none() {
        return Err(StoreError::Empty { path: place.named });
    }
    let store = Store::from_opened(opened, place);
    store.connection.pragma_update(None, "query_only", true).map_err(|error| store.sql(error))?;
    Ok(store)
}

fn set_up(place: &DatabaseFile) -> Result<Opened> {
    let sql = |error| StoreError::from_sqlite(&place.named, error);
    let (mut connection, budget) = connect(place, &place.real, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // Before anything is written: a damage must not grow.
    let version = inspect(&connection, place, CHECKED_BEFORE_WRITING)?;
    if connection.is_readonly("main").map_err(sql)? {
        return Err(StoreError::ReadOnly { path: place.named.clone() });
    }
    // The answer is the mode in force. A file system without shared memory keeps the rollback
    // journal, which is as safe and makes readers wait: no error.
    let _mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0)).map_err(sql)?;
    // FULL syncs the log at each commit, so a recorded run survives a power cut; NORMAL does not.
    connection.pragma_update(None, "synchronous", "full").map_err(sql)?;
    if version != Some(SCHEMA_VERSION) {
        // A step that rebuilds a table drops the old one, which must not delete the rows that refer
        // to it. Each step checks the references at its end.
        connection.pragma_update(None, "foreign_keys", false).map_err(sql)?;
        migrate(&mut connection, place)?;
    }
    connection.pragma_update(None, "foreign_keys", true).map_err(sql)?;
    Ok((connection, budget))
}

// The tables that are always checked whole: few rows each, which every command reads.
const SMALL: [&str; 4] = ["study", "document", "boot", "tag"];

pub(crate) fn create_if_missing(path: &Path) -> Result<DatabaseFile> {
    // A link of this name counts as an existing file, whatever its target.
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        created => created.map(drop).map_err(|error| StoreError::from_creation(path, error))?,
    }
    existing(path)
}

fn existing(path: &Path) -> Result<DatabaseFile> {
    let named = path.to_owned();
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(match fs::read_link(path) {
                Ok(target) => StoreError::DanglingLink { path: named, target },
                Err(_) => StoreError::NotFound { path: named },
            });
        }
        Err(source) => return Err(StoreError::CannotOpen { path: named, source }),
        Ok(metadata) => metadata,
    };
    let what = match metadata.len() {
        _ if metadata.is_dir() => "it is a directory".to_owned(),
        _ if !metadata.is_file() => "it is no regular file".to_owned(),
        // SQLite would treat such a file as empty and overwrite it.
        length @ 1..SMALLEST_DATABASE => format!("it holds only {length} bytes"),
        _ => {
            let real = path
                .canonicalize()
                .map_err(|source| StoreError::CannotOpen { path: named.clone(), source })?;
            return Ok(DatabaseFile { named, real, id: (metadata.dev(), metadata.ino()) });
        }
    };
    Err(StoreError::NotADatabase { path: named, what })
}

fn connect(place: &DatabaseFile, address: &Path, flags: OpenFlags) -> Result<Opened> {
    if journal_names_a_file(&place.real) {
        let what = "its journal names another file, which SQLite would delete".to_owned();
        return Err(StoreError::NotADatabase { path: place.named.clone(), what });
    }
    let attempt = || {
        let connection = Connection::open_with_flags(address, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        let budget = Budget::restrict(&connection, &place.real)?;
        Ok((connection, budget))
    };
    attempt().map_err(|error: rusqlite::Error| {
        let path = place.named.clone();
        // SQLite does not say why it cannot open the file; the operating system's refusal does.
        match OpenOptions::new().read(true).open(&place.real) {
            Err(source) => StoreError::CannotOpen { path, source },
            Ok(_) => StoreError::from_sqlite(&path, error),
        }
    })
}

fn connect_immutable(place: &DatabaseFile) -> Result<Opened> {
    if let Some(log) = log_beside(&place.real) {
        return Err(StoreError::UnappliedLog { path: place.named.clone(), log });
    }
    let path = place.real.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    // For a directory where nobody can write, so that SQLite cannot make its shared-memory file.
    let uri = format!("file:{path}?immutable=1");
    connect(place, Path::new(&uri), OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI)
}

/// Refuses files that are not ours, newer, or damaged. Returns the schema's version; none of an
/// empty file.
fn inspect(connection: &Connection, place: &DatabaseFile, whole_up_to: u64) -> Result<Option<i32>> {
    let path = || place.named.clone();
    let sql = |error| StoreError::from_sqlite(&place.named, error);
    let number =
        |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0)).map_err(sql);

    // One snapshot: another process may be making the tables now.
    let snapshot = connection.unchecked_transaction().map_err(sql)?;
    let version = number("user_version")?;
    let application = number("application_id")?;
    let tables: u32 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(sql)?;

    if version == 0 && application == 0 && tables == 0 {
        return Ok(None);
    }
    if application != APPLICATION_ID {
        let what = "it is another program's SQLite file".to_owned();
        return Err(StoreError::NotADatabase { path: path(), what });
    }
    if version > SCHEMA_VERSION {
        return Err(StoreError::Newer { path: path(), found: version, known: SCHEMA_VERSION });
    }
    if has_partial_page(&place.real, u64::from(number("page_size")?.unsigned_abs())) {
        return Err(StoreError::Corrupted { path: path(), detail: "its end is missing".to_owned() });
    }
    // Before anything from the file is evaluated: the next check uses the tables' constraints.
    if let Some(what) = schema::difference(connection, version).map_err(sql)? {
        return Err(StoreError::NotADatabase { path: path(), what });
    }
    drop(snapshot);
    // Of a longer file each page of the large tables is checked when it is read.
    let is_whole = fs::metadata(&place.real).is_ok_and(|file| file.len() <= whole_up_to);
    let checked: &[&str] = if is_whole { &["1"] } else { &SMALL };
    for what in checked {
        let check = format!("PRAGMA quick_check({what})");
        let found: String = connection.query_row(&check, [], |row| row.get(0)).map_err(sql)?;
        if found != "ok" {
            return Err(StoreError::Corrupted { path: path(), detail: found });
        }
    }
    Ok(Some(version))
}

fn has_partial_page(file: &Path, page_size: u64) -> bool {
    // SQLite fills a truncated page with zeros and reads on. A log may hold all of a partial page;
    // it is checked twice because both change meanwhile.
    let is_partial = || fs::metadata(file).is_ok_and(|file| file.len() % page_size != 0);
    log_beside(file).is_none() && is_partial() && log_beside(file).is_none()
}

fn log_beside(file: &Path) -> Option<PathBuf> {
    let log = sibling(file, "-wal");
    fs::metadata(&log).is_ok_and(|metadata| metadata.len() > 0).then_some(log)
}

/// Whether a rollback journal ends in the name of a super-journal
/// (<https://sqlite.org/fileformat.html>, section 3).
fn journal_names_a_file(file: &Path) -> bool {
    // SQLite rolls back and deletes any file of that name. netassay never makes one, as it writes
    // one database at a time.
    const MARK: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let mut end = [0; MARK.len()];
    let flags = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
    OpenOptions::new().read(true).custom_flags(flags).open(sibling(file, "-journal")).is_ok_and(|journal| {
        let at = journal.metadata().map_or(0, |about| about.len().saturating_sub(MARK.len() as u64));
        at > 0 && journal.read_exact_at(&mut end, at).is_ok() && end == MARK
    })
}

pub(crate) fn sibling(file: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(ending);
    PathBuf::from(name)
}

pub(crate) fn migrate(connection: &mut Connection, place: &DatabaseFile) -> Result<()> {
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    let Err(error) = MIGRATIONS.to_latest(connection) else { return Ok(()) };
    // Another process that opened the new file may have done it while we waited for the lock.
    if inspect(connection, place, u64::MAX)? == Some(SCHEMA_VERSION) {
        return Ok(());
    }
    Err(match error {
        rusqlite_migration::Error::RusqliteError { err, .. } => StoreError::from_sqlite(&place.named, err),
        other => StoreError::Corrupted { path: place.named.clone(), detail: other.to_string() },
    })
}
