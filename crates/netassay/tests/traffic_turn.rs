//! Two sessions on one machine: the second waits, is refused, or is marked, as the user says.
//!
//! A third session of somebody else would be waited for, too. Root is spared that by a network
//! namespace of the test's own.

#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod common;

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::time::{Duration, Instant};

use common::{Bench, Watched, agents_of, expect, expect_no_agents_of, is_root, stderr};

const SHORT: [&str; 4] = ["load", "tcp_stream", "duration=200ms", "--rootless"];

/// A session that measures until it is ended, and the one thing that its command line is known by.
fn holder(bench: &Bench) -> Watched {
    let holder = Watched::start(bench.netassay(&[
        "load",
        "udp_stream",
        "duration=600s",
        "pacing=1Mbit",
        "--rootless",
    ]));
    while agents_of(holder.id()).len() < 2 {
        assert!(std::path::Path::new(&format!("/proc/{}/stat", holder.id())).exists());
        std::thread::sleep(Duration::from_millis(10));
    }
    holder
}

/// Of this thread and what it starts.
fn in_own_namespace() {
    if is_root() {
        // SAFETY: it takes no pointers, and changes this thread alone.
        let unshared = unsafe { libc::unshare(libc::CLONE_NEWNET) };
        assert_eq!(unshared, 0, "{}", std::io::Error::last_os_error());
    }
}

fn signal(session: &Watched, signal: i32) {
    // SAFETY: the process is a child that nobody has waited for yet, so the number is still its
    // own.
    assert_eq!(unsafe { libc::kill(i32::try_from(session.id()).unwrap(), signal) }, 0);
}

#[test]
fn a_second_session_waits_until_the_first_is_gone_however_it_went() {
    in_own_namespace();
    let bench = Bench::new();
    let first = holder(&bench);
    let mut second = Watched::start(bench.netassay(&SHORT));
    second.wait_for("waiting until another session on this machine has ended: process ");
    // It waits: no agents, and no end.
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(agents_of(second.id()), Vec::<u32>::new());
    let killed = first.id();
    signal(&first, libc::SIGKILL);
    let (_, _) = first.finish();
    let (code, said) = second.finish();
    assert_eq!(code, Some(0), "{said}");
    let named = format!("process {killed} (netassay load udp_stream duration=600s");
    assert!(said.contains(&named), "{said}");
    expect_no_agents_of(killed);
}

/// Any user can bind this name, which was the turn once.
#[test]
fn a_name_that_another_process_has_bound_keeps_no_session_from_its_turn() {
    in_own_namespace();
    let name = SocketAddr::from_abstract_name("netassay/turn").unwrap();
    let _bound = UnixListener::bind_addr(&name).unwrap();
    let alone = Bench::new().run(&[&SHORT[..], &["--no-wait"]].concat());
    if is_root() {
        expect(&alone, 0);
    }
}

#[test]
fn a_second_session_is_refused_or_interrupted_or_marked_as_the_user_says() {
    in_own_namespace();
    let bench = Bench::new();
    let first = holder(&bench);
    let named = format!("process {} (netassay load udp_stream", first.id());

    let refused = bench.run(&[&SHORT[..], &["--no-wait"]].concat());
    expect(&refused, 3);
    assert!(
        stderr(&refused).contains("another session measures on this machine: process"),
        "{}",
        stderr(&refused)
    );
    assert!(stderr(&refused).contains(&named), "{}", stderr(&refused));
    for command in [&["quick"][..], &["run", "quick", "--aa"], &["run", "tcp-offload"]] {
        expect(&bench.run(&[command, &["--no-wait"]].concat()), 3);
    }
    expect(&bench.run(&["run", "quick", "--dry-run", "--rootless", "--no-wait"]), 0);
    bench.write("no.db", "this is not a database");
    let unusable = bench.run(&["quick", "--db", "no.db"]);
    expect(&unusable, 3);
    assert!(!stderr(&unusable).contains("waiting"), "{}", stderr(&unusable));

    let mut waiting = Watched::start(bench.netassay(&SHORT));
    waiting.wait_for("waiting until another session");
    let asked = Instant::now();
    signal(&waiting, libc::SIGINT);
    assert_eq!(waiting.finish().0, Some(130));
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());

    let beside = bench.run(&[&SHORT[..], &["--beside"]].concat());
    expect(&beside, 0);
    let marked = "another session measured on this machine (--beside): process";
    assert!(common::stdout(&beside).contains(marked), "{}", common::stdout(&beside));

    signal(&first, libc::SIGINT);
    assert_eq!(first.finish().0, Some(130));
    let alone = bench.run(&[&SHORT[..], &["--no-wait"]].concat());
    if is_root() {
        expect(&alone, 0);
        assert_eq!(stderr(&alone), "");
    }
}
