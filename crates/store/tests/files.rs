//! Files that cannot become our database, and disks that cannot take it: each said by name, nothing
//! lost.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

#[path = "support/namespace.rs"]
mod namespace;

use std::fs;
use std::path::Path;

use netassay_store::{APPLICATION_ID, NewRun, SCHEMA_VERSION, Store, StoreError, StudyId, StudyStatus};
use rusqlite::Connection;
use study::{Plan, metric};
use support::{environment, run, study, warmup};

/// A database with one study, one boot and `runs` runs, closed.
fn filled(path: &Path, runs: u32) -> StudyId {
    let mut store = Store::open(path).unwrap();
    let id = store.begin_study(&study()).unwrap();
    let boot = store.begin_boot(id, 1, &environment()).unwrap();
    store.record_run(boot, &warmup(0)).unwrap();
    for repeat in 1..=runs {
        store.record_run(boot, &run(repeat, 0)).unwrap();
    }
    store.finish_study(id, StudyStatus::Complete).unwrap();
    id
}

fn open_error(path: &Path) -> String {
    Store::open(path).expect_err("it opened for recording").to_string()
}

fn read_error(path: &Path) -> String {
    Store::open_read_only(path).expect_err("it opened for reading").to_string()
}

#[test]
fn a_missing_directory_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results/netassay.db");
    let expected = format!(
        "cannot create {}: there is no directory {}; create it, or choose another file with --db",
        path.display(),
        directory.path().join("results").display()
    );
    assert_eq!(open_error(&path), expected);
    assert!(read_error(&path).starts_with(&format!("no results at {}", path.display())));
    assert!(!path.exists());
}

#[test]
fn a_directory_is_no_database() {
    let directory = tempfile::tempdir().unwrap();
    let expected = format!(
        "{} is not a database of netassay (it is a directory): choose another file",
        directory.path().display()
    );
    assert_eq!(open_error(directory.path()), expected);
    assert_eq!(read_error(directory.path()), expected);
}

#[test]
fn garbage_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes.txt");
    for garbage in [&b"x"[..], b"throughput 9414.52\n", &[0; 4096], &[0xa5; 100_000], b"SQLite format 3\0"] {
        fs::write(&path, garbage).unwrap();
        for error in [open_error(&path), read_error(&path)] {
            assert!(error.contains("notes.txt is"), "{error}");
        }
        assert_eq!(fs::read(&path).unwrap(), garbage, "a file that is not ours was changed");
    }
}

#[test]
fn another_programs_database_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.sqlite");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE urls (url TEXT); INSERT INTO urls VALUES ('a')").unwrap();
    drop(connection);
    let before = fs::read(&path).unwrap();
    let expected = format!(
        "{} is not a database of netassay (it is another program's SQLite file): choose another file",
        path.display()
    );
    assert_eq!(open_error(&path), expected);
    assert_eq!(read_error(&path), expected);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn an_empty_file_holds_no_results_but_can_take_some() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("netassay.db");
    fs::write(&path, "").unwrap();
    assert!(read_error(&path).starts_with(&format!("no results in {}: the file is empty", path.display())));
    filled(&path, 1);
    assert_eq!(Store::open_read_only(&path).unwrap().studies().unwrap().len(), 1);
    let connection = Connection::open(&path).unwrap();
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0)).unwrap();
    assert_eq!((pragma("application_id"), pragma("user_version")), (APPLICATION_ID, SCHEMA_VERSION));
}

#[test]
fn a_name_that_sqlite_knows_is_a_file_all_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("real.db");
    let link = directory.path().join("link.db");
    fs::write(&path, "").unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    filled(&link, 1);
    assert_eq!(Store::open_read_only(&path).unwrap().studies().unwrap().len(), 1);

    // A bare name, relative to the working directory, which only a child may change.
    if std::env::current_dir().unwrap() == Path::new("/dev/shm") {
        filled(Path::new(":memory:"), 1);
        assert!(fs::metadata(":memory:").unwrap().len() > 512);
        fs::remove_file(":memory:").unwrap();
        return;
    }
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_name_that_sqlite_knows_is_a_file_all_the_same"])
        .current_dir("/dev/shm")
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
}

#[test]
fn a_link_to_nothing_is_reported_and_creates_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (path, target) = (directory.path().join("netassay.db"), directory.path().join("elsewhere"));
    std::os::unix::fs::symlink(&target, &path).unwrap();
    let expected = format!(
        "cannot use {}: it is a symbolic link to {}, which does not exist; remove the link, or choose another file with --db",
        path.display(),
        target.display()
    );
    assert_eq!(open_error(&path), expected);
    assert_eq!(read_error(&path), expected);
    assert!(!target.exists());
}

#[test]
fn a_newer_schema_is_refused_with_both_versions() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("netassay.db");
    filled(&path, 1);
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 7).unwrap();
    let expected = format!(
        "{} was written by a newer netassay: schema 7, this program knows up to {SCHEMA_VERSION}; \
         upgrade netassay or choose another file with --db",
        path.display()
    );
    assert_eq!(open_error(&path), expected);
    assert_eq!(read_error(&path), expected);
}

/// Replaces a file. It is removed first: ext4 writes a file that was truncated to the disk when it
/// is closed, which takes longer than the test itself.
fn replaced(path: &Path, bytes: &[u8]) {
    fs::remove_file(path).unwrap();
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_truncated_file_is_never_taken_for_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("netassay.db");
    filled(&path, 500);
    let whole = fs::read(&path).unwrap();
    assert!(whole.len() > 50_000, "{}", whole.len());
    for length in (1..whole.len()).step_by(3067).chain([16, 99, 100, 4096, 8192, whole.len() - 1]) {
        replaced(&path, &whole[..length]);
        for error in [open_error(&path), read_error(&path)] {
            let is_told =
                error.contains("netassay.db is damaged") || error.contains("netassay.db is not a database");
            assert!(is_told, "cut to {length} bytes: {error}");
        }
        assert_eq!(fs::metadata(&path).unwrap().len(), length as u64);
    }
}

#[test]
fn a_damaged_file_is_reported_and_never_a_panic() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("netassay.db");
    let id = filled(&path, 100);
    let whole = fs::read(&path).unwrap();
    let mut refused = 0;
    for page in 0..whole.len() / 4096 {
        let mut damaged = whole.clone();
        damaged[page * 4096 + 8..page * 4096 + 300].fill(0xff);
        replaced(&path, &damaged);
        match Store::open_read_only(&path).and_then(|store| store.load(id)) {
            Ok(_) => {}
            Err(StoreError::Corrupted { .. } | StoreError::NotADatabase { .. }) => refused += 1,
            Err(other) => panic!("page {page}: {other}"),
        }
    }
    assert!(refused > 5, "{refused}");
}

/// An outline is read without a check of every page beforehand.
#[test]
fn damage_under_an_outline_is_reported_and_never_another_outline() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("netassay.db");
    let id = filled(&path, 150);
    let outline = || {
        let metrics = |_: &Plan| vec![metric::THROUGHPUT, metric::LOSS];
        Store::open_for_outlines(&path).and_then(|store| store.outline(id, metrics))
    };
    let (whole, right) = (fs::read(&path).unwrap(), outline().unwrap());
    assert!(right.values[&metric::THROUGHPUT].len() > 100, "{right:?}");
    let (mut refused, mut unread) = (0, 0);
    for page in 0..whole.len() / 4096 {
        for damage in [8..300, 0..8, 3000..4096] {
            let mut damaged = whole.clone();
            damaged[page * 4096 + damage.start..page * 4096 + damage.end].fill(0xff);
            replaced(&path, &damaged);
            match outline() {
                Ok(same) if same == right => unread += 1,
                Ok(other) => panic!("page {page}, {damage:?}: another outline: {other:?}"),
                Err(_) => refused += 1,
            }
        }
    }
    assert!(refused > 5 && unread > 5, "{refused} {unread}");
}

/// Of a large file only what is read is checked, unless it is written to: a look at it takes no
/// longer because of what else is in it.
#[test]
fn a_large_file_is_checked_where_it_is_read_and_whole_before_it_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("netassay.db");
    let id = filled(&path, 300);
    let filled_pages = fs::metadata(&path).unwrap().len() / 4096;
    let connection = Connection::open(&path).unwrap();
    let filler = "WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < 40)
                  INSERT INTO series (run, side, columns) SELECT 1, 'side ' || n, '\"' || hex(zeroblob(500000)) || '\"' FROM n";
    connection.execute_batch(&format!("PRAGMA foreign_keys = off; {filler}")).unwrap();
    drop(connection);
    let whole = fs::read(&path).unwrap();
    assert!(whole.len() > 33 << 20);
    assert_eq!(Store::open_read_only(&path).unwrap().load(id).unwrap().runs.len(), 301);
    let mut met = 0;
    for page in 1..filled_pages as usize {
        let mut damaged = whole.clone();
        damaged[page * 4096..page * 4096 + 300].fill(0xff);
        replaced(&path, &damaged);
        assert!(open_error(&path).contains("is damaged"), "page {page}");
        match Store::open_read_only(&path).and_then(|store| store.load(id)) {
            Ok(_) => {}
            Err(StoreError::Corrupted { .. } | StoreError::NotADatabase { .. }) => met += 1,
            Err(other) => panic!("page {page}: {other}"),
        }
        if met > 5 {
            return;
        }
    }
    panic!("{met} damaged pages were met");
}

#[test]
fn a_log_left_by_a_killed_process_is_applied() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("netassay.db");
    let mut store = Store::open(&path).unwrap();
    let id = store.begin_study(&study()).unwrap();
    let boot = store.begin_boot(id, 1, &environment()).unwrap();
    store.record_run(boot, &run(1, 0)).unwrap();
    // A copy as kill -9 leaves it: the file and its log, not closed.
    let copy = tempfile::tempdir().unwrap();
    for name in ["netassay.db", "netassay.db-wal"] {
        fs::copy(directory.path().join(name), copy.path().join(name)).unwrap();
    }
    let survivor = Store::open_read_only(copy.path().join("netassay.db")).unwrap();
    assert_eq!(survivor.load(id).unwrap().runs.len(), 1);
}

#[test]
fn a_held_lock_is_reported_as_busy() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("netassay.db");
    filled(&path, 1);
    let holder = Connection::open(&path).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut store = Store::open(&path).unwrap();
    let error = store.begin_study(&study()).unwrap_err().to_string();
    assert!(error.contains("netassay.db is busy: another program holds it"), "{error}");
    holder.execute_batch("ROLLBACK").unwrap();
    store.begin_study(&study()).unwrap();
}

/// A backup may hold it for longer than another command waits.
#[test]
#[ignore = "holds a lock for 8 s"]
fn a_study_that_is_recorded_waits_longer_for_a_lock() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(directory.path().join("netassay.db")).unwrap();
    let id = store.begin_study(&study()).unwrap();
    let holder = Connection::open(store.path()).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(std::time::Duration::from_secs(8));
            holder.execute_batch("ROLLBACK").unwrap();
        });
        store.begin_boot(id, 1, &environment()).unwrap();
    });
}

#[test]
fn a_database_that_is_gone_is_noticed_at_the_next_write() {
    let changes: [fn(&Path, &Path); 3] = [
        |path, _| fs::remove_file(path).unwrap(),
        |path, to| fs::rename(path, to).unwrap(),
        |path, to| {
            fs::copy(path, to).unwrap();
            fs::rename(to, path).unwrap();
        },
    ];
    for change in changes {
        let directory = tempfile::tempdir().unwrap();
        let (path, elsewhere) = (directory.path().join("netassay.db"), directory.path().join("elsewhere.db"));
        let mut store = Store::open(&path).unwrap();
        let id = store.begin_study(&study()).unwrap();
        let boot = store.begin_boot(id, 1, &environment()).unwrap();
        store.record_run(boot, &run(1, 0)).unwrap();
        change(&path, &elsewhere);
        let error = store.record_run(boot, &run(2, 0)).unwrap_err();
        assert!(matches!(error, StoreError::Moved { .. }), "{error:?}");
        drop(store);
        if elsewhere.exists() {
            fs::rename(&elsewhere, &path).unwrap();
        }
        if path.exists() {
            let kept = Store::open_read_only(&path).unwrap().load(id).unwrap();
            assert_eq!(kept.runs.len(), 1, "what was recorded before is there");
        }
    }
}

#[test]
fn a_full_disk_loses_nothing_that_was_recorded() {
    let parent = tempfile::tempdir().unwrap();
    let name = "a_full_disk_loses_nothing_that_was_recorded";
    let mounts = "mount -t tmpfs -o size=3m none \"$1\"; head -c 1048576 /dev/zero > \"$1/filler\"";
    let Some(directory) = namespace::inside(name, parent.path(), mounts) else { return };

    let path = directory.join("netassay.db");
    let mut store = Store::open(&path).unwrap();
    let id = store.begin_study(&study()).unwrap();
    let boot = store.begin_boot(id, 1, &environment()).unwrap();
    let big = |repeat| {
        let mut detail = run(repeat, 0).detail;
        detail.disturb(vec![record::Cause::Session("x".repeat(10_000)).into()]);
        NewRun { detail, ..run(repeat, 0) }
    };
    let recorded = (1..1000)
        .find_map(|repeat| match store.record_run(boot, &big(repeat)) {
            Ok(_) => None,
            Err(error) => {
                assert!(matches!(error, StoreError::DiskFull { .. }), "{error:?}");
                let text = error.to_string();
                assert!(text.contains("netassay.db") && text.contains("--resume"), "{text}");
                Some(repeat - 1)
            }
        })
        .expect("2 MiB took 10 MB");
    assert!(recorded > 10, "{recorded}");
    let seen = |store: &Store| store.load(id).unwrap().runs.len() as u32;
    assert_eq!(seen(&store), recorded, "the open store lost runs");
    assert!(matches!(store.record_run(boot, &big(recorded + 1)), Err(StoreError::DiskFull { .. })));
    drop(store);
    assert_eq!(seen(&Store::open_read_only(&path).unwrap()), recorded, "reading on the full disk lost runs");

    // Room again: the same campaign goes on where it stood.
    fs::remove_file(directory.join("filler")).unwrap();
    let mut store = Store::open(&path).unwrap();
    store.resume_study(id).unwrap();
    let boot = store.begin_boot(id, 1, &environment()).unwrap();
    store.record_run(boot, &big(recorded + 1)).unwrap();
    assert_eq!(seen(&store), recorded + 1);
}

#[test]
fn a_disk_without_any_room_is_reported() {
    let parent = tempfile::tempdir().unwrap();
    let name = "a_disk_without_any_room_is_reported";
    let mounts = "mount -t tmpfs -o size=64k none \"$1\"; head -c 65536 /dev/zero > \"$1/filler\"";
    let Some(directory) = namespace::inside(name, parent.path(), mounts) else { return };
    let error = Store::open(directory.join("netassay.db")).unwrap_err();
    assert!(matches!(error, StoreError::DiskFull { .. }), "{error:?}");
}

#[test]
fn a_read_only_directory_is_reported_and_can_still_be_read() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("netassay.db");
    if !path.exists() {
        filled(&path, 1);
    }
    let name = "a_read_only_directory_is_reported_and_can_still_be_read";
    let mounts = "mount --bind \"$1\" \"$1\"; mount -o remount,ro,bind \"$1\"";
    let Some(directory) = namespace::inside(name, parent.path(), mounts) else { return };

    let new = directory.join("new.db");
    let expected = format!(
        "cannot create {}: Read-only file system (os error 30); make the directory writable, \
         or choose another file with --db",
        new.display()
    );
    assert_eq!(open_error(&new), expected);

    let existing = directory.join("netassay.db");
    let error = Store::open(&existing).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    let store = Store::open_read_only(&existing).unwrap();
    let studies = store.studies().unwrap();
    assert_eq!(store.load(studies[0].id).unwrap().runs.len(), 2);
}

#[test]
fn a_log_in_a_read_only_directory_is_reported() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("netassay.db");
    let mut store = Store::open(&path).unwrap();
    store.begin_study(&study()).unwrap();
    let killed = parent.path().join("killed");
    fs::create_dir(&killed).unwrap();
    for name in ["netassay.db", "netassay.db-wal"] {
        fs::copy(parent.path().join(name), killed.join(name)).unwrap();
    }
    let name = "a_log_in_a_read_only_directory_is_reported";
    let mounts = "mount --bind \"$1\" \"$1\"; mount -o remount,ro,bind \"$1\"";
    let Some(directory) = namespace::inside(name, &killed, mounts) else { return };
    let error = Store::open_read_only(directory.join("netassay.db")).unwrap_err();
    assert!(matches!(&error, StoreError::UnappliedLog { .. }), "{error:?}");
    assert!(error.to_string().contains("netassay.db-wal"), "{error}");
}

#[test]
#[cfg(not(feature = "postgres"))]
fn a_server_is_refused_by_a_build_without_postgresql() {
    let error = Store::open_read_only("postgres://lab:secret@db/bench").unwrap_err().to_string();
    assert!(error.starts_with("postgres://lab@db/bench: this build of netassay does not speak"), "{error}");
}
