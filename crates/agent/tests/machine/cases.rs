//! The changes that agents make, and the ways in which agents end.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use load::{Kind, Spec, Traffic};
use netassay_agent::message::{Answer, Request};
use netassay_agent::{CallError, Isolation};

use crate::world::{Agent, PATIENCE, WIRE, World, ip};

pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Whether only `cargo xtask test --all` runs it.
    pub(crate) is_ignored: bool,
    pub(crate) run: fn(&World),
}

const fn in_gate(name: &'static str, run: fn(&World)) -> Case {
    Case { name, is_ignored: false, run }
}

/// The gate proves the same by another case, or it tells how long something takes.
const fn later(name: &'static str, run: fn(&World)) -> Case {
    Case { name, is_ignored: true, run }
}

pub(crate) const ALL: &[Case] = &[
    in_gate("a_silent_controller_ends_a_measurement_and_all_is_undone", silent_while_measuring),
    later("a_silent_controller_is_noticed_soon", noticed_soon),
    later("a_silent_controller_ends_a_settling_at_any_moment_and_all_is_undone", silent_while_settling),
    later("a_controller_that_is_gone_ends_a_measurement_and_all_is_undone", gone_while_measuring),
    later("a_controller_that_does_not_read_ends_its_agent_and_all_is_undone", not_read),
    in_gate("what_a_killed_agent_leaves_is_undone_by_its_undo_process", killed),
    later("a_workload_is_closed_ten_seconds_after_its_window", closed),
    later("signs_of_life_keep_an_agent_through_a_long_request", kept_alive),
    in_gate("a_second_agent_of_the_machine_is_refused_and_told_who_is_first", second),
    in_gate("what_an_agent_changes_is_undone_on_request", undone),
    later("what_is_applied_stays_only_once_it_is_kept", applied),
    in_gate("only_an_agent_of_the_machine_keeps_a_journal", other_isolations),
    in_gate("what_could_not_be_undone_is_refused", refused),
];

const LEASE: u64 = 300;

/// From the end of a lease to that of the agent, and to the end of the undo: on a busy machine more
/// than the second that is promised.
const SOON: Duration = Duration::from_millis(2500);

fn own() -> IpAddr {
    IpAddr::from([10, 5, 0, 1])
}

/// Changes all that a study changes.
fn change(agent: &mut Agent) {
    let addresses = vec![(own(), 24), ("fd00:5::1".parse().unwrap(), 64)];
    agent.ask(&Request::Configure { interface: WIRE.to_owned(), addresses }).unwrap();
    let vxlan = host::Vxlan {
        id: 7,
        local: own(),
        remote: IpAddr::from([10, 5, 0, 2]),
        port: host::Vxlan::PORT,
        underlay: WIRE.to_owned(),
    };
    let addresses = vec![(IpAddr::from([10, 6, 0, 1]), 24)];
    agent.ask(&Request::CreateVxlan { name: "tunnel".to_owned(), vxlan, addresses, bridge: None }).unwrap();
    let settled = agent.ask(&settling("tunnel", 900, false));
    assert!(matches!(settled, Ok(Answer::Settled(_))), "{settled:?}");
    // A guest's place.
    let bridge = || "bridge".to_owned();
    agent.ask(&Request::CreateBridge { name: bridge() }).unwrap();
    agent.ask(&Request::AddPort { bridge: bridge(), interface: WIRE.to_owned() }).unwrap();
    settle(agent, 1000, false).unwrap();
}

fn settling(interface: &str, mtu: u32, on: bool) -> Request {
    let features = ["tx-checksum-ip-generic", "rx-gro"].map(|name| (name.to_owned(), on));
    // Queues are there in numbers where there are CPUs.
    let queues = if interface == WIRE { host::affinity::online_cpus().len().min(2) } else { 0 };
    let device = (queues > 1).then_some((words::DeviceSetting::RxQueues, if on { 1 } else { 2 }));
    let device = device.into_iter().collect();
    Request::Settle {
        interface: interface.to_owned(),
        mtu: Some(mtu),
        features: features.into(),
        device,
        tuning: None,
    }
}

fn settle(agent: &mut Agent, mtu: u32, on: bool) -> Result<(), CallError> {
    match agent.ask(&settling(WIRE, mtu, on))? {
        Answer::Settled(settled) => assert_eq!((settled.mtu, settled.active["rx-gro"]), (mtu, on)),
        other => panic!("{other:?}"),
    }
    Ok(())
}

fn measure(agent: &mut Agent, window: Duration) {
    let spec = Spec { traffic: Traffic::new(Kind::UdpStream), local: own(), cpus: vec![0], interface: None };
    let listen = Request::Open { spec, endpoints: None, interface: WIRE.to_owned(), underlay: None };
    agent.ask(&listen).unwrap();
    let window_ns = u64::try_from(window.as_nanos()).unwrap();
    let measure = Request::Measure { ramp_ns: 0, window_ns, step_ns: 0 };
    agent.client().send(&measure, window + PATIENCE).unwrap();
}

fn silent_while_measuring(world: &World) {
    // Long enough for each request on a busy machine.
    undone_after_silence(world, 20 * LEASE, PATIENCE);
}

fn noticed_soon(world: &World) {
    undone_after_silence(world, 5 * LEASE, SOON);
}

/// All is undone within a time after the lease.
fn undone_after_silence(world: &World, lease_ms: u64, within: Duration) {
    let lease = Duration::from_millis(lease_ms);
    let mut agent = world.agent(Isolation::Machine, Some(lease_ms)).greeted();
    change(&mut agent);
    assert_ne!(world.snapshot(), world.before);
    measure(&mut agent, Duration::from_secs(600));
    let silent = Instant::now();
    agent.await_end();
    assert!(silent.elapsed() >= lease);
    world.await_undone();
    assert!(silent.elapsed() < lease + within, "{:?}", silent.elapsed());
}

/// The lease ends while several settings are made, each time at another moment.
fn silent_while_settling(world: &World) {
    let mut left = 0;
    for lease in (2..60).step_by(6) {
        let mut agent = world.agent(Isolation::Machine, Some(lease));
        // All at once: there is nothing to be heard afterwards.
        for (mtu, on) in [(1000, false), (9000, true), (1200, false)] {
            let _ = agent.client().send(&settling(WIRE, mtu, on), PATIENCE);
        }
        // When its lease ends, an agent undoes nothing itself.
        let mut was_changing = false;
        while agent.process.try_wait().unwrap().is_none() {
            was_changing |= world.journals() > 0;
        }
        left += u32::from(was_changing);
        world.await_undone();
    }
    assert!(left > 0, "no agent had changed anything when it ended");
}

fn gone_while_measuring(world: &World) {
    let mut agent = world.agent(Isolation::Machine, None).greeted();
    change(&mut agent);
    measure(&mut agent, Duration::from_secs(600));
    let gone = Instant::now();
    agent.client = None;
    agent.await_end();
    world.await_undone();
    assert!(gone.elapsed() < SOON, "{:?}", gone.elapsed());
}

/// The answers fill the pipe. The agent has no lease, and its input stays open.
fn not_read(world: &World) {
    let mut agent = world.agent(Isolation::Machine, None).greeted();
    change(&mut agent);
    let ask = Request::Environment { interfaces: vec![WIRE.to_owned()] };
    while agent.client().send(&ask, Duration::from_millis(300)).is_ok() {}
    agent.await_end();
    world.await_undone();
}

fn killed(world: &World) {
    let mut agent = world.agent(Isolation::Machine, None).greeted();
    change(&mut agent);
    assert_eq!(world.journals(), 1);
    agent.process.kill().unwrap();
    agent.await_end();
    world.await_undone();
    // The next one is not kept from its work.
    change(&mut world.agent(Isolation::Machine, None).greeted());
}

/// A controller that lives, and does not ask for the account.
fn closed(world: &World) {
    let mut agent = world.agent(Isolation::Machine, None).greeted();
    change(&mut agent);
    measure(&mut agent, Duration::from_millis(20));
    let measured = agent.client().receive().unwrap();
    assert!(matches!(measured, Answer::Measured(_)), "{measured:?}");
    let window = Instant::now();
    let is_open =
        || std::fs::read_to_string("/proc/net/udp").unwrap().lines().any(|line| line.contains("0100050A:"));
    assert!(is_open());
    while is_open() {
        assert!(window.elapsed() < Duration::from_secs(20), "its sockets are open");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(window.elapsed() > Duration::from_secs(9), "{:?}", window.elapsed());
    let refused = agent.ask(&Request::Finish).unwrap_err().to_string();
    assert!(refused.contains("10 s after its window"), "{refused}");
    // It goes on with the next.
    measure(&mut agent, Duration::from_millis(20));
    agent.client().receive().unwrap();
    assert!(matches!(agent.ask(&Request::Abandon), Ok(Answer::Done)));
    agent.client = None;
    agent.await_end();
    world.await_undone();
}

fn kept_alive(world: &World) {
    let mut agent = world.agent(Isolation::Machine, Some(LEASE));
    agent.client().keep_alive_every(Duration::from_millis(LEASE / 3), Duration::from_secs(10)).unwrap();
    let mut agent = agent.greeted();
    change(&mut agent);
    measure(&mut agent, Duration::from_millis(4 * LEASE));
    let measured = agent.client().receive().unwrap();
    assert!(matches!(measured, Answer::Measured(_)), "{measured:?}");
    // Idle, too.
    std::thread::sleep(Duration::from_millis(2 * LEASE));
    settle(&mut agent, 1500, true).unwrap();
    agent.client = None;
    agent.await_end();
    world.await_undone();
}

fn second(world: &World) {
    let mut first = world.agent(Isolation::Machine, None).greeted();
    settle(&mut first, 1000, false).unwrap();
    let mut second = world.agent(Isolation::Machine, None).greeted();
    let refused = settle(&mut second, 1400, true).unwrap_err().to_string();
    let holder = format!("another session changes this machine (process {} (", first.process.id());
    assert!(refused.contains(&holder) && refused.contains(", by ssh from 192.0.2.7)"), "{refused}");
    assert_eq!(host::Links::open().unwrap().find(WIRE).unwrap().mtu, 1000);
    first.client = None;
    first.await_end();
    settle(&mut second, 1400, true).unwrap();
    second.client = None;
    second.await_end();
    world.await_undone();
}

/// A small MTU removes IPv6, and a larger one in the same session brings it back.
fn undone(world: &World) {
    let mut agent = world.agent(Isolation::Machine, None).greeted();
    // The interface has this address.
    let addresses = vec![("fd00:1::1".parse().unwrap(), 64)];
    agent.ask(&Request::Configure { interface: WIRE.to_owned(), addresses }).unwrap();
    change(&mut agent);
    assert!(!ip(&["-6", "route"]).contains("fd00:2::/64"));
    settle(&mut agent, 1400, true).unwrap();
    assert!(ip(&["-6", "route"]).contains("fd00:2::/64"));
    assert!(ip(&["-6", "address"]).contains("fd00:5::1/64"), "that of the study too");
    settle(&mut agent, 1000, true).unwrap();
    let Ok(Answer::MachineUndone(changes)) = agent.ask(&Request::UndoMachine) else { panic!() };
    assert!(
        changes.iter().any(|one| one.sentence() == "the MTU of wire: 1000 -> 1500, undone"),
        "{changes:?}"
    );
    world.await_undone();
    // It goes on from there.
    settle(&mut agent, 1000, false).unwrap();
    agent.client = None;
    agent.await_end();
    world.await_undone();
}

fn applied(world: &World) {
    let apply = |agent: &mut Agent, mtu: u32| {
        let features = [("tx-tcp-segmentation".to_owned(), false)].into();
        match agent.ask(&Request::Apply { interface: WIRE.to_owned(), mtu: Some(mtu), features }) {
            Ok(Answer::Settled(settled)) => {
                assert_eq!((settled.mtu, settled.active["tx-tcp-segmentation"]), (mtu, false));
            }
            other => panic!("{other:?}"),
        }
    };
    let end = |mut agent: Agent| {
        agent.client = None;
        agent.await_end();
    };
    let mtu = || host::Links::open().unwrap().find(WIRE).unwrap().mtu;
    // A controller that is gone before it has kept anything leaves nothing.
    let mut agent = world.agent(Isolation::Machine, Some(LEASE)).greeted();
    apply(&mut agent, 1400);
    end(agent);
    world.await_undone();

    let mut agent = world.agent(Isolation::Machine, None).greeted();
    apply(&mut agent, 1400);
    let Ok(Answer::MachineChanged(changes)) = agent.ask(&Request::Keep { why: "study 3".to_owned() }) else {
        panic!("it is not kept")
    };
    let told: Vec<String> = changes.iter().map(ToString::to_string).collect();
    assert!(told.contains(&"the MTU of wire: 1500 -> 1400".to_owned()), "{told:?}");
    end(agent);
    // Its undo process looks at the journal, and leaves it.
    std::thread::sleep(SOON);
    assert_eq!((world.journals(), mtu()), (1, 1400));

    // A study is refused, and more of the same kind is not.
    let mut agent = world.agent(Isolation::Machine, None).greeted();
    let refused = settle(&mut agent, 1300, true).unwrap_err().to_string();
    assert!(refused.contains("study 3") && refused.contains("netassay undo"), "{refused}");
    end(agent);
    let mut agent = world.agent(Isolation::Machine, None).greeted();
    apply(&mut agent, 1350);
    assert_eq!(mtu(), 1350);
    end(agent);
    let deadline = Instant::now() + PATIENCE;
    while world.journals() > 1 {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(mtu(), 1400);

    let by_hand = host::journal::RestoreOptions { applied: true, ..host::journal::RestoreOptions::default() };
    let directory = world.state().join("netassay/undo");
    host::journal::restore(&directory, &host::machine::Machine::system(), by_hand).unwrap();
    world.await_undone();
}

fn other_isolations(world: &World) {
    let mut agent = world.agent(Isolation::None, None).greeted();
    change(&mut agent);
    agent.client = None;
    agent.await_end();
    assert!(!world.state().join("netassay").exists(), "nothing is journalled");
    assert!(ip(&["link"]).contains("tunnel"), "it would have ended with the agent's namespaces");
}

fn refused(world: &World) {
    let mut agent = world.agent(Isolation::Machine, None).greeted();
    let mut refusal = |request: &Request| agent.ask(request).unwrap_err().to_string();
    let interface = || WIRE.to_owned();
    assert!(
        refusal(&Request::SetMtu { interface: interface(), mtu: 60 })
            .contains("below 68 bytes the kernel removes")
    );
    let features = [("hw-tc-offload".to_owned(), true)].into();
    let device = std::collections::BTreeMap::new();
    let settle = Request::Settle { interface: interface(), mtu: None, features, device, tuning: None };
    assert!(
        refusal(&settle).contains("hw-tc-offload of wire: it also removes rules"),
        "{}",
        refusal(&settle)
    );
    let device = [(words::DeviceSetting::RxRing, 256)].into();
    let settle =
        Request::Settle { interface: interface(), mtu: None, features: [].into(), device, tuning: None };
    assert_eq!(
        refusal(&settle),
        "host: interface \"wire\" has no `rx_ring`: its driver, in this kernel, has rx_queues, tx_queues; remove this factor, or name \
         another interface"
    );
    // Only a bridge that is deleted frees its ports again.
    host::Links::open().unwrap().create_bridge("own").unwrap();
    let join = Request::AddPort { bridge: "own".to_owned(), interface: interface() };
    assert!(refusal(&join).contains("the bridge \"own\" is the machine's own, and keeps its ports"));
    host::Links::open().unwrap().delete("own").unwrap();
    assert!(refusal(&Request::SteerNew { cpus: vec![0] }).contains("steer each interface"));
    let traffic = Traffic { path_delay: Some(Duration::from_millis(1)), ..Traffic::new(Kind::UdpStream) };
    let spec = Spec { traffic, local: own(), cpus: vec![0], interface: None };
    let listen = Request::Open { spec, endpoints: None, interface: interface(), underlay: None };
    assert!(refusal(&listen).contains("keeps its queueing disciplines"));
    drop(agent);
    world.await_undone();
}
