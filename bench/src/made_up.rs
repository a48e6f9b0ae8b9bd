//! Studies that are recorded without a measurement: as large as a bench needs them.

use std::fmt::Display;
use std::path::Path;

use record::{Detail, Environment, Series, sample};
use store::{FleetPair, NewRun, NewStudy, Outcome, Store, StudyStatus};
use study::metric::{METRICS, Metric, MetricNeeds};
use study::{BySide, Plan, PlannedRun};
use tempfile::TempDir;

use crate::bench::{Bench, temporary_directory};
use crate::failure::Failure;

/// Rows of a run's counters over time: those of a window of a second.
const STEPS: u64 = 100;

/// A study to record.
pub(crate) struct MadeUp<'a> {
    pub(crate) name: &'a str,
    /// Its file.
    pub(crate) toml: &'a str,
    pub(crate) plan: &'a Plan,
    pub(crate) boots: u32,
    /// The runs of each condition in a boot.
    pub(crate) runs: u32,
    /// What a boot finds.
    pub(crate) environment: &'a dyn Fn(u32) -> Environment,
    /// The counters over time of both sides of each run.
    pub(crate) series: Option<Series>,
    /// The pair of a fleet that it measured.
    pub(crate) pair: Option<FleetPair>,
}

/// Which run it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// From 1.
    pub(crate) boot: u32,
    /// Which of its condition in its boot, from 1.
    pub(crate) repeat: u32,
    pub(crate) condition: usize,
}

impl MadeUp<'_> {
    /// Records the study, with an account and a value of every metric that all of its runs have;
    /// how many runs and metrics these are.
    pub(crate) fn record(
        &self,
        bench: &Bench,
        store: &mut Store,
        mut value: impl FnMut(Place) -> f64,
    ) -> Result<(usize, usize), Failure> {
        let id = store.begin_study(&NewStudy {
            name: self.name.to_owned(),
            toml: self.toml.to_owned(),
            plan: self.plan.clone(),
            seed: 1,
            scenario: "veth".to_owned(),
            version: "0.1.0".to_owned(),
            pair: self.pair.clone(),
        });
        let (id, metrics) = (id.map_err(failed)?, self.metrics());
        let detail = Detail::Measured(Box::new(sample::account()));
        let conditions = self.plan.conditions.len();
        let mut recorded = 0;
        for number in 1..=self.boots {
            bench.check()?;
            let environment = (self.environment)(number);
            let boot = store.begin_boot(id, number, &environment).map_err(failed)?;
            let mut runs = Vec::new();
            for (repeat, condition) in
                (1..=self.runs).flat_map(|run| (0..conditions).map(move |one| (run, one)))
            {
                let place = Place { boot: number, repeat, condition };
                let values = metrics.iter().map(|metric| (*metric, value(place)));
                let position = repeat * conditions as u32 + condition as u32;
                runs.push(NewRun {
                    planned: PlannedRun {
                        boot: number,
                        block: repeat,
                        repeat,
                        position,
                        warmup: false,
                        condition,
                    },
                    started_unix_ms: 1_795_181_965_000 + recorded as i64 * 1000,
                    outcome: Outcome::Ok(values.collect()),
                    limited_by: None,
                    series: BySide { transmitter: self.series.clone(), receiver: self.series.clone() },
                    detail: detail.clone(),
                });
                recorded += 1;
            }
            store.record_runs(boot, &runs).map_err(failed)?;
            store.end_boot(boot, Some(&environment)).map_err(failed)?;
        }
        store.finish_study(id, StudyStatus::Complete).map_err(failed)?;
        Ok((recorded, metrics.len()))
    }

    /// What every run of the plan's traffic has.
    fn metrics(&self) -> Vec<Metric> {
        let kinds: Vec<_> = self.plan.conditions.iter().map(|one| one.workload.traffic.kind).collect();
        let all = METRICS.iter().copied().filter(|metric| metric.needs == MetricNeeds::Nothing);
        let all = all.filter(|metric| kinds.iter().all(|kind| kind.produces(*metric)));
        all.collect()
    }
}

/// A directory for a database: in memory where there is such a place, because every boot is synced
/// to disk.
pub(crate) fn directory() -> Result<TempDir, Failure> {
    let memory = Path::new("/dev/shm");
    if !memory.is_dir() {
        return temporary_directory();
    }
    tempfile::tempdir_in(memory).map_err(Failure::io("cannot make a directory"))
}

/// The environment of a boot: as many settings as a real one has, and an id of its own.
pub(crate) fn environment(boot: u32) -> Environment {
    let mut environment = sample::environment();
    for host in [Some(&mut environment.transmitter), environment.receiver.as_mut()].into_iter().flatten() {
        host.kernel.boot_id = Some(format!("00000000-0000-4000-8000-{boot:012}"));
        host.sysctls
            .extend((0..200).map(|number| (format!("net.core.setting_{number}"), number.to_string())));
    }
    environment
}

/// Counters over time as a run of a second has them.
pub(crate) fn series() -> Series {
    let rising = |step: u64| (1..=STEPS).map(|row| row * step).collect::<Vec<u64>>();
    Series {
        step_ns: 10_000_000,
        at_ns: rising(10_000_000),
        bytes_sent: rising(12_345_678),
        bytes_received: rising(12_345_678),
        messages_sent: rising(1234),
        messages_received: rising(1234),
        transactions: rising(0),
        socket_drops: rising(0),
        queue_drops: rising(0),
        cpu_busy_ns: rising(9_876_543),
        tcp: Vec::new(),
    }
}

pub(crate) fn failed(what: impl Display) -> Failure {
    Failure::failed(format!("cannot fill a database: {what}"))
}
