//! Messages as a whole: what this protocol does not know is an error, however deep in one it is,
//! and the largest honest one is taken.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;

use std::net::IpAddr;

use common::{ADDRESS, answers, outcome};
use load::{CongestionControl, Kind, Spec, Traffic};
use netassay_agent::message::{Answer, ExactReceiver, Finished, Request, TraceOptions, TurnState};
use netassay_agent::{Isolation, Launch, decode, encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

fn spec() -> Spec {
    let congestion_control = CongestionControl::Named("cubic".to_owned());
    let traffic = Traffic { congestion_control, ..Traffic::new(Kind::UdpStream) };
    Spec { traffic, local: IpAddr::from([10, 0, 0, 1]), cpus: vec![0], interface: None }
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
    let machine = host::machine::MachineRequest {
        sysctls: [(text(), text())].into(),
        governor: Some(text()),
        cpu_latency: Some(1),
        placement: Some((text(), 0)),
        irq_affinity: [(text(), vec![0])].into(),
        features: vec![host::machine::FeatureRequest { interface: text(), features: vec![text()], on: true }],
    };
    let addresses = || vec![(IpAddr::from([10, 0, 0, 1]), 24)];
    vec![
        Request::Hello { protocol: 1 },
        Request::TakeTurn { session: text() },
        Request::LeaveTurn,
        Request::CreateVeth { name: text(), peer: text(), peer_pid: 1 },
        Request::CreateDiscard {
            name: text(),
            device: None,
            addresses: addresses(),
            behind: vec![IpAddr::from([10, 0, 0, 2])],
        },
        Request::CreateVxlan { name: text(), vxlan, addresses: addresses(), bridge: Some(text()) },
        Request::CreateBridge { name: text() },
        Request::CreateTap { name: text(), bridge: text() },
        Request::AddPort { bridge: text(), interface: text() },
        Request::FindInterface { address: text() },
        Request::Configure { interface: text(), addresses: addresses() },
        Request::SetMtu { interface: text(), mtu: 1500 },
        Request::AwaitRunning { interface: text() },
        Request::Steer { interface: text(), cpus: vec![0] },
        Request::SteerNew { cpus: vec![0] },
        Request::Settle {
            interface: text(),
            mtu: Some(1500),
            features: [(text(), true)].into(),
            device: [(words::DeviceSetting::RxRing, 256)].into(),
            tuning: Some(words::Tuning {
                sysctl: [(text(), text())].into(),
                governor: Some(text()),
                ..words::Tuning::default()
            }),
        },
        Request::Environment { interfaces: vec![text()] },
        Request::Lacking { traffic: Traffic::new(Kind::TcpRr), family: load::Family::Ipv6 },
        Request::Open { spec: spec(), endpoints: None, interface: text(), underlay: Some(text()) },
        Request::Open {
            spec: spec(),
            endpoints: Some(vec![ADDRESS.parse().unwrap()]),
            interface: text(),
            underlay: Some(text()),
        },
        Request::Attach { locals: vec![ADDRESS.parse().unwrap()] },
        Request::Start,
        Request::Stay { for_ms: 1 },
        Request::Quiet,
        Request::Measure { ramp_ns: 1, window_ns: 1, step_ns: 1 },
        Request::Alternate {
            ramp_ns: 1,
            turn_ns: 2,
            settle_ns: 1,
            states: vec![TurnState {
                features: [(text(), true)].into(),
                traffic: Traffic::new(Kind::TcpRr),
                tuning: Some(words::Tuning::default()),
            }],
            turns: vec![words::Turn { state: 0, counts: true }],
        },
        Request::Watch {
            processes: vec![1],
            cpus: vec![0],
            underlay: Some(text()),
            ramp_ns: 1,
            window_ns: 1,
        },
        Request::Exact { spec: spec(), receiver: ExactReceiver::In { process: 1, spec: Box::new(spec()) } },
        Request::Trace {
            spec: spec(),
            receiver: ExactReceiver::Nobody(ADDRESS.parse().unwrap()),
            wanted: TraceOptions {
                path: text(),
                functions: true,
                batch: 1,
                rounds: 1,
                asleep: true,
                every: 7,
                profile: 9,
            },
        },
        Request::Survey { paths: vec![text()], functions: true },
        Request::Finish,
        Request::Abandon,
        Request::ChangeMachine(machine),
        Request::MachineDifferences,
        Request::UndoMachine,
        Request::Apply { interface: text(), mtu: Some(1500), features: [(text(), true)].into() },
        Request::Keep { why: text() },
    ]
}

/// Every copy of `value` that has one field more, in one of its objects.
fn with_one_more(value: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    match value {
        Value::Object(fields) => {
            let mut more = fields.clone();
            // No map of a message has such values.
            more.insert("unheard_of".to_owned(), serde_json::json!([1, {}]));
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

fn refuses_more<T: Serialize + DeserializeOwned + std::fmt::Debug>(messages: &[T]) -> usize {
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
    let launches = refuses_more(&[Launch { isolation: Isolation::NetworkOf(1), ..Launch::default() }]);
    assert!(requests > 40 && answers > 60 && launches > 0, "{requests} {answers} {launches}");
}

/// The places of lists, maps, structures and texts in a message (RFC 6901).
fn places(value: &Value, at: &str) -> Vec<String> {
    let inner: Vec<String> = match value {
        Value::Object(fields) => {
            fields.iter().flat_map(|(name, field)| places(field, &format!("{at}/{name}"))).collect()
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .flat_map(|(index, item)| places(item, &format!("{at}/{index}")))
            .collect(),
        Value::String(_) => vec![],
        _ => return vec![],
    };
    [vec![at.to_owned()], inner].concat()
}

/// The line of the message with so many entries, or bytes, at a place; of a list or map they are
/// like its first.
fn lengthened(message: &Value, place: &str, count: usize) -> String {
    let mut message = message.clone();
    let value = message.pointer_mut(place).unwrap();
    let text = match &*value {
        Value::Object(fields) => {
            let first = fields.values().next().unwrap_or(&Value::Null).to_string();
            let own = fields.iter().map(|(name, field)| format!("{name:?}:{field}"));
            let more = (0..count).map(|index| format!("\"k{index}\":{first}"));
            format!("{{{}}}", own.chain(more).collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            let first = items.first().unwrap_or(&Value::Null).to_string();
            format!("[{}]", vec![first.as_str(); count].join(","))
        }
        _ => format!("{:?}", "x".repeat(count)),
    };
    // As text: a tree of so many values takes far longer.
    *value = "lengthened".into();
    message.to_string().replacen("\"lengthened\"", &text, 1)
}

/// The places where a message may be as long as its sender likes, but for the bounds of a line.
fn boundless<T: Serialize + DeserializeOwned>(messages: &[T]) -> Vec<String> {
    let mut found = Vec::new();
    for message in messages {
        let message = serde_json::to_value(message).unwrap();
        for place in places(&message, "") {
            let is_taken = |count| decode::<T>(lengthened(&message, &place, count).as_bytes()).is_ok();
            // What refuses one unknown name refuses more of them.
            let is_closed = message.pointer(&place).unwrap().is_object() && !is_taken(1);
            // More than any list may have but those of sockets; more than those, and than any text.
            if !is_closed && is_taken(9_000) && is_taken(210_000) {
                found.push(place);
            }
        }
    }
    found
}

#[test]
fn each_list_map_and_text_of_a_message_has_a_bound() {
    assert_eq!(boundless(&requests()), [""; 0]);
    assert_eq!(boundless(&answers()), [""; 0]);
    assert_eq!(boundless(&[Launch { cpus: vec![0], ..Launch::default() }]), [""; 0]);
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
