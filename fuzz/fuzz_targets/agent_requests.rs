//! A request to an agent: what its session checks before it does anything, without the doing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netassay_agent::decode;
use netassay_agent::message::{ExactReceiver, Request};
use netassay_load::Spec;

fuzz_target!(|line: &[u8]| {
    let Ok(request) = decode::<Request>(line) else { return };
    match request {
        Request::Lacking { traffic, family } => allowed(&traffic, family),
        Request::Listen { spec, .. } | Request::Connect { spec, .. } => spec_of(&spec),
        Request::Exact { spec, receiver } | Request::Trace { spec, receiver, .. } => {
            spec_of(&spec);
            if let ExactReceiver::In { spec, .. } = receiver {
                spec_of(&spec);
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
});

fn spec_of(spec: &Spec) {
    let verdict = spec.validate();
    if let Err(why) = &verdict {
        assert!(!why.to_string().is_empty());
    }
    if verdict.is_ok() {
        allowed(&spec.traffic, netassay_load::Family::of(spec.local.is_ipv6()));
    }
}

/// What an agent accepts has bounds: its sockets and threads can be counted.
fn allowed(traffic: &netassay_load::Traffic, family: netassay_load::Family) {
    if traffic.validate(family).is_ok() {
        assert!(traffic.lanes() <= 2 * netassay_load::MAX_FLOWS);
    }
}
