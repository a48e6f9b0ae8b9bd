use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use agent::Interrupt;
use tempfile::TempDir;

use super::*;
use crate::hosts::HostPlace;

/// Starts an agent that is this shell script, which is there as long as its directory.
fn started(script: &str) -> (LaunchedAgent, TempDir) {
    started_by(script, |program, interrupt| {
        LaunchedAgent::process(AgentStart::plain("receiver", program, interrupt))
    })
}

fn started_by(
    script: &str,
    start: impl Fn(&Path, &Interrupt) -> Result<LaunchedAgent, Error>,
) -> (LaunchedAgent, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("agent");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let interrupt = Interrupt::new().unwrap();
    // A child of another thread may briefly hold the script open for writing.
    let started = (0..100)
        .find_map(|_| {
            let started = start(&program, &interrupt);
            std::thread::sleep(Duration::from_millis(started.is_err().into()));
            started.ok()
        })
        .unwrap();
    (started, directory)
}

/// Each ignores the end of its input.
#[test]
fn an_agent_that_does_not_answer_validly_is_not_waited_for() {
    let hello = Answer::Hello { protocol: PROTOCOL, pid: 7, cpus: vec![(0, 0)] };
    let hello = String::from_utf8(agent::answer_line(1, &hello).unwrap()).unwrap();
    let silent = format!("printf '%s' '{hello}'; exec sleep 600");
    let refuses =
        format!("printf '%s' '{hello}'; echo '2 {{\"failed\":{{\"why\":\"no\"}}}}'; yes '' & exec sleep 600");
    let place = HostPlace::new(None, None, Duration::from_secs(15));
    for (case, script, is_greeted) in [
        ("nonsense", "echo nonsense; exec sleep 600", Some(false)),
        ("another id", "echo '99 \"done\"'; exec sleep 600", Some(false)),
        ("another kind", "echo '1 \"done\"'; exec sleep 600", Some(false)),
        ("no sign of life", &*silent, Some(true)),
        ("signs of life without an end", "yes '' & exec sleep 600", None),
        ("signs of life after a refusal", &*refuses, Some(true)),
    ] {
        let (mut agent, _directory) = started_by(script, |program, interrupt| {
            LaunchedAgent::on_machine(&place, AGENT, AgentStart::of_machine("receiver", program, interrupt))
        });
        if is_greeted.is_some() {
            assert_eq!(Some(agent.greet().is_ok()), is_greeted, "{case}");
        }
        if case.ends_with("refusal") {
            agent.order(&Request::Start).unwrap_err();
        }
        let begun = Instant::now();
        drop(agent);
        assert!(begun.elapsed() < Duration::from_secs(5), "{case}: {:?}", begun.elapsed());
    }
}

/// The error of greeting it.
fn greeted(script: &str) -> String {
    let (mut agent, _directory) = started(script);
    agent.greet().unwrap_err().to_string()
}

#[test]
fn an_agent_that_writes_much_to_its_standard_error_goes_on() {
    let hello = Answer::Hello { protocol: PROTOCOL, pid: 7, cpus: vec![(0, 0)] };
    let hello = String::from_utf8(agent::answer_line(1, &hello).unwrap()).unwrap();
    let (mut agent, _directory) = started(&format!(
        "yes 'more and more' | head -c 1048576 >&2\necho >&2\nread launch\nread request\nprintf '%s' '{hello}'\necho done >&2\nexit 3"
    ));
    agent.greet().unwrap();
    let Carrier::Process(process, _) = &agent.carrier else { panic!("it is a process") };
    assert_eq!(agent.pid, process.id(), "not the 7 that it says");
    let error = agent.order(&Request::Hello { protocol: PROTOCOL }).unwrap_err().to_string();
    assert!(error.contains("exit status: 3; it said: (cut) …") && error.ends_with(" done"), "{error}");
    assert!(error.len() < 1200, "{} bytes", error.len());
}

#[test]
fn the_last_words_of_an_agent_are_reported_without_their_tricks() {
    let error = greeted(r"printf 'a\033]0;x\007\302\2331m\342\200\256\nnetassay: done\n\377' >&2; exit 3");
    let (before, said) = error.split_once("; it said: ").expect(&error);
    assert!(before.ends_with("exited unexpectedly: exit status: 3"), "{error}");
    assert_eq!(said, "a\\u{1b}]0;x\\u{7}\\u{9b}1m\\u{202e} netassay: done \u{fffd}");
}

#[test]
fn an_agent_that_takes_its_time_to_end_is_waited_for() {
    let error = greeted("exec >&- <&-; sleep 0.2; exit 3");
    assert!(error.ends_with("exited unexpectedly: exit status: 3"), "{error}");
}

#[test]
fn an_agent_that_says_too_much_is_cut_short() {
    let error = greeted("yes 'more and more' | head -c 50400 >&2; exit 3");
    assert!(error.contains("it said: (cut) …"), "{error:.300}");
    assert!(error.ends_with("more and more") && error.len() < 1200, "{} bytes: {error:.300}", error.len());
    // A child of the agent still holds the pipe: what has come is reported without a wait for
    // its end.
    let error = greeted("head -c 10 /dev/zero >&2; sleep 1 >&2 & exit 3");
    assert!(error.contains("exit status: 3; it said: \\u{0}") && error.len() < 1200, "{error:.300}");
    let error = greeted("exit 3");
    assert!(error.ends_with("exited unexpectedly: exit status: 3"), "{error}");
}
