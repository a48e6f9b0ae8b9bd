//! Whatever a study changes on two machines, and whatever goes wrong at whatever step, everything
//! is put back: complete snapshots of both, byte for byte.
//!
//! `NETASSAY_PUT_BACK_CASES` and `NETASSAY_PUT_BACK_SEED` make it longer, and other.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stderr, reason = "what was drawn is shown when it fails")]

#[path = "../common/mod.rs"]
mod common;
mod drawn;
#[path = "../common/machines.rs"]
mod machines;
mod trouble;

use std::process::Stdio;
use std::time::Duration;

use common::{Bench, Watched, expect, skip, stdout};
use drawn::Settings;
use machines::{Data, Machine, Machines, first_difference};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use trouble::{LEASE, OFTEN, Trouble, journal, wait};

/// Cases of each kind of interface: how many are drawn, and how many of the first are left out. Of
/// taps, all that set the coalescing of interrupts, which other virtual interfaces do not have.
type Cases = [(Data, usize, usize); 2];
const FEW: Cases = [(Data::Veth, 2, 0), (Data::Taps, 0, 0)];
/// Without the gate's. The first two of taps are refused before anything is set.
const MANY: Cases = [(Data::Veth, 6, 2), (Data::Taps, 3, 2)];

/// How long a busy machine may take for what takes a moment.
const PATIENCE: Duration = Duration::from_secs(60);

/// A study and what goes wrong.
#[derive(Clone, Debug)]
struct Case {
    study: String,
    own_addresses: bool,
    trouble: Trouble,
    /// The machine that it happens to.
    to: &'static str,
    /// After which line of the journal there; `None`: before the study, or at its first line.
    step: Option<Index>,
}

impl Case {
    fn strategy(settings: &Settings) -> impl Strategy<Value = Self> + use<> {
        let step = prop::option::weighted(0.9, any::<Index>());
        (settings.study(), any::<bool>(), select(&Trouble::ALL[..]), select(vec!["a", "b"]), step).prop_map(
            |(study, own_addresses, trouble, to, step)| Self { study, own_addresses, trouble, to, step },
        )
    }
}

/// What an interface has that no driver and no study sets, to be lost.
const BY_HAND: &str = "ip link set data0 alias 'the rack below' txqueuelen 700; ip addr add 10.79.0.N/16 dev data0; ip addr add 10.78.0.10N/24 dev data0; \
     ip -6 addr add 2001:db8:79::N/64 dev data0 nodad; ip route add 192.0.2.0/24 via 10.78.0.9 dev data0; ip -6 route add 2001:db8:99::/48 via 2001:db8:78::9 dev data0; \
     ip neigh add 10.78.0.9 lladdr 02:00:5e:00:53:09 nud permanent dev data0; ip -6 neigh add 2001:db8:78::9 lladdr 02:00:5e:00:53:09 nud permanent dev data0; \
     sysctl -qw net.ipv4.conf.data0.arp_ignore=1 net.ipv6.conf.data0.hop_limit=7; ethtool -K data0 rx-gro-list on tx-nocache-copy on; \
     mount -o remount,size=1m /var/lib";

struct World {
    bench: Bench,
    machines: Machines,
    before: [String; 2],
    /// The same of the interfaces of the traffic.
    data: [String; 2],
}

impl World {
    fn make(test: &str, data: Data) -> Option<(Self, Settings)> {
        let Some(machines) = Machines::make_with(data) else {
            skip(test, "it needs root, and the Debian package openssh-server");
            return None;
        };
        for (machine, number) in [(&machines.a, "1"), (&machines.b, "2")] {
            machine.sh(&BY_HAND.replace('N', number));
        }
        let settings = Settings::of(&machines.b, if data == Data::Veth { 300 } else { 200 });
        let before = [machines.a.state(), machines.b.state()];
        let data = [machines.a.state_of_data(), machines.b.state_of_data()];
        let world = Self { bench: Bench::to_be_sent(), machines, before, data };
        world.bench.write("put-back.toml", "name = \"first\"\nquestion = \"?\"\nscenario = \"ssh\"\n[[workload]]\nkind = \"tcp_rr\"\nduration = \"500ms\"\nramp = \"100ms\"\n[protocol]\nboots = 1\nruns = 1\nwarmup = 0\n");
        let (code, said) = world.start(false).finish();
        assert_eq!(code, Some(0), "{said}");
        world.expect_before(PATIENCE, "a study without changes");
        Some((world, settings))
    }

    fn start(&self, own_addresses: bool) -> Watched {
        let program = self.bench.path("netassay").display().to_string();
        let config = self.machines.ssh_config();
        let mut words = vec![program.as_str(), "run", "put-back.toml", "--change-machine", "--keep-agent"];
        words.extend(["--keep-disturbed", "--progress", "plain", "--no-report", "--lease", "2s"]);
        words.extend(["--transmitter", "a:data0", "--receiver", "b:data0", "--ssh-config", &config]);
        if own_addresses {
            words.extend(["--addresses", "own"]);
        }
        let mut command = self.machines.command(&words);
        command.current_dir(self.bench.path(".")).stdin(Stdio::null()).env("NO_COLOR", "1");
        Watched::start(command)
    }

    fn machine(&self, name: &str) -> &Machine {
        if name == "a" { &self.machines.a } else { &self.machines.b }
    }

    fn restore(&self, name: &str) -> String {
        let program = self.bench.path("netassay").display().to_string();
        let config = self.machines.ssh_config();
        let done = self.machines.run(&[&program, "undo", "--host", name, "--ssh-config", &config]);
        expect(&done, 0);
        stdout(&done)
    }

    fn is_before(&self) -> bool {
        [self.machines.a.state(), self.machines.b.state()] == self.before
    }

    fn left(&self) -> [String; 2] {
        [self.machines.a.left(), self.machines.b.left()]
    }

    #[track_caller]
    fn expect_clean(&self, context: &str) {
        assert!(wait(PATIENCE, || self.left() == ["", ""]), "{context}: left: {:?}", self.left());
    }

    #[track_caller]
    fn expect_before(&self, within: Duration, context: &str) {
        if !wait(within, || self.is_before()) {
            let [a, b] = [self.machines.a.state(), self.machines.b.state()];
            panic!(
                "{context}: not as before; a: {}\nb: {}",
                first_difference(&a, &self.before[0]),
                first_difference(&b, &self.before[1])
            );
        }
    }

    /// Runs a study undisturbed and again with the trouble, and tells how both went.
    fn run(&self, case: &Case) -> String {
        self.bench.write("put-back.toml", &case.study);
        let machine = self.machine(case.to);
        let controller = self.start(case.own_addresses);
        let id = controller.id();
        let mut lines = 0;
        while is_running(id) {
            lines = lines.max(journal(machine).map_or(0, |journal| journal.lines));
            std::thread::sleep(OFTEN);
        }
        let (code, said) = controller.finish();
        let context = format!("{case:#?}\nundisturbed\n{code:?}: {said}");
        self.expect_before(PATIENCE, &context);
        self.expect_clean(&context);
        // Refused as a study or by a machine, or a run that failed on a busy machine.
        assert!(matches!(code, Some(0 | 2 | 3 | 5)), "{context}");
        let mut told = format!("{code:?}");
        if lines > 0 {
            let step = match case.step {
                Some(step) => step.index(lines) + 1,
                None => 0,
            };
            told += &format!(", line {step} of {lines}: {}", self.run_disturbed(case, step));
        }
        told
    }

    /// The same with the trouble, once the journal has this many lines.
    fn run_disturbed(&self, case: &Case, step: usize) -> String {
        let Case { trouble, to, .. } = *case;
        let strike = |controller, agent| trouble.strike(&self.machines, to, controller, agent);
        if step == 0 && trouble.is_of_disk() {
            strike(0, None);
        }
        let controller = self.start(case.own_addresses);
        let id = controller.id();
        let mut agent = None;
        let is_there = |journal: &trouble::Journal| journal.lines >= step;
        let is_struck = wait(PATIENCE, || {
            let now = journal(self.machine(to));
            agent = now.as_ref().map(|journal| journal.agent);
            now.as_ref().is_some_and(is_there) || !is_running(id)
        }) && is_running(id);
        if !(step == 0 && trouble.is_of_disk()) {
            strike(id, agent);
        }
        let context = format!("{case:#?}\nin time: {is_struck}, line {step}");
        if trouble.is_of_lease() {
            // By the leases alone: while the network is cut, and without the controller.
            let cut = if trouble == Trouble::CutNetwork { vec![to] } else { vec!["a", "b"] };
            let data = |name: &str| &self.data[usize::from(name == "b")];
            std::thread::sleep(LEASE);
            let is_before = || cut.iter().all(|name| self.machine(name).state_of_data() == *data(name));
            assert!(wait(PATIENCE, is_before), "{context}: the lease undid nothing");
            trouble.end(&self.machines, to, id);
        }
        let (code, said) = controller.finish();
        let context = format!("{context}\n{code:?}: {said}");
        if trouble == Trouble::KillAgentAndGuardian {
            self.restore(to);
        }
        self.expect_before(PATIENCE, &context);
        if trouble.is_of_disk() {
            trouble.end(&self.machines, to, id);
            self.restore(to);
        }
        self.expect_clean(&context);
        self.expect_before(Duration::ZERO, &context);
        let at = if is_struck { "" } else { " (at its end)" };
        let error = said.lines().find(|line| line.contains("error")).unwrap_or_default();
        format!("{trouble:?} of {to}{at}: {code:?} {error}")
    }
}

fn is_running(process: u32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    state.rsplit(')').next().is_some_and(|rest| !rest.trim_start().starts_with('Z') && !rest.is_empty())
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

#[test]
fn settings_are_put_back_in_two_cases() {
    put_back("settings_are_put_back_in_two_cases", FEW);
}

#[test]
#[ignore = "the gate proves this with two cases"]
fn everything_is_put_back_whatever_is_set_and_whatever_goes_wrong() {
    put_back("everything_is_put_back_whatever_is_set_and_whatever_goes_wrong", MANY);
}

fn put_back(test: &str, cases: Cases) {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&variable("NETASSAY_PUT_BACK_SEED").unwrap_or(15).to_le_bytes());
    for (data, cases, left_out) in cases.into_iter().filter(|(_, cases, _)| *cases > 0) {
        let Some((world, settings)) = World::make(test, data) else { return };
        let cases =
            variable("NETASSAY_PUT_BACK_CASES").map_or(cases, |cases| usize::try_from(cases).unwrap());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        let mut runner = TestRunner::new_with_rng(Config::default(), rng);
        let of_link = move |case: &Case| data == Data::Veth || case.study.contains("rx_frames");
        let strategy = Case::strategy(&settings).prop_filter("sets what only this link has", of_link);
        for number in 1..=cases {
            let case = strategy.new_tree(&mut runner).unwrap().current();
            if number <= left_out {
                continue;
            }
            let begun = std::time::Instant::now();
            let told = world.run(&case);
            eprintln!("{data:?}, case {number}: {told} ({:.1?})", begun.elapsed());
        }
    }
}
