//! Two agents' sessions and a controller that asks whatever it likes, in whatever order: through
//! settling, listening, connecting, attaching, measuring to the end, or across. Each answer is one
//! that a controller accepts, and nothing stays open behind a session.
//!
//! Each byte that asks chooses a session and a request, those behind it what is in the request. All
//! happens in a user namespace and a network namespace of this process; interfaces are made,
//! switched and used there. One of the agents may change the machine's settings: it is asked only
//! for those that belong to a network namespace, and for some that are refused; its journal is in
//! a directory of our own, and nothing is left to undo behind it. Left out are requests that write
//! into `/sys`, which is the machine's (`steer`), that wait for what never comes
//! (`await_running`), and that take a second each (`exact`).
#![no_main]

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use libfuzzer_sys::fuzz_target;
use netassay_agent::fuzz::Conversation;
use netassay_agent::message::{Answer, PROTOCOL, Request};
use netassay_agent::{Isolation, decode, encode};
use netassay_host::journal::{RestoreOptions, restore};
use netassay_host::machine::{FeatureRequest, Machine, MachineRequest};
use netassay_host::{DiscardDevice, Vxlan, namespace};
use netassay_load::{CongestionControl, Direction, Kind, Pacing, Reader, Sender, Spec, Traffic};
use netassay_study::{DeviceSetting, Placement, Tuning, TuningKey};

/// No conversation goes on for longer: some requests wait for the other end.
const LONGEST: Duration = Duration::from_secs(1);

fuzz_target!(
    init: {
        namespace::enter_user().expect("user namespaces are allowed");
        namespace::new_net().expect("a network namespace can be made");
    },
    |bytes: &[u8]| {
        let state = tempfile::tempdir().expect("a directory of our own");
        // SAFETY: the threads of sessions have ended; libFuzzer's own read no environment.
        unsafe { std::env::set_var("XDG_STATE_HOME", state.path()) };
        let open = opened();
        let (made, kept) = converse(&mut Bytes(bytes));
        assert_eq!(opened(), open, "files or threads stay behind");
        let journals = state.path().join("netassay/undo");
        // The other session may have changed what the machine's agent had changed: that is left,
        // unless it is forced.
        let force = RestoreOptions { force: true, ..RestoreOptions::default() };
        restore(&journals, &Machine::system(), force).expect("the journals are ours");
        let left = std::fs::read_dir(journals).into_iter().flatten().flatten();
        let left: Vec<_> = left.map(|entry| entry.file_name()).filter(|name| name != "lock").collect();
        // What is to stay is undone by a user, once its agent has ended: here it is this process.
        assert!(left.is_empty() || kept, "changes are not undone: {left:?}");
        if made || kept {
            namespace::new_net().expect("a network namespace can be made");
        }
    }
);

/// Asks; whether an interface was made, and whether changes are to stay.
fn converse(bytes: &mut Bytes) -> (bool, bool) {
    let (mut made, mut kept) = (false, false);
    let mut agents = [Isolation::Machine, Isolation::None].map(Conversation::new);
    let up = Request::Configure { interface: "lo".to_owned(), addresses: Vec::new() };
    agents[0].ask(up, LONGEST);
    let mut sockets = [Vec::new(), Vec::new()];
    let begun = Instant::now();
    while let Some(choice) = bytes.next()
        && begun.elapsed() < LONGEST
    {
        let side = usize::from(choice >> 7);
        let request = request(choice & 0x7f, bytes, &sockets[1 - side]);
        let line = encode(&request).expect("what is asked can be written");
        let Ok(request) = decode::<Request>(&line) else { continue };
        let makes = matches!(
            request,
            Request::CreateVeth { .. }
                | Request::CreateDiscard { .. }
                | Request::CreateVxlan { .. }
                | Request::CreateBridge { .. }
                | Request::CreateTap { .. }
        );
        // The time of some is over before they begin, or in their middle.
        let within = match choice & 0x7f {
            ..84 => LONGEST,
            84..112 => Duration::from_millis(10),
            _ => Duration::ZERO,
        };
        kept |= matches!(request, Request::Keep { .. });
        let answer = agents[side].ask(request, within);
        let said = encode(&answer).expect("what is answered can be written");
        if let Err(error) = decode::<Answer>(&said) {
            panic!("{answer:?}: {error}");
        }
        // Some make an interface and fail later on.
        made |= makes;
        if let Answer::Sockets(addresses) = answer {
            sockets[side] = addresses;
        }
    }
    (made, kept)
}

/// How many files and threads this process has. A thread is listed for a moment after it has ended.
fn opened() -> (usize, usize) {
    let count = |directory: &str| std::fs::read_dir(directory).map_or(0, Iterator::count);
    let threads = || count("/proc/self/task");
    let least = (0..20)
        .map(|turn| {
            std::thread::sleep(Duration::from_micros(100 * turn));
            threads()
        })
        .find(|threads| *threads <= 2);
    (count("/proc/self/fd"), least.unwrap_or_else(threads))
}

/// What is asked. `far` are the sockets that the other end told of.
fn request(choice: u8, bytes: &mut Bytes, far: &[SocketAddr]) -> Request {
    let own = std::process::id();
    match choice % 27 {
        0 => Request::Open { spec: bytes.spec(), endpoints: None, interface: bytes.name(), underlay: None },
        1 => Request::Open {
            spec: bytes.spec(),
            endpoints: Some(bytes.sockets(far)),
            interface: bytes.name(),
            underlay: bytes.is_set().then(|| bytes.name()),
        },
        2 => Request::Attach { locals: bytes.sockets(far) },
        3 => Request::Start,
        4 => Request::Quiet,
        5 => Request::Measure {
            ramp_ns: bytes.of(&[0, 1, 1_000_000]),
            window_ns: bytes.of(&[0, 1, 1_000_000, 20_000_000, u64::MAX]),
            step_ns: bytes.of(&[0, 1, 10_000_000, u64::MAX]),
        },
        6 => Request::Finish,
        7 => Request::Abandon,
        8 => Request::Settle {
            interface: bytes.name(),
            mtu: bytes.is_set().then(|| bytes.mtu()),
            features: bytes.features(),
            device: bytes.device(),
            tuning: bytes.is_set().then(|| bytes.tuning()),
        },
        9 => Request::Configure { interface: bytes.name(), addresses: bytes.addresses() },
        10 => Request::SetMtu { interface: bytes.name(), mtu: bytes.mtu() },
        11 => Request::CreateVeth { name: bytes.name(), peer: bytes.name(), peer_pid: own },
        12 => Request::CreateDiscard {
            name: bytes.name(),
            device: bytes.of(&[
                None,
                Some(DiscardDevice::Dummy),
                Some(DiscardDevice::Bridge),
                Some(DiscardDevice::VethXdp),
            ]),
            addresses: bytes.addresses(),
            behind: bytes.addresses().into_iter().map(|(address, _)| address).collect(),
        },
        13 => Request::CreateVxlan {
            name: bytes.name(),
            vxlan: Vxlan {
                id: bytes.of(&[0, 42, 0xff_ffff]),
                local: bytes.address(),
                remote: bytes.address(),
                port: bytes.of(&[0, Vxlan::PORT, u16::MAX]),
                underlay: bytes.name(),
            },
            addresses: bytes.addresses(),
            bridge: bytes.is_set().then(|| bytes.name()),
        },
        14 => Request::CreateBridge { name: bytes.name() },
        15 => Request::CreateTap { name: bytes.name(), bridge: bytes.name() },
        16 => Request::FindInterface {
            address: bytes.of(&["00:00:00:00:00:00", "02:00:5e:00:53:01", "", "x"]).to_owned(),
        },
        17 => Request::Environment { interfaces: (0..bytes.few()).map(|_| bytes.name()).collect() },
        18 => Request::Lacking {
            traffic: bytes.traffic(),
            family: netassay_load::Family::from_ipv6(bytes.is_set()),
        },
        19 => Request::Watch {
            processes: bytes.of(&[vec![], vec![own], vec![0], vec![u32::MAX]]),
            cpus: bytes.cpus(),
            underlay: bytes.is_set().then(|| bytes.name()),
            ramp_ns: bytes.of(&[0, 1_000_000]),
            window_ns: bytes.of(&[0, 1, 1_000_000]),
        },
        20 => Request::Hello { protocol: bytes.of(&[PROTOCOL, 0]) },
        21 => Request::ChangeMachine(bytes.machine()),
        22 => Request::MachineDifferences,
        23 => Request::Apply {
            interface: bytes.name(),
            mtu: bytes.is_set().then(|| bytes.mtu()),
            features: bytes.features(),
        },
        24 => Request::Keep { why: bytes.of(&["", "advice", "\u{1b}[2J"]).to_owned() },
        25 => Request::PreviewMachine(bytes.machine()),
        _ => Request::UndoMachine,
    }
}

/// What decides. At its end everything is the first of its kind.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> usize {
        self.next().map_or(0, usize::from)
    }

    fn of<T: Clone>(&mut self, these: &[T]) -> T {
        these[self.number() % these.len()].clone()
    }

    fn is_set(&mut self) -> bool {
        self.number() % 2 == 1
    }

    fn few(&mut self) -> usize {
        self.number() % 4
    }

    fn name(&mut self) -> String {
        let names = ["lo", "a", "b", "c", "none", "", "sixteen-letters-", ".", "a/b", "%d", "\u{1b}"];
        self.of(&names).to_owned()
    }

    fn mtu(&mut self) -> u32 {
        self.of(&[1500, 0, 1, 67, 576, 1279, 1280, 9000, 65_535, 65_536, 1 << 17])
    }

    fn cpus(&mut self) -> Vec<u32> {
        self.of(&[vec![], vec![0], vec![0, 1], vec![8191]])
    }

    fn address(&mut self) -> IpAddr {
        let texts = [
            "127.0.0.1",
            "::1",
            "10.9.0.1",
            "2001:db8::1",
            "0.0.0.0",
            "::",
            "224.0.0.1",
            "fe80::1",
            "10.9.0.2",
        ];
        self.of(&texts).parse().expect("each is an address")
    }

    fn addresses(&mut self) -> Vec<(IpAddr, u8)> {
        (0..self.few()).map(|_| (self.address(), self.of(&[24, 0, 32, 64, 128]))).collect()
    }

    fn features(&mut self) -> BTreeMap<String, bool> {
        let names =
            ["tx-checksum-ip-generic", "tx-tcp-segmentation", "rx-gro", "tx-generic-segmentation", "x"];
        (0..self.few()).map(|_| (self.of(&names).to_owned(), self.is_set())).collect()
    }

    fn device(&mut self) -> BTreeMap<DeviceSetting, u32> {
        (0..self.few()).map(|_| (self.of(&DeviceSetting::ALL), self.of(&[0, 1, 2, u32::MAX]))).collect()
    }

    /// Settings of a network namespace, good and bad values of them, and what may not be changed.
    fn tuning(&mut self) -> Tuning {
        let irq = self.of(&[0, 1, u32::MAX]);
        Tuning {
            varied: (0..self.few()).map(|_| self.of(&TuningKey::ALL)).collect(),
            sysctl: self.sysctls(),
            governor: self.is_set().then(|| self.name()),
            // A bound would hold for the whole machine.
            cpu_latency: None,
            placement: self.is_set().then_some(Placement { irq, traffic: 0 }),
            irq_affinity: self.is_set().then(|| self.cpus()),
        }
    }

    fn sysctls(&mut self) -> BTreeMap<String, String> {
        let names = [
            "net.ipv4.ip_default_ttl",
            "net.ipv4.ip_local_reserved_ports",
            "net.ipv4.tcp_notsent_lowat",
            "net.ipv4.ip_forward",
            "net.ipv4.no_such_one",
            "net.ipv4/../../kernel/panic",
        ];
        let values = ["64", "1", "0x20", "8080,8081,8082", "", "-1", "4294967296", "x\u{1b}\n"];
        (0..self.few()).map(|_| (self.of(&names).to_owned(), self.of(&values).to_owned())).collect()
    }

    fn machine(&mut self) -> MachineRequest {
        MachineRequest {
            sysctls: self.sysctls(),
            governor: None,
            cpu_latency: None,
            placement: self.is_set().then(|| (self.name(), self.cpus().first().copied().unwrap_or(0))),
            irq_affinity: (0..self.few()).map(|_| (self.name(), self.cpus())).collect(),
            features: (0..self.few())
                .map(|_| FeatureRequest {
                    interface: self.name(),
                    features: self.features().into_keys().collect(),
                    on: self.is_set(),
                })
                .collect(),
        }
    }

    fn sockets(&mut self, far: &[SocketAddr]) -> Vec<SocketAddr> {
        let other = SocketAddr::new(self.address(), self.of(&[9, 0, 80]));
        match self.few() {
            0 | 1 => far.to_vec(),
            2 => far.iter().copied().rev().take(1).chain([other]).collect(),
            _ => vec![other; self.of(&[0, 1, 3])],
        }
    }

    fn spec(&mut self) -> Spec {
        Spec { traffic: self.traffic(), local: self.address(), cpus: self.cpus(), interface: None }
    }

    /// The plain traffic of a kind, and up to seven things that are not plain.
    fn traffic(&mut self) -> Traffic {
        let mut traffic = Traffic::new(self.of(&Kind::ALL));
        for _ in 0..self.number() % 8 {
            match self.number() % 19 {
                0 => traffic.message = self.of(&[0, 1, 64, 1500, 65_507, 65_536, 1 << 20, u32::MAX]),
                1 => traffic.response = self.of(&[0, 1, 64, 65_536, u32::MAX]),
                2 => traffic.flows = self.of(&[0, 1, 2, 5, u32::MAX]),
                3 => traffic.threads = self.of(&[None, Some(0), Some(1), Some(2), Some(u32::MAX)]),
                4 => traffic.direction = self.of(&Direction::ALL),
                5 => traffic.sender = self.of(&Sender::ALL),
                6 => traffic.reader = self.of(&Reader::ALL),
                7 => traffic.in_flight = self.of(&[0, 1, 16, 1024, u32::MAX]),
                8 => traffic.rate = self.of(&[None, Some(0), Some(1), Some(1000), Some(u32::MAX)]),
                9 => {
                    traffic.pacing =
                        self.of(&[None, Some(Pacing::LEAST), Pacing::of_bits(1 << 30), Some(Pacing::MOST)])
                }
                10 => {
                    let micros = self.of(&[None, Some(0), Some(50), Some(u64::MAX)]);
                    traffic.busy_poll = micros.map(Duration::from_micros);
                }
                11 => {
                    let name = self.of(&["cubic", "reno", "bbr", "", "no-such-one", "\u{1b}"]).to_owned();
                    traffic.congestion_control = CongestionControl::Named(name);
                }
                12 => traffic.dscp = self.of(&[None, Some(0), Some(63), Some(255)]),
                13 => traffic.nodelay = self.of(&[None, Some(false), Some(true)]),
                14 => traffic.connected = self.is_set(),
                15 => {
                    traffic.socket_buffer =
                        self.of(&[None, Some(0), Some(4096), Some(1 << 20), Some(u32::MAX)])
                }
                16 => traffic.checksum = self.is_set(),
                17 => traffic.notsent_lowat = self.of(&[None, Some(0), Some(1), Some(u32::MAX)]),
                _ => traffic.verify = self.is_set(),
            }
        }
        traffic
    }
}
