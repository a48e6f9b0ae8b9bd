//! Disturbed runs, what limited a run, and counters over time: kept, told apart, and out of the
//! way.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeSet;

use netassay_store::{
    BootId, NewRun, Outcome, RunKey, RunStatus, Store, StoreError, StoredSeries, StudyId, export,
};
use record::sample::{account, series};
use record::{Cause, Detail, Disturbance, Evidence, Label, Limit, Series};
use study::{BySide, Side, metric};
use support::{environment, run, study, warmup};
use tempfile::TempDir;

fn begun() -> (TempDir, Store, StudyId, BootId) {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(directory.path().join("netassay.db")).unwrap();
    let id = store.begin_study(&study()).unwrap();
    let boot = store.begin_boot(id, 1, &environment()).unwrap();
    (directory, store, id, boot)
}

fn disturbed(repeat: u32) -> NewRun {
    let metrics = [(metric::THROUGHPUT, 1.0)].into_iter().collect();
    NewRun { outcome: Outcome::Invalid(metrics, "12 % of the time was stolen".to_owned()), ..run(repeat, 0) }
}

#[test]
fn a_disturbed_run_is_kept_and_does_not_count() {
    let (_directory, mut store, id, boot) = begun();
    store.record_run(boot, &disturbed(1)).unwrap();
    store.record_run(boot, &disturbed(1)).unwrap();
    let key = RunKey { boot: 1, warmup: false, repeat: 1, condition: 0 };

    let stored = store.load(id).unwrap();
    assert_eq!((stored.row.recorded_runs, stored.row.failed_runs, stored.row.invalid_runs), (0, 0, 2));
    let kept = &stored.runs[0];
    assert_eq!(
        (kept.status, kept.reason.as_deref()),
        (RunStatus::Invalid, Some("12 % of the time was stolen"))
    );
    assert_eq!(kept.metrics.get(metric::THROUGHPUT), Some(1.0));
    assert!(!kept.is_measurement());
    assert_eq!(stored.values(metric::THROUGHPUT).count(), 0);
    assert_eq!(stored.left_invalid(), BTreeSet::from([key]));
    assert!(store.recorded(id).unwrap().is_empty(), "it is still to do");

    // Its repeat counts, and then no other may count.
    store.record_run(boot, &run(1, 0)).unwrap();
    assert!(matches!(store.record_run(boot, &run(1, 0)), Err(StoreError::Sql { .. })));
    let stored = store.load(id).unwrap();
    assert_eq!((stored.row.recorded_runs, stored.row.invalid_runs), (1, 2));
    assert!(stored.left_invalid().is_empty());
    assert_eq!(store.recorded(id).unwrap(), BTreeSet::from([key]));
}

#[test]
fn runs_that_count_though_disturbed_are_counted_without_their_accounts() {
    let (_directory, mut store, id, boot) = begun();
    let by = Disturbance { at: None, cause: Cause::ClockSource };
    for (repeat, by) in (1..).zip([vec![], vec![by.clone()], vec![by.clone(), by]]) {
        let mut detail = Detail::Measured(Box::new(account()));
        detail.disturb(by);
        store.record_run(boot, &NewRun { detail, ..run(repeat, 0) }).unwrap();
    }
    let outline = store.outline(id, |_| vec![metric::THROUGHPUT]).unwrap();
    assert_eq!((outline.disturbed_runs, outline.row.recorded_runs), (2, 3));
    let causes = store.load_with(id, &[metric::THROUGHPUT]).unwrap().runs.into_iter();
    assert_eq!(causes.map(|run| run.detail.disturbed().len()).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn a_reason_is_stored_on_one_line_and_of_bounded_length() {
    let (_keep, mut store, study, boot) = begun();
    let why = format!("it died:\n  | \u{1b}[31mpanic\u{202e}\n{}", "é".repeat(10_000));
    store.record_run(boot, &NewRun { outcome: Outcome::Failed(why), ..run(1, 0) }).unwrap();
    let reason = store.load(study).unwrap().runs[0].reason.clone().unwrap();
    assert!(reason.starts_with("it died: | \\u{1b}[31mpanic\\u{202e} éé"), "{reason}");
    assert!(reason.ends_with("é… (cut)") && reason.len() <= 1024, "{}", reason.len());
}

#[test]
fn what_limited_a_run_comes_back() {
    let (_directory, mut store, id, boot) = begun();
    let limit = Limit {
        label: Label::Link,
        evidence: vec![Evidence::Sent { rate_bits: 9.8e7, requested_bits: 1e8 }],
    };
    store.record_run(boot, &NewRun { limited_by: Some(limit.clone()), ..run(1, 0) }).unwrap();
    store.record_run(boot, &run(2, 0)).unwrap();
    let stored = store.load(id).unwrap();
    assert_eq!(stored.runs[0].limited_by, Some(limit));
    assert_eq!(stored.runs[1].limited_by, None);
    assert_eq!(export::json(&stored)["runs"][0]["limited_by"]["label"], "link");
}

#[test]
fn series_are_apart_from_the_runs_and_are_exported() {
    let (_directory, mut store, id, boot) = begun();
    store.record_run(boot, &warmup(0)).unwrap();
    let none = Series { step_ns: 1, ..Series::default() };
    let both = BySide { transmitter: Some(none.clone()), receiver: Some(series()) };
    let run = store.record_run(boot, &NewRun { series: both, ..run(1, 1) }).unwrap();
    let read = store.series(id).unwrap();
    let of = |side, series| StoredSeries { run, side, series };
    assert_eq!(read, [of(Side::Receiver, series()), of(Side::Transmitter, none)]);
    let text = export::series(&store.load(id).unwrap(), &read);
    let expected = "study,boot,part,run,warmup,condition,label,status,side,t_ms,bytes_received,bytes_sent,cpu_busy_ns,\
                    messages_received,messages_sent,queue_drops,socket_drops,transactions\n\
                    1,1,1,1,0,1,\"ipv6, offloads=none\",ok,receiver,10,0,5,7,0,0,0,0,0\n\
                    1,1,1,1,0,1,\"ipv6, offloads=none\",ok,receiver,20.5,0,18446744073709551615,8,0,0,0,0,0\n";
    assert_eq!(text, expected);
}

#[test]
fn a_series_that_is_no_table_is_refused() {
    let (_directory, mut store, id, boot) = begun();
    let short = BySide { receiver: Some(Series { bytes_sent: vec![1], ..series() }), ..BySide::default() };
    let error = store.record_run(boot, &NewRun { series: short, ..run(1, 0) }).unwrap_err().to_string();
    assert!(
        error.contains(
            "the receiver's counters over time are no table: bytes_sent has 1 values for 2 moments"
        ),
        "{error}"
    );
    assert!(store.load(id).unwrap().runs.is_empty(), "a refused run leaves nothing");
}
