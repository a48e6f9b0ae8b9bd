//! Settings of interfaces that netassay did not make, changed through the undo journal by a process
//! that is killed: everything comes back, as `ip` and `ethtool` show it, byte for byte.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use netassay_host::journal::{
    Journal, JournalFate, Process, RestoreOptions, UndoOutcome, restore, restore_of,
};
use netassay_host::machine::{Interface, Machine, Target, steer};
use netassay_host::{Ethtool, Links, Vxlan, affinity, namespace};
use nix::sys::signal::{Signal, kill, raise};
use nix::sys::wait::waitpid;
use words::DeviceSetting;

use crate::harness::{Identity, Stage, skipped};
use crate::journal::{child, traced, undo};
use crate::wire::connect;

/// A process's changes of an interface, through its journal.
type Act = fn(&mut Journal, &str);

/// A small MTU removes IPv6, a larger one brings it back, and another changes what follows it.
fn mtu(journal: &mut Journal, name: &str) {
    set_mtu(journal, name, 1000);
    journal.undo_matching(|target| matches!(target, Target::Mtu { .. } | Target::Ipv6 { .. })).unwrap();
    assert_eq!(Links::open().unwrap().find(name).unwrap().mtu, 1450);
    set_mtu(journal, name, 1300);
    set_mtu(journal, name, 1000);
}

/// Checksums off drags segmentation off.
fn features(journal: &mut Journal, name: &str) {
    for on in [false, true, false] {
        let wanted = ["tx-checksum-ip-generic", "rx-gro", "tx-nocache-copy"];
        let wanted: BTreeMap<String, bool> = wanted.iter().map(|name| ((*name).to_owned(), on)).collect();
        let affected = Machine::system().affected_by_features(&Interface::find(name).unwrap()).unwrap();
        journal.cover(&affected, || Ethtool::open()?.set(name, &wanted)).unwrap();
    }
}

/// Addresses of both families, one of them in a network that the interface has already; and a
/// tunnel.
fn addresses(journal: &mut Journal, name: &str) {
    for (address, prefix) in [("10.11.12.77", 24), ("10.99.0.1", 24), ("fd00:99::1", 64)] {
        let (interface, address) = (Interface::find(name).unwrap(), address.parse().unwrap());
        let target = Target::Address { interface, address, prefix };
        journal.cover(&[target], || Links::open()?.add_address(name, address, prefix)).unwrap();
    }
    let [local, remote] = ["10.99.0.1", "10.99.0.2"].map(|address| address.parse().unwrap());
    let vxlan = Vxlan { id: 9, local, remote, port: 7777, underlay: name.to_owned() };
    let made = Target::Made { name: "made0".to_owned(), kind: "vxlan".to_owned() };
    journal.cover(&[made], || Links::open()?.create_vxlan("made0", &vxlan)).unwrap();
}

/// An interface that was down is set up.
fn up(journal: &mut Journal, name: &str) {
    let affected = Machine::system().affected_by_up(&Interface::find(name).unwrap());
    journal.cover(&affected, || Links::open()?.set_up(name)).unwrap();
}

fn set_mtu(journal: &mut Journal, name: &str, mtu: u32) {
    let affected = Machine::system().affected_by_mtu(&Interface::find(name).unwrap(), mtu).unwrap();
    journal.cover(&affected, || Links::open()?.set_mtu(name, mtu)).unwrap();
}

pub(crate) fn mtu_after_a_kill(stage: &mut Stage) {
    kill_at_every_step(stage, mtu);
}

pub(crate) fn features_after_a_kill(stage: &mut Stage) {
    kill_at_every_step(stage, features);
}

/// Queues less, which lose their CPUs; and one of them again.
fn queues(journal: &mut Journal, name: &str) {
    for (rx, tx) in [(1, 1), (2, 1)] {
        let interface = Interface::find(name).unwrap();
        let affected = Machine::system().affected_by_device(&interface).unwrap();
        let wanted = [(DeviceSetting::RxQueues, rx), (DeviceSetting::TxQueues, tx)].into();
        let change = journal.cover(&affected, || Ethtool::open()?.set_device(name, &wanted)).unwrap();
        assert_eq!(change.refused, BTreeMap::new());
    }
}

/// Changes the queues, and then chooses CPUs for the new ones.
fn queues_and_cpus(journal: &mut Journal, name: &str) {
    queues(journal, name);
    let affected = Machine::system().affected_by_steering(&Interface::find(name).unwrap()).unwrap();
    journal.cover(&affected, || steer(name, &[0])).unwrap();
}

/// The CPUs of a queue that ends when there is one less.
const CPUS_OF_QUEUES: [&str; 2] = ["rx-1/rps_cpus", "tx-1/xps_cpus"];

fn queue_file(name: &str, file: &str) -> String {
    format!("/sys/class/net/{name}/queues/{file}")
}

/// Two queues each way with CPUs of their own.
pub(crate) fn queues_after_a_kill(stage: &mut Stage) {
    connect(stage);
    let name = stage.here.clone();
    if affinity::online_cpus().len() < 2 {
        return skipped("queues_and_what_follows_come_back_after_a_kill", "a wire has one queue for one CPU");
    }
    let wanted = [(DeviceSetting::RxQueues, 2), (DeviceSetting::TxQueues, 2)].into();
    assert_eq!(Ethtool::open().unwrap().set_device(&name, &wanted).unwrap().refused, BTreeMap::new());
    namespace::mount_sysfs().unwrap();
    let chosen = CPUS_OF_QUEUES.map(|file| std::fs::write(queue_file(&name, file), "2"));
    match stage.identity {
        Identity::Root => {
            for written in chosen {
                written.unwrap();
            }
            kill_each(&name, queues_and_cpus);
        }
        // Which CPUs a queue has is for the root of the machine to say, not of a user namespace.
        Identity::User => {
            assert!(chosen.iter().all(|written| written.is_err()), "{chosen:?}");
            kill_each(&name, queues);
        }
    }
}

pub(crate) fn addresses_after_a_kill(stage: &mut Stage) {
    kill_at_every_step(stage, addresses);
}

pub(crate) fn up_after_a_kill(stage: &mut Stage) {
    let name = prepare(stage);
    ip(&["link", "set", &name, "down"]);
    // An address of an interface that is down is lost when it is set up and down again.
    ip(&["-6", "address", "add", "fd00:77::1/64", "dev", &name]);
    kill_each(&name, up);
}

/// The kernel adds an address of its own to an interface with its first carrier, which may come
/// when everything else is put back: one that was removed by hand stays away, and one that was not
/// keeps its place.
pub(crate) fn late_carrier(stage: &mut Stage) {
    let (name, peer) = ("wire0", "wire1");
    ip(&["link", "add", name, "type", "veth", "peer", "name", peer]);
    for one in [name, peer] {
        ip(&["link", "set", one, "up"]);
    }
    ip(&["-6", "address", "add", "fd00:1::1/64", "dev", name]);
    let directory = tempfile::tempdir().unwrap();
    let undo_left =
        || restore(&directory.path().join("undo"), &Machine::system(), RestoreOptions::default()).unwrap();
    for removed in [false, true] {
        if removed {
            ip(&["-6", "address", "flush", "dev", name, "scope", "link"]);
        }
        let before = settled(name);
        assert_eq!(before.contains(&format!("{name}    inet6 fe80::")), !removed, "{before}");
        left_by_a_kill(directory.path(), name, |journal| set_mtu(journal, name, 1000));
        ip(&["link", "set", peer, "down"]);
        let reports = std::thread::scope(|scope| {
            let undoing = scope.spawn(undo_left);
            std::thread::sleep(Duration::from_millis(500));
            ip(&["link", "set", peer, "up"]);
            undoing.join().unwrap()
        });
        assert_eq!(reports[0].fate, JournalFate::Undone, "{reports:?}");
        let after = snapshot_like(name, &before);
        assert!(before == after, "removed: {removed}\n{}", difference(&before, &after));
    }
    if stage.identity == Identity::User {
        return;
    }

    // Without a carrier its time has not come: that is said, and done later.
    let before = settled(name);
    left_by_a_kill(directory.path(), name, |journal| set_mtu(journal, name, 1000));
    ip(&["link", "set", peer, "down"]);
    let reports = undo_left();
    let failed: Vec<_> = reports[0].changes.iter().filter(|one| !one.outcome.is_settled()).collect();
    assert_eq!((&reports[0].fate, failed.len()), (&JournalFate::Kept, 1), "{reports:?}");
    let said = failed[0].sentence(false);
    assert!(said.contains("interface \"wire0\" has no carrier") && said.contains("restore again"), "{said}");
    ip(&["link", "set", peer, "up"]);
    undo(directory.path());
    let after = snapshot_like(name, &before);
    assert!(before == after, "{}", difference(&before, &after));
}

/// A tunnel with everything that a small MTU removes: it follows its own features, and has IPv6.
fn kill_at_every_step(stage: &mut Stage, act: Act) {
    let name = prepare(stage);
    kill_each(&name, act);
}

/// An interface that was there before: a VXLAN tunnel over the wire, configured by hand in many
/// ways.
fn prepare(stage: &mut Stage) -> String {
    connect(stage);
    let name = "tun0";
    let here = stage.here.clone();
    let link = ["link", "add", name, "type", "vxlan", "id", "7", "dstport", "4789", "dev", &here];
    ip(&[&link[..], &["remote", "10.11.12.2", "local", "10.11.12.1"]].concat());
    // No duplicate address detection: what is compared would depend on the time.
    let sysctl = |file: &str, value: &str| {
        std::fs::write(format!("/proc/sys/net/ipv6/{file}"), value).unwrap();
    };
    sysctl(&format!("conf/{name}/accept_dad"), "0");
    sysctl(&format!("conf/{name}/dad_transmits"), "0");
    ip(&["link", "set", name, "mtu", "1450", "up"]);
    for (file, value) in [("hop_limit", "33"), ("accept_ra", "0"), ("use_tempaddr", "-1"), ("mtu", "1400")] {
        sysctl(&format!("conf/{name}/{file}"), value);
    }
    sysctl(&format!("neigh/{name}/gc_stale_time"), "77");
    for address in [
        &["192.0.2.1/24"][..],
        &["192.0.2.2/24"],
        &["fd00:1::1/64"],
        &["fd00:2::1/64", "noprefixroute"],
        &["fd00:3::1/128", "nodad"],
    ] {
        ip(&[&["address", "add"], address, &["dev", name]].concat());
    }
    // The kernel begins to use an address a moment later.
    while ip(&["-6", "address", "show", "dev", name]).contains("tentative") {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    for route in [
        &["fd00:10::/64", "via", "fd00:1::2", "metric", "77"][..],
        &["fd00:11::/64", "metric", "5", "mtu", "1350", "advmss", "1200"],
        &["fd00:12::/64", "via", "fd00:1::2", "src", "fd00:2::1"],
        &["fd00:13::/64", "via", "fe80::77", "table", "100", "proto", "static"],
        &["blackhole", "fd00:14::/64"],
    ] {
        let device: &[&str] = if route[0] == "blackhole" { &[] } else { &["dev", name] };
        ip(&[&["-6", "route", "add"], route, device].concat());
    }
    ip(&["neighbour", "add", "fd00:1::2", "lladdr", "02:00:5e:00:53:01", "dev", name]);
    name.to_owned()
}

/// Kills a process that changes an interface and undoes that, before each system call that may have
/// an effect; then undoes what it left.
fn kill_each(name: &str, act: Act) {
    let directory = tempfile::tempdir().unwrap();
    let before = settled(name);
    for steps in 0.. {
        let child = traced(|| {
            let mut journal = Journal::new(&directory.path().join("undo"), Machine::system());
            act(&mut journal, name);
            let done = journal.undo().unwrap();
            assert!(done.iter().all(|one| one.outcome.is_settled()), "{done:?}");
        });
        let killed = child.killed_before_effect(steps * STRIDE);
        undo(directory.path());
        let after = snapshot_like(name, &before);
        assert!(before == after, "killed at {steps}:\n{}", difference(&before, &after));
        if !killed {
            assert!(steps > 10, "only {steps} steps");
            return;
        }
    }
}

/// Every such call would take minutes. It has no common factor with the calls of one netlink
/// request.
const STRIDE: usize = 7;

fn difference(before: &str, after: &str) -> String {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (before, after) = (lines(before), lines(after));
    let lost = before.iter().filter(|line| !after.contains(line)).map(|line| format!("- {line}\n"));
    let new = after.iter().filter(|line| !before.contains(line)).map(|line| format!("+ {line}\n"));
    lost.chain(new).collect()
}

/// The interface's state once the kernel has noticed a carrier (within 1 s), has looked for
/// duplicate addresses (2 s more), and adds no more routes in the background.
fn settled(name: &str) -> String {
    let deadline = Instant::now() + Duration::from_secs(30);
    let mut before = String::new();
    loop {
        let now = snapshot(name);
        let is_settled = now == before && !now.contains("tentative") && !now.contains("NO-CARRIER");
        if is_settled || Instant::now() >= deadline {
            return now;
        }
        before = now;
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The snapshot once it equals `before`, or after half a minute: the kernel adds the route of an
/// address in the background.
fn snapshot_like(name: &str, before: &str) -> String {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let now = snapshot(name);
        if now == before || Instant::now() >= deadline {
            return now;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The state of the namespace's interfaces. Equal routes of IPv6 over several interfaces are listed
/// in the order in which they came, which is not kept.
fn snapshot(name: &str) -> String {
    let sorted = |text: String| {
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        lines.join("\n")
    };
    let mut all = vec![
        ip(&["-d", "link"]),
        ip(&["-4", "-d", "address"]),
        ip(&["-6", "-d", "-o", "address"]),
        ip(&["-4", "-d", "route", "show", "table", "all"]),
        sorted(ip(&["-6", "-d", "route", "show", "table", "all"])),
        ip(&["neighbour", "show", "nud", "permanent"]),
        format!("{:#?}", Ethtool::open().unwrap().features(name).unwrap()),
        format!("{:#?}", Ethtool::open().unwrap().device(name).unwrap()),
    ];
    // No such files if /sys shows another namespace.
    all.extend(CPUS_OF_QUEUES.map(|file| format!("{file} {:?}", std::fs::read(queue_file(name, file)).ok())));
    for directory in ["ipv4/conf", "ipv4/neigh", "ipv6/conf", "ipv6/neigh"] {
        let directory = format!("/proc/sys/net/{directory}/{name}");
        let mut files: Vec<_> =
            std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        all.extend(files.iter().map(|file| format!("{} {:?}", file.display(), std::fs::read(file).ok())));
    }
    all.join("\n")
}

pub(crate) fn ip(arguments: &[&str]) -> String {
    let output = Command::new("ip").args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ip {arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// An interface that was renamed is restored under its new name; one that has its old name is left;
/// one that is gone is reported.
pub(crate) fn renamed(stage: &mut Stage) {
    connect(stage);
    let directory = tempfile::tempdir().unwrap();
    let mtu = |name: &str| Links::open().unwrap().find(name).unwrap().mtu;
    ip(&["link", "add", "first", "type", "bridge"]);
    left_by_a_kill(directory.path(), "first", |journal| set_mtu(journal, "first", 1400));
    ip(&["link", "set", "first", "name", "second"]);
    ip(&["link", "add", "first", "mtu", "1400", "type", "bridge"]);
    undo(directory.path());
    assert_eq!((mtu("second"), mtu("first")), (1500, 1400));

    left_by_a_kill(directory.path(), "second", |journal| set_mtu(journal, "second", 1400));
    ip(&["link", "delete", "second"]);
    ip(&["link", "add", "second", "mtu", "1400", "type", "bridge"]);
    let reports =
        restore(&directory.path().join("undo"), &Machine::system(), RestoreOptions::default()).unwrap();
    assert_eq!(reports[0].fate, JournalFate::Undone);
    assert!(reports[0].changes.iter().all(|one| one.outcome == UndoOutcome::Gone), "{reports:?}");
    assert_eq!(
        reports[0].changes[0].sentence(false),
        "the MTU of second: it does not exist here any more (it was removed, or moved to another network \
         namespace), so nothing is set back; the value before was 1500"
    );
    assert_eq!(mtu("second"), 1400);

    // The made interface is deleted, and a later one of its name is not.
    let make = |journal: &mut Journal| {
        let made = Target::Made { name: "made0".to_owned(), kind: "bridge".to_owned() };
        journal.cover(&[made], || Links::open()?.create_bridge("made0")).unwrap();
    };
    left_by_a_kill(directory.path(), "made0", make);
    ip(&["link", "delete", "made0"]);
    ip(&["link", "add", "made0", "type", "bridge"]);
    let force = RestoreOptions { force: true, ..RestoreOptions::default() };
    let reports = restore(&directory.path().join("undo"), &Machine::system(), force).unwrap();
    assert_eq!(
        (&reports[0].fate, &reports[0].changes[0].outcome),
        (&JournalFate::Undone, &UndoOutcome::Gone)
    );
    assert!(Links::open().unwrap().find("made0").is_ok());
    // Nor if it is not known whether it was made.
    let target = Target::Made { name: "made0".to_owned(), kind: "bridge".to_owned() };
    let refused = Machine::system().write(&target, &"absent".into()).unwrap_err().to_string();
    assert!(refused.contains("bridge, and not netassay's"), "{refused}");
}

/// Only what one process left is undone, as an undo process does it.
pub(crate) fn of_one_process(stage: &mut Stage) {
    connect(stage);
    let directory = tempfile::tempdir().unwrap();
    let undo = directory.path().join("undo");
    ip(&["link", "add", "first", "type", "bridge"]);
    left_by_a_kill(directory.path(), "first", |journal| set_mtu(journal, "first", 1400));
    let patience = std::time::Duration::ZERO;
    assert_eq!(restore_of(&undo, &Machine::system(), (Process::this(), 0), patience).unwrap(), []);
    assert_eq!(Links::open().unwrap().find("first").unwrap().mtu, 1400);
}

fn left_by_a_kill(directory: &Path, name: &str, act: impl FnOnce(&mut Journal)) {
    let child = child(|| {
        let mut journal = Journal::new(&directory.join("undo"), Machine::system());
        act(&mut journal);
        raise(Signal::SIGKILL).unwrap();
    });
    waitpid(child, None).unwrap();
    let _ = kill(child, None);
    assert!(std::fs::read_dir(directory.join("undo")).unwrap().count() > 2, "a journal of {name}");
}
