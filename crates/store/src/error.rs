//! Errors of a database, and their remedies.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
use rusqlite::ErrorCode;
use study::Side;
use thiserror::Error;

use crate::address::is_server;
use crate::open::sibling;
use crate::records::StudyId;

pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

// The longest wait of a statement of a study that is recorded: a backup must not end the study.
pub(crate) const BUSY_RECORDING: Duration = Duration::from_secs(30);

pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;

/// An error of the store; each names the file and the remedy.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages name the fields")]
pub enum StoreError {
    #[error("no results at {path}: run a study first (`netassay quick`), or name the database with --db")]
    NotFound { path: PathBuf },
    #[error(
        "no results in {path}: the file is empty; run a study first (`netassay quick`), or name the database with --db"
    )]
    Empty { path: PathBuf },
    /// The name is a link to a file that does not exist. The file is not created: another user may
    /// have made the link.
    #[error(
        "cannot use {path}: it is a symbolic link to {target}, which does not exist; remove the link, or choose another \
         file with --db"
    )]
    DanglingLink { path: PathBuf, target: PathBuf },
    #[error("cannot use {path} as the lock file beside the database: {what}; remove it")]
    NotALock { path: PathBuf, what: String },
    #[error(
        "cannot create {path}: there is no directory {directory}; create it, or choose another file with --db"
    )]
    MissingDirectory { path: PathBuf, directory: PathBuf },
    #[error("cannot create {path}: {source}; make the directory writable, or choose another file with --db")]
    CannotCreate { path: PathBuf, source: io::Error },
    #[error(
        "cannot write to {path}: the file or its directory is read-only; make both writable, or choose another file with --db"
    )]
    ReadOnly { path: PathBuf },
    #[error(
        "cannot read {path}: a process was killed and left {log}, and the directory is read-only; copy both files to \
         a writable directory and read them there"
    )]
    UnappliedLog { path: PathBuf, log: PathBuf },
    #[error("cannot open {path}: {source}; make it readable, or choose another file with --db")]
    CannotOpen { path: PathBuf, source: io::Error },
    #[error("cannot use {path}: {source}")]
    Planted { path: PathBuf, source: io::Error },
    /// The file system is full. What was recorded before is safe.
    #[error(
        "the disk is full: {path} could not take another write; everything recorded before it is safe. \
         Free some space, then continue with --resume"
    )]
    DiskFull { path: PathBuf },
    /// The process may not make the file longer. What was recorded before is safe.
    #[error(
        "{path} cannot grow: this process may write {limit} bytes to a file at most (ulimit -f); everything recorded before is \
         safe. Raise the limit, then continue with --resume"
    )]
    FileLimit { path: PathBuf, limit: u64 },
    /// The file is not at its path any more. What was recorded before is in it and in its
    /// write-ahead log, which is still there.
    #[error(
        "{path} was deleted, moved or replaced while a study was recorded into it, so nothing more is recorded: move it back, \
         then continue with --resume"
    )]
    Moved { path: PathBuf },
    #[error(
        "{path} was written by a newer netassay: schema {found}, this program knows up to {known}; \
         upgrade netassay or choose another file with --db"
    )]
    Newer { path: PathBuf, found: i32, known: i32 },
    #[error("{path} is not a database of netassay ({what}): choose another file")]
    NotADatabase { path: PathBuf, what: String },
    #[error(
        "{path} is damaged ({detail}): {}, or choose another file with --db", restored(.path)
    )]
    Corrupted { path: PathBuf, detail: String },
    #[error("{path} is rejected ({what}): netassay does not write such files; choose another file")]
    Excessive { path: PathBuf, what: &'static str },
    #[error(
        "another netassay{who} is running a campaign on {path}: wait for it to end, or choose another file with --db",
        who = .pid.map_or(String::new(), |pid| format!(" (process {pid})"))
    )]
    CampaignRunning { path: PathBuf, pid: Option<u32> },
    #[error(
        "another netassay began pair {pair} in {path} meanwhile: start this one again, which goes on where that one stopped"
    )]
    PairBegun { path: PathBuf, pair: String },
    #[error("{path} is busy: another program holds it; close that program and try again")]
    Busy { path: PathBuf },
    #[error("{path}: the {side}'s counters over time are no table: {why}")]
    Misshapen { path: PathBuf, side: Side, why: String },
    #[error("{path} holds no study {study}: `netassay db list` shows those it holds")]
    NoSuchStudy { path: PathBuf, study: StudyId },
    #[error(
        "{path} holds no study {word:?}, neither by number nor by tag nor by name: `netassay db list` shows those it holds"
    )]
    NoStudyCalled { path: PathBuf, word: String },
    #[error(
        "{path}: pair {pair} of campaign {campaign} is study {holder} there, and this is another study of it: remove that one \
         (netassay db remove {holder}), or measure under a campaign of its own"
    )]
    PairTaken { path: PathBuf, pair: String, campaign: String, holder: StudyId },
    #[error("{path} is no file: a study is measured into a file, and then pushed (netassay db push)")]
    MeasuredIntoServer { path: PathBuf },
    #[error(
        "{path}: this build of netassay does not speak to PostgreSQL; build it with `--features postgres`, or choose a file with --db"
    )]
    NoPostgres { path: PathBuf },
    #[error("{path} has no tables of netassay: `netassay db migrate --db {path}` makes them")]
    NoTables { path: PathBuf },
    #[error(
        "{path} has tables of schema {found}, this program needs {known}: `netassay db migrate --db {path}` updates them, \
         after which earlier versions of netassay cannot use them"
    )]
    OlderTables { path: PathBuf, found: i32, known: i32 },
    #[error(
        "{path}: the server cannot be reached ({detail}): check host, port and certificate, and that the server runs"
    )]
    Unreachable { path: PathBuf, detail: String },
    /// A study is on the server wholly or not at all.
    #[error(
        "{path}: the connection was lost ({detail}); each study is there wholly or not at all: try again, which adds none twice"
    )]
    ConnectionLost { path: PathBuf, detail: String },
    #[error("{path}: {problem}: {remedy}")]
    Server { path: PathBuf, problem: String, remedy: &'static str },
    #[error("{path}: the tag {tag} names study {holder} already; to take it from there, add --move")]
    TagTaken { path: PathBuf, tag: String, holder: StudyId },
    #[error("{path} has no tag {tag}: `netassay db list` shows the tags")]
    NoSuchTag { path: PathBuf, tag: String },
    #[error("{path} exists, and nothing is written over it: choose another name")]
    AlreadyThere { path: PathBuf },
    #[error(
        "{path}: {what}: {source}; another program or another version of netassay wrote it: restore the file from a copy, or open it \
         with the version that measured"
    )]
    Json { path: PathBuf, what: String, source: serde_json::Error },
    #[error("{path}: {source}; {}, or choose another file with --db", checked(.path))]
    Sql { path: PathBuf, source: rusqlite::Error },
}

fn restored(path: &Path) -> String {
    if is_server(path) {
        return "another program wrote it: restore the tables on the server from a copy".to_owned();
    }
    let path = path.display();
    format!("restore it from a copy, save what is left with `sqlite3 {path} .recover`")
}

fn checked(path: &Path) -> &'static str {
    match is_server(path) {
        // Its rows do not fit into the tables of a file.
        true => "another program changed the tables on the server: restore them from a copy",
        false => "check the disk and the file system",
    }
}

impl StoreError {
    pub(crate) fn from_sqlite(path: &Path, source: rusqlite::Error) -> StoreError {
        let path = path.to_owned();
        if let rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::Utf8Error(..)
        | rusqlite::Error::IntegralValueOutOfRange(..) = source
        {
            return StoreError::Corrupted { path, detail: source.to_string() };
        }
        match source.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => {
                StoreError::Excessive { path, what: "reading it takes too long for the size of the file" }
            }
            Some(ErrorCode::TooBig) => {
                StoreError::Excessive { path, what: "its values are too long for the size of the file" }
            }
            Some(code @ (ErrorCode::DiskFull | ErrorCode::SystemIoFailure)) => match file_limit(&path) {
                Some(limit) => StoreError::FileLimit { path, limit },
                None if code == ErrorCode::DiskFull => StoreError::DiskFull { path },
                None => StoreError::Sql { path, source },
            },
            Some(ErrorCode::NotADatabase) => {
                StoreError::NotADatabase { path, what: "it is no SQLite file".to_owned() }
            }
            Some(ErrorCode::DatabaseCorrupt) => StoreError::Corrupted { path, detail: source.to_string() },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { path },
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen) => StoreError::ReadOnly { path },
            _ => StoreError::Sql { path, source },
        }
    }

    /// The error for a text that netassay does not write; `text` is the document, empty for a word.
    pub(crate) fn unreadable(path: &Path, what: String, text: &str, source: serde_json::Error) -> StoreError {
        let what = match field_at(text, source.line(), source.column()) {
            field if field.is_empty() => format!("{what} cannot be read"),
            field => format!("{what} cannot be read at {field}"),
        };
        StoreError::Json { path: path.to_owned(), what, source }
    }

    pub(crate) fn from_creation(path: &Path, source: io::Error) -> StoreError {
        let path = path.to_owned();
        if source.kind() == io::ErrorKind::FileTooLarge
            && let Some(limit) = file_limit(&path)
        {
            return StoreError::FileLimit { path, limit };
        }
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::DiskFull { path },
            io::ErrorKind::AlreadyExists => StoreError::AlreadyThere { path },
            io::ErrorKind::NotFound => StoreError::MissingDirectory { directory: directory_of(&path), path },
            _ => StoreError::CannotCreate { path, source },
        }
    }
}

const LONGEST_WRITE: u64 = 128 << 10;

/// In bytes; `None` unless a file of the database is about as long.
fn file_limit(database: &Path) -> Option<u64> {
    let (limit, _) = getrlimit(Resource::RLIMIT_FSIZE).ok()?;
    let real = database.canonicalize().unwrap_or_else(|_| database.to_owned());
    let length = |ending| fs::metadata(sibling(&real, ending)).map_or(0, |about| about.len());
    let is_near = |length| limit <= length + LONGEST_WRITE;
    (limit != RLIM_INFINITY && ["", "-wal"].map(length).into_iter().any(is_near)).then_some(limit)
}

fn directory_of(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    parent.unwrap_or(Path::new(".")).to_owned()
}

/// The path of the field at which the parser stopped, `transmitter.window.cpu_each[1].user`; empty
/// at the top.
fn field_at(json: &str, line: usize, column: usize) -> String {
    let before: usize = json.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let read = &json.as_bytes()[..(before + column).min(json.len())];
    let mut path: Vec<JsonStep> = Vec::new();
    let mut bytes = read.iter();
    // Whether the next text is a key.
    let mut is_key = false;
    // The parser has read it: the text is well-formed, or ends at the error.
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => {
                let mut text = Vec::new();
                while let Some(byte) = bytes.next().filter(|byte| **byte != b'"') {
                    text.push(*byte);
                    if *byte == b'\\' {
                        text.extend(bytes.next());
                    }
                }
                if let (true, Some(JsonStep::Key(key))) = (is_key, path.last_mut()) {
                    *key = String::from_utf8_lossy(&text).into_owned();
                }
                is_key = false;
            }
            b'{' => {
                path.push(JsonStep::Key(String::new()));
                is_key = true;
            }
            b'[' => path.push(JsonStep::Item(0)),
            b',' => match path.last_mut() {
                Some(JsonStep::Item(index)) => *index += 1,
                Some(JsonStep::Key(_)) => is_key = true,
                None => {}
            },
            // A missing field is reported at its object's end: name the object, not its last key.
            b'}' | b']' => drop(path.pop()),
            _ => {}
        }
    }
    path.iter().fold(String::new(), |path, step| match step {
        JsonStep::Key(key) if path.is_empty() || key.is_empty() => path + key,
        JsonStep::Key(key) => path + "." + key,
        JsonStep::Item(index) => format!("{path}[{index}]"),
    })
}

enum JsonStep {
    Key(String),
    Item(usize),
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its reading is looked at")]
    struct Outer {
        inner: Vec<Inner>,
        name: String,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its reading is looked at")]
    struct Inner {
        number: u64,
        pair: [u8; 2],
    }

    #[test]
    fn an_error_is_at_the_field_that_is_wrong() {
        let good = r#"{"number":1,"pair":[1,2]}"#;
        for (json, at) in [
            (r#"{"inner":[{"number":"a \"b\", {","pair":[1,2]}],"name":"x"}"#.to_owned(), "inner[0].number"),
            (format!(r#"{{"inner":[{good},{{"number":1,"pair":[1,256]}}],"name":"x"}}"#), "inner[1].pair[1]"),
            (format!("{{\"inner\":\n[{good},{good},{{\"number\":1}}],\"name\":\"x\"}}"), "inner[2]"),
            (r#"{"inner":[],"name":7}"#.to_owned(), "name"),
            (r#"{"inner":[],"new":{}}"#.to_owned(), "new"),
            (r#"{"inner":[]}"#.to_owned(), ""),
            ("7".to_owned(), ""),
        ] {
            let error = serde_json::from_str::<Outer>(&json).unwrap_err();
            assert_eq!(field_at(&json, error.line(), error.column()), at, "{json}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_at_any_place_has_some_field(json in "[\"\\[\\]{},:\\\\a-c\\n]{0,40}", line in 0_usize..4, column in 0_usize..60) {
            field_at(&json, line, column);
        }
    }
}
