//! One boot of a study: a fresh testbed, and the runs on it.

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use record::{Crash, Detail, Environment, Note};
use store::{NewRun, Outcome, RunId, now_unix_ms};
use study::{BootKind, BootState, BySide, PlannedRun};
use testbed::reach::HostBoot;

use crate::attempt::AttemptEnd;
use crate::campaign::{Campaign, Error};
use crate::event::Event;
use crate::flows::flows;
use crate::lab::BenchResult;
use crate::session::{Session, boot_ids, other_boot};

/// A boot that ended early.
pub(crate) struct LostBoot {
    pub(crate) why: String,
    /// The conditions that crashed a machine; empty if none did.
    pub(crate) crashed: BTreeSet<usize>,
}

impl LostBoot {
    fn new(why: String) -> Self {
        Self { why, crashed: BTreeSet::new() }
    }
}

impl Campaign<'_> {
    /// Returns `None` if the boot went to its end.
    pub(crate) fn boot(
        &mut self,
        session: &mut Session<'_>,
        number: u32,
        todo: &[PlannedRun],
    ) -> Result<Option<LostBoot>, Error> {
        self.check_interrupt()?;
        let begun = Instant::now();
        let state = &session.plan.conditions[todo.first().map_or(0, |run| run.condition)].boot;
        match self.restart(session, number, state) {
            // A restart with the default kernel is no part of what is measured.
            Err(testbed::Error::NotUp { why, crash, answers }) if session.other_kernel.is_some() => {
                let crashed = self.store_without_boot(session, number, todo, &crash)?;
                if answers {
                    return Ok(Some(LostBoot { why, crashed }));
                }
                return Err(testbed::Error::NotUp { why, crash, answers }.into());
            }
            other => other?,
        }
        let restarted = begun.elapsed();
        let mut bench = self.lab.build(state)?;
        let build_ms = begun.elapsed().saturating_sub(restarted).as_secs_f64() * 1e3;
        let environment = match bench.environment() {
            Ok(environment) => self.with_machine(environment),
            Err(error) if error.is_interrupt() => return Err(error.into()),
            Err(error) => return Ok(Some(LostBoot::new(error.to_string()))),
        };
        let not_restarted = |(side, id)| Some((side, other_boot(&session.machines, number, id)?));
        if session.plan.how_of_boots() == Some(BootKind::Reboot)
            && let Some((side, other)) = boot_ids(&environment).find_map(not_restarted)
        {
            let host =
                environment.machines.as_ref().map_or_else(|| side.to_string(), |all| all[side].host.clone());
            return Err(Error::NotRestarted { boot: number, side, host, other });
        }
        session.machines.extend(boot_ids(&environment).map(|(_, id)| (number, id.to_owned())));
        session.progress.built(state);
        let mut in_runs = Duration::ZERO;
        let boot = self.store.begin_boot(session.id, number, &environment)?;
        let mut notes: Vec<String> = bench.notes().iter().map(Note::to_string).collect();
        notes.retain(|note| session.noted.insert(note.clone()));
        session.environment = Some(environment);
        (self.observe)(&Event::BootStarted { boot: number, of: session.boots, build_ms, notes });
        let mut ahead = VecDeque::from(flows(session.plan, todo));
        while let Some(flow) = ahead.pop_front() {
            if flow.len() > 1 && flow.iter().any(|run| session.apart.contains(&run.condition)) {
                flow.iter().rev().for_each(|run| ahead.push_front(vec![*run]));
                continue;
            }
            let mut repeats = 0;
            loop {
                self.check_interrupt()?;
                let run_began = Instant::now();
                let tried = self.attempt(session, boot, bench.as_mut(), &flow, repeats)?;
                in_runs += run_began.elapsed();
                match tried {
                    AttemptEnd::Done => break,
                    // Immediately: the runs that it is compared with are next to it.
                    AttemptEnd::Repeat => repeats += 1,
                    AttemptEnd::Apart => {
                        ahead.push_front(flow);
                        break;
                    }
                    AttemptEnd::TestbedLost { why, runs } => {
                        drop(bench);
                        return self.lost(session, why, &flow, &runs).map(Some);
                    }
                }
            }
        }
        let after = bench.environment().ok().map(|after| self.with_machine(after));
        self.store.end_boot(boot, after.as_ref())?;
        drop(bench);
        session.progress.costs.booted(state, begun.elapsed().saturating_sub(in_runs));
        Ok(None)
    }

    /// Looks whether a machine crashed in a flow, of which these runs are stored as failed.
    fn lost(
        &mut self,
        session: &Session<'_>,
        why: String,
        flow: &[PlannedRun],
        runs: &[RunId],
    ) -> Result<LostBoot, Error> {
        let before = session.environment.as_ref();
        let crash = before.map_or(Ok(None), |before| self.lab.crash(before))?;
        let Some(crash) = crash else { return Ok(LostBoot::new(why)) };
        self.store.set_crash(runs, &crash)?;
        let crashed = flow.iter().map(|run| run.condition).collect();
        Ok(LostBoot { why: crash.to_string(), crashed })
    }

    /// Stores one run of each condition as failed, as the machines did not come up for its boot.
    fn store_without_boot(
        &mut self,
        session: &Session<'_>,
        number: u32,
        todo: &[PlannedRun],
        crash: &Crash,
    ) -> Result<BTreeSet<usize>, Error> {
        let mut conditions = BTreeSet::new();
        let first = todo.iter().filter(|run| !run.warmup && conditions.insert(run.condition));
        let failed = |run: &PlannedRun| NewRun {
            planned: *run,
            started_unix_ms: now_unix_ms(),
            outcome: Outcome::Failed(crash.to_string()),
            limited_by: None,
            series: BySide::default(),
            detail: Detail::Crashed(crash.clone()),
        };
        let runs: Vec<NewRun> = first.map(failed).collect();
        if let Some(environment) = &session.environment {
            let boot = self.store.begin_boot(session.id, number, environment)?;
            self.store.record_runs(boot, &runs)?;
        }
        Ok(conditions)
    }

    fn check_interrupt(&self) -> Result<(), Error> {
        if self.interrupt.is_tripped() { Err(Error::Interrupted) } else { Ok(()) }
    }

    fn restart(&mut self, session: &mut Session<'_>, boot: u32, state: &BootState) -> BenchResult<()> {
        if session.plan.how_of_boots() != Some(BootKind::Reboot) {
            return Ok(());
        }
        let boots = self.lab.boots()?;
        let is_other = |kernel: &String| boots.iter().any(|boot| boot.default != *kernel);
        session.other_kernel = state.kernel.clone().filter(is_other);
        let runs_other = |boot: &HostBoot| boot.release != *state.kernel.as_ref().unwrap_or(&boot.default);
        let is_of_another = |one: &HostBoot| other_boot(&session.machines, boot, &one.id).is_some();
        // Machines in which no other boot was measured go on, such as those of the first boot,
        // unless they run another kernel than this boot's.
        if !boots.iter().any(is_of_another) && !boots.iter().any(runs_other) {
            return Ok(());
        }
        (self.observe)(&Event::Restarting { boot, of: session.boots, kernel: state.kernel.clone() });
        self.lab.restart(state)
    }

    pub(crate) fn restore_default_kernels(&mut self, session: &Session<'_>) -> Option<(String, String)> {
        let stays = |why: String| Some((session.other_kernel.clone()?, why));
        if session.other_kernel.is_none() || self.interrupt.is_tripped() {
            return stays(String::new());
        }
        let back = self.lab.boots().and_then(|boots| {
            if boots.iter().all(HostBoot::is_of_default) {
                return Ok(());
            }
            (self.observe)(&Event::DefaultKernels);
            self.lab.restart(&BootState::default())
        });
        // A failure is told with the result: everything is measured.
        match back {
            Ok(()) => None,
            Err(error) if error.is_interrupt() => stays(String::new()),
            Err(error) => stays(words::shortened_reason(&error.to_string())),
        }
    }

    fn with_machine(&self, environment: Environment) -> Environment {
        Environment { changed: self.machine.to_vec(), ..environment }
    }
}
