//! Studies and runs for the tests.

use netassay_store::{NewRun, NewStudy, Outcome};
use record::{Detail, Environment, sample};
use study::metric::{self, Metric};
use study::{Plan, PlannedRun, Study};

/// A plan of two conditions.
pub(crate) fn study() -> NewStudy {
    NewStudy {
        name: "quick".to_owned(),
        toml: "name = \"quick\"\n".to_owned(),
        plan: plan(),
        seed: u64::MAX,
        scenario: "veth".to_owned(),
        version: "0.1.0".to_owned(),
        pair: None,
    }
}

/// Two conditions, one of them with a comma in its name.
fn plan() -> Plan {
    let toml = include_str!("../../../study/tests/runs.toml");
    let mut plan = Study::parse("quick.toml", toml).unwrap().plan();
    plan.conditions.truncate(2);
    plan.comparisons.clear();
    let names = [("ipv4 offloads=default", "tcp4_default"), ("ipv6, offloads=none", "tcp6_nooffload")];
    for (condition, (label, slug)) in plan.conditions.iter_mut().zip(names) {
        (condition.label, condition.slug) = (label.into(), slug.to_owned());
    }
    plan
}

/// A recorded run with two metrics.
pub(crate) fn run(repeat: u32, condition: usize) -> NewRun {
    let position = repeat * 2 + condition as u32;
    NewRun {
        planned: PlannedRun { boot: 1, block: repeat, repeat, position, warmup: false, condition },
        started_unix_ms: 1_700_000_000_000,
        outcome: ok(&[(metric::THROUGHPUT, 9414.52), (metric::LOSS, 0.0)]),
        limited_by: None,
        series: study::BySide::default(),
        detail: Detail::Measured(Box::new(sample::account())),
    }
}

/// A success with these values.
pub(crate) fn ok(values: &[(Metric, f64)]) -> Outcome {
    Outcome::Ok(values.iter().copied().collect())
}

/// A warm-up.
pub(crate) fn warmup(condition: usize) -> NewRun {
    let run = run(1, condition);
    NewRun { planned: PlannedRun { block: 0, warmup: true, ..run.planned }, ..run }
}

/// An environment.
pub(crate) fn environment() -> Environment {
    environment_of("6.18.0")
}

/// An environment whose transmitter has this kernel.
pub(crate) fn environment_of(release: &str) -> Environment {
    let mut environment = sample::environment();
    environment.transmitter.kernel.release = Some(release.to_owned());
    environment
}
