//! `netassay apply`: what stored studies recommend is set on a machine that is reached over ssh,
//! and stays until it is restored.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
#[path = "common/machines.rs"]
mod machines;
#[path = "common/studies.rs"]
mod studies;

use std::process::Output;

use common::{Bench, expect, output_schema, skip, stderr, stdout};
use machines::Machines;
use store::Store;
use study::Study;

/// Segmentation by the interface costs throughput in the first study, and frames of 9000 bytes gain
/// in the second; of GRO nothing is proven.
const TSO: &str = "name = \"tso\"\nquestion = \"which pays?\"\nscenario = \"veth\"\n\
     [[workload]]\nkind = \"tcp_stream\"\nmessage = 1450\nduration = \"200ms\"\nramp = \"50ms\"\nflows = 1\n\
     [design]\nkind = \"factorial\"\noffloads = [\"transmitter.tso\", \"receiver.gro\"]\n\
     [protocol]\nboots = 4\nruns = 2\nwarmup = 0\n";
const MTU: &str = "name = \"mtus\"\nquestion = \"which MTU?\"\nscenario = \"veth\"\n\
     [[workload]]\nkind = \"tcp_stream\"\n[factors]\nmtu = [1500, 9000]\n[protocol]\nboots = 4\nruns = 2\n";

/// A database of both.
fn store(bench: &Bench) {
    bench.write("tso.toml", TSO);
    let mut store = Store::open(bench.path("netassay.db")).unwrap();
    for toml in [TSO, MTU] {
        let plan = Study::parse("x.toml", toml).unwrap_or_else(|problems| panic!("{problems}")).plan();
        let levels: Vec<Vec<(String, String)>> =
            plan.conditions.iter().map(|one| one.levels.clone()).collect();
        let gains = |condition: usize| {
            let gain = |(name, level): &(String, String)| {
                [("transmitter.tso", "off"), ("mtu", "9000")].contains(&(name.as_str(), level.as_str()))
            };
            levels[condition].iter().any(gain)
        };
        let made =
            studies::Made { toml, plan, kernel: "6.18", boots: 4, runs: 2, metric: "throughput", pair: None };
        made.record(&mut store, |condition, boot, run| {
            let base = if gains(condition) { 1333.0 } else { 1000.0 };
            base + studies::level(0, boot, run) - 1000.0
        });
    }
}

struct World {
    bench: Bench,
    machines: Machines,
}

impl World {
    fn make(test: &str) -> Option<Self> {
        let Some(machines) = Machines::make() else {
            skip(test, "it needs root, and the Debian package openssh-server");
            return None;
        };
        let bench = Bench::to_be_sent();
        store(&bench);
        Some(Self { bench, machines })
    }

    /// netassay in the controller's namespace.
    fn netassay(&self, words: &[&str]) -> Output {
        let program = self.bench.path("netassay").display().to_string();
        let config = self.machines.ssh_config();
        let all = [&[program.as_str()], words, &["--ssh-config", &config]].concat();
        let mut command = self.machines.command(&all);
        command.current_dir(self.bench.path(".")).env("NO_COLOR", "1").env("COLUMNS", "300");
        command.output().unwrap()
    }

    fn done(&self, words: &[&str]) -> String {
        let done = self.netassay(words);
        expect(&done, 0);
        stdout(&done)
    }

    fn states(&self) -> [String; 2] {
        [self.machines.a.state(), self.machines.b.state()]
    }
}

#[test]
fn advice_is_applied_over_ssh_stays_and_is_restored_byte_for_byte() {
    let Some(world) = World::make("advice_is_applied_over_ssh_stays_and_is_restored_byte_for_byte") else {
        return;
    };
    let before = world.states();
    let apply = ["apply", "1", "--host", "root@a:data0", "--side", "transmitter", "--goal", "throughput"];

    let told = world.done(&[&apply[..], &["--dry-run"]].concat());
    for line in [
        "root@a: the advice of study 1 (quick):",
        "ethtool -K data0 tx-tcp-segmentation off",
        "    ethtool -K data0 tx-tcp-segmentation on",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    assert_eq!(world.states(), before);

    let told = world.done(&apply);
    assert!(told.contains("tx-tcp-segmentation of data0: on -> off"), "{told}");
    assert!(told.contains("until: netassay undo --host root@a"), "{told}");
    let shown = || world.machines.a.sh("ethtool -k data0");
    assert!(shown().contains("tcp-segmentation-offload: off"), "{}", shown());
    let left = world.machines.a.left();
    assert_eq!(left.lines().count(), 1, "one journal, and no process: {left}");
    let told = world.done(&apply);
    assert!(told.contains("Nothing to change"), "{told}");

    // A study would start from it, and is told what is in the way.
    let run = ["run", "tso.toml", "--transmitter", "a:data0", "--receiver", "b:data0", "--no-report"];
    let refused = world.netassay(&run);
    assert_ne!(refused.status.code(), Some(0));
    let said = stderr(&refused);
    assert!(said.contains("applied to stay (the advice of study 1 (quick))"), "{said}");
    assert!(said.contains("netassay undo"), "{said}");

    // More advice goes over it, and all is restored at once.
    let mtu = ["apply", "2", "--host", "root@a:data0", "--format", "json"];
    let told = world.done(&mtu);
    output_schema::expect(&mtu, &told);
    assert!(told.contains("the MTU of data0: 1500 -> 9000"), "{told}");
    assert!(world.machines.a.sh("cat /sys/class/net/data0/mtu").contains("9000"));
    let told = world.done(&["undo", "--host", "root@a", "--dry-run"]);
    assert!(told.contains("the MTU of data0: 9000 -> 1500") && told.contains("off -> on"), "{told}");
    let told = world.done(&["undo", "--host", "root@a"]);
    assert!(told.contains("undone"), "{told}");
    assert_eq!(world.machines.a.left(), "");
    assert_eq!(world.states(), before);
}

#[test]
fn what_cannot_be_applied_is_refused_and_nothing_is_changed() {
    let Some(world) = World::make("what_cannot_be_applied_is_refused_and_nothing_is_changed") else { return };
    let before = world.states();
    let refused = |words: &[&str], code: i32| {
        let done = world.netassay(words);
        assert_eq!(done.status.code(), Some(code), "{}{}", stdout(&done), stderr(&done));
        stderr(&done)
    };
    let said = refused(&["apply", "1", "--host", "root@b:data0", "--side", "receiver"], 4);
    assert!(said.contains("recommends nothing to set on this machine"), "{said}");
    let said = refused(&["apply", "1", "--host", "root@b:data9"], 3);
    assert!(said.contains("root@b has no interface \"data9\""), "{said}");
    let said = refused(&["apply", "1", "--host", "root@b"], 2);
    assert!(said.contains("name the interface"), "{said}");
    let said = refused(&["apply", "9", "--host", "root@b:data0"], 4);
    assert!(said.contains('9'), "{said}");
    assert_eq!(world.states(), before);
    assert_eq!(world.machines.b.left(), "");
}

#[test]
fn who_is_not_root_is_told_so() {
    if !common::is_root() {
        return skip("who_is_not_root_is_told_so", "it needs root to become nobody");
    }
    let bench = Bench::new();
    store(&bench);
    let done = bench.netassay_as_nobody(&["apply", "1", "--host", ":lo"]).output().unwrap();
    expect(&done, 3);
    assert!(stderr(&done).contains("only root may change interfaces"), "{}", stderr(&done));
}
