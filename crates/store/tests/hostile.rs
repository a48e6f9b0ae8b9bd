//! Databases that somebody else made to do harm: each is refused in words, in bounded time and
//! memory.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use netassay_store::{NewStudy, Store, StoreError, StudyId, StudyStatus};
use record::{Environment, NamedMachine};
use rusqlite::Connection;
use study::{BySide, Effective, Settled};
use support::{environment, run, study, warmup};

/// A well-made database with one study, then changed by these statements of SQL.
fn changed(path: &Path, statements: &str) -> StudyId {
    let mut store = Store::open(path).unwrap();
    let id = store.begin_study(&study()).unwrap();
    let boot = store.begin_boot(id, 1, &environment()).unwrap();
    store.record_run(boot, &warmup(0)).unwrap();
    store.record_run(boot, &run(1, 0)).unwrap();
    store.finish_study(id, StudyStatus::Complete).unwrap();
    drop(store);
    change(path, statements);
    id
}

fn change(path: &Path, statements: &str) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("PRAGMA foreign_keys = off").unwrap();
    connection.execute_batch(statements).unwrap();
}

/// A view in the place of the studies, which never ends to give rows.
const ENDLESS: &str = "DROP TABLE study;
    CREATE VIEW study AS WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)
    SELECT n AS id, 'x' AS name, '' AS toml, '{}' AS plan, 0 AS seed, '' AS scenario, '' AS version,
           'complete' AS status, 0 AS started_unix_ms, 0 AS finished_unix_ms FROM c;";

/// Why the file is refused, by its readers and by who wants to record.
fn refusal(path: &Path) -> String {
    let reading = Store::open_read_only(path).unwrap_err();
    let recording = Store::open(path).unwrap_err();
    assert!(matches!(reading, StoreError::NotADatabase { .. }), "{reading:?}");
    assert_eq!(reading.to_string(), recording.to_string());
    reading.to_string()
}

#[test]
fn a_schema_that_is_not_ours_to_the_letter_is_refused_with_what_is_odd() {
    for (statements, words) in [
        (ENDLESS, r#"its view "study" is not of netassay's making"#),
        ("CREATE VIEW extra AS SELECT 1", r#"its view "extra" is not"#),
        ("CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM metric; END", r#"its trigger "t" is not"#),
        ("CREATE INDEX slow ON metric (abs(value))", r#"its index "slow" is not"#),
        ("ALTER TABLE run ADD COLUMN g TEXT GENERATED ALWAYS AS (hex(detail))", r#"its table "run" is not"#),
        ("DROP TABLE metric; CREATE TABLE metric (run, key, value)", r#"its table "metric" is not"#),
        ("DROP TABLE series", r#"it has no table "series""#),
        ("DROP INDEX run_once", r#"it has no index "run_once""#),
        ("CREATE TABLE \"\u{1b}[2J\u{202e}\" (x)", r#"its table "\u{1b}[2J\u{202e}" is not"#),
        ("PRAGMA user_version = -1", r#"its table "study" is not"#),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("netassay.db");
        changed(&path, statements);
        let error = refusal(&path);
        assert!(error.contains(words), "{statements}: {error}");
    }
}

#[test]
fn a_schema_that_changes_while_it_is_open_is_not_followed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("netassay.db");
    let id = changed(&path, "");
    let store = Store::open_read_only(&path).unwrap();
    change(&path, ENDLESS);
    let begun = Instant::now();
    for error in [store.studies().unwrap_err(), store.load(id).unwrap_err()] {
        assert!(matches!(error, StoreError::Sql { .. }), "{error:?}");
    }
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_value_longer_than_any_of_ours_is_not_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("netassay.db");
    let id = changed(&path, "UPDATE run SET detail = '\"' || hex(zeroblob(34000000)) || '\"'");
    let read = Store::open_read_only(&path).and_then(|store| store.load(id));
    for error in [read.unwrap_err(), Store::open(&path).unwrap_err()] {
        assert!(matches!(error, StoreError::Excessive { .. }), "{error:?}");
    }
}

#[test]
fn a_long_environment_of_many_boots_does_not_fill_the_memory() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("netassay.db");
    // 2000 boots of 4 MB: 8 GB of text from a file of some 4 MB.
    let id = changed(
        &path,
        "UPDATE document SET json = '\"' || hex(zeroblob(2000000)) || '\"';
         WITH RECURSIVE c (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM c LIMIT 2000)
         INSERT INTO boot SELECT n, 1, n, 1, 1, NULL, 0, NULL FROM c",
    );
    let error = Store::open_read_only(&path).unwrap().load(id).unwrap_err();
    assert!(matches!(error, StoreError::Excessive { .. }), "{error:?}");
    assert!(error.to_string().contains("its values are too long for the size of the file"), "{error}");
}

#[test]
fn many_studies_and_runs_are_counted_in_one_pass() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("netassay.db");
    // Were runs counted for each of these studies, 400 million rows would be read.
    changed(
        &path,
        "WITH RECURSIVE c (n) AS (SELECT 100 UNION ALL SELECT n + 1 FROM c LIMIT 20000)
         INSERT INTO study SELECT n, '', '', '0', 0, '', '', 'complete', 0, 0 FROM c;
         WITH RECURSIVE c (n) AS (SELECT 100 UNION ALL SELECT n + 1 FROM c LIMIT 20000)
         INSERT INTO run SELECT n, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 'failed', 'x', NULL, NULL, '0' FROM c",
    );
    let begun = Instant::now();
    let studies = Store::open_read_only(&path).unwrap().studies().unwrap();
    assert_eq!((studies.len(), studies[0].failed_runs), (20_001, 20_000));
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn a_journal_that_names_another_file_does_not_get_it_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let (path, victim) = (directory.path().join("netassay.db"), directory.path().join("victim"));
    changed(&path, "");
    let pages = std::fs::metadata(&path).unwrap().len() / 4096;
    // A header without records, then the name: https://sqlite.org/fileformat.html, section 3.
    let mark = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let name = victim.to_str().unwrap().as_bytes();
    let mut journal = mark.to_vec();
    for number in [0, 0, pages as u32, 512, 4096] {
        journal.extend(number.to_be_bytes());
    }
    journal.resize(512, 0);
    journal.extend((0x4000_0000_u32 / 4096 + 1).to_be_bytes());
    journal.extend(name);
    journal.extend((name.len() as u32).to_be_bytes());
    journal.extend(name.iter().map(|byte| u32::from(*byte)).sum::<u32>().to_be_bytes());
    journal.extend(mark);
    for open in [|path| Store::open_read_only(path).map(drop), |path: &Path| Store::open(path).map(drop)] {
        std::fs::write(&victim, "").unwrap();
        std::fs::write(directory.path().join("netassay.db-journal"), &journal).unwrap();
        let result = open(&path);
        assert!(victim.exists(), "SQLite deleted it: {result:?}");
        let error = result.unwrap_err().to_string();
        assert!(error.contains("its journal names another file, which SQLite would delete"), "{error}");
    }
}

/// 72,000 of them took a report 911 MB.
#[test]
fn runs_that_no_plan_has_are_not_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("netassay.db");
    let id = changed(
        &path,
        "WITH RECURSIVE c (n) AS (SELECT 100 UNION ALL SELECT n + 1 FROM c LIMIT 12000)
         INSERT INTO run SELECT n, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 'failed', 'x', NULL, NULL, '0' FROM c",
    );
    let planted = Store::open_read_only(&path).unwrap();
    let mut here = Store::open(directory.path().join("other.db")).unwrap();
    let outline = planted.outline(id, |_| Vec::new()).map(drop);
    for refused in [planted.load(id).map(drop), here.unpack(&planted).map(drop), outline] {
        let error = refused.unwrap_err();
        assert!(matches!(error, StoreError::Excessive { .. }), "{error:?}");
        assert!(error.to_string().contains("far more runs than its plan"), "{error}");
    }
    assert_eq!(here.studies().unwrap().len(), 0);
}

/// A change of a study and its environment before they are stored.
type Plant = fn(&mut NewStudy, &mut Environment);

#[test]
fn names_that_could_be_commands_are_refused_where_they_are_read() {
    const COMMAND: &str = "x; touch /tmp/owned";
    fn interface(features: bool) -> Option<host::InterfaceEnvironment> {
        let mut interface = record::sample::interface(if features { "eth0" } else { COMMAND });
        let state = host::FeatureState { active: true, wanted: true, changeable: true };
        interface.features = features.then(|| [(COMMAND.to_owned(), state)].into());
        Some(interface)
    }
    fn machine(interface: &str, target: serde_json::Value) -> Option<BySide<NamedMachine>> {
        let change = serde_json::json!({"number": 1, "target": {"mtu": {"interface": "eth0"}}, "before": "1", "after": "2"});
        let mut change: host::journal::Change = serde_json::from_value(change).unwrap();
        change.target = serde_json::from_value(target).unwrap();
        let one = NamedMachine { host: "a".into(), interface: interface.into(), changed: vec![change] };
        Some(BySide { transmitter: one.clone(), receiver: one })
    }
    let plants: [(&str, Plant); 9] = [
        ("a feature", |study, _| {
            study.plan.conditions[0].transmitter.features.insert(COMMAND.into(), true);
        }),
        ("a feature", |study, _| {
            let active = [(COMMAND.to_owned(), true)].into();
            let (refused, follow_on, device, tuning) = Default::default();
            let settled = Settled { mtu: 1500, active, refused, follow_on, device, tuning };
            let one = Effective { transmitter: settled, receiver: None, underlay: None, fragments: None };
            study.plan.effective = vec![one; study.plan.conditions.len()];
        }),
        ("a sysctl", |study, _| {
            study.plan.conditions[0].receiver.tuning.sysctl.insert(COMMAND.into(), "1".into());
        }),
        ("a sysctl", |_, environment| {
            environment.transmitter.sysctls.insert(COMMAND.into(), "1".into());
        }),
        ("an interface", |_, environment| {
            environment.transmitter.interfaces.insert(COMMAND.into(), None);
        }),
        ("an interface", |_, environment| {
            environment.transmitter.interfaces.insert("eth0".into(), interface(false));
        }),
        ("a feature", |_, environment| {
            environment.transmitter.interfaces.insert("eth0".into(), interface(true));
        }),
        ("an interface", |_, environment| {
            environment.machines = machine(COMMAND, serde_json::json!({"governor": {"cpu": 0}}));
        }),
        ("a sysctl", |_, environment| {
            environment.machines = machine("eth0", serde_json::json!({"sysctl": {"name": COMMAND}}));
        }),
    ];
    for (what, plant) in plants {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("packed.db");
        let mut store = Store::open(&path).unwrap();
        let (mut study, mut environment) = (study(), environment());
        plant(&mut study, &mut environment);
        let id = store.begin_study(&study).unwrap();
        let boot = store.begin_boot(id, 1, &environment).unwrap();
        store.record_run(boot, &run(1, 0)).unwrap();
        store.finish_study(id, StudyStatus::Complete).unwrap();
        let words = format!("`{COMMAND}` cannot be the name of {what}");
        let error = store.load(id).unwrap_err().to_string();
        assert!(error.contains(&words), "{error}");
        // Nor does it come out of a packed file, or go into one.
        let mut target = Store::open(directory.path().join("to.db")).unwrap();
        assert!(target.unpack(&store).unwrap_err().to_string().contains(&words), "{what}");
        assert!(store.pack(&[id], &directory.path().join("new.db")).is_err(), "{what}");
    }
}

#[test]
fn nothing_is_recorded_over_what_another_user_put_into_a_shared_directory() {
    if !nix::unistd::geteuid().is_root() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: another user's files: only root gives files away");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let shared = directory.path().join("shared");
    std::fs::create_dir(&shared).unwrap();
    std::fs::set_permissions(&shared, Permissions::from_mode(0o1777)).unwrap();
    let (path, own) = (shared.join("netassay.db"), directory.path().join("own.db"));
    // A link leads to a study of ours, or to an empty file of ours, which could become a database.
    changed(&own, "");
    for (name, target) in [
        ("netassay.db", Some("own.db")),
        ("netassay.db", Some("empty")),
        ("netassay.db", None),
        ("netassay.db-wal", None),
        ("netassay.db-shm", None),
        ("netassay.db-journal", None),
    ] {
        std::fs::write(directory.path().join("empty"), "").unwrap();
        if name != "netassay.db" {
            drop(Store::open(&path).unwrap());
        }
        let place = shared.join(name);
        match target {
            Some(target) => std::os::unix::fs::symlink(directory.path().join(target), &place).unwrap(),
            None => std::fs::write(&place, "").unwrap(),
        }
        std::os::unix::fs::lchown(&place, Some(65534), None).unwrap();
        let error = Store::open(&path).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("belongs to another user (number 65534)"), "{error}");
        assert_eq!(std::fs::metadata(directory.path().join("empty")).unwrap().len(), 0);
        for left in std::fs::read_dir(&shared).unwrap() {
            std::fs::remove_file(left.unwrap().path()).unwrap();
        }
    }
    assert_eq!(Store::open_read_only(&own).unwrap().studies().unwrap().len(), 1);
}
