//! Studies and runs for the tests.

use netassay_store::{NewRun, NewStudy, Outcome};
use record::{Detail, Environment, sample};
use serde_json::json;

/// A plan of two conditions.
pub(crate) fn study() -> NewStudy {
    NewStudy {
        name: "quick".to_owned(),
        toml: "name = \"quick\"\n".to_owned(),
        plan_json: json!({"conditions": [
            {"label": "ipv4 offloads=default", "slug": "tcp4_default"},
            {"label": "ipv6, offloads=none", "slug": "tcp6_nooffload"},
        ]}),
        seed: u64::MAX,
        scenario: "veth".to_owned(),
        version: "0.1.0".to_owned(),
    }
}

/// A recorded run with two metrics.
pub(crate) fn run(repeat: u32, condition: usize) -> NewRun {
    NewRun {
        block: repeat,
        repeat,
        position: repeat * 2 + condition as u32,
        warmup: false,
        condition,
        started_unix_ms: 1_700_000_000_000,
        outcome: Outcome::Ok(vec![("throughput".to_owned(), 9414.52), ("loss".to_owned(), 0.0)]),
        limited_by: None,
        series: Vec::new(),
        detail: Detail::Measured(Box::new(sample::account())),
    }
}

/// A warm-up.
pub(crate) fn warmup(condition: usize) -> NewRun {
    NewRun { block: 0, warmup: true, ..run(1, condition) }
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
