//! Stored studies as a person keeps them: tags, removal, packing.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::Path;

use netassay_store::{
    BootId, FleetPair, Moved, NewStudy, Outcome, SCHEMA_VERSION, Store, StoreError, StoredStudy, StudyId,
    StudyStatus, Tag,
};
use record::sample::series;
use rusqlite::Connection;
use study::{BySide, metric};
use support::{environment, environment_of, run, study, warmup};

fn tag(word: &str) -> Tag {
    word.parse().unwrap()
}

/// A database of two studies of the same name, the second with environments of its own.
fn two(path: &Path) -> (Store, [StudyId; 2]) {
    let mut store = Store::open(path).unwrap();
    let ids = [environment(), environment_of("6.19.0")].map(|own| {
        let id = store.begin_study(&study()).unwrap();
        for (number, before) in [(1, &environment()), (2, &own)] {
            let boot = store.begin_boot(id, number, before).unwrap();
            record(&mut store, boot);
            store.end_boot(boot, Some(&own)).unwrap();
        }
        store.finish_study(id, StudyStatus::Complete).unwrap();
        id
    });
    (store, ids)
}

fn record(store: &mut Store, boot: BootId) {
    store.record_run(boot, &warmup(0)).unwrap();
    let mut with_series = run(1, 0);
    with_series.series = BySide { receiver: Some(series()), ..BySide::default() };
    store.record_run(boot, &with_series).unwrap();
    let mut failed = run(1, 1);
    failed.outcome = Outcome::Failed("cannot read /srv/alice/x at 8.8.8.8".to_owned());
    store.record_run(boot, &failed).unwrap();
}

fn count(path: &Path, what: &str) -> u32 {
    let connection = Connection::open(path).unwrap();
    connection.query_row(&format!("SELECT count(*) FROM {what}"), [], |row| row.get(0)).unwrap()
}

/// A study without what its file numbers.
fn without_numbers(mut stored: StoredStudy) -> StoredStudy {
    stored.row.id = StudyId(0);
    stored.boots.iter_mut().for_each(|boot| boot.id = BootId(0));
    stored.runs.iter_mut().for_each(|run| run.id = netassay_store::RunId(0));
    stored
}

#[test]
fn a_study_is_called_by_number_tag_or_name() {
    let directory = tempfile::tempdir().unwrap();
    let (mut store, [first, second]) = two(&directory.path().join("a.db"));
    store.tag(first, &tag("main"), false).unwrap();
    assert_eq!(store.called("1").unwrap(), [first]);
    assert_eq!(store.called("main").unwrap(), [first]);
    assert_eq!(store.called("quick").unwrap(), [first, second]);
    // A tag goes before a name.
    store.tag(second, &tag("quick"), false).unwrap();
    assert_eq!(store.called("quick").unwrap(), [second]);
    for word in ["3", "99999999999999999999", "mian", "", "1; DROP TABLE study"] {
        let error = store.called(word).unwrap_err();
        assert!(matches!(error, StoreError::NoStudyCalled { .. }), "{error:?}");
    }
}

#[test]
fn a_tag_names_one_study_and_moves_only_when_told() {
    let directory = tempfile::tempdir().unwrap();
    let (mut store, [first, second]) = two(&directory.path().join("a.db"));
    store.tag(first, &tag("main"), false).unwrap();
    store.tag(first, &tag("main"), false).unwrap();
    let taken = store.tag(second, &tag("main"), false).unwrap_err();
    assert!(taken.to_string().contains("names study 1 already"), "{taken}");
    assert_eq!(store.load(first).unwrap().row.tags, ["main"]);
    store.tag(second, &tag("main"), true).unwrap();
    store.tag(second, &tag("a.b"), false).unwrap();
    let tags: Vec<_> = store.studies().unwrap().into_iter().map(|row| row.tags).collect();
    assert_eq!(tags, [vec![], vec!["a.b".to_owned(), "main".to_owned()]]);
    store.untag(&tag("main")).unwrap();
    let error = store.untag(&tag("main")).unwrap_err().to_string();
    assert!(error.ends_with("has no tag main: `netassay db list` shows the tags"), "{error}");
    assert!(matches!(store.tag(StudyId(9), &tag("x"), false), Err(StoreError::NoSuchStudy { .. })));
}

#[test]
fn what_is_removed_is_all_of_one_study_and_nothing_of_another() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    let (mut store, [first, second]) = two(&path);
    let before = store.load(first).unwrap();
    store.tag(second, &tag("gone"), false).unwrap();
    // As earlier versions wrote them.
    let note = "INSERT INTO note (study, written_unix_ms, text) VALUES (2, 1, 'gone')";
    Connection::open(&path).unwrap().execute(note, []).unwrap();
    let announced = store.contents(second).unwrap();
    assert_eq!((announced.boots, announced.runs, announced.tags), (2, 6, 1));
    assert_eq!(store.remove(second).unwrap(), announced);
    assert!(matches!(store.remove(second), Err(StoreError::NoSuchStudy { .. })));
    assert_eq!(store.load(first).unwrap(), before);
    drop(store);
    for (table, rows) in [
        ("study", 1),
        ("boot", 2),
        ("run", 6),
        ("metric", 8),
        ("series", 2),
        ("document", 1),
        ("tag", 0),
        ("note", 0),
    ] {
        assert_eq!(count(&path, table), rows, "{table}");
    }
    let bytes = fs::read(&path).unwrap();
    assert!(!bytes.windows(6).any(|window| window == b"6.19.0"), "what was removed can be read still");
    // A number is never given again.
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.begin_study(&study()).unwrap(), StudyId(3));
}

#[test]
fn a_campaign_of_an_earlier_version_is_read_and_kept() {
    let directory = tempfile::tempdir().unwrap();
    let [path, newer] = ["a.db", "newer.db"].map(|name| directory.path().join(name));
    let (_, [first, _]) = two(&newer);
    let earlier = Connection::open(&path).unwrap();
    let tables = [include_str!("../src/schema/1.sql"), include_str!("../src/schema/2.sql")].concat();
    earlier.execute_batch(&format!("{tables} PRAGMA user_version = 2")).unwrap();
    earlier.execute("ATTACH ?1 AS newer", [newer.to_str().unwrap()]).unwrap();
    for table in ["study", "document", "boot", "run", "metric"] {
        earlier.execute_batch(&format!("INSERT INTO {table} SELECT * FROM newer.{table}")).unwrap();
    }
    earlier.execute_batch("INSERT INTO pair VALUES ('c', 'rack1', '{}', 1, 'away')").unwrap();
    drop(earlier);

    let read = |store: &Store| {
        let pairs = store.pairs("c").unwrap();
        let means = store.boot_means(first, |_| vec![metric::THROUGHPUT]).unwrap();
        (pairs, means)
    };
    let before = read(&Store::open_read_only(&path).unwrap());
    assert_eq!((before.0.len(), before.0[0].pair.repeat), (1, 1));
    assert!(!before.1.values[&metric::THROUGHPUT].is_empty());
    let packed = directory.path().join("packed.db");
    Store::open_read_only(&path).unwrap().pack(&[first], &packed).unwrap();
    let pairs = Store::open_read_only(&packed).unwrap().pairs("c").unwrap();
    assert_eq!(pairs[0].pair, before.0[0].pair);
    assert_eq!(read(&Store::open(&path).unwrap()), before);
    let now = Connection::open(&path).unwrap();
    let version = now.pragma_query_value(None, "user_version", |row| row.get::<_, i32>(0)).unwrap();
    assert_eq!(version, SCHEMA_VERSION);
}

#[test]
fn nothing_is_removed_or_added_while_another_records() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    let (mut store, [first, _]) = two(&path);
    let mut recorder = Store::open(&path).unwrap();
    recorder.begin_study(&study()).unwrap();
    assert!(matches!(store.remove(first), Err(StoreError::CampaignRunning { .. })));
    let other = Store::open_read_only(&path).unwrap();
    assert!(matches!(store.unpack(&other), Err(StoreError::CampaignRunning { .. })));
    // A tag disturbs nobody.
    store.tag(first, &tag("main"), false).unwrap();
    drop(recorder);
    store.remove(first).unwrap();
}

#[test]
fn a_packed_study_is_the_same_where_it_is_unpacked() {
    let directory = tempfile::tempdir().unwrap();
    let [from, packed, to] = ["from.db", "packed.db", "to.db"].map(|name| directory.path().join(name));
    let (mut store, [first, second]) = two(&from);
    store.tag(second, &tag("main"), false).unwrap();
    let moved = store.pack(&[second, second], &packed).unwrap();
    assert_eq!(moved, [Moved { from: second, to: StudyId(1), tags_taken: vec![] }]);
    assert!(matches!(store.pack(&[first], &packed), Err(StoreError::AlreadyThere { .. })));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2 + 2, "from.db has its log open");

    let (mut elsewhere, [other, _]) = two(&to);
    elsewhere.tag(other, &tag("main"), false).unwrap();
    let source = Store::open_read_only(&packed).unwrap();
    let unpacked = elsewhere.unpack(&source).unwrap();
    let added = [Moved { from: StudyId(1), to: StudyId(3), tags_taken: vec!["main".to_owned()] }];
    assert_eq!(unpacked, (added.to_vec(), vec![]));
    // Once more is nothing new.
    assert_eq!(elsewhere.unpack(&source).unwrap(), (vec![], vec![(StudyId(1), StudyId(3))]));
    let mut original = without_numbers(store.load(second).unwrap());
    original.row.tags.clear();
    assert_eq!(without_numbers(elsewhere.load(StudyId(3)).unwrap()), original);
    assert_eq!(
        elsewhere.series(StudyId(3)).unwrap().into_iter().map(|one| one.series).collect::<Vec<_>>(),
        store.series(second).unwrap().into_iter().map(|one| one.series).collect::<Vec<_>>()
    );
}

/// A file left by a killed process does not look like a packed file, and does not keep the next one
/// from packing.
#[test]
fn packing_that_is_killed_leaves_no_file_and_can_be_repeated() {
    const CHILD: &str = "NETASSAY_TEST_PACKS_INTO";
    let name = "packing_that_is_killed_leaves_no_file_and_can_be_repeated";
    if let Some(directory) = std::env::var_os(CHILD).map(std::path::PathBuf::from) {
        let store = Store::open_read_only(directory.join("from.db")).unwrap();
        let ids: Vec<StudyId> = store.studies().unwrap().iter().map(|row| row.id).collect();
        store.pack(&ids, &directory.join("packed.db")).unwrap();
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let [from, packed] = ["from.db", "packed.db"].map(|name| directory.path().join(name));
    let (mut store, _) = two(&from);
    let id = store.begin_study(&study()).unwrap();
    let boot = store.begin_boot(id, 1, &environment()).unwrap();
    for repeat in 1..=400 {
        store.record_run(boot, &run(repeat, 0)).unwrap();
    }
    store.finish_study(id, StudyStatus::Complete).unwrap();
    let mut killed = 0;
    for wait in 0..12_u64 {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name])
            .env(CHILD, directory.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let aside = directory.path().join(".packed.db.part");
        // Killed as soon as it writes, or a little later.
        while child.try_wait().unwrap().is_none() && !aside.exists() {
            std::thread::yield_now();
        }
        std::thread::sleep(std::time::Duration::from_millis(4 * wait));
        child.kill().unwrap();
        child.wait().unwrap();
        if packed.exists() {
            // It was quicker: what is there is whole.
            assert_eq!(Store::open_read_only(&packed).unwrap().load(id).unwrap().runs.len(), 400);
            fs::remove_file(&packed).unwrap();
        } else {
            killed += 1;
        }
    }
    assert!(killed > 0, "each was quicker than its killer");
    store.pack(&[id], &packed).unwrap();
    let left: Vec<_> =
        fs::read_dir(directory.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{left:?}");
}

#[test]
fn a_value_that_is_no_number_is_named_with_its_run() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    let (store, [first, second]) = two(&path);
    drop(store);
    let change = "UPDATE metric SET value = -9e999 WHERE run = 5 AND key = 'throughput'";
    Connection::open(&path).unwrap().execute_batch(change).unwrap();
    let store = Store::open_read_only(&path).unwrap();
    let metrics = |_: &_| vec![metric::THROUGHPUT];
    let reads = |id| {
        [
            store.load(id).map(drop),
            store.outline(id, metrics).map(drop),
            store.boot_means(id, metrics).map(drop),
        ]
    };
    for read in reads(first) {
        let error = read.unwrap_err().to_string();
        assert!(error.contains("a.db is damaged (study 1, run 5: throughput is -inf)"), "{error}");
    }
    assert!(reads(second).iter().all(Result::is_ok));
}

#[test]
fn a_packed_file_that_is_no_study_adds_nothing() {
    for (change, words) in [
        ("UPDATE study SET plan = '{}'", "the plan of study 1"),
        ("UPDATE run SET detail = '{\"new\": 1}'", "the detail of run"),
        ("UPDATE metric SET value = 9e999", "is inf"),
        ("UPDATE series SET columns = '[]'", "counters over time"),
        ("UPDATE document SET json = '7'", "the environment of boot 1"),
        ("PRAGMA ignore_check_constraints = on; UPDATE study SET status = 'odd'", "is damaged"),
        ("CREATE VIEW v AS SELECT 1", "not of netassay's making"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let [from, packed, to] = ["from.db", "packed.db", "to.db"].map(|name| directory.path().join(name));
        let (store, [first, _]) = two(&from);
        store.pack(&[first], &packed).unwrap();
        Connection::open(&packed).unwrap().execute_batch(change).unwrap();
        let mut target = Store::open(&to).unwrap();
        let error = Store::open_read_only(&packed)
            .and_then(|packed| target.unpack(&packed))
            .expect_err(change)
            .to_string();
        assert!(error.contains(words) && error.contains("packed.db"), "{change}: {error}");
        assert_eq!(target.studies().unwrap(), []);
        assert_eq!(count(&to, "document"), 0);
    }
}

/// As the tasks of a scheduler begin them, on many machines at once.
#[test]
fn studies_that_begin_in_one_millisecond_are_known_by_their_content() {
    let directory = tempfile::tempdir().unwrap();
    let [from, to] = ["from.db", "to.db"].map(|name| directory.path().join(name));
    let (store, _) = two(&from);
    Connection::open(&from).unwrap().execute("UPDATE study SET started_unix_ms = 1", []).unwrap();
    let mut target = Store::open(&to).unwrap();
    assert_eq!(target.unpack(&store).unwrap().0.len(), 2);
    let known = vec![(StudyId(1), StudyId(1)), (StudyId(2), StudyId(2))];
    assert_eq!(target.unpack(&store).unwrap(), (vec![], known));
}

#[test]
fn another_study_of_a_pair_that_is_there_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let [from, to] = ["from.db", "to.db"].map(|name| directory.path().join(name));
    let pair = FleetPair {
        campaign: "quick@1".to_owned(),
        name: "rack1".to_owned(),
        labels: [("model".to_owned(), "R650".to_owned())].into(),
        repeat: 1,
    };
    let recorded = |path: &Path, release: &str| {
        let mut store = Store::open(path).unwrap();
        let id = store.begin_study(&NewStudy { pair: Some(pair.clone()), ..study() }).unwrap();
        let boot = store.begin_boot(id, 1, &environment_of(release)).unwrap();
        record(&mut store, boot);
        store.finish_study(id, StudyStatus::Complete).unwrap();
        store
    };
    let source = recorded(&from, "6.18.0");
    let mut target = recorded(&to, "6.19.0");
    let error = target.unpack(&source).unwrap_err();
    assert!(matches!(error, StoreError::PairTaken { holder: StudyId(1), .. }), "{error}");
    assert!(error.to_string().contains("pair rack1 of campaign quick@1 is study 1 there"), "{error}");
    assert_eq!(target.studies().unwrap().len(), 1);
    // A pair whose study was removed takes the next one.
    target.remove(StudyId(1)).unwrap();
    assert_eq!(target.unpack(&source).unwrap().0[0].to, StudyId(2));
    assert_eq!(target.pairs("quick@1").unwrap()[0].study, Some(StudyId(2)));
}

#[test]
fn a_study_that_cannot_be_packed_leaves_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let [from, packed] = ["from.db", "packed.db"].map(|name| directory.path().join(name));
    let (store, _) = two(&from);
    assert!(matches!(store.pack(&[StudyId(9)], &packed), Err(StoreError::NoSuchStudy { .. })));
    assert!(!packed.exists());
}

#[test]
fn changing_makes_no_database() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("none.db");
    assert!(matches!(Store::open_existing(&path), Err(StoreError::NotFound { .. })));
    assert!(!path.exists());
    fs::write(&path, "").unwrap();
    assert!(matches!(Store::open_existing(&path), Err(StoreError::Empty { .. })));
}
