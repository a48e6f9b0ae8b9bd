//! Messages between a controller and its agent: each is a message or an error, never a panic.
//!
//! The first byte chooses the reader: 0 an agent's account of a run, 1 the lines of a pipe,
//! 2 a request as an agent's session checks it before it acts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netassay_agent::message::{Answer, ExactReceiver, Request};
use netassay_agent::{LineReader, RequestHeader, answer_line, decode, encode, read_answer};
use netassay_load::{Family, MAX_FLOWS, Spec};
use netassay_runner::{disturbances, limit, metrics, nothing_arrived};
use netassay_study::{Kind, Traffic};
use netassay_testbed::{RunAccount, RunOrder};

fuzz_target!(|input: &[u8]| {
    let Some((reader, bytes)) = input.split_first() else { return };
    match reader % 3 {
        0 => account(bytes),
        1 => lines(bytes),
        _ => request(bytes),
    }
});

/// An order and an account as JSON, with a zero byte between. Whatever the figures of an account
/// are, the run gets finite metrics, a label and its disturbances.
fn account(input: &[u8]) {
    let Some(zero) = input.iter().position(|byte| *byte == 0) else { return };
    let Ok(order) = serde_json::from_slice::<RunOrder>(&input[..zero]) else { return };
    let Ok(account) = serde_json::from_slice::<RunAccount>(&input[zero + 1..]) else { return };
    for kind in Kind::ALL {
        let told = metrics(&Traffic { kind, ..order.traffic.clone() }, &account);
        assert!(told.iter().all(|(_, value)| value.is_finite()));
    }
    let limit = limit(&order, &account);
    assert!(limit.evidence.iter().all(|one| !one.to_string().is_empty()));
    assert!(disturbances(&account, &order).iter().all(|one| !one.to_string().is_empty()));
    assert!(nothing_arrived(&order, &account).is_none_or(|why| !why.is_empty()));
}

/// The first eight bytes are the lengths of pieces, the rest is the content of the pipe.
fn lines(input: &[u8]) {
    let (cuts, bytes) = input.split_at(input.len().min(8));
    let mut reader = LineReader::default();
    let mut lines = Vec::new();
    for piece in cut(bytes, cuts) {
        reader.push(piece);
        while let Ok(Some(line)) = reader.next_line() {
            lines.push(line);
        }
    }

    // However the pipe cuts them, lines are lines.
    let whole: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    assert!(lines.iter().map(Vec::as_slice).eq(whole[..whole.len() - 1].iter().copied()));

    for line in whole {
        // A message that was read is written and read again as the same message.
        if let Ok((asked, request)) = RequestHeader::read(line)
            && let Ok(request) = decode::<Request>(request)
        {
            let written = asked.line(&request).expect("what was read can be written");
            let (again, request) = RequestHeader::read(written.trim_ascii_end()).expect("and read again");
            assert_eq!(again, asked);
            decode::<Request>(request).expect("and read again");
        }
        if let Ok((id, answer)) = read_answer(line)
            && let Ok(answer) = decode::<Answer>(answer)
        {
            let written = answer_line(id, &answer).expect("what was read can be written");
            assert_eq!(read_answer(&written).expect("and read again").0, id);
        }
        if let Ok(request) = decode::<Request>(line) {
            let written = encode(&request).expect("what was read can be written");
            assert_eq!(decode::<Request>(written.trim_ascii_end()).expect("and read again"), request);
        }
        if let Ok(answer) = decode::<Answer>(line) {
            encode(&answer).expect("what was read can be written");
        }
    }
}

/// Pieces as a pipe would deliver them, of these lengths, then the rest.
fn cut<'a>(mut bytes: &'a [u8], lengths: &[u8]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for length in lengths {
        let (piece, rest) = bytes.split_at(usize::from(*length).min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces.push(bytes);
    pieces
}

fn request(line: &[u8]) {
    let Ok(request) = decode::<Request>(line) else { return };
    match request {
        Request::Lacking { traffic, family } => check_traffic(&traffic, family),
        Request::Open { spec, .. } => check_spec(&spec),
        Request::Exact { spec, receiver } | Request::Trace { spec, receiver, .. } => {
            check_spec(&spec);
            if let ExactReceiver::In { spec, .. } = receiver {
                check_spec(&spec);
            }
        }
        Request::Alternate { states, .. } => {
            for (one, other) in states.iter().zip(states.iter().skip(1)) {
                let [shares, shared] = [(one, other), (other, one)]
                    .map(|(one, other)| one.traffic.shares_flow_with(&other.traffic));
                assert_eq!(shares, shared);
            }
        }
        _ => {}
    }
}

fn check_spec(spec: &Spec) {
    match spec.validate() {
        Ok(()) => check_traffic(&spec.traffic, Family::from_ipv6(spec.local.is_ipv6())),
        Err(why) => assert!(!why.to_string().is_empty()),
    }
}

/// Traffic that an agent accepts has bounds: its sockets and threads can be counted.
fn check_traffic(traffic: &netassay_load::Traffic, family: Family) {
    if traffic.validate(family).is_ok() {
        assert!(traffic.lanes() <= 2 * MAX_FLOWS);
    }
}
