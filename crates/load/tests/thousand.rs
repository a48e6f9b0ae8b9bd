//! A thousand flows at once. Alone in its process, because two thousand threads leave no CPU to
//! other tests.

#[path = "common/files.rs"]
mod files;
#[path = "common/skip.rs"]
mod skip;

use std::time::{Duration, Instant};

use netassay_load::{Endpoint, Kind, Phase, Spec, Traffic};

const FLOWS: u32 = 1000;

#[test]
#[ignore = "starts 6,000 threads: many_flows.rs has thousands of flows in the gate"]
fn a_thousand_flows_all_count() {
    if !files::hold_both_ends("a_thousand_flows_all_count", FLOWS) {
        return;
    }
    for kind in [Kind::TcpStream, Kind::UdpRr, Kind::TcpCrr] {
        let traffic = Traffic { message: 1400, flows: FLOWS, threads: Some(FLOWS), ..Traffic::new(kind) };
        let spec = Spec { traffic, local: "127.0.0.1".parse().unwrap(), cpus: vec![], interface: None };
        let mut receiver = Endpoint::bind(&spec).unwrap();
        let mut transmitter = Endpoint::connect(&spec, receiver.addresses()).unwrap();
        receiver.attach(transmitter.addresses()).unwrap();
        receiver.start().unwrap();
        transmitter.start().unwrap();
        // Each flow gets its turn on a CPU sooner or later.
        let began = Instant::now();
        while transmitter.sample().flows.iter().any(|flow| flow.bytes == 0) {
            assert!(began.elapsed() < Duration::from_secs(60), "{kind}: some flows move nothing");
            assert_eq!(transmitter.failed().or(receiver.failed()), None);
            std::thread::sleep(Duration::from_millis(100));
        }
        transmitter.set_phase(Phase::Tail);
        receiver.set_phase(Phase::Tail);
        let sent = transmitter.finish().unwrap();
        let received = receiver.finish().unwrap();
        assert_eq!((sent.flows.len(), received.flows.len()), (FLOWS as usize, FLOWS as usize));
        assert_eq!(received.flows.iter().map(|flow| flow.counts.bytes).sum::<u64>(), received.received.bytes);
        if kind == Kind::TcpStream {
            assert_eq!(sent.sent.bytes, received.received.bytes);
        }
    }
}
