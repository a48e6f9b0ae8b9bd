//! Whole sessions on a simulated lab: what is recorded, what is told, and what a stop at any place
//! leaves behind.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod crashes;
mod disturbed;
mod kernels;
mod simulator;
mod turns;
mod world;

use netassay_runner::{Error, Event};
use record::{Detail, Setting};
use simulator::Fault;
use store::{NewStudy, RunStatus, StoredStudy, StudyStatus};
use world::{World, looking_study, sending_study, traced_study};

/// 3 conditions (of 4, of which two read back the same) x 2 boots x 2 runs.
pub(crate) const RECORDED: usize = 12;

#[test]
fn a_study_goes_through_and_merges_what_reads_back_the_same() {
    let mut world = World::new();
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded, summary.failed), (StudyStatus::Complete, RECORDED, 0));
    let stored = world.store.load(summary.study).unwrap();
    assert_eq!(stored.row.status, StudyStatus::Complete);
    assert_eq!(stored.plan.conditions.len(), 3, "tso off is the same as tx off, tso on: {:?}", stored.plan);
    assert_eq!(stored.plan.merged.len(), 1);
    assert!(world.recorded(summary.study).values().all(|count| *count == 1));
    // A testbed for trying out, and a fresh one for each boot. What all of them cannot give is told
    // once.
    assert_eq!(world.lab.built, 3);
    let notes = world.events.iter().filter_map(|event| match event {
        Event::BootStarted { notes, .. } => Some(notes.len()),
        _ => None,
    });
    assert_eq!(notes.collect::<Vec<_>>(), [1, 0]);
    // 3 conditions x 2 boots x (1 + 2)
    let finished = world.events.iter().filter(|event| matches!(event, Event::RunFinished { .. })).count();
    assert_eq!(finished, 18);
    assert!(matches!(world.events.last(), Some(Event::Finished { complete: true, recorded: RECORDED, .. })));
}

#[test]
fn resume_goes_by_the_stored_plan_whatever_became_of_the_grammar() {
    let mut world = World::new();
    let first = world.session(None).unwrap();
    let stored = world.store.load(first.study).unwrap();
    let unreadable = NewStudy {
        name: stored.row.name,
        toml: "nothing that this version reads".to_owned(),
        pair: None,
        plan: stored.plan,
        seed: stored.row.seed,
        scenario: stored.row.scenario,
        version: stored.row.version,
    };
    let id = world.store.begin_study(&unreadable).unwrap();
    let summary = world.session(Some(id)).unwrap();
    assert_eq!((summary.ending, summary.recorded), (StudyStatus::Complete, RECORDED));
}

#[test]
fn a_lost_testbed_costs_no_run() {
    let mut world = World::new();
    world.lab.faults.insert(5, Fault::Lost);
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded, summary.failed), (StudyStatus::Complete, RECORDED, 1));
    assert!(world.recorded(summary.study).values().all(|count| *count == 1));
    let stored = world.store.load(summary.study).unwrap();
    let parts: Vec<(u32, u32)> = stored.boots.iter().map(|boot| (boot.number, boot.part)).collect();
    assert_eq!(parts, [(1, 1), (1, 2), (2, 1)]);
    assert!(world.events.iter().any(|event| matches!(event, Event::BootLost { boot: 1, retried: true, .. })));
}

#[test]
fn a_run_whose_trace_ends_early_is_made_again() {
    let mut world = World::new();
    world.study = traced_study();
    world.lab.faults.insert(5, Fault::LostInTrace);
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded, summary.failed), (StudyStatus::Complete, RECORDED, 1));
    let stored = world.store.load(summary.study).unwrap();
    let failed = stored.runs.iter().find(|run| run.status == RunStatus::Failed).unwrap();
    assert!(failed.reason.as_deref().unwrap().contains("receiver"), "{:?}", failed.reason);
}

#[test]
fn a_boot_that_is_lost_again_and_again_is_given_up() {
    let mut world = World::new();
    world.lab.always = Some(Fault::Lost);
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded), (StudyStatus::Failed, 0));
    assert_eq!(world.lab.built, 1 + 2 * 3, "trying out, and three tries for each of two boots");
    world.lab.always = None;
    let summary = world.session(Some(summary.study)).unwrap();
    assert_eq!((summary.ending, summary.recorded), (StudyStatus::Complete, RECORDED));
}

/// Each further change would fail, too.
#[test]
fn a_study_ends_at_the_first_change_without_its_undo() {
    let mut world = World::new();
    world.lab.faults.insert(5, Fault::NoJournal);
    let error = world.session(None).unwrap_err().to_string();
    assert!(error.contains("receiver: simulated; nothing is changed without its undo on disk"), "{error}");
    assert_eq!(world.lab.runs(), 6);
}

#[test]
fn a_failed_run_is_kept_and_tried_again_by_resume_only() {
    let mut world = World::new();
    world.lab.faults.insert(8, Fault::Failed);
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded, summary.failed), (StudyStatus::Failed, RECORDED - 1, 1));
    let stored = world.store.load(summary.study).unwrap();
    let failed: Vec<_> = stored.runs.iter().filter(|run| run.status == RunStatus::Failed).collect();
    assert_eq!(failed.len(), 1);
    assert!(failed[0].reason.as_deref().unwrap().contains("simulated"), "{:?}", failed[0].reason);

    world.calm();
    let before = world.lab.runs();
    let summary = world.session(Some(summary.study)).unwrap();
    assert_eq!((summary.ending, summary.recorded), (StudyStatus::Complete, RECORDED));
    assert_eq!(world.lab.runs() - before, 2, "the warm-up of one condition, and the run itself");
}

#[test]
fn switches_that_read_back_otherwise_fail_the_run() {
    let mut world = World::new();
    world.lab.drift_after_build = Some(2);
    let summary = world.session(None).unwrap();
    assert_eq!(summary.ending, StudyStatus::Failed);
    let stored = world.store.load(summary.study).unwrap();
    let reasons: Vec<_> = stored.runs.iter().filter_map(|run| run.reason.as_deref()).collect();
    let named = "the transmitter's tx-tcp-segmentation";
    let drift = |why: &&str| why.contains("do not read back") && why.contains(named) && why.len() < 400;
    assert!(!reasons.is_empty() && reasons.iter().all(drift), "{reasons:?}");
    let failed = stored.runs.iter().find(|run| run.status == RunStatus::Failed).unwrap();
    let Detail::Drifted(drift) = &failed.detail else { panic!("{:?}", failed.detail) };
    let setting = &drift.differences[0].setting;
    assert!(
        matches!(setting, Setting::Feature { before: Some(true), after: Some(false), .. }),
        "{setting:?}"
    );
}

#[test]
fn an_interrupt_at_any_run_loses_and_doubles_nothing() {
    for at in 0..18 {
        let mut world = World::new();
        world.lab.faults.insert(at, Fault::Interrupt);
        let summary = match world.session(None) {
            Ok(summary) => summary,
            Err(error) => panic!("interrupt at run {at}: {error}"),
        };
        assert_eq!(summary.ending, StudyStatus::Interrupted, "at run {at}");
        assert_eq!(world.store.load(summary.study).unwrap().row.status, StudyStatus::Interrupted);
        world.calm();
        let summary = world.session(Some(summary.study)).unwrap();
        assert_eq!((summary.ending, summary.recorded), (StudyStatus::Complete, RECORDED), "at run {at}");
        let recorded = world.recorded(summary.study);
        assert_eq!(recorded.len(), RECORDED, "at run {at}");
        assert!(recorded.values().all(|count| *count == 1), "at run {at}: {recorded:?}");
    }
}

#[test]
fn a_complete_study_has_nothing_to_resume() {
    let mut world = World::new();
    let summary = world.session(None).unwrap();
    let error = world.session(Some(summary.study)).unwrap_err();
    assert!(matches!(error, Error::NothingToRun { .. }), "{error}");
}

#[test]
fn a_lab_that_cannot_build_stores_no_study() {
    let mut world = World::new();
    world.lab.cannot_build = true;
    assert!(matches!(world.session(None), Err(Error::Testbed(_))));
    assert!(world.store.studies().unwrap().is_empty());
}

#[test]
fn what_the_hosts_lack_something_for_is_left_out_and_said() {
    let mut world = World { study: sending_study(), ..World::new() };
    world.lab.lacks_gso = true;
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded), (StudyStatus::Complete, 2));
    let Some(Event::Planned { lacking, conditions, .. }) = world.events.first() else {
        panic!("{:?}", world.events)
    };
    assert_eq!((lacking.len(), conditions.len()), (2, 2));
    assert!(lacking[0].why.contains("UDP_SEGMENT") && lacking[0].label.contains("gso"), "{lacking:?}");
    let stored = world.store.load(summary.study).unwrap();
    assert_eq!((stored.plan.conditions.len(), stored.plan.lacking.len()), (2, 2));
    assert!(!stored.label(0).contains("gso") && !stored.label(1).contains("gso"));
}

#[test]
fn a_study_whose_every_condition_is_left_out_is_not_begun() {
    let text = sending_study().text.replace(r#"["send", "gso"]"#, r#"["gso"]"#);
    let study = study::Study::parse("sending.toml", &text).unwrap();
    let mut world = World { study, ..World::new() };
    world.lab.lacks_gso = true;
    let error = world.session(None).unwrap_err();
    assert!(error.to_string().contains("does not support it: no UDP_SEGMENT"), "{error}");
    assert!(world.store.studies().unwrap().is_empty());
}

/// Decided when four boots are there, and looked at between boots only.
fn after_four_boots(stored: &StoredStudy) -> bool {
    let boots: Vec<u32> = stored.boots.iter().map(|boot| boot.number).collect();
    let whole = stored.measurements().count().is_multiple_of(6);
    assert!(whole, "a look in the middle of a boot: {boots:?}");
    boots.contains(&4)
}

fn looks(events: &[Event]) -> Vec<(u32, u32, bool)> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::Looked { look, boot, decided, of: 3, boots: 6 } => Some((*look, *boot, *decided)),
            _ => None,
        })
        .collect()
}

#[test]
fn a_study_ends_at_the_first_look_that_finds_everything_decided() {
    let mut world = World { study: looking_study(), is_decided: after_four_boots, ..World::new() };
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded), (StudyStatus::Complete, 4 * 6));
    assert_eq!(looks(&world.events), [(1, 2, false), (2, 4, true)]);
    assert_eq!(world.store.load(summary.study).unwrap().row.status, StudyStatus::Complete);
    assert!(matches!(world.events.last(), Some(Event::Finished { complete: true, recorded: 24, .. })));
    let error = world.session(Some(summary.study)).unwrap_err();
    assert!(matches!(error, Error::NothingToRun { .. }), "{error}");
}

#[test]
fn a_study_that_is_never_decided_takes_all_its_boots() {
    let mut world = World { study: looking_study(), ..World::new() };
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded), (StudyStatus::Complete, 6 * 6));
    // After the last boot there is nothing to stop, so nobody is asked.
    assert_eq!(looks(&world.events), [(1, 2, false), (2, 4, false)]);
}

#[test]
fn wherever_it_was_interrupted_a_study_ends_at_the_same_look() {
    for at in 0..36 {
        let mut world = World { study: looking_study(), is_decided: after_four_boots, ..World::new() };
        world.lab.faults.insert(at, Fault::Interrupt);
        let summary = world.session(None).unwrap();
        assert_eq!(summary.ending, StudyStatus::Interrupted, "at run {at}");
        world.calm();
        let summary = world.session(Some(summary.study)).unwrap();
        assert_eq!((summary.ending, summary.recorded), (StudyStatus::Complete, 4 * 6), "at run {at}");
        let (_, boot, decided) = *looks(&world.events).last().unwrap();
        assert_eq!((boot, decided), (4, true), "at run {at}");
    }
}

#[test]
fn a_look_comes_also_after_a_boot_with_failed_runs() {
    let mut world =
        World { study: looking_study(), is_decided: |stored| stored.boots.len() >= 4, ..World::new() };
    world.lab.faults.insert(14, Fault::Failed);
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded, summary.failed), (StudyStatus::Failed, 4 * 6 - 1, 1));
    world.calm();
    let summary = world.session(Some(summary.study)).unwrap();
    assert_eq!((summary.ending, summary.recorded), (StudyStatus::Complete, 4 * 6));
}
