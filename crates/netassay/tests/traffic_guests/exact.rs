//! Instructions counted twice, the second time on a machine that has other things to do.

use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::time::Duration;

use agent::message::{Answer, ExactTaker, PROTOCOL, Request};
use agent::{Client, Interrupt, Isolation, Launch};
use guest::{Guest, Order};
use load::exact::Account;
use load::{Kind, Spec, Traffic};

use crate::order;

const PATIENCE: Duration = Duration::from_secs(300);
const ADDRESSES: [&str; 2] = ["192.0.2.1", "192.0.2.2"];

/// Two hosts inside one exact guest, with a wire between them.
struct World {
    clients: [Client; 2],
    receiver: u32,
    // After the clients: their agents go first.
    _guest: Guest,
}

impl World {
    fn boot(command_line: &str) -> Self {
        let interrupt = Interrupt::new().unwrap();
        let modules = vec!["veth".to_owned()];
        let exact = Order { exact: true, modules, command_line: command_line.to_owned(), ..order() };
        let mut guest = Guest::start(&exact).unwrap();
        let mut clients = [0, 1].map(|port| {
            let (to, from) = guest.port(port).unwrap();
            let mut to: std::fs::File = to.into();
            let launch = Launch { isolation: Isolation::Network, cpus: Vec::new() };
            std::io::Write::write_all(&mut to, &launch.line().unwrap()).unwrap();
            Client::new("agent", OwnedFd::from(to), from, interrupt.clone())
        });
        guest.await_life(&interrupt).unwrap();
        let pids = clients.each_mut().map(|client| {
            match client.call(&Request::Hello { protocol: PROTOCOL }, PATIENCE).unwrap() {
                Answer::Hello { pid, .. } => pid,
                other => panic!("{other:?}"),
            }
        });
        let wire = Request::CreateVeth { name: "left".into(), peer: "right".into(), peer_pid: pids[1] };
        clients[0].order(&wire, PATIENCE).unwrap();
        for ((client, interface), address) in clients.iter_mut().zip(["left", "right"]).zip(ADDRESSES) {
            let addresses = vec![(address.parse().unwrap(), 24)];
            let interface = interface.to_owned();
            client.order(&Request::Configure { interface, addresses }, PATIENCE).unwrap();
        }
        for (client, interface) in clients.iter_mut().zip(["left", "right"]) {
            client.order(&Request::AwaitRunning { interface: interface.to_owned() }, PATIENCE).unwrap();
        }
        Self { clients, receiver: pids[1], _guest: guest }
    }

    fn count(&mut self, traffic: &Traffic) -> Account {
        let spec = |at: usize| Spec {
            traffic: traffic.clone(),
            local: ADDRESSES[at].parse().unwrap(),
            cpus: Vec::new(),
        };
        let taker = ExactTaker::In { process: self.receiver, spec: spec(1) };
        match self.clients[0].call(&Request::Exact { spec: spec(0), taker }, PATIENCE).unwrap() {
            Answer::Exact(account) => *account,
            other => panic!("{other:?}"),
        }
    }
}

/// Processes that keep every core busy, until this is dropped.
struct Busy(Vec<Child>);

impl Busy {
    fn make() -> Self {
        let cores = std::thread::available_parallelism().unwrap().get();
        let spin = |_| Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        Self((0..cores).map(spin).collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn instructions_are_the_same_however_busy_the_machine_is() {
    let cases = [Kind::UdpStream, Kind::TcpStream, Kind::UdpRr, Kind::TcpRr].map(Traffic::new);
    let mut quiet = World::boot("");
    let expected = cases.each_ref().map(|traffic| quiet.count(traffic));
    drop(quiet);
    let busy = Busy::make();
    let mut loud = World::boot("");
    let found = cases.each_ref().map(|traffic| loud.count(traffic));
    drop(busy);
    let mut apart_by = Vec::new();
    for ((traffic, one), other) in cases.iter().zip(expected).zip(found) {
        let kind = traffic.kind;
        eprintln!("note: {kind}: {one:?}\n      {other:?}");
        for (part, one, other) in [
            ("whole", one.whole.median, other.whole.median),
            ("kernel", one.kernel.median, other.kernel.median),
        ] {
            let apart = (one - other).abs() / one;
            eprintln!("note: {kind}, {part}: {one} and {other} instructions, {:.4} % apart", apart * 100.0);
            apart_by.extend((apart > 0.001).then(|| format!("{kind}, {part}: {one} quiet, {other} busy")));
        }
        // A message takes thousands of instructions, most of them the kernel's.
        assert!(one.whole.median > 2_000.0 && one.user() < one.kernel.median, "{kind}: {one:?}");
    }
    assert!(apart_by.is_empty(), "further apart than 0.1 %: {apart_by:?}");
}

/// Copies and clears count by the word, so that it means nothing what a processor says of its string instructions of bytes.
#[test]
fn bits_of_the_processor_for_fast_strings_change_nothing() {
    let datagrams = [1, 1400].map(|message| Traffic { message, ..Traffic::new(Kind::UdpStream) });
    let count = |command_line: &str| {
        let mut world = World::boot(command_line);
        datagrams.each_ref().map(|traffic| world.count(traffic).whole.median)
    };
    // X86_FEATURE_ERMS and X86_FEATURE_FSRM (arch/x86/include/asm/cpufeatures.h).
    let (with, without) = (count(""), count("clearcpuid=297,580"));
    for (with, without) in with.into_iter().zip(without) {
        assert!((with - without).abs() / without < 0.001, "{with} instructions, {without} without");
    }
}
