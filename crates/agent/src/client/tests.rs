//! Tests of the controller's end of a session.

use super::*;
use crate::frame::{answer_line, encode};
use std::os::unix::net::UnixStream;

const A_MOMENT: Duration = Duration::from_millis(50);
const A_WHILE: Duration = Duration::from_secs(60);

fn conversation() -> (Client, UnixStream, Interrupt) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let interrupt = Interrupt::new().unwrap();
    let client = Client::new("receiver", ours.try_clone().unwrap(), ours, interrupt.clone());
    (client, theirs, interrupt)
}

#[test]
fn an_answer_arrives_whole() {
    let (mut client, mut agent, _) = conversation();
    agent.write_all(b"1 \"done\"\n").unwrap();
    client.order(&Request::Start, A_WHILE).unwrap();
}

#[test]
fn an_agent_that_dies_is_named_also_with_a_request_unread() {
    for unread in [false, true] {
        let (mut client, mut agent, _) = conversation();
        client.send(&Request::Start, A_WHILE).unwrap();
        if !unread {
            io::Read::read(&mut agent, &mut [0; 100]).unwrap();
        }
        drop(agent);
        let error = client.receive().unwrap_err();
        assert_eq!(error.to_string(), "the receiver's agent exited unexpectedly");
        assert!(!error.agent_is_well());
        assert!(matches!(client.send(&Request::Start, A_MOMENT), Err(CallError::Gone { .. })));
    }
}

#[test]
fn a_silent_agent_is_not_waited_for_for_ever() {
    let (mut client, _agent, _) = conversation();
    client.send(&Request::Start, 4 * A_MOMENT).unwrap();
    assert!(client.receive_within(Duration::from_millis(5)).unwrap().is_none());
    let error = client.receive().unwrap_err();
    assert_eq!(error.to_string(), "the receiver's agent did not answer within 0.2 s");
    assert!(!error.agent_is_well());
}

#[test]
fn a_late_answer_is_not_taken_for_that_to_the_next_request() {
    let (mut client, mut agent, _) = conversation();
    assert!(matches!(client.call(&Request::Quiet, A_MOMENT), Err(CallError::Silent { .. })));
    let late = Answer::Told(vec!["late".to_owned()]);
    agent.write_all(&answer_line(1, &late).unwrap()).unwrap();
    let error = client.order(&Request::Start, A_MOMENT).unwrap_err();
    assert_eq!(error.to_string(), "the receiver's agent did not answer within 0.05 s");
    // The agent is asked again, and answers now.
    agent.write_all(b"2 \"done\"\n3 \"done\"\n").unwrap();
    client.order(&Request::Start, A_WHILE).unwrap();
}

#[test]
fn an_answer_that_nobody_waits_for_names_both_ids() {
    for (stray_answers, got) in [("1 \"done\"\n1 \"done\"\n", 1), ("1 \"done\"\n3 \"done\"\n", 3)] {
        let (mut client, mut agent, _) = conversation();
        agent.write_all(stray_answers.as_bytes()).unwrap();
        client.order(&Request::Start, A_WHILE).unwrap();
        agent.write_all(b"2 \"done\"\n").unwrap();
        let error = client.order(&Request::Quiet, A_WHILE).unwrap_err();
        let said = format!("the receiver's agent answered request {got}, but request 2 was asked");
        assert!(error.to_string().starts_with(&said), "{error}");
        assert!(!error.agent_is_well());
    }
}

#[test]
fn rounds_of_a_trace_come_before_its_answer() {
    let (mut client, mut agent, _) = conversation();
    let round = Answer::TracedRound(Box::new(trace::TraceAccount {
        batch: 1,
        stages: Vec::new(),
        avoiding: None,
        untraced: vec![7],
        ends: Vec::new(),
        one_more: Vec::new(),
        all: Vec::new(),
        sampled: None,
        profile: None,
    }));
    for answer in [&round, &round, &Answer::Done] {
        agent.write_all(&answer_line(1, answer).unwrap()).unwrap();
    }
    client.send(&Request::Start, A_WHILE).unwrap();
    let answers = [(); 3].map(|()| client.receive().unwrap());
    assert_eq!(answers, [round.clone(), round, Answer::Done]);
    // The session has no further open request.
    agent.write_all(b"1 \"done\"\n").unwrap();
    assert!(matches!(client.receive(), Err(CallError::WrongId { got: 1, .. })));
}

#[test]
fn an_answer_to_no_request_can_only_refuse() {
    let (mut client, mut agent, _) = conversation();
    agent.write_all(b"0 {\"failed\":{\"why\":\"no\",\"broken\":false}}\n0 \"done\"\n").unwrap();
    let refused = client.call(&Request::Start, A_WHILE).unwrap_err();
    assert_eq!(refused.to_string(), "receiver: no");
    assert!(!refused.agent_is_well());
    let error = client.call(&Request::Start, A_WHILE).unwrap_err();
    assert!(matches!(error, CallError::WrongId { got: 0, asked: 2, .. }), "{error}");
}

/// A request that is longer than any pipe or socket holds.
fn long_request() -> Request {
    Request::Attach { locals: vec!["10.0.0.1:1".parse().unwrap(); 200_000] }
}

/// The line of that request, if it is the first.
fn long_line() -> Vec<u8> {
    RequestHeader { id: 1, within: A_WHILE }.line(&long_request()).unwrap()
}

#[test]
fn an_agent_that_does_not_read_is_not_waited_for_for_ever() {
    let (mut client, _agent, _) = conversation();
    let error = client.call(&long_request(), A_MOMENT).unwrap_err();
    assert_eq!(error.to_string(), "the receiver's agent did not read the request within 0.05 s");
    assert!(!error.agent_is_well());
}

#[test]
fn an_interrupt_ends_the_wait_for_an_agent_that_does_not_read() {
    let (mut client, _agent, interrupt) = conversation();
    let trips = std::thread::spawn(move || {
        std::thread::sleep(A_MOMENT);
        interrupt.trip();
    });
    let error = client.send(&long_request(), Duration::from_secs(600)).unwrap_err();
    assert!(matches!(error, CallError::Interrupted), "{error}");
    trips.join().unwrap();
    assert!(matches!(client.receive(), Err(CallError::Interrupted)));
}

#[test]
fn an_agent_that_reads_slowly_gets_all_of_a_request() {
    let (mut client, mut agent, _) = conversation();
    let reads = std::thread::spawn(move || {
        let (mut got, mut piece) = (Vec::new(), [0; 4096]);
        while !got.ends_with(b"\n") {
            let count = io::Read::read(&mut agent, &mut piece).unwrap();
            got.extend_from_slice(&piece[..count]);
        }
        got
    });
    client.send(&long_request(), A_WHILE).unwrap();
    assert_eq!(reads.join().unwrap(), long_line());
}

#[test]
fn signs_of_life_come_between_messages_and_end_with_the_client() {
    let (mut client, mut agent, _) = conversation();
    client.to.keep_alive().unwrap();
    client.keep_alive_every(Duration::from_millis(1), A_WHILE).unwrap();
    let reads = std::thread::spawn(move || {
        let mut got = Vec::new();
        // Slowly, so that the pipe is full again and again.
        let mut piece = [0; 4096];
        loop {
            match io::Read::read(&mut agent, &mut piece).unwrap() {
                0 => return got,
                count => got.extend_from_slice(&piece[..count]),
            }
        }
    });
    // Long enough for several signs on a busy machine.
    std::thread::sleep(10 * A_MOMENT);
    client.send(&long_request(), A_WHILE).unwrap();
    std::thread::sleep(10 * A_MOMENT);
    drop(client);
    let got = reads.join().unwrap();
    let lines: Vec<&[u8]> = got.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    assert_eq!(lines, [long_line().trim_ascii_end()]);
    assert!(got.starts_with(b"\n\n") && got.ends_with(b"\n\n"), "signs before and after");
}

#[test]
fn an_agent_that_answers_no_sign_of_life_is_lost_and_one_that_does_is_waited_for() {
    let (mut client, mut agent, _) = conversation();
    client.send(&Request::Start, A_WHILE).unwrap();
    // Long enough for an answer on a busy machine.
    let patience = 10 * A_MOMENT;
    client.keep_alive_every(Duration::from_millis(10), patience).unwrap();
    let mut theirs = agent.try_clone().unwrap();
    let answers = std::thread::spawn(move || {
        let mut sign = [0];
        let until = Instant::now() + 4 * patience;
        while Instant::now() < until && io::Read::read(&mut theirs, &mut sign).unwrap() > 0 {
            theirs.write_all(b"\n").unwrap();
        }
    });
    assert!(client.receive_within(2 * patience).unwrap().is_none());
    answers.join().unwrap();
    // The answer arrived while this test did not read.
    assert!(client.receive_within(Duration::ZERO).unwrap().is_none());
    let begun = Instant::now();
    let error = client.receive().unwrap_err();
    assert!(matches!(error, CallError::Lost { .. }), "{error}");
    assert!(begun.elapsed() < A_WHILE);
    assert!(!error.agent_is_well());
    drop(client);
    io::Read::read_to_end(&mut agent, &mut Vec::new()).unwrap();
}

#[test]
fn an_agent_that_is_gone_gets_no_signs_of_life() {
    let (client, agent, _) = conversation();
    drop(agent);
    let error = client.to.keep_alive().unwrap_err();
    assert!(matches!(client.pipe(error), CallError::Gone { .. }));
}

#[test]
fn an_agent_that_never_ends_a_line_is_silent() {
    let (mut client, mut agent, _) = conversation();
    let dribbles = std::thread::spawn(move || while agent.write_all(b"x").is_ok() {});
    let error = client.call(&Request::Start, A_MOMENT).unwrap_err();
    assert!(matches!(error, CallError::Silent { .. }), "{error}");
    drop(client);
    dribbles.join().unwrap();
}

#[test]
fn an_agents_words_arrive_without_control_characters_and_bounded() {
    let (mut client, mut agent, _) = conversation();
    let hostile = "a\u{1b}]0;x\u{7}\u{9b}\u{7f}\u{202e}\u{200b}\nForged";
    let plain = "a\\u{1b}]0;x\\u{7}\\u{9b}\\u{7f}\\u{202e}\\u{200b} Forged";
    let mut id = 0;
    let mut hear = |before: &str, answer: &[u8]| {
        id += 1;
        let before = before.replace("ID", &id.to_string());
        agent.write_all(&[before.as_bytes(), answer.trim_ascii_end(), b"\n"].concat()).unwrap();
        client.call(&Request::Start, A_WHILE)
    };
    let mut answer = |answer: &Answer| hear("ID ", &encode(answer).unwrap());
    let mut environment = host::HostEnvironment::read(&["lo"], hostile);
    environment.sysctls.insert("net.core.rmem_max".to_owned(), hostile.to_owned());
    let Ok(Answer::Environment(environment)) = answer(&Answer::Environment(Box::new(environment))) else {
        panic!()
    };
    assert!(environment.netassay.starts_with(plain), "{}", environment.netassay);
    assert_eq!(environment.sysctls["net.core.rmem_max"], plain);
    let Ok(Answer::Told(what)) = answer(&Answer::Told(vec![hostile.into()])) else { panic!() };
    assert_eq!(what, [plain]);
    let why = format!("{hostile}{}", "é".repeat(1 << 16));
    let refused = answer(&Answer::Failed { why, broken: false }).unwrap_err().to_string();
    assert!(refused.starts_with(&format!("receiver: {plain}éé")), "{refused}");
    assert!(
        refused.ends_with("é… (cut)") && refused.len() <= "receiver: ".len() + words::LONGEST_REASON,
        "{refused}"
    );
    // The decoder's message quotes the line.
    for line in [
        "{\"answer\":\"\\u001b[31m\u{202e}\\n\"}",
        "{\"answer\":\"done\u{202e}\"}",
        "\u{1b}[2J\u{9b}\u{202e}\u{200b}",
    ] {
        for before in ["ID ", "", "99 ", "0 "] {
            let error = hear(before, line.as_bytes()).unwrap_err().to_string();
            assert!(words::is_plain(&error), "{error:?}");
        }
    }
}

#[test]
fn names_that_could_be_commands_are_no_names_of_an_agent() {
    let (mut client, mut agent, _) = conversation();
    let change = |target: &str| {
        format!(r#"{{"machine_changed":[{{"number":1,"target":{target},"before":"1","after":"2"}}]}}"#)
    };
    let settled = |active: &str| {
        format!(r#"{{"settled":{{"mtu":1500,"active":{active},"refused":{{}},"follow_on":{{}}}}}}"#)
    };
    let located = r#"{"located":{"interface":"x; id","mtu":1500,"addresses":[],"near":[],"carries":false}}"#;
    let device = |name: &str| format!(r#"{{"name":"{name}","index":5,"device":"veth"}}"#);
    let feature = format!(r#"{{"interface":{},"feature":"x; touch /tmp/owned"}}"#, device("eth0"));
    for (id, (answer, what)) in (1..).zip([
        (change(r#"{"sysctl":{"name":"net.core.x; touch /tmp/owned"}}"#), "a sysctl"),
        (change(&format!(r#"{{"feature":{feature}}}"#)), "a feature"),
        (change(&format!(r#"{{"mtu":{{"interface":{}}}}}"#, device("x; touch y"))), "an interface"),
        (change(r#"{"made":{"name":"x; touch y","kind":"veth"}}"#), "an interface"),
        (settled(r#"{"x; touch /tmp/owned":true}"#), "a feature"),
        (located.to_owned(), "an interface"),
        (r#"{"interface":"x; touch y"}"#.to_owned(), "an interface"),
    ]) {
        agent.write_all(format!("{id} {answer}\n").as_bytes()).unwrap();
        let error = client.call(&Request::Start, A_WHILE).unwrap_err().to_string();
        assert!(error.contains(&format!("cannot be the name of {what}")), "{answer}: {error}");
    }
}

#[test]
fn rubbish_is_an_error_and_a_refusal_keeps_the_agent() {
    let (mut client, mut agent, _) = conversation();
    agent.write_all(b"login:\n").unwrap();
    assert!(matches!(client.call(&Request::Start, A_WHILE), Err(CallError::Garbled { .. })));
    agent.write_all(b"2 {\"failed\":{\"why\":\"no\",\"broken\":false}}\n").unwrap();
    let refused = client.call(&Request::Start, A_WHILE).unwrap_err();
    assert_eq!(refused.to_string(), "receiver: no");
    assert!(refused.agent_is_well());
}
