//! The rate that a queueing discipline sets, as the running kernel tells it.

use std::process::Command;
use std::time::Duration;

use netassay_host::{Impairment, LinkLimit, Links};

use crate::harness::{Stage, skipped};

pub(crate) fn rates(stage: &mut Stage) {
    let mut links = Links::open().unwrap();
    links.create_veth(&stage.here, &stage.there, stage.peer.pid()).unwrap();
    links.set_up(&stage.here).unwrap();
    let here = stage.here.clone();
    let bare = LinkLimit::read(&mut links, &here).unwrap();
    assert_eq!(bare.rate_bits, None, "a veth's own word is worth nothing: {bare:?}");
    assert!(bare.from.contains("veth") && bare.from.contains("noqueue"), "{bare:?}");

    // More than 32 bits hold, in bytes.
    let steps: [(&str, Option<(u64, &str)>); 3] = [
        ("qdisc add root tbf rate 123mbit burst 10000 limit 10000", Some((123_000_000, "tbf at the root"))),
        ("qdisc replace root tbf rate 80gbit burst 10000000 limit 10000", Some((80_000_000_000, "tbf"))),
        ("qdisc delete root", None),
    ];
    for (step, expected) in steps {
        let mut words: Vec<&str> = step.split(' ').collect();
        words.splice(2..2, ["dev", &here]);
        match Command::new("tc").args(&words).output() {
            Err(error) => return skipped("link_limits_are_read", &format!("tc (iproute2): {error}")),
            Ok(output) if !output.status.success() => {
                let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                return skipped("link_limits_are_read", &format!("{step}: {reason}"));
            }
            Ok(_) => {}
        }
        let limit = LinkLimit::read(&mut links, &here).unwrap();
        assert_eq!(limit.rate_bits, expected.map(|(bits, _)| bits), "{step}: {limit:?}");
        assert!(expected.is_none_or(|(_, from)| limit.from.contains(from)), "{step}: {limit:?}");
    }
}

pub(crate) fn impaired(stage: &mut Stage) {
    let mut links = Links::open().unwrap();
    links.create_veth(&stage.here, &stage.there, stage.peer.pid()).unwrap();
    links.set_up(&stage.here).unwrap();
    let here = stage.here.clone();
    let state = |links: &mut Links| {
        let limit = LinkLimit::read(links, &here).unwrap();
        (limit.rate_bits, limit.from)
    };
    let bare = state(&mut links);
    links.impair(&here, &Impairment::default()).unwrap();
    assert_eq!(state(&mut links), bare, "nothing to do");

    // More than 32 bits hold, in bytes: each replaces the one before.
    for bits in [8_000, 123_000_000, 80_000_000_000] {
        let rate = Impairment::new(None, None, Some(bits));
        assert_eq!(links.lacking(&rate), [] as [String; 0]);
        links.impair(&here, &rate).unwrap();
        assert_eq!(state(&mut links), (Some(bits), format!("tbf at the root of {here}")));
        links.impair(&here, &rate).unwrap();
    }

    let all = Impairment::new(Some(Duration::from_millis(10)), Some(0.1), Some(50_000_000));
    match links.lacking(&all).first() {
        None => {
            links.impair(&here, &all).unwrap();
            let below = format!("tbf below netem at the root of {here}");
            assert_eq!(state(&mut links), (Some(50_000_000), below));
        }
        Some(reason) => {
            assert!(reason.contains("sch_netem") && reason.contains("virtual machine"), "{reason}");
            assert!(links.impair(&here, &all).unwrap_err().to_string().contains("netem"));
        }
    }
    links.impair(&here, &Impairment::default()).unwrap();
    assert_eq!(state(&mut links), bare);
    assert!(links.impair("nobody0", &all).unwrap_err().to_string().contains("nobody0"));
}
