//! (tests) What crosses the wire arrives as it was.

use proptest::prelude::*;

use super::*;
use crate::frame::{MAX_FRAME, decode, encode};
use crate::series::MOST;

fn counts(n: u64) -> load::Counts {
    load::Counts {
        messages: n,
        bytes: n,
        calls: n,
        transactions: n,
        no_buffers: n,
        timeouts: n,
        late: n,
        socket_drops: n,
    }
}

/// An account with this many threads and rows, in which every number is `n`.
fn measured(threads: usize, rows: usize, n: u64) -> Measured {
    let cpu = host::CpuTimes { user: n, system: n, irq: n, softirq: n, steal: n, idle: n };
    let column = || vec![n; rows];
    Measured {
        elapsed_ns: n,
        load: load::Sample {
            at_ns: n,
            sent: counts(n),
            received: counts(n),
            flows: Vec::new(),
            tcp: load::TcpReadings::default(),
        },
        cpu,
        cpus: vec![8_191; 1024],
        cpu_each: vec![cpu; 1024],
        own: host::ProcessTimes { user_ns: n, system_ns: n },
        threads: vec![host::ThreadTimes { running_ns: n, user_ns: n, system_ns: n, waiting_ns: n }; threads],
        counters: host::Counters::default(),
        interrupts: host::Interrupts(host::InterruptKind::kinds().map(|interrupt| (interrupt, n)).collect()),
        device: None,
        power: None,
        throttled: None,
        underlay: Some(host::WireCounters::default()),
        clock: host::ClockCheck { monotonic_ns: n, raw_ns: n, boottime_ns: n, source_changed: true },
        late: Late { opened_ns: n, closed_ns: n },
        link: host::LinkLimit {
            rate_bits: Some(n),
            shaped: true,
            from: "tbf at the root of fifteen-bytes-x".to_owned(),
        },
        series: Series {
            step_ns: n,
            at_ns: column(),
            bytes_sent: column(),
            bytes_received: column(),
            messages_sent: column(),
            messages_received: column(),
            transactions: column(),
            socket_drops: column(),
            queue_drops: column(),
            cpu_busy_ns: column(),
            tcp: vec![load::TcpReadings { count: n, rtt_us: n, congestion_window: n }; rows],
        },
    }
}

#[test]
fn the_largest_account_fits_into_a_frame() {
    let threads = usize::try_from(load::MAX_THREADS).unwrap() * 2;
    let rows = usize::try_from(MOST).unwrap() + 1;
    let answer = Answer::Measured(Box::new(measured(threads, rows, u64::MAX)));
    let line = encode(&answer).unwrap();
    assert!(line.len() < MAX_FRAME / 2, "{} bytes", line.len());
    assert_eq!(decode::<Answer>(line.trim_ascii_end()).unwrap(), answer);
}

#[test]
fn the_addresses_of_the_most_flows_fit_into_a_frame() {
    let address = "[2001:db8:ffff:ffff:ffff:ffff:ffff:ffff]:65535".parse().unwrap();
    let addresses = vec![address; usize::try_from(load::MAX_FLOWS).unwrap() * 2];
    let line = encode(&Answer::Sockets(addresses)).unwrap();
    assert!(line.len() < MAX_FRAME * 3 / 4, "{} bytes", line.len());
}

proptest! {
    #[test]
    fn an_account_survives_the_wire(threads in 0usize..4, rows in 0usize..20, n in any::<u64>()) {
        let account = measured(threads, rows, n);
        prop_assert!(account.series.misshapen().is_none() && account.series.at_ns.len() == rows);
        let answer = Answer::Measured(Box::new(account));
        let line = encode(&answer).unwrap();
        prop_assert_eq!(decode::<Answer>(line.trim_ascii_end()).unwrap(), answer);
    }

    #[test]
    fn what_is_lacking_survives_the_wire(what in prop::collection::vec("\\PC{0,40}", 0..4), ipv6 in any::<bool>()) {
        let answer = Answer::Told(what);
        prop_assert_eq!(decode::<Answer>(encode(&answer).unwrap().trim_ascii_end()).unwrap(), answer);
        let request = Request::Lacking { traffic: load::Traffic::new(load::Kind::UdpRr), family: load::Family::from_ipv6(ipv6) };
        prop_assert_eq!(decode::<Request>(encode(&request).unwrap().trim_ascii_end()).unwrap(), request);
    }
}
