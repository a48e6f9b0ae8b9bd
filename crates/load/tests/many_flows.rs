//! Thousands of flows on two threads. Alone in its process, because of the files that it opens.

#[path = "common/files.rs"]
mod files;
#[path = "common/skip.rs"]
mod skip;

use std::time::{Duration, Instant};

use netassay_load::{Endpoint, Kind, Phase, Spec, Traffic};

/// More than two listeners take, and both ends' sockets within a hard limit of 20,000 files.
const FLOWS: u32 = 8_500;

#[test]
fn thousands_of_flows_share_two_threads() {
    if !files::hold_both_ends("thousands_of_flows_share_two_threads", FLOWS) {
        return;
    }
    for (kind, flows) in
        [(Kind::TcpStream, 1_000), (Kind::TcpRr, FLOWS), (Kind::UdpRr, FLOWS), (Kind::TcpStream, FLOWS)]
    {
        let traffic = Traffic { message: 1000, flows, threads: Some(2), ..Traffic::new(kind) };
        let spec = Spec { traffic, local: "127.0.0.1".parse().unwrap(), cpus: vec![], interface: None };
        let began = Instant::now();
        let mut receiver = Endpoint::bind(&spec).unwrap();
        let mut transmitter = Endpoint::connect(&spec, receiver.addresses()).unwrap();
        receiver.attach(transmitter.addresses()).unwrap();
        let connected = began.elapsed();
        assert!(connected < Duration::from_secs(20), "{kind}: {connected:?} to connect {flows} flows");
        receiver.start().unwrap();
        transmitter.start().unwrap();
        assert_eq!((receiver.threads().len(), transmitter.threads().len()), (2, 2));
        while transmitter.sample().flows.iter().any(|flow| flow.bytes == 0) {
            assert!(began.elapsed() < Duration::from_secs(60), "{kind}: some flows move nothing");
            assert_eq!(transmitter.failed().or(receiver.failed()), None);
            std::thread::sleep(Duration::from_millis(50));
        }
        transmitter.set_phase(Phase::Tail);
        receiver.set_phase(Phase::Tail);
        let sent = transmitter.finish().unwrap();
        let mut received = receiver.finish().unwrap();
        assert_eq!((sent.flows.len(), received.flows.len()), (flows as usize, flows as usize));
        let bytes: u64 = received.flows.iter().map(|flow| flow.counts.bytes).sum();
        assert_eq!(bytes, received.received.bytes);
        if kind == Kind::TcpStream {
            assert_eq!(sent.sent.bytes, received.received.bytes);
        }
        received.sum_up(100);
        assert!(received.flows.len() <= 100);
        assert_eq!(received.flows.iter().map(|flow| flow.flows).sum::<u32>(), flows);
        assert_eq!(
            received.flows.iter().map(|flow| flow.counts).sum::<netassay_load::Counts>(),
            received.received
        );
    }
}
