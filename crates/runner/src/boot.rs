//! One boot of a study: a fresh testbed, and the runs on it.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use record::{Detail, Disturbance, Drift, Drifted, Environment, Note};
use store::{BootId, NewRun, Outcome};
use study::{BootKind, BootState, PlannedRun};

use crate::campaign::{Campaign, Error};
use crate::event::{Event, Invalid};
use crate::lab::{Bench, Readings};
use crate::order::{order_of, switches_of};
use crate::pending::key_of;
use crate::session::Session;

/// How a boot ended.
pub(crate) enum BootEnd {
    /// With its last run.
    Through,
    /// Its testbed is gone, and why.
    Lost(String),
    /// The user stopped it.
    Interrupted,
}

/// How one try of a run ended.
enum Try {
    /// It counts, or it failed for good.
    Over,
    /// Something disturbed it, and it may be repeated.
    Again,
    TestbedLost(String),
    Interrupted,
}

impl Campaign<'_> {
    /// Builds a testbed and makes these runs on it.
    pub(crate) fn boot(
        &mut self,
        session: &mut Session<'_>,
        number: u32,
        todo: &[PlannedRun],
    ) -> Result<BootEnd, Error> {
        if self.interrupt.is_tripped() {
            return Ok(BootEnd::Interrupted);
        }
        let begun = Instant::now();
        let state = &session.plan.conditions[todo.first().map_or(0, |run| run.condition)].boot;
        match self.restart(session, number, state) {
            Ok(()) => {}
            Err(error) if error.is_interrupt() => return Ok(BootEnd::Interrupted),
            Err(error) => return Err(error.into()),
        }
        let restarted = begun.elapsed();
        let mut bench = match self.lab.build(state) {
            Ok(bench) => bench,
            Err(error) if error.is_interrupt() => return Ok(BootEnd::Interrupted),
            Err(error) => return Err(error.into()),
        };
        let build_ms = begun.elapsed().saturating_sub(restarted).as_secs_f64() * 1e3;
        let environment = match bench.environment() {
            Ok(environment) => self.with_machine(environment),
            Err(error) if error.is_interrupt() => return Ok(BootEnd::Interrupted),
            Err(error) => return Ok(BootEnd::Lost(error.to_string())),
        };
        if session.plan.how_of_boots() == Some(BootKind::Reboot)
            && let Some((side, other)) = session.machines.not_restarted(number, &environment)
        {
            return Err(Error::NotRestarted { boot: number, side, other });
        }
        session.machines.note(number, &environment);
        session.progress.built(state);
        let mut in_runs = Duration::ZERO;
        let boot = self.store.begin_boot(session.id, number, &environment)?;
        let mut notes: Vec<String> = bench.notes().iter().map(Note::to_string).collect();
        notes.retain(|note| session.noted.insert(note.clone()));
        self.tell(Event::BootStarted { boot: number, of: session.boots, build_ms, notes });
        for run in todo {
            let mut repeats = 0;
            loop {
                if self.interrupt.is_tripped() {
                    return Ok(BootEnd::Interrupted);
                }
                let run_began = Instant::now();
                let tried = self.attempt(session, boot, bench.as_mut(), run, repeats)?;
                in_runs += run_began.elapsed();
                match tried {
                    Try::Over => break,
                    // Immediately: the runs that it is compared with are next to it.
                    Try::Again => repeats += 1,
                    Try::Interrupted => return Ok(BootEnd::Interrupted),
                    Try::TestbedLost(why) => return Ok(BootEnd::Lost(why)),
                }
            }
        }
        let after = bench.environment().ok().map(|after| self.with_machine(after));
        self.store.end_boot(boot, after.as_ref())?;
        drop(bench);
        session.progress.booted(state, begun.elapsed().saturating_sub(in_runs));
        Ok(BootEnd::Through)
    }

    /// Restarts the machines, or the drivers of their interfaces, where the study asks for it.
    /// That is between two boots, so machines in which no other boot was measured go on: those of
    /// the first boot, of a boot that is resumed, and those whose controller was stopped while
    /// they restarted, unless they run another kernel than this boot's. Of a driver nobody tells
    /// whether it was taken down meanwhile.
    fn restart(
        &mut self,
        session: &mut Session<'_>,
        boot: u32,
        state: &BootState,
    ) -> Result<(), testbed::Error> {
        let Some(how) = session.plan.how_of_boots() else { return Ok(()) };
        let is_due = match how {
            BootKind::Reset => false,
            BootKind::Reload => session.machines.have_another(boot),
            BootKind::Reboot => {
                let boots = self.lab.boots()?;
                let is_other = |kernel: &String| boots.iter().any(|boot| boot.default != *kernel);
                session.other_kernel = state.kernel.clone().filter(is_other);
                let runs_other =
                    |boot: &testbed::Boot| boot.release != *state.kernel.as_ref().unwrap_or(&boot.default);
                let ids: Vec<String> = boots.iter().map(|boot| boot.id.clone()).collect();
                session.machines.are_of_another(boot, &ids) || boots.iter().any(runs_other)
            }
        };
        if !is_due {
            return Ok(());
        }
        let kernel = state.kernel.clone();
        self.tell(Event::Restarting { boot, of: session.boots, how, kernel });
        self.lab.restart(how, state)
    }

    /// Has machines that run another kernel than their default restart with that. What keeps them
    /// from it is told with the result: everything is measured.
    pub(crate) fn restore_default_kernels(&mut self, session: &Session<'_>) -> Option<(String, String)> {
        let stays = |why: String| Some((session.other_kernel.clone()?, why));
        if session.other_kernel.is_none() || self.interrupt.is_tripped() {
            return stays(String::new());
        }
        let back = self.lab.boots().and_then(|boots| {
            if boots.iter().all(testbed::Boot::is_of_default) {
                return Ok(());
            }
            self.tell(Event::DefaultKernels);
            self.lab.restart(BootKind::Reboot, &BootState::default())
        });
        back.err().and_then(|error| {
            stays(if error.is_interrupt() { String::new() } else { text::reason(&error.to_string()) })
        })
    }

    /// An environment with what was changed of the machine for the study.
    fn with_machine(&self, environment: Environment) -> Environment {
        Environment { changed: self.machine.to_vec(), ..environment }
    }

    /// Tries a run that was repeated `repeats` times before, and records what came of it.
    fn attempt(
        &mut self,
        session: &mut Session<'_>,
        boot: BootId,
        bench: &mut dyn Bench,
        run: &PlannedRun,
        repeats: u32,
    ) -> Result<Try, Error> {
        let condition = &session.plan.conditions[run.condition];
        let switches = switches_of(condition);
        let planned = &session.plan.effective[run.condition];
        let label = condition.label.to_string();
        self.tell(Event::RunStarted { run: *run, label: label.clone() });
        let begun = Instant::now();
        let started_unix_ms = unix_ms();
        let observe = &mut *self.observe;
        let result = bench.settle(&switches).and_then(|effective| {
            if let Some(drift) = testbed::drift(planned, &effective, &switches) {
                return Ok(Err(drift));
            }
            let differences = &self.differences;
            let look = |bench: &mut dyn Bench| -> Vec<Disturbance> {
                differences().into_iter().map(Disturbance::from).chain(bench.differences()).collect()
            };
            let mut differing = look(bench);
            let mut readings = bench.run(condition, &order_of(condition), &mut || observe(&Event::Tick))?;
            for since in look(bench) {
                // One that lasts is told once.
                if !differing.contains(&since) {
                    differing.push(since);
                }
            }
            readings.disturbed.extend(differing);
            // Behind the window, which probes would disturb. A warm-up is not looked at.
            if let Some(tracing) = session.plan.tracing.as_ref().filter(|_| !run.warmup) {
                let traces = bench.trace(&order_of(condition), tracing, &mut || observe(&Event::Tick))?;
                readings.detail.set_traces(traces);
            }
            Ok(Ok(readings))
        });
        let (readings, outcome, end) = match result {
            Ok(Ok(mut readings)) => {
                readings.disturbed.extend(self.beside.clone().map(Disturbance::from));
                let metrics = std::mem::take(&mut readings.metrics);
                // Under --keep-disturbed, and for warm-ups, it is reported nowhere else.
                readings.detail.disturb(readings.disturbed.clone());
                let outcome = self.judge(run, metrics, &readings);
                (readings, outcome, Try::Over)
            }
            Ok(Err(drift)) => {
                self.lab.forget(&condition.boot);
                let why = text::reason(&drifted(&drift));
                let detail = Detail::Drifted(Drifted { drift });
                (Readings { detail, ..Readings::default() }, Outcome::Failed(why), Try::Over)
            }
            Err(error) if error.is_interrupt() => return Ok(Try::Interrupted),
            Err(error) => {
                let why = text::reason(&error.to_string());
                let end = if error.testbed_is_well() { Try::Over } else { Try::TestbedLost(why.clone()) };
                (Readings::default(), Outcome::Failed(why), end)
            }
        };
        let kind = condition.workload.traffic.kind;
        let exact = session.plan.exact;
        let primary = if exact { kind.exact_metric() } else { kind.primary_metric() }.key;
        let primary = outcome.metrics().iter().find(|(key, _)| key == primary).cloned();
        let new = NewRun {
            block: run.block,
            repeat: run.repeat,
            position: run.position,
            warmup: run.warmup,
            condition: run.condition,
            started_unix_ms,
            outcome,
            limited_by: readings.limited_by,
            series: readings.series,
            detail: readings.detail,
        };
        self.store.record_run(boot, &new)?;
        if !run.warmup {
            session.ahead.remove(&key_of(run));
            session.needs.note(run.condition, matches!(new.outcome, Outcome::Ok(_)));
        }
        let (mut failed, mut invalid, mut end) = (None, None, end);
        match new.outcome {
            Outcome::Ok(_) => {
                session.recorded.insert(key_of(run));
            }
            Outcome::Failed(why) => {
                session.failed += 1;
                failed = Some(why);
            }
            Outcome::Invalid(_, why) => {
                let repeated = session.repeat(run.condition, repeats);
                if repeated {
                    session.progress.lengthen(1, session.window_of(run));
                    end = Try::Again;
                } else {
                    session.given_up.insert(key_of(run));
                }
                invalid = Some(Invalid { why, repeated });
            }
        }
        session.progress.step(session.window_of(run), begun.elapsed());
        self.tell(Event::RunFinished {
            run: *run,
            label,
            primary,
            failed,
            invalid,
            done: session.progress.done(),
            of: session.progress.of(),
            left_s: session.progress.left().as_secs_f64(),
        });
        Ok(end)
    }

    /// A warm-up is not judged, as nothing is concluded from it. A disturbance may be why nothing
    /// arrived, so such a run is repeated; with --keep-disturbed it fails.
    fn judge(&self, run: &PlannedRun, metrics: Vec<(String, f64)>, readings: &Readings) -> Outcome {
        let (nothing, disturbed) = (&readings.nothing, &readings.disturbed);
        if run.warmup || (nothing.is_none() && (self.keep_disturbed || disturbed.is_empty())) {
            return Outcome::Ok(metrics);
        }
        let why: Vec<String> =
            nothing.iter().cloned().chain(disturbed.iter().map(Disturbance::to_string)).collect();
        let why = text::reason(&why.join("; "));
        if disturbed.is_empty() || self.keep_disturbed {
            Outcome::Failed(why)
        } else {
            Outcome::Invalid(metrics, why)
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "events are made where they are told")]
    pub(crate) fn tell(&mut self, event: Event) {
        (self.observe)(&event);
    }
}

fn drifted(drift: &Drift) -> String {
    format!(
        "the switches do not read back as they did when the study was planned: {drift}: something changed them since; start the study anew"
    )
}

fn unix_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
