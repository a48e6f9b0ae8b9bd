//! Instructions counted twice, the second time on a machine that has other things to do; and
//! through a study.

use std::process::{Child, Command};
use std::time::Duration;

use agent::message::{Answer, ExactReceiver, PROTOCOL, Request};
use agent::{CallError, Client, Interrupt, Isolation, Launch};
use load::exact::Account;
use load::{Kind, Reader, Sender, Spec, Traffic};
use testbed::guest::{GuestOrder, RunningGuest};

use crate::common::{Bench, apart, expect, stdout};
use crate::{kernel, order};

const PATIENCE: Duration = Duration::from_secs(300);
const ADDRESSES: [&str; 2] = ["192.0.2.1", "192.0.2.2"];
/// Of the interface that discards packets, and of nobody behind it.
const DISCARD: [&str; 2] = ["198.51.100.1", "198.51.100.2"];

/// Two hosts inside one exact guest, with a wire between them; the first can also send to nobody.
pub(crate) struct World {
    clients: [Client; 2],
    receiver: u32,
    // After the clients: their agents go first.
    _guest: RunningGuest,
}

impl World {
    pub(crate) fn boot(command_line: &str) -> Self {
        let interrupt = Interrupt::new().unwrap();
        let exact = GuestOrder {
            exact: true,
            modules: &["veth", "dummy"],
            command_line: command_line.to_owned(),
            ..order()
        };
        let mut guest = RunningGuest::start(&exact).unwrap();
        let mut clients = [0, 1].map(|port| {
            let (to, from) = guest.port(port).unwrap();
            let launch = Launch { isolation: Isolation::Network, ..Launch::default() };
            let client = Client::new("agent", to, from, interrupt.clone());
            client.launch(&launch, PATIENCE).unwrap();
            client
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
        let [here, nobody] = DISCARD.map(|address| address.parse().unwrap());
        let discard = Request::CreateDiscard {
            name: "nowhere".into(),
            device: None,
            addresses: vec![(here, 24)],
            behind: vec![nobody],
        };
        let answer = clients[0].call(&discard, PATIENCE).unwrap();
        assert!(matches!(&answer, Answer::Discards { device: host::DiscardDevice::Dummy, .. }), "{answer:?}");
        Self { clients, receiver: pids[1], _guest: guest }
    }

    fn count(&mut self, traffic: &Traffic) -> Account {
        let (spec, receiver) = self.ends(traffic);
        match self.answer(&Request::Exact { spec, receiver }).unwrap() {
            Answer::Exact(account) => *account,
            other => panic!("{other:?}"),
        }
    }

    /// Both ends of this traffic.
    pub(crate) fn ends(&self, traffic: &Traffic) -> (Spec, ExactReceiver) {
        let spec = |local: &str| Spec {
            traffic: traffic.clone(),
            local: local.parse().unwrap(),
            cpus: Vec::new(),
            interface: None,
        };
        if traffic.kind == Kind::Pps {
            let nobody = (DISCARD[1].parse::<std::net::IpAddr>().unwrap(), 9).into();
            (spec(DISCARD[0]), ExactReceiver::Nobody(nobody))
        } else {
            (
                spec(ADDRESSES[0]),
                ExactReceiver::In { process: self.receiver, spec: Box::new(spec(ADDRESSES[1])) },
            )
        }
    }

    /// What the transmitter answers.
    pub(crate) fn answer(&mut self, request: &Request) -> Result<Answer, CallError> {
        let mut answer = self.clients[0].call(request, PATIENCE)?;
        while matches!(answer, Answer::TracedRound(_)) {
            answer = self.clients[0].receive()?;
        }
        Ok(answer)
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

/// The plain traffic of every kind, and datagrams by each sender and reader that takes many at a
/// time.
fn cases() -> [Traffic; 8] {
    let udp = |sender, reader| Traffic { sender, reader, message: 1400, ..Traffic::new(Kind::UdpStream) };
    [
        udp(Sender::Send, Reader::Recv),
        udp(Sender::Sendmmsg, Reader::Recv),
        udp(Sender::Gso, Reader::Gro),
        Traffic::new(Kind::TcpStream),
        Traffic::new(Kind::UdpRr),
        Traffic::new(Kind::TcpRr),
        Traffic::new(Kind::Pps),
        Traffic { sender: Sender::Gso, ..Traffic::new(Kind::Pps) },
    ]
}

/// The cases that differ from an earlier one in their sender and reader only.
const BY_MANY: [usize; 3] = [1, 2, 7];

/// The shares of what a message takes.
fn shares(account: &Account) -> [(&'static str, f64); 3] {
    let softirq = account.softirq.unwrap_or_else(|| panic!("{:?}", account.softirq_absent));
    [("whole", account.whole.median), ("kernel", account.kernel.median), ("softirq", softirq.median)]
}

#[test]
#[ignore = "boots two exact guests: the gate proves counts with a study"]
fn instructions_are_the_same_however_busy_the_machine_is() {
    let cases = cases();
    let mut quiet = World::boot("");
    let expected = cases.each_ref().map(|traffic| quiet.count(traffic));
    drop(quiet);
    // A busy machine takes three times as long: there the first of each kind is counted.
    let repeated = |place: &usize| !BY_MANY.contains(place);
    let busy = Busy::make();
    let mut loud = World::boot("");
    let found: Vec<(usize, Account)> =
        (0..cases.len()).filter(repeated).map(|place| (place, loud.count(&cases[place]))).collect();
    drop(busy);
    let mut apart_by = Vec::new();
    for (place, other) in &found {
        let (traffic, one) = (&cases[*place], &expected[*place]);
        let name = format!("{} by {} to {}", traffic.kind, traffic.sender, traffic.reader);
        eprintln!("note: {name}: {one:?}\n      {other:?}");
        for ((part, one), (_, other)) in shares(one).into_iter().zip(shares(other)) {
            // A message over TCP takes two or four instructions more in some boots, all of them in
            // soft interrupts where answers are sent: 0.055 % of those.
            let bound = if !traffic.kind.is_udp() && part == "softirq" { 0.001 } else { 0.0005 };
            let apart = (one - other).abs() / one.max(1.0);
            eprintln!("note: {name}, {part}: {one} and {other} instructions, {:.4} % apart", apart * 100.0);
            apart_by.extend((apart > bound).then(|| format!("{name}, {part}: {one} quiet, {other} busy")));
        }
        // Most are the kernel's, and some of them in soft interrupts where somebody receives, and
        // only there.
        let [_, (_, kernel), (_, softirq)] = shares(one);
        assert!(one.user() < kernel && softirq < kernel, "{name}: {one:?}");
        assert_eq!(softirq > 0.0, traffic.kind != Kind::Pps, "{name}: {one:?}");
    }
    assert!(
        apart_by.is_empty(),
        "further apart than 0.05 %, or in soft interrupts over TCP 0.1 %: {apart_by:?}"
    );
    // What is the same for many datagrams is done once for them: the program's part, or the whole
    // way through the kernel.
    let [send, sendmmsg, gso, .., pps, pps_gso] = expected;
    assert_eq!((send.calls, sendmmsg.calls, pps.calls), (2.0, 1.0 + 1.0 / 64.0, 1.0));
    assert!(send.whole.median > 2_000.0 && sendmmsg.user() < send.user(), "{send:?} {sendmmsg:?}");
    assert!(gso.whole.median < 0.5 * send.whole.median, "{gso:?}");
    assert!(pps_gso.whole.median < 0.5 * pps.whole.median, "{pps_gso:?}");
}

#[test]
fn a_study_counts_what_sending_to_nobody_takes() {
    let bench = Bench::new();
    let study = bench.write(
        "nobody.toml",
        &format!(
            "name = \"nobody\"\nquestion = \"What does sending take?\"\nscenario = \"discard\"\nexact = true\n\
             [guest]\nkernel = \"{}\"\nmemory = \"256MiB\"\n[[workload]]\nkind = \"pps\"\n\
             [factors]\nsender = [\"send\", \"gso\"]\n[protocol]\nboots = 1\nwarmup = 0\nruns = 2\n",
            kernel::directory().display()
        ),
    );
    let output = apart(&bench.netassay(&["run", study.to_str().unwrap(), "--wide"])).output().unwrap();
    expect(&output, 0);
    let shown = stdout(&output);
    assert!(shown.contains("in softirqs") && shown.contains("sender=gso"), "{shown}");
    let values = |slug: &str, metric: &str| bench.values(slug, metric);
    let [send, gso] = ["pps4_send", "pps4_gso"].map(|slug| values(slug, "instructions_packet"));
    assert_eq!((send.len(), gso.len()), (2, 2), "{shown}");
    assert!(send[0] == send[1] && gso[0] == gso[1], "{send:?} {gso:?}");
    assert!(send[0] > 1_000.0 && gso[0] < 0.5 * send[0], "{send:?} {gso:?}");
    // A call of `send` is a packet, one of `gso` 64.
    assert_eq!(values("pps4_send", "instructions_call"), send);
    assert_eq!(values("pps4_gso", "instructions_call")[0], 64.0 * gso[0]);
    assert_eq!(values("pps4_send", "softirq_instructions_packet"), [0.0, 0.0]);
}

/// Copies and clears count by the word, so that it means nothing what a processor says of its
/// string instructions of bytes.
#[test]
#[ignore = "boots two exact guests: the gate proves counts with a study"]
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
