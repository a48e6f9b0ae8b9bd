//! A study from its first boot to its last, or from where it stopped.

use std::collections::BTreeSet;

use agent::Interrupt;
use host::journal::Change;
use record::{Cause, Environment};
use store::{FleetPair, NewStudy, RunKey, Store, StoredStudy, StudyId, StudyStatus};
use study::{Costs, Plan, PlannedRun, Study};
use thiserror::Error as ThisError;

use crate::boot::LostBoot;
use crate::event::Event;
use crate::flows::{key_of, pending};
use crate::lab::Lab;
use crate::probe::{Probed, probe};
use crate::progress::Progress;
use crate::session::{Session, allowed_repeats, boot_ids};

/// The study to run, and the means to run it.
#[expect(missing_docs, reason = "a field's name says what it is")]
pub struct Campaign<'a> {
    pub lab: &'a mut dyn Lab,
    pub store: &'a mut Store,
    pub interrupt: Interrupt,
    pub observe: &'a mut dyn FnMut(&Event),
    /// Whether every comparison of a study that may stop early is decided. Called at its planned
    /// looks only, with the runs of the boots up to that look.
    pub is_decided: &'a dyn Fn(&StoredStudy) -> bool,
    /// Whether disturbed runs count, for a machine that is never quiet; the cause is recorded.
    pub keep_disturbed: bool,
    /// A disturbance of every run of this session: another session that runs beside it.
    pub beside: Option<Cause>,
    /// Changes of the machine itself for this study, for the record of each boot's environment.
    pub machine: &'a [Change],
    /// Differences of the machine from those changes. Called at both edges of every run.
    pub differences: &'a dyn Fn() -> Vec<Cause>,
    pub version: &'a str,
    /// The pair of a fleet that the study measures.
    pub pair: Option<FleetPair>,
    /// Whether a resumed study tries again what crashed a machine.
    pub again: bool,
}

/// The result of a session.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "a field's name says what it is")]
pub struct Summary {
    pub study: StudyId,
    /// Complete: every planned run is recorded, or out of repeats, or a look found all decided.
    /// Failed: some runs failed.
    pub ending: StudyStatus,
    /// Recorded runs in the store, warm-ups not counted.
    pub recorded: usize,
    pub failed: usize,
    /// Planned runs of which every try of this session was disturbed. Resuming tries them again.
    pub invalid: usize,
    /// Planned runs that are left out, as their condition crashed a machine in that boot.
    pub crashed: usize,
    /// The kernel's release that the machines run, if not their default, and why (empty: the user).
    pub kernel_stays: Option<(String, String)>,
}

/// Why a session could not begin or was stopped. What was recorded before stays recorded.
#[derive(Debug, ThisError)]
#[expect(missing_docs, reason = "the messages name the fields")]
pub enum Error {
    #[error(transparent)]
    Testbed(testbed::Error),
    #[error(transparent)]
    Store(#[from] store::StoreError),
    #[error("nothing to run: {why}")]
    NothingToRun { why: String },
    #[error("the stored plan of study {study} lacks the states of its conditions: start the study anew")]
    Plan { study: i64 },
    #[error(
        "boot {boot}: the {side} ({host}) did not restart: its boot id is that of boot {other}. Look at its console; `--resume` goes on"
    )]
    NotRestarted { boot: u32, side: study::Side, host: String, other: u32 },
    #[error("interrupted before the first run: nothing was recorded")]
    Interrupted,
}

impl From<testbed::Error> for Error {
    fn from(error: testbed::Error) -> Self {
        if error.is_interrupt() { Self::Interrupted } else { Self::Testbed(error) }
    }
}

/// The state of a study that a session continues.
#[derive(Default)]
struct Begun {
    /// The last boot to measure; `None`: all.
    last: Option<u32>,
    machines: BTreeSet<(u32, String)>,
    environment: Option<Environment>,
    /// Planned boots, each with a condition that crashed a machine in it.
    crashed: BTreeSet<(u32, usize)>,
}

fn nothing_left(id: StudyId, is_whole: bool) -> Error {
    let rest = if is_whole { "" } else { " but for what crashed a machine; --again tries that too" };
    Error::NothingToRun { why: format!("study {} is complete{rest}", id.0) }
}

// The most testbeds for one boot, the lost ones included.
const ATTEMPTS: u32 = 3;

impl Campaign<'_> {
    /// Runs a study from its beginning.
    ///
    /// # Errors
    /// [`Error`]; failed runs are not errors but part of the [`Summary`].
    pub fn run(&mut self, study: &Study) -> Result<Summary, Error> {
        let Probed { plan, costs, environment, .. } = probe(study.plan(), self.lab)?;
        if plan.conditions.is_empty() {
            let dropped = plan.excluded.iter().chain(&plan.lacking);
            let dropped: Vec<String> = dropped.map(|one| format!("{}: {}", one.label, one.why)).collect();
            return Err(Error::NothingToRun {
                why: format!("every condition is left out ({})", dropped.join("; ")),
            });
        }
        let id = self.store.begin_study(&NewStudy {
            name: study.name.clone(),
            toml: study.text.clone(),
            plan: plan.clone(),
            seed: study.protocol.seed,
            scenario: study.scenario_names(),
            version: self.version.to_owned(),
            pair: self.pair.clone(),
        })?;
        self.run_missing(id, &plan, costs, Begun { environment, ..Begun::default() })
    }

    /// Continues a stored study with the planned runs that are not stored. Of a complete study,
    /// these are the runs of which every try was disturbed. What crashed a machine is not tried
    /// again unless asked ([`Campaign::again`]).
    ///
    /// # Errors
    /// As [`Campaign::run`]; [`Error::NothingToRun`] when it is complete.
    pub fn resume(&mut self, id: StudyId) -> Result<Summary, Error> {
        let stored = self.store.load(id)?;
        let complete = stored.row.status == StudyStatus::Complete;
        let crashed: BTreeSet<(u32, usize)> = stored.crashes().into_keys().collect();
        if complete && stored.left_invalid().is_empty() && (!self.again || crashed.is_empty()) {
            return Err(nothing_left(id, crashed.is_empty()));
        }
        let plan = &stored.plan;
        if plan.effective.is_empty() {
            return Err(Error::Plan { study: id.0 });
        }
        // Before the recorded runs are read: from here on, no other process records into this file.
        self.store.resume_study(id)?;
        let costs = Costs::stated(plan);
        let ids = stored.boots.iter().flat_map(|boot| {
            let number = boot.number;
            boot_ids(&boot.environment).map(move |(_, id)| (number, id.to_owned()))
        });
        let begun = Begun {
            // A study that ended at a look is not extended.
            last: complete.then_some(stored.row.boots),
            machines: ids.collect(),
            environment: stored.boots.last().map(|boot| boot.environment.clone()),
            crashed: if self.again { BTreeSet::new() } else { crashed },
        };
        self.run_missing(id, plan, costs, begun)
    }

    fn run_missing(
        &mut self,
        id: StudyId,
        plan: &Plan,
        costs: Costs,
        begun: Begun,
    ) -> Result<Summary, Error> {
        let Begun { last, machines, environment, crashed } = begun;
        let mut schedule = study::schedule(&plan.states_of_conditions(), &plan.asked.protocol);
        let all_boots = schedule.len();
        schedule.truncate(last.map_or(usize::MAX, |last| last as usize));
        let recorded = self.store.recorded(id)?;
        let is_crashed = |run: &&PlannedRun| !run.warmup && crashed.contains(&(run.boot, run.condition));
        let left_out: BTreeSet<RunKey> = schedule.iter().flatten().filter(is_crashed).map(key_of).collect();
        let settled = &recorded | &left_out;
        let open: Vec<Vec<PlannedRun>> = schedule.iter().map(|boot| pending(boot, &settled)).collect();
        let progress = Progress::new(plan, &open, costs);
        let todo = progress.of;
        if todo == 0 {
            self.store.finish_study(id, StudyStatus::Complete)?;
            return Err(nothing_left(id, left_out.is_empty()));
        }
        let boots = u32::try_from(all_boots).unwrap_or(u32::MAX);
        (self.observe)(&Event::Planned {
            study: id.0,
            conditions: plan.conditions.iter().map(|condition| condition.label.to_string()).collect(),
            lacking: plan.lacking.clone(),
            boots,
            runs: todo,
            expected_s: progress.time_left().as_secs_f64(),
        });
        let mut session = Session {
            id,
            plan,
            boots,
            recorded,
            given_up: BTreeSet::new(),
            left_out,
            environment,
            machines,
            other_kernel: None,
            noted: BTreeSet::new(),
            apart: BTreeSet::new(),
            repeats_left: allowed_repeats(open.iter().flatten().filter(|run| !run.warmup).count()),
            progress,
            failed: 0,
        };
        let walked = self.walk(&mut session, &schedule);
        // A study that stopped at a look lacks nothing.
        let needed = *walked.as_ref().unwrap_or(&schedule.len());
        let complete = schedule[..needed].iter().all(|boot| pending(boot, &session.settled()).is_empty());
        let ending = match &walked {
            Ok(_) if complete => StudyStatus::Complete,
            Err(Error::Interrupted) => StudyStatus::Interrupted,
            _ => StudyStatus::Failed,
        };
        let closed = self.store.finish_study(id, ending);
        let kernel_stays = self.restore_default_kernels(&session);
        // The first error is the one to report: on a full disk the closing entry fails too.
        match walked {
            Ok(_) | Err(Error::Interrupted) => closed?,
            Err(error) => return Err(error),
        }
        let recorded = session.recorded.iter().filter(|key| !key.warmup).count();
        let (failed, invalid) = (session.failed, session.given_up.len());
        let crashed = session.left_out.difference(&session.recorded).count();
        (self.observe)(&Event::Finished { study: id.0, complete, recorded, failed, invalid });
        Ok(Summary { study: id, ending, recorded, failed, invalid, crashed, kernel_stays })
    }

    /// Returns the number of boots that the study needs: a look may find everything decided.
    fn walk(&mut self, session: &mut Session<'_>, schedule: &[Vec<PlannedRun>]) -> Result<usize, Error> {
        for (place, runs) in schedule.iter().enumerate() {
            for attempt in 1..=ATTEMPTS {
                let settled = session.settled();
                let todo = pending(runs, &settled);
                if attempt > 1 {
                    let left = schedule[place..].iter().flat_map(|boot| pending(boot, &settled));
                    session.progress.replan(&left.collect::<Vec<_>>());
                }
                let Some(first) = todo.first() else { break };
                let Some(LostBoot { why, crashed }) = self.boot(session, first.boot, &todo)? else { break };
                let is_crash = !crashed.is_empty();
                let is_left = |run: &PlannedRun| !run.warmup && !crashed.contains(&run.condition);
                let retried = attempt < ATTEMPTS && todo.iter().any(is_left);
                (self.observe)(&Event::BootLost { boot: first.boot, why, retried, crashed: is_crash });
                // Without an environment a boot is not lost to a crash.
                if is_crash && session.environment.as_ref().map_or(Ok(true), |one| self.lab.revive(one))? {
                    let of_it = runs.iter().filter(|run| !run.warmup && crashed.contains(&run.condition));
                    session.left_out.extend(of_it.map(key_of));
                }
            }
            if let Some(first) = runs.first()
                && self.stops_after(session, first.boot)?
            {
                return Ok(place + 1);
            }
        }
        Ok(schedule.len())
    }

    fn stops_after(&mut self, session: &Session<'_>, boot: u32) -> Result<bool, Error> {
        let Some(stop) = session.plan.asked.protocol.stop else { return Ok(false) };
        let Some(place) = stop.after(session.boots).position(|after| after == boot) else { return Ok(false) };
        // A look that did not end the study is not repeated: runs that a resumed session adds to
        // earlier boots cannot change its answer.
        let went_on = session.recorded.iter().any(|key| key.boot > boot);
        if boot == session.boots || went_on {
            return Ok(false);
        }
        let decided = (self.is_decided)(&self.store.load(session.id)?);
        let look = u32::try_from(place + 1).unwrap_or(u32::MAX);
        (self.observe)(&Event::Looked { look, of: stop.looks, boot, boots: session.boots, decided });
        Ok(decided)
    }
}
