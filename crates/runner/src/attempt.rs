//! One try of a flow: a run, or the runs of conditions that take turns.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use record::{Detail, Disturbance, Drifted, RunAccount, Turns};
use store::{BootId, Metrics, NewRun, Outcome};
use study::{Plan, PlannedRun};

use crate::campaign::{Campaign, Error};
use crate::distinct;
use crate::event::{Event, Invalid};
use crate::flows::{key_of, order_of, switches_of, turns_of};
use crate::lab::{Bench, BenchResult, Readings, Untraced};
use crate::session::Session;
use crate::settling::{Unsettled, unsettled, unverified};

pub(crate) enum AttemptEnd {
    /// It counts, or it failed for good.
    Done,
    /// Something disturbed it, and it may be repeated.
    Repeat,
    /// Its conditions cannot take turns as they did: they have runs of their own, or more of each
    /// turn is left out.
    Replanned,
    TestbedLost(String),
}

impl Campaign<'_> {
    /// Attempts the runs of a flow that was repeated `repeats` times before, and records the
    /// results.
    pub(crate) fn attempt(
        &mut self,
        session: &mut Session<'_>,
        boot: BootId,
        bench: &mut dyn Bench,
        flow: &[PlannedRun],
        repeats: u32,
    ) -> Result<AttemptEnd, Error> {
        let label = |run: &PlannedRun| session.plan.conditions[run.condition].label.to_string();
        let labels: Vec<String> = flow.iter().map(label).collect();
        for (run, label) in flow.iter().zip(&labels) {
            self.emit(Event::RunStarted { run: *run, label: label.clone() });
        }
        let begun = Instant::now();
        let started_unix_ms = unix_ms();
        let mut end = AttemptEnd::Done;
        let mut made: Vec<(Readings, Outcome)> = match self.make(session, bench, flow) {
            Ok(mut made) => {
                // A disturbance in one condition's turns disturbed the other conditions of the flow
                // too.
                let beside = self.beside.clone().map(Disturbance::from);
                let all = made.iter_mut().flat_map(|readings| std::mem::take(&mut readings.disturbed));
                let disturbed = distinct(all.chain(beside));
                let judged = |(run, mut readings): (&PlannedRun, Readings)| {
                    readings.disturbed.clone_from(&disturbed);
                    let metrics = std::mem::take(&mut readings.metrics);
                    // Under --keep-disturbed, and for warm-ups, it is reported nowhere else.
                    readings.detail.disturb(disturbed.clone());
                    let outcome = match &readings.untraced {
                        Some(Untraced { why, .. }) => Outcome::Failed(why.clone()),
                        None => self.judge(run, metrics, &readings),
                    };
                    (readings, outcome)
                };
                let mut untraced = made.iter().filter_map(|readings| readings.untraced.as_ref());
                if let Some(lost) = untraced.find(|untraced| !untraced.testbed_is_well) {
                    end = AttemptEnd::TestbedLost(lost.why.clone());
                }
                flow.iter().zip(made).map(judged).collect()
            }
            Err(error) if error.is_interrupt() || error.ends_the_study() => return Err(error.into()),
            Err(error @ testbed::Error::NotInTurns { .. }) => {
                self.part(session, flow, &labels, &error.to_string());
                return Ok(AttemptEnd::Replanned);
            }
            Err(error) => {
                let why = words::shortened_reason(&error.to_string());
                if !error.testbed_is_well() {
                    end = AttemptEnd::TestbedLost(why.clone());
                }
                let detail = match error {
                    testbed::Error::Drifted(drift) => Detail::Drifted(Drifted { drift }),
                    _ => Detail::default(),
                };
                let failed = Readings { detail, ..Readings::default() };
                flow.iter().map(|_| (failed.clone(), Outcome::Failed(why.clone()))).collect()
            }
        };
        let is_invalid = made.iter().any(|(_, outcome)| matches!(outcome, Outcome::Invalid(..)));
        let unsettled = || unsettled_in(session.plan, flow, &labels, &made);
        if let Some(Unsettled { why, settles_after }) = (!is_invalid).then(unsettled).flatten() {
            let longer = settles_after.map(Duration::from_nanos);
            match longer.filter(|part| session.settle_after(flow, *part).is_some()) {
                Some(part) => self.emit(Event::Settles {
                    labels: labels.clone(),
                    after_s: part.as_secs_f64(),
                    why: words::shortened_reason(&why),
                }),
                None => self.part(session, flow, &labels, &why),
            }
            // A warm-up has done its job all the same.
            if flow.iter().any(|run| !run.warmup) {
                return Ok(AttemptEnd::Replanned);
            }
        }
        let repeated = is_invalid && flow.first().is_some_and(|run| session.repeat(run.condition, repeats));
        for (readings, outcome) in &mut made {
            match outcome {
                // Only runs without any received traffic are still invalid with --keep-disturbed,
                // and they were repeated.
                Outcome::Invalid(_, why) if !repeated && self.keep_disturbed => {
                    *outcome = Outcome::Failed(std::mem::take(why));
                }
                // With --keep-disturbed the runs of the flow's other conditions would count twice.
                Outcome::Ok(metrics) if repeated => {
                    *outcome = Outcome::Invalid(std::mem::take(metrics), why_disturbed(None, readings));
                }
                _ => {}
            }
        }
        let new: Vec<NewRun> =
            flow.iter().zip(made).map(|(run, made)| recorded(run, started_unix_ms, made)).collect();
        self.store.record_runs(boot, &new)?;
        if repeated {
            session.progress.lengthen(flow.len(), flow.iter().map(|run| session.window_of(run)).sum());
            end = AttemptEnd::Repeat;
        }
        let share = begun.elapsed() / u32::try_from(flow.len()).unwrap_or(u32::MAX).max(1);
        let mut together = labels.clone();
        for ((run, label), new) in flow.iter().zip(&labels).zip(new) {
            if !run.warmup {
                session.ahead.remove(&key_of(run));
                session.priority.record_try(run.condition, matches!(new.outcome, Outcome::Ok(_)));
            }
            let kind = session.plan.conditions[run.condition].workload.traffic.kind;
            let primary = kind.main_metric(session.plan.exact);
            let primary = new.outcome.metrics().find(|(metric, _)| *metric == primary);
            let (mut failed, mut invalid) = (None, None);
            match new.outcome {
                Outcome::Ok(_) => {
                    session.recorded.insert(key_of(run));
                }
                Outcome::Failed(why) => {
                    session.failed += 1;
                    failed = Some(why);
                }
                Outcome::Invalid(_, why) => {
                    if !repeated {
                        session.given_up.insert(key_of(run));
                    }
                    let brief = match record::in_brief(new.detail.disturbed()) {
                        brief if brief.is_empty() => why.clone(),
                        brief => brief,
                    };
                    invalid = Some(Invalid { why, brief, labels: std::mem::take(&mut together), repeated });
                }
            }
            session.progress.step(session.window_of(run), share);
            self.emit(Event::RunFinished {
                run: *run,
                label: label.clone(),
                primary,
                failed,
                invalid,
                done: session.progress.done,
                of: session.progress.of,
                left_s: session.progress.time_left().as_secs_f64(),
            });
        }
        Ok(end)
    }

    /// Makes the traffic of a flow: one run, or conditions that take turns. The results of each.
    fn make(
        &mut self,
        session: &Session<'_>,
        bench: &mut dyn Bench,
        flow: &[PlannedRun],
    ) -> BenchResult<Vec<Readings>> {
        let plan = session.plan;
        for run in flow {
            let condition = &plan.conditions[run.condition];
            let switches = switches_of(condition);
            let effective = bench.settle(&switches)?;
            if let Some(drift) = testbed::drift(&plan.effective[run.condition], &effective, &switches) {
                return Err(testbed::Error::Drifted(drift));
            }
        }
        let (observe, differences) = (&mut *self.observe, &self.differences);
        let look = |bench: &mut dyn Bench| -> Vec<Disturbance> {
            differences().into_iter().map(Disturbance::from).chain(bench.differences()).collect()
        };
        let mut tick = || observe(&Event::Tick);
        let before = look(bench);
        let mut made = match (flow, session.alternate(flow).and_then(|how| turns_of(plan, flow, how))) {
            ([_, _, ..], Some(order)) => bench.take_turns(&order, &mut tick)?,
            _ => flow
                .iter()
                .map(|run| &plan.conditions[run.condition])
                .map(|condition| bench.run(condition, &order_of(condition), &mut tick))
                .collect::<Result<_, _>>()?,
        };
        // A lasting difference is reported once.
        let differing = distinct(before.into_iter().chain(look(bench)));
        for (run, readings) in flow.iter().zip(&mut made) {
            readings.disturbed.extend(differing.clone());
            // Behind the window, which probes would disturb. A warm-up is not looked at.
            if let Some(tracing) = plan.tracing.as_ref().filter(|_| !run.warmup) {
                let order = order_of(&plan.conditions[run.condition]);
                let mut traces = Vec::new();
                let traced = bench.trace(&order, tracing, &mut traces, &mut tick);
                readings.detail.set_traces(traces);
                match traced {
                    Err(error) if error.is_interrupt() => return Err(error),
                    traced => readings.untraced = traced.err().map(|error| untraced(&error)),
                }
            }
        }
        Ok(made)
    }

    /// Conditions are measured in runs of their own from now on.
    fn part(&mut self, session: &mut Session<'_>, flow: &[PlannedRun], labels: &[String], why: &str) {
        session.apart.extend(flow.iter().map(|run| run.condition));
        self.emit(Event::Apart { labels: labels.to_vec(), why: words::shortened_reason(why) });
    }

    /// A warm-up is not judged, as nothing is concluded from it. A disturbance may be why nothing
    /// arrived, so such a run is repeated; with --keep-disturbed it fails.
    fn judge(&self, run: &PlannedRun, metrics: Metrics, readings: &Readings) -> Outcome {
        let (nothing, disturbed) = (&readings.nothing, &readings.disturbed);
        if run.warmup || (nothing.is_none() && (self.keep_disturbed || disturbed.is_empty())) {
            return Outcome::Ok(metrics);
        }
        let why = why_disturbed(nothing.clone(), readings);
        if disturbed.is_empty() { Outcome::Failed(why) } else { Outcome::Invalid(metrics, why) }
    }
}

fn why_disturbed(nothing: Option<String>, readings: &Readings) -> String {
    let disturbed = readings.disturbed.iter().map(Disturbance::to_string);
    words::shortened_reason(&nothing.into_iter().chain(disturbed).collect::<Vec<_>>().join("; "))
}

fn recorded(run: &PlannedRun, started_unix_ms: i64, (readings, outcome): (Readings, Outcome)) -> NewRun {
    NewRun {
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
    }
}

/// Why the turns of a flow's conditions, if they took any, are not their own, or do not settle.
fn unsettled_in(
    plan: &Plan,
    flow: &[PlannedRun],
    labels: &[String],
    made: &[(Readings, Outcome)],
) -> Option<Unsettled> {
    let accounts = made.iter().map(|(readings, _)| readings.detail.measured());
    let all: Vec<&RunAccount> = accounts.collect::<Option<_>>()?;
    let turns: Vec<&Turns> = all.iter().map(|account| account.turns.as_ref()).collect::<Option<_>>()?;
    let labels = labels.iter().map(String::as_str);
    let traffic = flow.iter().map(|run| &plan.conditions[run.condition].workload.traffic);
    let of_each = labels.clone().zip(traffic).zip(all);
    let why = unverified(of_each.map(|((label, traffic), account)| (label, traffic, account)));
    why.map(|why| Unsettled { why, settles_after: None }).or_else(|| unsettled(labels.zip(turns)))
}

/// The run is tried again with its trace.
fn untraced(error: &testbed::Error) -> Untraced {
    let why = format!("its trace ended early (its figures and finished rounds are kept): {error}");
    Untraced { why: words::shortened_reason(&why), testbed_is_well: error.testbed_is_well() }
}

fn unix_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
