//! The paths that a study traces: what is asked of the host, and what is kept of the answer.

use std::time::{SystemTime, UNIX_EPOCH};

use agent::message::Traced;
use record::{PassedPlace, PathStep, PathTrace};
use study::{KernelPath, Tracing, Waiting};
use trace::{At, ChosenStage, PATHS, TraceAccount};

use crate::error::Error;
use crate::run::RunOrder;
use crate::testbed::Testbed;

impl Testbed {
    /// Traces one path of a study, and adds it to `traces`: of a trace that fails its finished
    /// rounds, if there are any.
    ///
    /// # Errors
    /// As [`Testbed::trace`].
    pub fn trace_path(
        &mut self,
        order: &RunOrder,
        tracing: &Tracing,
        (path, reader): (KernelPath, Waiting),
        traces: &mut Vec<PathTrace>,
    ) -> Result<(), Error> {
        let bundled = PATHS.iter().find(|bundled| bundled.name == path.word());
        let wanted = Traced {
            path: bundled.map(|bundled| bundled.text.to_owned()).unwrap_or_default(),
            functions: self.may_probe_functions()?,
            batch: tracing.batch,
            rounds: tracing.rounds,
            asleep: reader == Waiting::Asleep,
            every: 0,
            profile: if tracing.samples(order.traffic.kind, (path, reader)) {
                varied(host::perf::frequency(self.exact))
            } else {
                0
            },
        };
        let mut finished = None;
        let (account, result) = match self.trace(order, wanted, &mut finished) {
            Ok(account) => (Some(account), Ok(())),
            Err(error) => (finished, Err(error)),
        };
        traces.extend(account.map(|account| path_trace(&account, path, reader)));
        result
    }
}

/// Up to a sixth less, by chance. Boots of an emulated guest repeat to the instruction: sampled at
/// one frequency they are sampled at the same places, err alike, and do not show how far they err.
fn varied(frequency: u32) -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    frequency - now.subsec_nanos() % (frequency / 6).max(1)
}

/// Reduces a trace to the parts that are stored.
fn path_trace(account: &TraceAccount, path: KernelPath, reader: Waiting) -> PathTrace {
    let rows = account.rows();
    let first = rows.first().map(|row| row.from);
    let passed = first.into_iter().chain(rows.iter().map(|row| row.to));
    let steps = rows.iter();
    PathTrace {
        path,
        reader,
        places: passed.filter_map(|stage| account.stages.get(stage)).map(place).collect(),
        steps: steps
            .map(|row| PathStep { cost: row.corrected, outside: row.outside, waits: row.waits })
            .collect(),
        whole: account.time_of_way().filter(|_| !rows.is_empty()),
        packets: account.reading().journeys.arrived,
        profile: account.profile.clone(),
    }
}

fn place(stage: &ChosenStage) -> PassedPlace {
    let seen_at = stage.seen.as_ref().map(|seen| seen.name.clone()).unwrap_or_default();
    PassedPlace { label: stage.label.clone(), returns: stage.at == At::Return, seen_at }
}
