//! A study that is read in part, and one that is too large for one thread.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use netassay_store::{NewRun, Outcome, Store, StoreError, StoredStudy, StudyId, StudyStatus};
use record::{Detail, Evidence, Label, Limit};
use rusqlite::Connection;
use study::metric;
use support::{environment, ok, run, warmup};
use tempfile::TempDir;

/// A study of some 200 runs. Those of condition 1 lack a metric, and one failed.
fn recorded() -> (TempDir, Store, StudyId) {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(directory.path().join("netassay.db")).unwrap();
    let id = store.begin_study(&support::study()).unwrap();
    let boot = store.begin_boot(id, 1, &environment()).unwrap();
    store.record_run(boot, &warmup(0)).unwrap();
    let failed = NewRun { outcome: Outcome::Failed("the receiver died".to_owned()), ..run(1, 1) };
    store.record_run(boot, &failed).unwrap();
    for repeat in 1..=100 {
        let value = f64::from(repeat);
        let both = NewRun {
            outcome: ok(&[(metric::THROUGHPUT, value), (metric::LOSS, -value)]),
            limited_by: Some(Limit { label: Label::Link, evidence: vec![Evidence::NobodyBusy] }),
            ..run(repeat, 0)
        };
        let one = NewRun { outcome: ok(&[(metric::THROUGHPUT, value)]), ..run(repeat, 1) };
        store.record_run(boot, &both).unwrap();
        store.record_run(boot, &one).unwrap();
    }
    store.finish_study(id, StudyStatus::Complete).unwrap();
    (directory, store, id)
}

#[test]
fn runs_that_two_threads_read_are_in_order() {
    let (_directory, store, id) = recorded();
    let stored = store.load(id).unwrap();
    assert_eq!(stored.runs.len(), 202);
    assert!(stored.runs.is_sorted_by_key(|run| run.id));
    let throughput: Vec<f64> = stored.values(metric::THROUGHPUT).map(|(.., value)| value).collect();
    let expected: Vec<f64> = (1..=100).flat_map(|repeat| [f64::from(repeat); 2]).collect();
    assert_eq!(throughput, expected);
    assert!(stored.runs.iter().all(|one| one.detail == run(1, 0).detail));
}

#[test]
fn a_part_is_the_whole_without_what_is_not_wanted() {
    let (_directory, store, id) = recorded();
    let whole = store.load(id).unwrap();
    let [throughput, loss] = [metric::THROUGHPUT, metric::LOSS];
    for wanted in [&[throughput][..], &[loss], &[throughput, loss, throughput], &[metric::PACKETS], &[]] {
        let expected = whole.runs.iter().cloned().map(|mut run| {
            run.metrics = run.metrics.iter().filter(|(metric, _)| wanted.contains(metric)).collect();
            let is_whole = wanted.iter().all(|metric| run.metrics.get(*metric).is_some());
            if is_whole || !run.is_measurement() {
                run.detail = Detail::Nothing;
            }
            run
        });
        let expected = StoredStudy { runs: expected.collect(), ..whole.clone() };
        assert_eq!(store.load_with(id, wanted).unwrap(), expected, "{wanted:?}");
    }
}

#[test]
fn the_first_account_that_cannot_be_read_is_named() {
    let (directory, store, id) = recorded();
    let path = directory.path().join("netassay.db");
    let change = "UPDATE run SET detail = '{\"odd\":' || id || '}' WHERE id > 150";
    Connection::open(&path).unwrap().execute_batch(change).unwrap();
    let error = store.load(id).unwrap_err();
    assert!(matches!(error, StoreError::Json { .. }), "{error:?}");
    assert!(error.to_string().contains("the detail of run 151 of study 1"), "{error}");
    // A damage in a part that is not read cannot disturb.
    store.load_with(id, &[metric::THROUGHPUT]).unwrap();
}

/// Another version of netassay may know more metrics.
#[test]
fn a_value_of_an_unknown_metric_is_left_out_and_its_key_told() {
    let (directory, store, id) = recorded();
    let whole = store.load(id).unwrap();
    let path = directory.path().join("netassay.db");
    let add =
        "INSERT INTO metric (run, key, value) SELECT id, 'of_tomorrow\u{1b}', 1 FROM run WHERE status = 'ok'";
    Connection::open(&path).unwrap().execute(add, []).unwrap();
    let stored = store.load(id).unwrap();
    assert_eq!(stored.runs, whole.runs);
    assert_eq!(stored.sanitised().unknown_metrics, ["of_tomorrow\\u{1b}".to_owned()].into());
    let packed = directory.path().join("packed.db");
    store.pack(&[id], &packed).unwrap();
    let count = "SELECT count(*) FROM metric WHERE key LIKE 'of_tomorrow%'";
    let copied: u32 = Connection::open(&packed).unwrap().query_row(count, [], |row| row.get(0)).unwrap();
    assert_eq!(copied, 201, "a packed study keeps them");
}
