//! A made-up study whose figures are easy to check by hand.

#[path = "../stored/mod.rs"]
mod rows;

use std::collections::BTreeMap;

use record::{Detail, Environment, Note, sample};
use serde_json::{Value, json};
use store::{RunStatus, StoredRun, StoredStudy};
use study::{Plan, Study};

/// Throughput of the four conditions of `quick` in boot 0; each further boot adds 10, each further
/// run 1.
pub(crate) const LEVELS: [f64; 4] = [1000.0, 400.0, 1001.0, 300.0];

pub(crate) fn quick() -> Study {
    Study::parse("quick.toml", include_str!("../../../study/tests/runs.toml")).expect("a study")
}

pub(crate) fn plan() -> Plan {
    let mut plan = quick().plan();
    let side = |on: bool, follow_on: Value| {
        json!({"mtu": 1500, "active": {"tx-tcp-segmentation": on, "rx-lro": false},
               "refused": {"rx-lro": "the driver does not let it be switched [fixed]"}, "follow_on": follow_on})
    };
    let on = json!({"transmitter": side(true, json!({})), "receiver": side(true, json!({}))});
    let off = json!({"transmitter": side(false, json!({"tx-udp-segmentation": false})), "receiver": side(false, json!({}))});
    plan.effective = serde_json::from_value(json!([on, off, on, off])).unwrap();
    plan
}

pub(crate) fn run(id: i64, boot: u32, repeat: u32, condition: usize, status: RunStatus) -> StoredRun {
    let value = LEVELS[condition] + f64::from(boot) * 10.0 + f64::from(repeat);
    let mut metrics = BTreeMap::from([("throughput".to_owned(), value)]);
    for (place, side) in ["transmitter", "receiver"].iter().enumerate() {
        let place = place as f64;
        for (key, value) in [
            ("cpu", 90.0 - place),
            ("cpu_user", 10.0),
            ("cpu_system", 60.0 - place),
            ("cpu_softirq", 20.0),
            ("service_demand_byte", 0.5 + place),
            ("wire_packets", 8000.0),
            ("bytes_per_wire_packet", 50_000.0),
            ("segments_per_wire_packet", 35.0),
            ("segments", 280_000.0),
            ("retransmits", 0.0),
            ("drops", 0.0),
            ("context_switches", 120.0),
        ] {
            metrics.insert(format!("{side}.{key}"), value);
        }
    }
    let failed = status == RunStatus::Failed;
    StoredRun {
        status,
        reason: failed
            .then(|| "the receiver's agent (process 7) exited unexpectedly: signal: 9 (SIGKILL)".to_owned()),
        detail: ran_with("cubic"),
        ..rows::run(id, boot, repeat, condition, if failed { BTreeMap::new() } else { metrics })
    }
}

/// The settings that the sockets of a run read back, as the runner stores them.
pub(crate) fn ran_with(congestion_control: &str) -> Detail {
    let mut account = sample::account();
    for side in [Some(&mut account.transmitter), account.receiver.as_mut()].into_iter().flatten() {
        side.whole.outcome.applied = vec![sample::applied(congestion_control)];
        side.whole.outcome.latency = None;
    }
    Detail::Measured(Box::new(account))
}

/// An environment with one note, and a setting of the transmitter.
fn environment() -> Environment {
    let mut environment = sample::environment();
    environment.notes.push(Note::NotSteered("no CPU is left".to_owned()));
    let setting = ("net.ipv4.tcp_congestion_control".to_owned(), "bbr".to_owned());
    environment.transmitter.sysctls.extend([setting]);
    environment
}

pub(crate) fn stored(boots: u32) -> StoredStudy {
    let mut runs = Vec::new();
    for boot in 1..=boots {
        for repeat in 1..=3 {
            for condition in 0..4 {
                runs.push(run(i64::try_from(runs.len()).unwrap(), boot, repeat, condition, RunStatus::Ok));
            }
        }
    }
    let mut stored = rows::complete(&quick(), plan(), boots, runs);
    // What the whole study has, also where fewer boots are stored.
    (stored.row.boots, stored.row.recorded_runs) = (3, 36);
    for boot in &mut stored.boots {
        boot.environment = environment();
        boot.environment_after = Some(Environment { notes: Vec::new(), ..environment() });
        boot.ended_unix_ms = None;
    }
    stored
}
