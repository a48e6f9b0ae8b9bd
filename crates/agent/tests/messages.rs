//! Messages as a whole: what this protocol does not know is an error, however deep in one it is, and the largest honest one is taken.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;

use std::net::IpAddr;

use common::{answers, outcome};
use load::{Kind, Spec, Traffic};
use netassay_agent::message::{Answer, ExactTaker, Finished, Request};
use netassay_agent::{Bounded, Isolation, Launch, decode, encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

fn spec() -> Spec {
    Spec { traffic: Traffic::new(Kind::UdpStream), local: IpAddr::from([10, 0, 0, 1]), cpus: vec![0] }
}

fn requests() -> Vec<Request> {
    let vxlan = host::Vxlan {
        id: 7,
        local: IpAddr::from([10, 0, 0, 1]),
        remote: IpAddr::from([10, 0, 0, 2]),
        port: 4789,
        underlay: "wire".to_owned(),
    };
    let text = || "eth0".to_owned();
    let addresses = || vec![(IpAddr::from([10, 0, 0, 1]), 24)];
    vec![
        Request::Hello { protocol: 1 },
        Request::CreateVeth { name: text(), peer: text(), peer_pid: 1 },
        Request::CreateDiscard { name: text(), device: None, addresses: addresses(), behind: vec![] },
        Request::CreateVxlan { name: text(), vxlan, addresses: addresses(), bridge: None },
        Request::CreateBridge { name: text() },
        Request::CreateTap { name: text(), bridge: text() },
        Request::FindInterface { address: text() },
        Request::Configure { interface: text(), addresses: addresses() },
        Request::SetMtu { interface: text(), mtu: 1500 },
        Request::AwaitRunning { interface: text() },
        Request::Steer { interface: text(), cpus: vec![0] },
        Request::SteerNew { cpus: vec![0] },
        Request::Settle { interface: text(), mtu: None, features: [(text(), true)].into() },
        Request::Environment { interfaces: vec![text()] },
        Request::Lacking { traffic: Traffic::new(Kind::TcpRr), ipv6: true },
        Request::Listen { spec: spec(), interface: text(), underlay: None },
        Request::Connect { spec: spec(), endpoints: vec![], interface: text(), underlay: None },
        Request::Attach { locals: vec![] },
        Request::Start,
        Request::Quiet,
        Request::Measure { ramp_ns: 1, window_ns: 1, step_ns: 1 },
        Request::Watch { processes: vec![1], cpus: vec![0], underlay: None, ramp_ns: 1, window_ns: 1 },
        Request::Exact { spec: spec(), taker: ExactTaker::In { process: 1, spec: spec() } },
        Request::Finish,
        Request::Abandon,
    ]
}

/// Every copy of `value` that has one field more, in one of its objects.
fn with_one_more(value: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    match value {
        Value::Object(fields) => {
            let mut more = fields.clone();
            more.insert("unheard_of".to_owned(), Value::from([1, 2]));
            all.push(Value::Object(more));
            for (name, field) in fields {
                all.extend(with_one_more(field).into_iter().map(|changed| {
                    let mut fields = fields.clone();
                    fields.insert(name.clone(), changed);
                    Value::Object(fields)
                }));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                all.extend(with_one_more(item).into_iter().map(|changed| {
                    let mut items = items.clone();
                    items[index] = changed;
                    Value::Array(items)
                }));
            }
        }
        // A message without fields is its name, or its name with nothing.
        Value::String(name) => all.push(serde_json::json!({ name.as_str(): { "unheard_of": 1 } })),
        _ => {}
    }
    all
}

fn refuses_more<T: Serialize + DeserializeOwned + Bounded + std::fmt::Debug>(messages: &[T]) -> usize {
    let mut tried = 0;
    for message in messages {
        let line = encode(message).unwrap();
        decode::<T>(line.trim_ascii_end()).unwrap();
        for changed in with_one_more(&serde_json::to_value(message).unwrap()) {
            let line = changed.to_string();
            assert!(decode::<T>(line.as_bytes()).is_err(), "taken: {line}");
            tried += 1;
        }
    }
    tried
}

#[test]
fn a_field_that_is_not_known_is_refused_at_every_depth() {
    let requests = refuses_more(&requests());
    let answers = refuses_more(&answers());
    let launches = refuses_more(&[Launch { isolation: Isolation::NetworkOf(1), cpus: vec![] }]);
    assert!(requests > 40 && answers > 60 && launches > 0, "{requests} {answers} {launches}");
}

#[test]
fn the_accounts_of_the_most_flows_are_taken() {
    let mut outcome = outcome();
    outcome.flows = vec![outcome.flows[0].clone(); 4096];
    outcome.threads = vec![outcome.threads[0]; 2 * usize::try_from(load::MAX_THREADS).unwrap()];
    let finished = Finished { outcome, counters: host::Counters::default() };
    let line = encode(&Answer::Finished(Box::new(finished))).unwrap();
    decode::<Answer>(line.trim_ascii_end()).unwrap();
}
