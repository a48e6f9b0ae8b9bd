//! One try of a flow: a run, or the runs of conditions that take turns.

use std::time::Instant;

use record::{Detail, Disturbance, RunAccount, Turns};
use store::{BootId, NewRun, Outcome, RunId, now_unix_ms};
use study::{BySide, Plan, PlannedRun};
use words::distinct;

use crate::campaign::{Campaign, Error};
use crate::event::{Event, Invalid};
use crate::flows::{key_of, order_of, switches_of, turns_of};
use crate::lab::{Bench, BenchResult, Readings};
use crate::session::{Session, take_repeat};
use crate::settling::{unsettled, unverified};

pub(crate) enum AttemptEnd {
    /// It counts, or it failed for good.
    Done,
    /// Something disturbed it, and it may be repeated.
    Repeat,
    /// Its conditions cannot take turns: they have runs of their own.
    Apart,
    /// The runs failed as their testbed was lost.
    TestbedLost { why: String, runs: Vec<RunId> },
}

impl Campaign<'_> {
    /// `repeats`: how often the flow was repeated before.
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
            (self.observe)(&Event::RunStarted { run: *run, label: label.clone() });
        }
        let begun = Instant::now();
        let started_unix_ms = now_unix_ms();
        let mut end = AttemptEnd::Done;
        let mut disturbed = Vec::new();
        let mut made: Vec<NewRun> = match self.make(session, bench, flow) {
            Ok(mut made) => {
                // A disturbance in one condition's turns disturbed the flow's other conditions too.
                let beside = self.beside.clone().map(Disturbance::from);
                let all = made.iter_mut().flat_map(|readings| std::mem::take(&mut readings.disturbed));
                disturbed = distinct(all.chain(beside));
                let judged = |(run, readings)| self.judge(run, started_unix_ms, &disturbed, readings);
                flow.iter().zip(made).map(judged).collect()
            }
            Err(error) if error.is_interrupt() || error.ends_the_study() => return Err(error.into()),
            Err(error @ testbed::Error::NotInTurns { .. }) => {
                self.part(session, flow, &labels, &error.to_string());
                return Ok(AttemptEnd::Apart);
            }
            Err(error) => {
                let why = words::shortened_reason(&error.to_string());
                if !error.testbed_is_well() {
                    end = AttemptEnd::TestbedLost { why: why.clone(), runs: Vec::new() };
                }
                let detail = match error {
                    testbed::Error::Drifted(drift) => Detail::Drifted(drift),
                    _ => Detail::default(),
                };
                let failed = |run: &PlannedRun| NewRun {
                    planned: *run,
                    started_unix_ms,
                    outcome: Outcome::Failed(why.clone()),
                    limited_by: None,
                    series: BySide::default(),
                    detail: detail.clone(),
                };
                flow.iter().map(failed).collect()
            }
        };
        let is_invalid = made.iter().any(|run| matches!(run.outcome, Outcome::Invalid(..)));
        let unsettled = || unsettled_in(session.plan, flow, &labels, &made);
        if let Some(why) = (!is_invalid).then(unsettled).flatten() {
            self.part(session, flow, &labels, &why);
            // A warm-up has done its job all the same.
            if flow.iter().any(|run| !run.warmup) {
                return Ok(AttemptEnd::Apart);
            }
        }
        let repeated = is_invalid && take_repeat(&mut session.repeats_left, repeats);
        for NewRun { outcome, .. } in &mut made {
            match outcome {
                // With --keep-disturbed only runs that received nothing are still invalid.
                Outcome::Invalid(_, why) if !repeated && self.keep_disturbed => {
                    *outcome = Outcome::Failed(std::mem::take(why));
                }
                // With --keep-disturbed the runs of the flow's other conditions would count twice.
                Outcome::Ok(metrics) if repeated => {
                    *outcome = Outcome::Invalid(std::mem::take(metrics), why_disturbed(None, &disturbed));
                }
                _ => {}
            }
        }
        let stored = self.store.record_runs(boot, &made)?;
        if let AttemptEnd::TestbedLost { runs, .. } = &mut end {
            *runs = stored;
        }
        if repeated {
            session.progress.lengthen(flow);
            end = AttemptEnd::Repeat;
        }
        let share = begun.elapsed() / u32::try_from(flow.len()).unwrap_or(u32::MAX).max(1);
        let mut together = labels.clone();
        for ((run, label), new) in flow.iter().zip(&labels).zip(made) {
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
                    let brief = record::in_brief(&disturbed);
                    invalid = Some(Invalid { why, brief, labels: std::mem::take(&mut together), repeated });
                }
            }
            session.progress.step(run, share);
            (self.observe)(&Event::RunFinished {
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
        let alternate = plan.asked.protocol.alternate;
        let mut made = match (flow, alternate.and_then(|how| turns_of(plan, flow, how))) {
            ([_, _, ..], Some(order)) => bench.take_turns(&order, &mut tick)?,
            _ => flow
                .iter()
                .map(|run| bench.run(&plan.conditions[run.condition], &mut tick))
                .collect::<Result<_, _>>()?,
        };
        // A lasting difference is reported once.
        let differing = distinct(before.into_iter().chain(look(bench)));
        for (run, readings) in flow.iter().zip(&mut made) {
            readings.disturbed.extend(differing.clone());
            // Behind the window, which probes would disturb. A warm-up is not looked at.
            if let Some(tracing) = plan.tracing.as_ref().filter(|_| !run.warmup) {
                let order = order_of(&plan.conditions[run.condition]);
                readings.detail.set_traces(bench.trace(&order, tracing, &mut tick)?);
            }
        }
        Ok(made)
    }

    fn part(&mut self, session: &mut Session<'_>, flow: &[PlannedRun], labels: &[String], why: &str) {
        session.apart.extend(flow.iter().map(|run| run.condition));
        (self.observe)(&Event::Apart { labels: labels.to_vec(), why: words::shortened_reason(why) });
    }

    fn judge(
        &self,
        run: &PlannedRun,
        started_unix_ms: i64,
        disturbed: &[Disturbance],
        readings: Readings,
    ) -> NewRun {
        let Readings { metrics, limited_by, nothing, series, mut detail, .. } = readings;
        // Under --keep-disturbed, and for warm-ups, it is reported nowhere else.
        detail.disturb(disturbed.to_vec());
        // A warm-up is not judged, as nothing is concluded from it.
        let counts = run.warmup || (nothing.is_none() && (self.keep_disturbed || disturbed.is_empty()));
        let outcome = if counts {
            Outcome::Ok(metrics)
        } else if disturbed.is_empty() {
            Outcome::Failed(why_disturbed(nothing, disturbed))
        } else {
            // A disturbance may be why: such a run is repeated; with --keep-disturbed it fails.
            Outcome::Invalid(metrics, why_disturbed(nothing, disturbed))
        };
        NewRun { planned: *run, started_unix_ms, outcome, limited_by, series, detail }
    }
}

fn why_disturbed(nothing: Option<String>, disturbed: &[Disturbance]) -> String {
    let disturbed = disturbed.iter().map(Disturbance::to_string);
    words::shortened_reason(&nothing.into_iter().chain(disturbed).collect::<Vec<_>>().join("; "))
}

/// Also reports turns that carried another condition's traffic.
fn unsettled_in(plan: &Plan, flow: &[PlannedRun], labels: &[String], made: &[NewRun]) -> Option<String> {
    let accounts = made.iter().map(|run| run.detail.measured());
    let all: Vec<&RunAccount> = accounts.collect::<Option<_>>()?;
    let turns: Vec<&Turns> = all.iter().map(|account| account.turns.as_ref()).collect::<Option<_>>()?;
    let labels = labels.iter().map(String::as_str);
    let traffic = flow.iter().map(|run| &plan.conditions[run.condition].workload.traffic);
    let of_each = labels.clone().zip(traffic).zip(all);
    unverified(of_each.map(|((label, traffic), account)| (label, traffic, account)))
        .or_else(|| unsettled(labels.zip(turns)))
}
