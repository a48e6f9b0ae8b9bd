//! Messages as a whole: what this protocol does not know is an error, however deep in one it is, and the largest honest one is taken.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::net::{IpAddr, SocketAddr};

use load::exact::{Account, Spread};
use load::{Buffers, Counts, FlowOutcome, Kind, Outcome, Share, Spec, TcpInfo, Traffic};
use netassay_agent::message::{
    Answer, ExactTaker, Finished, GuestTimes, Late, Measured, Request, Series, Settled, Watched,
};
use netassay_agent::{Bounded, Isolation, Launch, decode, encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

const ADDRESS: &str = "10.0.0.1:5201";

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

fn outcome() -> Outcome {
    let address: SocketAddr = ADDRESS.parse().unwrap();
    let flow = FlowOutcome {
        sends: true,
        flows: 1,
        local: address,
        peer: address,
        counts: Counts::default(),
        verified_bytes: 0,
        sequence: Some(load::Sequence::default()),
        buffers: Buffers::default(),
        tcp: Some(TcpInfo::default()),
    };
    Outcome {
        sent: Counts::default(),
        received: Counts::default(),
        flows: vec![flow],
        threads: vec![Share { sends: true, flows: 1 }],
        latency: None,
        applied: vec![],
        buffers: Buffers::default(),
        zerocopy: Some(load::Zerocopy::default()),
        slept: false,
        notes: vec![],
    }
}

fn measured() -> Measured {
    Measured {
        elapsed_ns: 1,
        load: load::Sample { flows: vec![Counts::default()], ..load::Sample::default() },
        cpu: host::CpuTimes::default(),
        cpus: vec![0],
        cpu_each: vec![host::CpuTimes::default()],
        own: host::ProcessTimes::default(),
        threads: vec![host::ThreadTimes::default()],
        counters: host::Counters::default(),
        interrupts: host::Interrupt::all().map(|interrupt| (interrupt, 1)).collect(),
        underlay: Some(host::WireCounters::default()),
        clock: host::ClockCheck::default(),
        late: Late::default(),
        link: host::LinkLimit::default(),
        series: Series::default(),
    }
}

fn answers() -> Vec<Answer> {
    let spread = Spread { least: 1.0, low: 1.0, median: 1.0, high: 1.0, most: 1.0 };
    let account = Account {
        messages: 1,
        batches: 1,
        clock_ns: 1,
        whole: spread,
        kernel: spread,
        softirq: Some(spread),
        softirq_absent: None,
        calls: 1.0,
        applied: vec![],
    };
    let settled = Settled {
        mtu: 1500,
        active: [("rx-gro".to_owned(), true)].into(),
        refused: [("rx-gro".to_owned(), "fixed".to_owned())].into(),
        follow_on: [("rx-gro".to_owned(), true)].into(),
    };
    let watched = Watched {
        elapsed_ns: 1,
        late: Late::default(),
        guests: vec![GuestTimes::default()],
        cpu_each: vec![],
        interrupts_each: vec![],
        underlay: None,
    };
    let discard = host::Discard { device: host::DiscardDevice::Dummy, lacking: vec![] };
    vec![
        Answer::Hello { protocol: 1, version: "1".to_owned(), pid: 1 },
        Answer::Done,
        Answer::Discards(discard),
        Answer::Settled(settled),
        Answer::Environment(Box::new(host::Environment::read(&["lo"], "1"))),
        Answer::Lacking { what: vec![] },
        Answer::Sockets { addresses: vec![ADDRESS.parse().unwrap()] },
        Answer::Measured(Box::new(measured())),
        Answer::Interface { name: "eth0".to_owned() },
        Answer::Watched(Box::new(watched)),
        Answer::Exact(Box::new(account)),
        Answer::Finished(Box::new(Finished { outcome: outcome(), counters: host::Counters::default() })),
        Answer::Failed { why: "no".to_owned(), broken: false },
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
