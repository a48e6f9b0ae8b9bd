//! Threads are named and pinned, and end with the run. Alone in its process, because it looks at
//! all its threads.

use std::time::Duration;

use netassay_load::{Endpoint, Kind, Phase, Spec, Traffic};

#[test]
fn threads_are_named_pinned_in_turn_and_gone_at_the_end() {
    let traffic = Traffic { flows: 3, threads: Some(3), ..Traffic::new(Kind::UdpRr) };
    let receiving = Spec { traffic, local: "127.0.0.1".parse().unwrap(), cpus: vec![], interface: None };
    let cpus = std::thread::available_parallelism().unwrap().get().min(2) as u32;
    let sending = Spec { cpus: (0..cpus).collect(), ..receiving.clone() };
    let mut receiver = Endpoint::bind(&receiving).unwrap();
    let mut transmitter = Endpoint::connect(&sending, receiver.addresses()).unwrap();
    receiver.attach(transmitter.addresses()).unwrap();
    assert_eq!(threads(), []);
    receiver.start().unwrap();
    transmitter.start().unwrap();
    let running = threads();
    let names: Vec<&str> = running.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["load-rx-0", "load-rx-1", "load-rx-2", "load-tx-0", "load-tx-1", "load-tx-2"]);
    for (flow, (_, allowed)) in running[3..].iter().enumerate() {
        assert_eq!(*allowed, (flow as u32 % cpus).to_string());
    }
    std::thread::sleep(Duration::from_millis(20));
    transmitter.set_phase(Phase::Tail);
    receiver.set_phase(Phase::Tail);
    transmitter.finish().unwrap();
    receiver.finish().unwrap();
    assert_eq!(threads(), []);
}

/// The name and the allowed CPUs of each thread of this process that belongs to a flow.
fn threads() -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = std::fs::read_dir("/proc/self/task")
        .expect("a process has threads")
        .filter_map(|task| {
            // A thread may end between the listing and the reading.
            let status = std::fs::read_to_string(task.ok()?.path().join("status")).ok()?;
            let field = |name: &str| {
                let line = status.lines().find(|line| line.starts_with(name))?;
                Some(line.split_once(':')?.1.trim().to_owned())
            };
            Some((field("Name")?, field("Cpus_allowed_list")?))
        })
        .filter(|(name, _)| name.starts_with("load-"))
        .collect();
    found.sort();
    found
}
