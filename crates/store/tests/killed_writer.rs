//! Two processes and one database: who records, and what `kill -9` leaves.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use netassay_store::{Store, StoreError, StudyStatus};
use support::{environment, run, study, warmup};

const DATABASE: &str = "NETASSAY_TEST_DATABASE";

/// In the child: records a run, says so, and goes on recording until it is killed.
#[test]
fn child_records_until_killed() {
    let Some(path) = std::env::var_os(DATABASE) else { return };
    let mut store = Store::open(path).unwrap();
    let id = store.begin_study(&study()).unwrap();
    let boot = store.begin_boot(id, 1, &environment()).unwrap();
    store.record_run(boot, &warmup(0)).unwrap();
    for repeat in 1.. {
        store.record_run(boot, &run(repeat, 0)).unwrap();
        std::io::Write::write_all(&mut std::io::stdout(), format!("\nrecorded {repeat}\n").as_bytes())
            .unwrap();
    }
}

fn recording_child(path: &std::path::Path) -> (Child, impl Iterator<Item = u32> + use<>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_records_until_killed", "--nocapture"])
        .env(DATABASE, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let recorded = lines.filter_map(|line| line.unwrap().strip_prefix("recorded ")?.parse().ok());
    (child, recorded)
}

#[test]
fn a_killed_campaign_frees_the_database_and_keeps_every_recorded_run() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("netassay.db");
    for kill_after in [1, 7, 40] {
        let (mut child, mut recorded) = recording_child(&path);
        assert!(recorded.any(|repeat| repeat == kill_after), "the child stopped early");

        let mut store = Store::open(&path).unwrap();
        let id = store.studies().unwrap().last().unwrap().id;
        match store.resume_study(id) {
            Err(StoreError::CampaignRunning { pid, .. }) => assert_eq!(pid, Some(child.id())),
            other => panic!("{other:?}"),
        }
        assert_eq!(store.load(id).unwrap().row.status, StudyStatus::Running);

        child.kill().unwrap();
        child.wait().unwrap();
        let said = recorded.last().unwrap_or(kill_after);
        let stored = store.load(id).unwrap();
        assert_eq!(stored.row.status, StudyStatus::Interrupted);
        let kept = stored.row.recorded_runs;
        assert!(kept == said || kept == said + 1, "said {said}, kept {kept}");
        assert!(stored.runs.iter().all(|run| run.metrics.len() == 2));

        store.resume_study(id).unwrap();
        let boot = store.begin_boot(id, 1, &environment()).unwrap();
        store.record_run(boot, &run(kept + 1, 0)).unwrap();
        assert_eq!(store.recorded(id).unwrap().len() as u32, kept + 2);
    }
}
