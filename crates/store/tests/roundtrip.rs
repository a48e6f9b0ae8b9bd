//! Stored studies are read back unchanged.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use netassay_store::{
    BootId, FleetPair, NewRun, NewStudy, Outcome, RunKey, RunStatus, Store, StoreError, StoredSeries,
    StudyId, StudyStatus,
};
use proptest::prelude::*;
use record::{Cause, Detail, Evidence, Label, Limit, LossPlace, Series, sample};
use study::{BySide, Direction, PlannedRun, Side, metric};
use support::{environment, environment_of, run, study, warmup};
use tempfile::TempDir;

fn new_store() -> (TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path().join("netassay.db")).unwrap();
    (directory, store)
}

#[test]
fn a_whole_study_comes_back() {
    let (_directory, mut store) = new_store();
    let id = store.begin_study(&study()).unwrap();
    let boot = store.begin_boot(id, 1, &environment()).unwrap();
    store.record_run(boot, &warmup(0)).unwrap();
    store.record_run(boot, &run(1, 0)).unwrap();
    let failed = NewRun { outcome: Outcome::Failed("the receiver died".to_owned()), ..run(1, 1) };
    store.record_run(boot, &failed).unwrap();
    store.end_boot(boot, Some(&environment_of("6.19.0"))).unwrap();
    store.finish_study(id, StudyStatus::Complete).unwrap();

    let stored = store.load(id).unwrap();
    assert_eq!(stored.plan, study().plan);
    assert_eq!(stored.label(1), "ipv6, offloads=none");
    assert_eq!(stored.slug(0), "tcp4_default");
    assert_eq!((stored.label(7), stored.slug(7)), ("condition 7".to_owned(), "condition_7".to_owned()));

    let row = &stored.row;
    assert_eq!((row.name.as_str(), row.scenario.as_str(), row.version.as_str()), ("quick", "veth", "0.1.0"));
    assert_eq!((row.seed, &row.toml), (u64::MAX, &study().toml));
    assert_eq!((row.status, row.boots, row.recorded_runs, row.failed_runs), (StudyStatus::Complete, 1, 1, 1));
    assert!(row.finished_unix_ms.unwrap() >= row.started_unix_ms && row.started_unix_ms > 1_700_000_000_000);

    let boot = &stored.boots[0];
    assert_eq!((boot.number, boot.part, &boot.environment), (1, 1, &environment()));
    assert_eq!(boot.environment_after, Some(environment_of("6.19.0")));
    assert!(boot.ended_unix_ms.unwrap() >= boot.started_unix_ms);

    let [warm, good, bad] = stored.runs.as_slice() else { panic!("{:?}", stored.runs) };
    assert!(warm.warmup && !warm.is_measurement() && warm.block == 0);
    assert_eq!(good.key(), RunKey { boot: 1, warmup: false, repeat: 1, condition: 0 });
    assert_eq!(
        (good.position, good.started_unix_ms, &good.detail),
        (2, 1_700_000_000_000, &run(1, 0).detail)
    );
    assert_eq!(good.metrics.get(metric::THROUGHPUT), Some(9414.52));
    assert_eq!((bad.status, bad.reason.as_deref()), (RunStatus::Failed, Some("the receiver died")));
    assert!(bad.metrics.is_empty());
    assert_eq!(stored.values(metric::THROUGHPUT).collect::<Vec<_>>(), [(0, 1, 9414.52)]);
    assert_eq!(store.studies().unwrap(), [stored.row]);
}

#[test]
fn a_store_dropped_without_finishing_reopens_with_every_run() {
    let (directory, mut store) = new_store();
    let id = store.begin_study(&study()).unwrap();
    let boot = store.begin_boot(id, 1, &environment()).unwrap();
    store.record_run(boot, &run(1, 0)).unwrap();
    drop(store);

    let store = Store::open_read_only(directory.path().join("netassay.db")).unwrap();
    let stored = store.load(id).unwrap();
    assert_eq!(stored.row.status, StudyStatus::Interrupted, "nobody is recording it");
    assert_eq!((stored.row.finished_unix_ms, stored.boots[0].ended_unix_ms), (None, None));
    assert_eq!(stored.runs.len(), 1);
    drop(store);
    let left: Vec<_> =
        std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["netassay.db"], "files stay behind");
}

#[test]
fn a_store_may_move_to_another_thread() {
    let (_directory, mut store) = new_store();
    let begun = std::thread::spawn(move || store.begin_study(&study())).join().unwrap();
    assert_eq!(begun.unwrap(), StudyId(1));
}

#[test]
fn a_reader_sees_each_run_while_another_records() {
    let (directory, mut writer) = new_store();
    let id = writer.begin_study(&study()).unwrap();
    let reader = Store::open_read_only(directory.path().join("netassay.db")).unwrap();
    let boot = writer.begin_boot(id, 1, &environment()).unwrap();
    for repeat in 1..=3 {
        writer.record_run(boot, &run(repeat, 0)).unwrap();
        let seen = reader.load(id).unwrap();
        assert_eq!((seen.row.status, seen.runs.len()), (StudyStatus::Running, repeat as usize));
    }
}

#[test]
fn a_reader_cannot_write() {
    let (directory, mut writer) = new_store();
    let id = writer.begin_study(&study()).unwrap();
    writer.finish_study(id, StudyStatus::Complete).unwrap();
    drop(writer);
    let mut reader = Store::open_read_only(directory.path().join("netassay.db")).unwrap();
    assert!(matches!(reader.begin_study(&study()), Err(StoreError::ReadOnly { .. })));
    assert_eq!(reader.studies().unwrap().len(), 1);
}

#[test]
fn no_run_is_recorded_twice() {
    let (_directory, mut store) = new_store();
    let id = store.begin_study(&study()).unwrap();
    let first = store.begin_boot(id, 1, &environment()).unwrap();
    store.record_run(first, &warmup(0)).unwrap();
    store.record_run(first, &run(1, 0)).unwrap();
    assert!(is_duplicate(store.record_run(first, &run(1, 0))));
    assert!(is_duplicate(store.record_run(first, &warmup(0))));

    // A failed run may be tried again, and again.
    let failed = NewRun { outcome: Outcome::Failed("late".to_owned()), ..run(2, 0) };
    store.record_run(first, &failed).unwrap();
    store.record_run(first, &failed).unwrap();
    store.record_run(first, &run(2, 0)).unwrap();

    // The boot is resumed: warm-ups are due again, recorded runs are not.
    let resumed = store.begin_boot(id, 1, &environment()).unwrap();
    store.record_run(resumed, &warmup(0)).unwrap();
    assert!(is_duplicate(store.record_run(resumed, &warmup(0))));
    assert!(is_duplicate(store.record_run(resumed, &run(1, 0))));
    store.record_run(resumed, &run(3, 0)).unwrap();

    // Another planned boot has runs of its own.
    let second = store.begin_boot(id, 2, &environment()).unwrap();
    store.record_run(second, &run(1, 0)).unwrap();

    let stored = store.load(id).unwrap();
    assert_eq!(
        stored.boots.iter().map(|boot| (boot.number, boot.part)).collect::<Vec<_>>(),
        [(1, 1), (1, 2), (2, 1)]
    );
    assert_eq!(stored.runs.last().unwrap().boot, 2);
    assert_eq!((stored.row.boots, stored.row.recorded_runs, stored.row.failed_runs), (2, 4, 2));
    let key = |boot, warmup, repeat| RunKey { boot, warmup, repeat, condition: 0 };
    let expected = [key(1, true, 1), key(1, false, 1), key(1, false, 2), key(1, false, 3), key(2, false, 1)];
    assert_eq!(store.recorded(id).unwrap(), BTreeSet::from(expected));
}

fn is_duplicate<T>(result: Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Sql { .. }))
}

#[test]
fn what_is_not_there_is_named() {
    let (_directory, mut store) = new_store();
    let nowhere = StudyId(7);
    assert!(matches!(store.load(nowhere), Err(StoreError::NoSuchStudy { .. })));
    assert!(matches!(store.recorded(nowhere), Err(StoreError::NoSuchStudy { .. })));
    assert!(matches!(store.resume_study(nowhere), Err(StoreError::NoSuchStudy { .. })));
    assert!(matches!(store.begin_boot(nowhere, 1, &environment()), Err(StoreError::NoSuchStudy { .. })));
    let error = store.finish_study(nowhere, StudyStatus::Failed).unwrap_err();
    assert!(
        error.to_string().ends_with("holds no study 7: `netassay db list` shows those it holds"),
        "{error}"
    );
    assert!(store.record_run(BootId(99), &run(1, 0)).is_err());
}

#[test]
fn equal_environments_are_stored_once() {
    let (directory, mut store) = new_store();
    let id = store.begin_study(&study()).unwrap();
    for number in 1..=3 {
        let boot = store.begin_boot(id, number, &environment()).unwrap();
        store.end_boot(boot, Some(&environment())).unwrap();
    }
    store.begin_boot(id, 4, &environment_of("7.0.0")).unwrap();
    assert_eq!(store.load(id).unwrap().boots[2].environment_after, Some(environment()));
    drop(store);
    let connection = rusqlite::Connection::open(directory.path().join("netassay.db")).unwrap();
    let documents: u32 = connection.query_row("SELECT count(*) FROM document", [], |row| row.get(0)).unwrap();
    assert_eq!(documents, 2);
}

#[test]
fn only_one_store_records_at_a_time() {
    let (directory, mut first) = new_store();
    let path = directory.path().join("netassay.db");
    let link = directory.path().join("other-name.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let id = first.begin_study(&study()).unwrap();

    let mut second = Store::open(&link).unwrap();
    let error = second.begin_study(&study()).unwrap_err().to_string();
    assert!(
        error.contains(&format!("another netassay (process {}) is running a campaign", std::process::id()))
    );
    assert!(matches!(second.resume_study(id), Err(StoreError::CampaignRunning { .. })));
    assert_eq!(second.studies().unwrap()[0].status, StudyStatus::Running);

    first.finish_study(id, StudyStatus::Interrupted).unwrap();
    second.resume_study(id).unwrap();
    assert_eq!(first.studies().unwrap()[0].status, StudyStatus::Running);
    drop(second);
    assert_eq!(first.studies().unwrap()[0].status, StudyStatus::Interrupted);
}

#[test]
fn a_pair_of_a_campaign_is_begun_once() {
    let (directory, mut store) = new_store();
    let pair = FleetPair {
        campaign: "tso@1".to_owned(),
        name: "rack1".to_owned(),
        labels: BTreeMap::new(),
        repeat: 1,
    };
    let path = directory.path().join("netassay.db");
    store.begin_fleet(std::slice::from_ref(&pair)).unwrap();
    let of_pair = NewStudy { pair: Some(pair), ..study() };
    assert!(!Store::is_recorded(&path));
    let id = store.begin_study(&of_pair).unwrap();
    assert!(Store::is_recorded(&path));
    store.finish_study(id, StudyStatus::Interrupted).unwrap();
    // A task that was started twice, and looked at the machines meanwhile.
    let error = store.begin_study(&of_pair).unwrap_err().to_string();
    assert!(error.contains("another netassay began pair rack1 in"), "{error}");
    assert!(!Store::is_recorded(&path) && store.studies().unwrap().len() == 1);
    assert_eq!(store.all_pairs().unwrap()[0].study, Some(id));
}

#[test]
fn a_new_campaign_settles_what_a_dead_one_left_running() {
    let (directory, mut store) = new_store();
    let dead = store.begin_study(&study()).unwrap();
    drop(store);
    let mut store = Store::open(directory.path().join("netassay.db")).unwrap();
    let alive = store.begin_study(&study()).unwrap();
    let status = |id| store.load(id).unwrap().row.status;
    assert_eq!((status(dead), status(alive)), (StudyStatus::Interrupted, StudyStatus::Running));
}

#[test]
fn many_processes_may_open_a_new_file_at_once() {
    for _ in 0..40 {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("netassay.db");
        std::thread::scope(|scope| {
            let openers: Vec<_> = (0..4).map(|_| scope.spawn(|| Store::open(&path).map(drop))).collect();
            for opener in openers {
                opener.join().unwrap().unwrap();
            }
        });
        assert_eq!(Store::open(&path).unwrap().studies().unwrap(), []);
    }
}

fn any_run() -> impl Strategy<Value = NewRun> {
    let value = proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO;
    let metrics = proptest::collection::vec((proptest::sample::select(metric::METRICS), value), 0..5);
    let outcome = prop_oneof![
        3 => metrics.clone().prop_map(|metrics| Outcome::Ok(metrics.into_iter().collect())),
        1 => (metrics, "\\PC{0,20}").prop_map(|(metrics, why)| Outcome::Invalid(metrics.into_iter().collect(), why)),
        1 => "\\PC{0,20}".prop_map(Outcome::Failed),
    ];
    let numbers =
        (any::<u32>(), any::<u32>(), any::<u32>(), any::<bool>(), 0..u32::MAX as usize, any::<i64>());
    let detail = prop_oneof![
        Just(Detail::Nothing),
        ("\\PC{0,20}", any::<u64>()).prop_map(|(why, ns)| {
            let mut account = sample::account();
            account.transmitter.window.elapsed_ns = ns;
            account.disturbed = vec![Cause::Session(why).into()];
            Detail::Measured(Box::new(account))
        }),
        proptest::num::f64::NORMAL.prop_map(|calls| {
            let mut run = sample::exact_run();
            run.exact.calls = calls;
            Detail::Exact(Box::new(run))
        }),
    ];
    let label = proptest::sample::select(Label::ALL.to_vec());
    let evidence = prop_oneof![
        Just(Evidence::NobodyBusy),
        (value, value).prop_map(|(sent, asked)| Evidence::Sent { rate_bits: sent, requested_bits: asked }),
        (any::<u64>(), "\\PC{0,8}").prop_map(|(lost, wire)| {
            let place = LossPlace::Queue { side: Side::Transmitter, wire };
            let lost = Evidence::Lost { place, datagrams: lost, offered: lost };
            Evidence::Way { way: Direction::Reverse, evidence: Box::new(lost) }
        }),
    ];
    let limit = proptest::option::of((label, proptest::collection::vec(evidence, 0..3)))
        .prop_map(|limit| limit.map(|(label, evidence)| Limit { label, evidence }));
    (numbers, outcome, limit, any_series(), detail).prop_map(
        |(
            (block, repeat, position, warmup, condition, started_unix_ms),
            outcome,
            limited_by,
            series,
            detail,
        )| NewRun {
            planned: PlannedRun { boot: 0, block, repeat, position, warmup, condition },
            started_unix_ms,
            outcome,
            limited_by,
            series,
            detail,
        },
    )
}

/// A reason is stored as it may be shown: on one line, without what commands a terminal.
fn with_plain_reason(mut run: NewRun) -> NewRun {
    if let Outcome::Invalid(_, why) | Outcome::Failed(why) = &mut run.outcome {
        *why = words::shortened_reason(why);
    }
    run
}

fn any_series() -> impl Strategy<Value = BySide<Option<Series>>> {
    let one = (0..4usize, any::<u64>()).prop_flat_map(|(rows, step_ns)| {
        let column = || proptest::collection::vec(any::<u64>(), rows);
        let columns =
            (column(), column(), column(), column(), column(), column(), column(), column(), column());
        columns.prop_map(
            move |(
                at_ns,
                bytes_sent,
                bytes_received,
                messages_sent,
                messages_received,
                transactions,
                socket_drops,
                queue_drops,
                cpu_busy_ns,
            )| Series {
                step_ns,
                at_ns,
                bytes_sent,
                bytes_received,
                messages_sent,
                messages_received,
                transactions,
                socket_drops,
                queue_drops,
                cpu_busy_ns,
                tcp: Vec::new(),
            },
        )
    });
    let one = proptest::option::of(one);
    (one.clone(), one).prop_map(|(transmitter, receiver)| BySide { transmitter, receiver })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_set_of_runs_comes_back(boots in proptest::collection::vec(proptest::collection::vec(any_run(), 0..6), 0..4)) {
        let (directory, mut store) = new_store();
        let id = store.begin_study(&study()).unwrap();
        let mut written = Vec::new();
        for (number, runs) in boots.into_iter().enumerate() {
            let number = number as u32 + 1;
            let boot = store.begin_boot(id, number, &environment()).unwrap();
            for mut run in runs {
                run.planned.boot = number;
                match store.record_run(boot, &run) {
                    Ok(row) => written.push((row, number, with_plain_reason(run))),
                    Err(error) => prop_assert!(is_duplicate::<()>(Err(error))),
                }
            }
        }
        drop(store);

        let store = Store::open_read_only(directory.path().join("netassay.db")).unwrap();
        let stored = store.load(id).unwrap();
        let series = store.series(id).unwrap();
        prop_assert_eq!(stored.runs.len(), written.len());
        for (read, (row, boot, run)) in stored.runs.iter().zip(&written) {
            prop_assert_eq!((read.id, read.boot, read.part), (*row, *boot, 1));
            let metrics = read.metrics.clone();
            let outcome = match read.status {
                RunStatus::Ok => Outcome::Ok(metrics),
                RunStatus::Invalid => Outcome::Invalid(metrics, read.reason.clone().unwrap()),
                RunStatus::Failed => Outcome::Failed(read.reason.clone().unwrap()),
            };
            let of_run = |one: &&StoredSeries| one.run == read.id;
            let read = NewRun {
                planned: PlannedRun {
                    boot: read.boot,
                    block: read.block,
                    repeat: read.repeat,
                    position: read.position,
                    warmup: read.warmup,
                    condition: read.condition,
                },
                started_unix_ms: read.started_unix_ms,
                outcome,
                limited_by: read.limited_by.clone(),
                series: BySide::from_fn(|side| {
                    let mut own = series.iter().filter(of_run).filter(|one| one.side == side);
                    own.next().map(|one| one.series.clone())
                }),
                detail: read.detail.clone(),
            };
            prop_assert_eq!(&read, run);
        }
        let ok: BTreeSet<RunKey> =
            stored.runs.iter().filter(|run| run.status == RunStatus::Ok).map(|run| run.key()).collect();
        prop_assert_eq!(store.recorded(id).unwrap(), ok);
    }
}

#[test]
fn a_record_of_another_shape_is_refused_by_its_study_run_and_field() {
    let (directory, mut store) = new_store();
    let id = store.begin_study(&study()).unwrap();
    let boot = store.begin_boot(id, 1, &environment()).unwrap();
    let limited_by = Some(Limit { label: Label::Link, evidence: Vec::new() });
    store.record_run(boot, &NewRun { limited_by, ..run(1, 0) }).unwrap();
    drop(store);
    let path = directory.path().join("netassay.db");
    let refused = |change: &str, undo: &str| {
        let connection = rusqlite::Connection::open(&path).unwrap();
        assert_eq!(connection.execute(change, []).unwrap(), 1);
        let error = Store::open_read_only(&path).unwrap().load(id).unwrap_err().to_string();
        connection.execute(undo, []).unwrap();
        error
    };
    let was = |column: &str, table: &str| -> String {
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.query_row(&format!("SELECT {column} FROM {table}"), [], |row| row.get(0)).unwrap()
    };
    let undo = format!("UPDATE run SET detail = '{}'", was("detail", "run"));
    let undo_plan = format!("UPDATE study SET plan = '{}'", was("plan", "study"));
    let undo_document = format!("UPDATE document SET json = '{}'", was("json", "document"));
    for (change, undo, expected) in [
        (
            "UPDATE study SET plan = json_remove(plan, '$.asked')",
            &undo_plan,
            "the plan of study 1 cannot be read: missing field `asked`",
        ),
        (
            "UPDATE study SET plan = json_set(plan, '$.conditions[1].label', 7)",
            &undo_plan,
            "the plan of study 1 cannot be read at conditions[1].label: invalid type: integer `7`",
        ),
        (
            "UPDATE study SET plan = json_set(plan, '$.effective', json_array(json('{\"transmitter\": {\"mtu\": 1500, \"active\": {}, \"refused\": {}, \"follow_on\": {}}}')))",
            &undo_plan,
            "the plan of study 1 cannot be read: its parts do not fit each other",
        ),
        (
            "UPDATE study SET plan = json_set(plan, '$.asked.protocol.boots', 4000000000)",
            &undo_plan,
            "the plan of study 1 cannot be read: it has more runs than a study can have",
        ),
        (
            "UPDATE run SET detail = json_remove(detail, '$.transmitter.whole.outcome.slept')",
            &undo,
            "the detail of run 1 of study 1 cannot be read at transmitter.whole.outcome: missing field `slept`",
        ),
        (
            "UPDATE run SET detail = json_set(detail, '$.receiver.window.cpu_each[0].user', 'much')",
            &undo,
            "the detail of run 1 of study 1 cannot be read at receiver.window.cpu_each[0].user: invalid type: string \"much\"",
        ),
        (
            "UPDATE run SET detail = json_set(detail, '$.receiver.window.new', 1)",
            &undo,
            "the detail of run 1 of study 1 cannot be read at receiver.window.new: unknown field `new`",
        ),
        (
            "UPDATE run SET limited_by = 'the moon'",
            &"UPDATE run SET limited_by = 'link'".to_owned(),
            "the limit of run 1 of study 1 cannot be read: unknown variant `the moon`",
        ),
        (
            "UPDATE document SET json = json_set(json, '$.transmitter.sysctls', json('[]'))",
            &undo_document,
            "the environment of boot 1 of study 1 cannot be read at transmitter.sysctls: invalid type: sequence",
        ),
    ] {
        let error = refused(change, undo);
        assert!(error.contains(expected), "{error}");
    }
    assert!(Store::open_read_only(&path).unwrap().load(id).is_ok());
}
