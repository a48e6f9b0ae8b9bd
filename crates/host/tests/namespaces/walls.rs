//! Going into namespaces, and what holds there.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use netassay_host::affinity::online_cpus;
use netassay_host::machine::{steer, steer_new};
use netassay_host::namespace::{self, enter_user, join_net, mount_sysfs, new_net};
use netassay_host::{HostEnvironment, Links, Privileges};

use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use socket2::SockRef;

use crate::harness::{Identity, ROLE, Stage, become_ordinary, skipped};
use crate::peer::Peer;
use crate::wire::{connect, round_trip, sockets};

pub(crate) fn of_a_thread(stage: &mut Stage) {
    let mut links = connect(stage);
    let pid = stage.peer.pid();
    let there = stage.there.clone();
    std::thread::spawn(move || {
        join_net(pid).unwrap();
        let names: Vec<_> =
            Links::open().unwrap().list().unwrap().into_iter().map(|link| link.name).collect();
        assert_eq!(names, ["lo", &there]);
        new_net().unwrap();
        assert_eq!(Links::open().unwrap().list().unwrap().len(), 1);
    })
    .join()
    .unwrap();
    assert!(links.find(&stage.here).is_ok(), "the other thread is where it was");

    // A socket belongs to the namespace in which it was opened.
    new_net().unwrap();
    assert!(links.find(&stage.here).is_ok());
    assert!(Links::open().unwrap().find(&stage.here).is_err());

    let error = join_net(4_000_000).unwrap_err().to_string();
    assert!(error.contains("net namespace of process 4000000"), "{error}");
}

pub(crate) fn sysfs(stage: &mut Stage) {
    let links = connect(stage);
    let mounts = || std::fs::read_to_string("/proc/1/mounts").ok();
    let outside = mounts();
    if let Err(error) = mount_sysfs() {
        return skipped("sysfs_shows_this_namespace", &error.to_string());
    }
    let mut shown: Vec<_> = std::fs::read_dir("/sys/class/net")
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    shown.sort();
    assert_eq!(shown, ["lo", &stage.here]);
    assert_eq!(mounts(), outside, "nothing is mounted for others");
    drop(links);
}

pub(crate) fn steering(stage: &mut Stage) {
    connect(stage);
    let cpus = online_cpus();
    let error = steer(&stage.here, &cpus).unwrap_err();
    assert!(
        error.to_string().contains("shows another network namespace"),
        "the machine's sysfs is still mounted: {error}"
    );
    let error = steer("nothing", &cpus).unwrap_err().to_string();
    assert!(error.contains("no interface \"nothing\""), "{error}");
    if let Err(error) = mount_sysfs() {
        return skipped("receive_work_is_steered_or_refused", &error.to_string());
    }
    match stage.identity {
        Identity::Root => {
            let here = stage.here.clone();
            let mask = || {
                let environment = HostEnvironment::read(&[&here], "0.0.0");
                let text = &environment.interfaces[&here].as_ref().unwrap().receive_steering["rx-0"];
                u32::from_str_radix(text.rsplit(',').next().unwrap(), 16).unwrap()
            };
            steer(&stage.here, &cpus[..1]).unwrap();
            assert_eq!(mask(), 1 << cpus[0]);
            steer(&stage.here, &cpus).unwrap();
            assert_eq!(mask().count_ones() as usize, cpus.len().min(32));
            if let [first, second, ..] = cpus[..] {
                acts(stage, first, second);
            } else {
                skipped("receive_work_is_steered_or_refused, effect", "one CPU only");
            }
            steer(&stage.here, &[]).unwrap();
            assert_eq!(mask(), 0);
            // The kernel takes CPUs that could come one day, but not beyond the mask's end.
            assert!(steer(&stage.here, &[60_000]).is_err());
        }
        Identity::User => {
            let error = steer(&stage.here, &cpus).unwrap_err();
            assert!(error.to_string().contains("it needs CAP_NET_ADMIN in the first"), "{error}");
            assert!(error.to_string().contains("the receiver's softirq time"), "{error}");
            if let Err(error) = steer_new(&cpus[..1]) {
                return skipped("receive_work_is_steered_or_refused, new interfaces", &error.to_string());
            }
            let mut links = Links::open().unwrap();
            links.create_veth("new0", "new1", std::process::id()).unwrap();
            steer("new0", &cpus[..1]).unwrap();
            steer("new1", &cpus[..1]).unwrap();
            // Earlier interfaces stay as they were, and later ones are not steered.
            assert!(steer(&stage.here, &cpus[..1]).is_err());
            steer_new(&[]).unwrap();
            links.create_veth("new2", "new3", std::process::id()).unwrap();
            steer("new2", &[]).unwrap();
        }
    }
}

/// Packets that the peer sends from one CPU are received on the CPU to which they are steered.
fn acts(stage: &mut Stage, sender: u32, receiver: u32) {
    let mut set = CpuSet::new();
    set.set(sender as usize).unwrap();
    sched_setaffinity(Pid::from_raw(i32::try_from(stage.peer.pid()).unwrap()), &set).unwrap();
    let sockets = sockets(&mut stage.peer);
    for cpu in [receiver, sender, receiver] {
        steer(&stage.here, &[cpu]).unwrap();
        for (socket, at) in &sockets {
            // The kernel notes the CPU of a packet in connected sockets only.
            socket.connect(at).unwrap();
            for _ in 0..100 {
                round_trip(socket, *at, 100);
                assert_eq!(SockRef::from(socket).cpu_affinity().unwrap(), cpu as usize, "{at}");
            }
        }
    }
}

/// `kill -9` of a process ends the processes that it started, though they wait for nothing and
/// nobody tells them.
pub(crate) fn die_with_parent(stage: &mut Stage) {
    let mut middle =
        Command::new("/proc/self/exe").env(ROLE, "middle").stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(middle.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let sleeper = format!("/proc/{}", line.trim());
    assert!(Path::new(&sleeper).exists(), "{sleeper}");
    middle.kill().unwrap();
    middle.wait().unwrap();
    let start = Instant::now();
    // A dead child of a dead parent is collected by process 1, which may take its time: a zombie is
    // dead enough.
    while alive(&sleeper) {
        assert!(start.elapsed() < Duration::from_secs(30), "it lives on");
        std::thread::sleep(Duration::from_millis(5));
    }

    let error = namespace::die_with_parent(stage.peer.pid()).unwrap_err();
    assert!(error.to_string().contains("has exited; the parent is now"), "{error}");
}

fn alive(process: &str) -> bool {
    let status = std::fs::read_to_string(format!("{process}/status")).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:") && !line.contains('Z') && !line.contains('X'))
}

/// The process between: starts a sleeper, says its number, and sleeps.
pub(crate) fn middle() -> ExitCode {
    let mut sleeper = Command::new("/proc/self/exe")
        .env(ROLE, format!("sleeper {}", std::process::id()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(sleeper.stdout.take().unwrap()).read_line(&mut line).unwrap();
    print!("{line}");
    std::io::stdout().flush().unwrap();
    let _ = sleeper.wait();
    ExitCode::SUCCESS
}

/// Says its number once it will die with its parent, and sleeps for longer than any test.
pub(crate) fn sleeper(parent: u32) -> ExitCode {
    namespace::die_with_parent(parent).unwrap();
    println!("{}", std::process::id());
    std::thread::sleep(Duration::from_secs(120));
    ExitCode::FAILURE
}

/// A process that changed its user without an `exec` is not "dumpable": root owns its files in
/// `/proc`.
pub(crate) fn dropped_root(stage: &mut Stage) {
    become_ordinary();
    assert!(!nix::sys::prctl::get_dumpable().unwrap(), "else this case shows nothing");
    stage.peer = Peer::start();
    enter_user().unwrap();
    new_net().unwrap();
    stage.peer.follow(Identity::User);
    let mut links = connect(stage);
    links.delete(&stage.here).unwrap();
}

pub(crate) fn privileges(stage: &mut Stage) {
    let privileges = Privileges::read();
    assert!(privileges.privileged(), "{privileges:?}");
    assert!(nix::unistd::geteuid().is_root());
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap();
    let ids: Vec<&str> = map.split_whitespace().collect();
    assert_eq!(privileges.in_user_namespace, Some(stage.identity == Identity::User), "{privileges:?}");
    if stage.identity == Identity::User {
        assert_eq!((ids[0], ids[2]), ("0", "1"), "{map}");
    }
    assert!(privileges.user_namespaces);
}
