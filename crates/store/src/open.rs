//! Opening a file, and saying what is wrong with it before anything is read or written.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::error::StoreError;
use crate::schema::{APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION};

/// How long a statement waits for a lock that another program holds.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Opens for recording; makes the file, or brings its schema up to date.
pub(crate) fn for_recording(path: &Path) -> Result<Connection, StoreError> {
    create_if_missing(path)?;
    let sql = |error| StoreError::from_sqlite(path, error);
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let state = inspect(&connection, path)?;
    if connection.is_readonly("main").map_err(sql)? {
        return Err(StoreError::ReadOnly { path: path.to_owned() });
    }
    // The answer is the mode in force. A file system without shared memory keeps the rollback journal, which is as
    // safe and only lets readers wait, so it is no error.
    let _mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0)).map_err(sql)?;
    // FULL syncs the log at each commit: a run that was recorded survives a power cut (NORMAL would not promise that).
    connection.pragma_update(None, "synchronous", "full").map_err(sql)?;
    connection.pragma_update(None, "foreign_keys", true).map_err(sql)?;
    if state.version < SCHEMA_VERSION {
        migrate(&mut connection, path)?;
    }
    Ok(connection)
}

/// Opens for reading. Never creates the database and never changes its content; a log that a killed process left
/// behind is applied where the file can be written.
pub(crate) fn for_reading(path: &Path) -> Result<Connection, StoreError> {
    require_file(path)?;
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let (connection, state) = match inspect(&connection, path) {
        Err(StoreError::ReadOnly { .. }) => {
            drop(connection);
            let connection = connect_immutable(path)?;
            let state = inspect(&connection, path)?;
            (connection, state)
        }
        inspected => (connection, inspected?),
    };
    if state.is_empty {
        return Err(StoreError::Empty { path: path.to_owned() });
    }
    connection
        .pragma_update(None, "query_only", true)
        .map_err(|error| StoreError::from_sqlite(path, error))?;
    Ok(connection)
}

/// What the file says of itself.
struct State {
    version: i32,
    is_empty: bool,
}

fn create_if_missing(path: &Path) -> Result<(), StoreError> {
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => require_file(path),
        Err(error) => Err(StoreError::from_creation(path, error)),
    }
}

fn require_file(path: &Path) -> Result<(), StoreError> {
    let path_owned = || path.to_owned();
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(()),
        Ok(metadata) => {
            let what = if metadata.is_dir() { "it is a directory" } else { "it is no regular file" };
            Err(StoreError::NotADatabase { path: path_owned(), what: what.to_owned() })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(StoreError::NotFound { path: path_owned() })
        }
        Err(source) => Err(StoreError::CannotOpen { path: path_owned(), source }),
    }
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let connection =
        Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(|error| {
            // SQLite only says that it cannot; the operating system says why. (The file is not opened here when SQLite
            // could: closing it again would drop the locks of another connection of this process.)
            match OpenOptions::new().read(true).open(path) {
                Err(source) => StoreError::CannotOpen { path: path.to_owned(), source },
                Ok(_) => StoreError::from_sqlite(path, error),
            }
        })?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(|error| StoreError::from_sqlite(path, error))?;
    Ok(connection)
}

/// Opens a file in a directory where SQLite cannot make its shared-memory file. Nobody can be writing there.
fn connect_immutable(path: &Path) -> Result<Connection, StoreError> {
    let mut log = OsString::from(path);
    log.push("-wal");
    if fs::metadata(&log).is_ok_and(|metadata| metadata.len() > 0) {
        return Err(StoreError::UnappliedLog { path: path.to_owned(), log: PathBuf::from(log) });
    }
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte))
            }
            _ => write!(uri, "%{byte:02X}").expect("writing to a string cannot fail"),
        }
    }
    uri.push_str("?immutable=1");
    connect(Path::new(&uri), OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI)
}

/// Refuses what is not ours, what is newer than we are and what is damaged.
fn inspect(connection: &Connection, path: &Path) -> Result<State, StoreError> {
    let sql = |error| StoreError::from_sqlite(path, error);
    let number =
        |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0)).map_err(sql);
    let version = number("user_version")?;
    let application = number("application_id")?;
    let tables: u32 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(sql)?;

    // A file that was created but never written is nobody's, so it may become ours.
    let is_empty = version == 0 && application == 0 && tables == 0;
    if is_empty {
        return Ok(State { version, is_empty });
    }
    if application != APPLICATION_ID {
        let what = "it is another program's SQLite file".to_owned();
        return Err(StoreError::NotADatabase { path: path.to_owned(), what });
    }
    if version > SCHEMA_VERSION {
        return Err(StoreError::Newer { path: path.to_owned(), found: version, known: SCHEMA_VERSION });
    }
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(sql)?;
    if found != "ok" {
        return Err(StoreError::Corrupted { path: path.to_owned(), detail: found });
    }
    Ok(State { version, is_empty })
}

fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    connection.set_transaction_behavior(rusqlite::TransactionBehavior::Immediate);
    let Err(error) = MIGRATIONS.to_latest(connection) else { return Ok(()) };
    // Another process that opened the new file at the same time may have done it while we waited for the lock.
    if inspect(connection, path)?.version == SCHEMA_VERSION {
        return Ok(());
    }
    Err(match error {
        rusqlite_migration::Error::RusqliteError { err, .. } => StoreError::from_sqlite(path, err),
        other => StoreError::Corrupted { path: path.to_owned(), detail: other.to_string() },
    })
}
