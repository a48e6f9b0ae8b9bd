//! Made-up studies in a database.

#![allow(dead_code, reason = "each test binary uses its own part of this")]
#![allow(clippy::allow_attributes, reason = "an expectation would fail in the binaries that use all of it")]
#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::collections::BTreeMap;

use record::{Detail, sample};
use store::{FleetPair, NewRun, NewStudy, Outcome, Store, StudyId, StudyStatus};
use study::{Plan, PlannedRun, Study};

use crate::common::Bench;

/// Four conditions of `tcp_stream`, in 3 boots of 3 runs.
pub(crate) const TOML: &str = include_str!("../../../study/tests/runs.toml");

pub(crate) fn plan() -> Plan {
    Study::parse("quick.toml", TOML).unwrap().plan()
}

/// A database of three studies: the second is 3 % faster under another kernel, the third
/// has other traffic.
pub(crate) fn three(bench: &Bench) {
    let other = TOML.replace("tcp_stream", "udp_stream");
    let udp = Study::parse("quick.toml", &other).unwrap().plan();
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    for (plan, kernel, factor) in [(plan(), "6.18", 1.0), (plan(), "6.19", 1.03), (udp, "6.19", 1.0)] {
        five_boots(&mut store, plan, kernel, factor);
    }
}

/// A study of five boots whose values are so many times [`level`].
pub(crate) fn five_boots(store: &mut Store, plan: Plan, kernel: &str, factor: f64) -> StudyId {
    let metric = plan.conditions[0].workload.traffic.kind.primary_metric().key;
    let made = Made { toml: TOML, plan, kernel, boots: 5, runs: 3, metric, pair: None };
    made.record(store, |condition, boot, run| factor * level(condition, boot, run))
}

/// Values that differ a little by boot and by run, in no pattern.
pub(crate) fn level(condition: usize, boot: u32, run: u32) -> f64 {
    let wobble = f64::from((boot * 7 + run * 3 + condition as u32 * 5) % 11) - 5.0;
    1000.0 + 100.0 * condition as f64 + wobble
}

/// A study to be recorded, complete.
pub(crate) struct Made<'a> {
    pub(crate) toml: &'a str,
    pub(crate) plan: Plan,
    pub(crate) kernel: &'a str,
    pub(crate) boots: u32,
    pub(crate) runs: u32,
    pub(crate) metric: &'a str,
    /// The pair of a fleet that it measured.
    pub(crate) pair: Option<FleetPair>,
}

impl Made<'_> {
    /// Five boots of [`TOML`].
    pub(crate) fn quick() -> Self {
        let metric = plan().conditions[0].workload.traffic.kind.primary_metric().key;
        Self { toml: TOML, plan: plan(), kernel: "6.18", boots: 5, runs: 3, metric, pair: None }
    }

    /// Records it; `value` gives the metric by condition, boot and run, `NaN` a run that failed.
    pub(crate) fn record(self, store: &mut Store, value: impl Fn(usize, u32, u32) -> f64) -> StudyId {
        let conditions = self.plan.conditions.len();
        let id = store
            .begin_study(&NewStudy {
                name: "quick".to_owned(),
                toml: self.toml.to_owned(),
                plan: self.plan,
                seed: 1,
                scenario: "veth".to_owned(),
                version: "0.1.0".to_owned(),
                pair: self.pair,
            })
            .unwrap();
        let mut environment = sample::environment();
        environment.transmitter.kernel.release = Some(self.kernel.to_owned());
        for number in 1..=self.boots {
            let boot = store.begin_boot(id, number, &environment).unwrap();
            for (repeat, condition) in
                (1..=self.runs).flat_map(|run| (0..conditions).map(move |condition| (run, condition)))
            {
                let value = value(condition, number, repeat);
                let outcome = if value.is_nan() {
                    Outcome::Failed("the agent ended".to_owned())
                } else {
                    Outcome::Ok([(study::metric::find(self.metric).unwrap(), value)].into_iter().collect())
                };
                let run = NewRun {
                    planned: PlannedRun {
                        boot: number,
                        block: repeat,
                        repeat,
                        position: 0,
                        warmup: false,
                        condition,
                    },
                    started_unix_ms: 1_700_000_000_000,
                    outcome,
                    limited_by: None,
                    series: words::BySide::default(),
                    detail: Detail::Measured(Box::new(sample::account())),
                };
                store.record_run(boot, &run).unwrap();
            }
            store.end_boot(boot, Some(&environment)).unwrap();
        }
        store.finish_study(id, StudyStatus::Complete).unwrap();
        id
    }
}

pub(crate) fn fleet_pair(campaign: &str, name: &str, repeat: u32) -> FleetPair {
    FleetPair { campaign: campaign.to_owned(), name: name.to_owned(), labels: BTreeMap::new(), repeat }
}

/// Records a pair whose conditions are so many times the level.
pub(crate) fn record_pair(store: &mut Store, pair: FleetPair, seed: u32, factors: [f64; 4]) {
    Made { pair: Some(pair), ..Made::quick() }.record(store, |condition, boot, run| {
        factors[condition] * level(0, boot * seed + condition as u32, run)
    });
}

/// Two campaigns on machines of very different speed: the second is 4 to 6 % slower on each, and
/// has one pair more.
pub(crate) fn two_campaigns(bench: &Bench) {
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    for (campaign, slower) in [("quick@1", 0.0), ("quick@2", 0.01)] {
        for (name, speed, percent) in [("a", 1.0, 4.0), ("b", 10.0, 5.0), ("c", 100.0, 6.0), ("d", 3.0, 5.0)]
        {
            let factor = speed * (1.0 - slower * percent);
            record_pair(&mut store, fleet_pair(campaign, name, 1), 1, [factor; 4]);
        }
    }
    record_pair(&mut store, fleet_pair("quick@2", "e", 1), 1, [0.1; 4]);
}
