//! The surroundings of a session.

use std::collections::BTreeMap;

use agent::Interrupt;
use netassay_runner::{Campaign, Error, Event, Summary};
use record::Cause;
use store::{RunStatus, Store, StoredStudy, StudyId};
use study::Study;

use crate::simulator::{SimulatedLab, study};

/// A lab, a store and a study, and all that was told.
pub(crate) struct World {
    pub(crate) lab: SimulatedLab,
    pub(crate) store: Store,
    pub(crate) interrupt: Interrupt,
    pub(crate) events: Vec<Event>,
    pub(crate) study: Study,
    /// The result of a look.
    pub(crate) is_decided: fn(&StoredStudy) -> bool,
    pub(crate) keep_disturbed: bool,
    pub(crate) beside: Option<Cause>,
    /// Whether what crashed a machine is tried again.
    pub(crate) again: bool,
    /// The differences of the machine, at each question.
    pub(crate) differences: Box<dyn Fn() -> Vec<Cause>>,
    /// The directory of the store.
    pub(crate) _directory: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path().join("netassay.db")).unwrap();
        let interrupt = Interrupt::new().unwrap();
        let lab = SimulatedLab::new(interrupt.clone());
        Self {
            lab,
            store,
            interrupt,
            events: Vec::new(),
            study: study(),
            is_decided: never,
            keep_disturbed: false,
            beside: None,
            again: false,
            differences: Box::new(Vec::new),
            _directory: directory,
        }
    }

    pub(crate) fn session(&mut self, resume: Option<StudyId>) -> Result<Summary, Error> {
        let events = &mut self.events;
        let mut campaign = Campaign {
            pair: None,
            again: self.again,
            lab: &mut self.lab,
            store: &mut self.store,
            interrupt: self.interrupt.clone(),
            observe: &mut |event| events.push(event.clone()),
            is_decided: &self.is_decided,
            keep_disturbed: self.keep_disturbed,
            beside: self.beside.clone(),
            machine: &[],
            differences: &*self.differences,
            version: "test",
        };
        match resume {
            None => campaign.run(&self.study),
            Some(id) => campaign.resume(id),
        }
    }

    /// A new controller, after the old one's user has interrupted it.
    pub(crate) fn calm(&mut self) {
        self.interrupt = Interrupt::new().unwrap();
        self.lab.interrupt = self.interrupt.clone();
        self.lab.faults.clear();
    }

    /// The number of stored runs for each planned recorded run.
    pub(crate) fn recorded(&self, id: StudyId) -> BTreeMap<(u32, u32, usize), usize> {
        let mut counts = BTreeMap::new();
        for run in self.store.load(id).unwrap().runs {
            if !run.warmup && run.status == RunStatus::Ok {
                *counts.entry((run.boot, run.repeat, run.condition)).or_insert(0) += 1;
            }
        }
        counts
    }
}

fn never(_: &StoredStudy) -> bool {
    false
}
