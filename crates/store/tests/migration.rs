//! Files of schema 1: read as they are, brought up to date when something is to be recorded.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::Path;

use netassay_store::{NewRun, Outcome, RunStatus, SCHEMA_VERSION, Store, StudyId};
use rusqlite::Connection;
use support::{environment, run, study, warmup};

/// A database as the first schema wrote it: one study, one boot, a warm-up, a run and a failed one.
fn of_schema_1(path: &Path) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(include_str!("../src/schema/1.sql")).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
    let plan = study().plan_json.to_string();
    connection
        .execute(
            "INSERT INTO study VALUES (3, 'quick', '', ?1, 1, 'veth', '0.1.0', 'interrupted', 5, NULL)",
            [plan],
        )
        .unwrap();
    connection
        .execute_batch(
            r#"INSERT INTO document VALUES (1, 0, '{"kernel": "6.18.0"}');
               INSERT INTO boot VALUES (7, 3, 1, 1, 1, NULL, 5, NULL);
               INSERT INTO run VALUES (20, 7, 3, 1, 1, 0, 1, 0, 1, 0, 5, 'ok', NULL, '{}');
               INSERT INTO run VALUES (21, 7, 3, 1, 1, 1, 1, 1, 0, 0, 5, 'ok', NULL, '{"note": "old"}');
               INSERT INTO run VALUES (22, 7, 3, 1, 1, 1, 2, 2, 0, 0, 5, 'failed', 'gone', '{}');
               INSERT INTO metric VALUES (20, 'throughput', 1.0), (21, 'throughput', 2.5), (21, 'loss', 0.0);"#,
        )
        .unwrap();
}

fn version(path: &Path) -> i32 {
    let connection = Connection::open(path).unwrap();
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

#[test]
fn an_old_file_is_read_without_changing_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("netassay.db");
    of_schema_1(&path);
    let before = fs::read(&path).unwrap();

    let store = Store::open_read_only(&path).unwrap();
    let stored = store.load(StudyId(3)).unwrap();
    assert_eq!((stored.row.recorded_runs, stored.row.failed_runs, stored.row.invalid_runs), (1, 1, 0));
    assert_eq!(stored.runs[1].metrics["throughput"], 2.5);
    assert_eq!(stored.runs[1].limited_by, None);
    assert_eq!((stored.runs[2].status, stored.runs[2].reason.as_deref()), (RunStatus::Failed, Some("gone")));
    assert_eq!(store.series(StudyId(3)).unwrap(), []);
    assert_eq!(store.studies().unwrap(), [stored.row]);
    drop(store);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn an_old_file_is_brought_up_to_date_with_all_that_it_holds() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("netassay.db");
    of_schema_1(&path);
    let before = Store::open_read_only(&path).unwrap().load(StudyId(3)).unwrap();

    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.load(StudyId(3)).unwrap(), before);

    // What the new schema can do, and what it must still refuse.
    store.resume_study(StudyId(3)).unwrap();
    let boot = store.begin_boot(StudyId(3), 1, &environment()).unwrap();
    store.record_run(boot, &warmup(0)).unwrap();
    assert!(store.record_run(boot, &run(1, 0)).is_err(), "it was recorded under the old schema");
    let disturbed = Outcome::Invalid(Vec::new(), "stolen".to_owned());
    let row = store.record_run(boot, &NewRun { outcome: disturbed, ..run(2, 0) }).unwrap();
    assert!(row.0 > 22, "a row's number is never used again: {row}");
    store.record_run(boot, &run(2, 0)).unwrap();
    drop(store);

    assert_eq!(version(&path), SCHEMA_VERSION);
    let connection = Connection::open(&path).unwrap();
    let broken: u32 =
        connection.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0)).unwrap();
    assert_eq!(broken, 0);
    // The new tables are under the old rule: with a study goes all that belongs to it.
    connection.pragma_update(None, "foreign_keys", true).unwrap();
    connection.execute("DELETE FROM study", []).unwrap();
    let left: u32 = connection.query_row("SELECT count(*) FROM metric", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}
