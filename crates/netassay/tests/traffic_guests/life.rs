//! A guest that lives.

use std::collections::BTreeSet;
use std::fs;
use std::io::BufRead as _;
use std::os::unix::fs::MetadataExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agent::message::{Answer, PROTOCOL, Request};
use agent::{Client, Interrupt, Isolation, Launch};
use testbed::guest::{GuestOrder, RunningGuest};
use words::Accelerated;

use crate::order;

const PATIENCE: Duration = Duration::from_secs(60);
/// For what is sent before the guest is there.
const PATIENCE_WITH_BOOT: Duration = Duration::from_secs(300);

/// Writes the launch before anything else, as a testbed does; it waits in the socket.
fn agent_at(guest: &mut RunningGuest, port: usize, isolation: Isolation, interrupt: &Interrupt) -> Client {
    let (to, from) = guest.port(port).unwrap();
    let client = Client::new("agent", to, from, interrupt.clone());
    let launch = Launch { isolation, ..Launch::default() };
    client.launch(&launch, PATIENCE).unwrap();
    client
}

fn greet(client: &mut Client) -> u32 {
    match client.receive().unwrap() {
        Answer::Hello { protocol: PROTOCOL, pid, .. } => pid,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_port_has_an_agent_and_the_guest_ends_with_the_last() {
    let interrupt = Interrupt::new().unwrap();
    let cpu = *host::affinity::allowed_cpus().last().unwrap();
    let mut guest =
        RunningGuest::start(&GuestOrder { modules: &["veth", "no-such"], pin: vec![cpu], ..order() })
            .unwrap();
    assert_eq!(guest.accelerated, Accelerated::Emulation { why: "requested".to_owned() });
    assert_eq!(guest.absent_modules, ["no-such"]);
    // Both launches and greetings are there before the guest is.
    let mut clients = [0, 1].map(|port| agent_at(&mut guest, port, Isolation::Network, &interrupt));
    for client in &mut clients {
        client.send(&Request::Hello { protocol: PROTOCOL }, PATIENCE_WITH_BOOT).unwrap();
    }
    assert!(guest.port(0).is_none(), "a port is given once");
    guest.await_life(&interrupt).unwrap();
    let pids: BTreeSet<u32> = clients.iter_mut().map(greet).collect();
    assert_eq!(pids.len(), 2, "one agent for each port: {pids:?}");
    assert!(guest.explain().is_none());

    let threads = guest.threads().unwrap();
    assert_eq!(threads.len(), 1, "{threads:?}");
    let status = fs::read_to_string(format!("/proc/{}/status", guest.pid())).unwrap();
    assert!(status.contains("Seccomp:\t2\n"), "{status}");
    assert!(!threads.contains(&guest.pid()), "{threads:?}");
    let allowed = fs::read_to_string(format!("/proc/{}/status", threads[0])).unwrap();
    assert!(allowed.contains(&format!("Cpus_allowed_list:\t{cpu}\n")), "{allowed}");

    // The module that was asked for serves: a wire between the two agents' namespaces, inside the
    // guest.
    let peer = *pids.last().unwrap();
    let wire = Request::CreateVeth { name: "left".into(), peer: "right".into(), peer_pid: peer };
    clients[0].order(&wire, PATIENCE).unwrap();
    let ends = ["left", "right"].map(str::to_owned);
    for (client, interface) in clients.iter_mut().zip(ends.clone()) {
        client.order(&Request::Configure { interface, addresses: Vec::new() }, PATIENCE).unwrap();
    }
    for (client, interface) in clients.iter_mut().zip(ends) {
        client.order(&Request::AwaitRunning { interface }, PATIENCE).unwrap();
    }

    let pid = guest.pid();
    drop(clients);
    let end = Instant::now() + PATIENCE;
    let explained = loop {
        assert!(Instant::now() < end, "the guest goes on without agents");
        if let Some(error) = guest.explain() {
            break error.to_string();
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(explained.contains("exited (exit status: 0)") && explained.contains("Power down"), "{explained}");
    drop(guest);
    assert!(!fs::exists(format!("/proc/{pid}")).unwrap());
}

/// A process in a network namespace of its own that has a tap, called "wire".
struct Place(Child);

impl Place {
    fn make(rootless: bool) -> Self {
        let script = "ip tuntap add dev wire mode tap && ip link set wire up && echo ready && exec sleep 600";
        let mut command = Command::new("unshare");
        command.args(if rootless { &["--map-root-user"][..] } else { &[] });
        command.args(["--net", "sh", "-c", script]).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        std::io::BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        Self(process)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[ignore = "boots a guest: the gate proves this with `traffic_vm`"]
fn a_tap_of_another_process_becomes_the_guests_network_card() {
    // An ordinary user may have taps too, in a user namespace.
    let rootless = fs::metadata("/proc/self").unwrap().uid() != 0;
    let place = Place::make(rootless);
    let interrupt = Interrupt::new().unwrap();
    let place_of = Some(place.0.id());
    let wired =
        GuestOrder { tap: Some("wire".to_owned()), place: place_of, rootless, ports: 1, vcpus: 2, ..order() };
    let mut guest = RunningGuest::start(&wired).unwrap();
    let mut client = agent_at(&mut guest, 0, Isolation::None, &interrupt);
    guest.await_life(&interrupt).unwrap();
    assert_eq!(guest.threads().unwrap().len(), 2);
    let status = fs::read_to_string(format!("/proc/{}/status", guest.pid())).unwrap();
    for line in ["Seccomp:\t2\n", "NoNewPrivs:\t1\n", "CapEff:\t0000000000000000\n"] {
        assert!(status.contains(line), "{line} {status}");
    }
    assert!(rootless || status.contains("Uid:\t65534\t65534\t65534\t65534\n"), "{status}");
    // Requests that arrive while the agent's port still handles the one before: with two virtual
    // CPUs, no more than one thread may wait at the port.
    for _ in 0..5000 {
        client.call(&Request::Hello { protocol: PROTOCOL }, PATIENCE).unwrap();
    }
    client.order(&Request::Configure { interface: "eth0".into(), addresses: Vec::new() }, PATIENCE).unwrap();
    client.order(&Request::AwaitRunning { interface: "eth0".into() }, PATIENCE).unwrap();
    // The card agrees with the tap on segments and checksums, which is what the tap's header is
    // for.
    let on = [("tx-tcp-segmentation".to_owned(), true)].into();
    let settle = Request::Settle {
        interface: "eth0".into(),
        mtu: None,
        features: on,
        device: [].into(),
        tuning: None,
    };
    let Answer::Settled(settled) = client.call(&settle, PATIENCE).unwrap() else { panic!("another answer") };
    assert!(settled.refused.is_empty() && settled.active["tx-tcp-segmentation"], "{settled:?}");
    let Answer::Environment(about) =
        client.call(&Request::Environment { interfaces: vec!["eth0".into()] }, PATIENCE).unwrap()
    else {
        panic!("another answer")
    };
    let kernel = wired.kernel.release.unwrap();
    assert_eq!(about.kernel.release, Some(kernel), "the agent sees the guest's kernel");
}

#[test]
fn qemu_enters_a_user_namespace_too() {
    let place = Place::make(true);
    let wired =
        GuestOrder { tap: Some("wire".to_owned()), place: Some(place.0.id()), rootless: true, ..order() };
    let guest = RunningGuest::start(&wired).unwrap();
    let of = |pid: u32, kind: &str| fs::read_link(format!("/proc/{pid}/ns/{kind}")).unwrap();
    for kind in ["user", "net"] {
        assert_eq!(of(guest.pid(), kind), of(place.0.id(), kind));
        assert_ne!(of(guest.pid(), kind), of(std::process::id(), kind));
    }
}

#[test]
#[ignore = "boots a guest: the gate proves this with an exact study"]
fn an_exact_guest_is_emulated_and_lives() {
    let interrupt = Interrupt::new().unwrap();
    let mut guest = RunningGuest::start(&GuestOrder { exact: true, ports: 1, ..order() }).unwrap();
    assert!(matches!(&guest.accelerated, Accelerated::Emulation { why } if why.contains("exact mode")));
    let mut client = agent_at(&mut guest, 0, Isolation::Network, &interrupt);
    client.send(&Request::Hello { protocol: PROTOCOL }, PATIENCE_WITH_BOOT).unwrap();
    guest.await_life(&interrupt).unwrap();
    assert!(greet(&mut client) > 1);
}
