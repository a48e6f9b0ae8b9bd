//! Two agents' accounts of a run: whatever figures they tell, the run gets finite metrics, a label
//! and its disturbances.
//!
//! An order and an account as JSON, with a zero byte between.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netassay_runner::{directions, disturbances, limit, metrics, nothing_arrived};
use netassay_study::{Kind, Traffic};
use netassay_testbed::{RunAccount, RunOrder};

fuzz_target!(|input: &[u8]| {
    let Some(zero) = input.iter().position(|byte| *byte == 0) else { return };
    let Ok(order) = serde_json::from_slice::<RunOrder>(&input[..zero]) else { return };
    let Ok(account) = serde_json::from_slice::<RunAccount>(&input[zero + 1..]) else { return };
    for kind in Kind::ALL {
        let told = metrics(&Traffic { kind, ..order.traffic.clone() }, &account);
        assert!(told.iter().chain(&directions(&account)).all(|(_, value)| value.is_finite()));
    }
    let limit = limit(&order, &account);
    assert!(limit.evidence.iter().all(|one| !one.to_string().is_empty()));
    assert!(disturbances(&account, &order).iter().all(|one| !one.to_string().is_empty()));
    assert!(nothing_arrived(&order, &account).is_none_or(|why| !why.is_empty()));
});
