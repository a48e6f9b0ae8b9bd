//! What an agent tells of its side of a run.

use serde::{Deserialize, Serialize};

/// One side's account of one window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Length of the window on this host's own clock, in ns.
    pub elapsed_ns: u64,
    /// What the workload's threads did in the window, all flows together.
    pub load: load::Sample,
    /// CPU time of the host's CPUs in the window.
    pub cpu: host::CpuTimes,
    /// The CPUs that were counted.
    pub cpus: Vec<u32>,
    /// CPU time of each of them, in their order.
    pub cpu_each: Vec<host::CpuTimes>,
    /// CPU time of this agent's process: the workload's threads and the one that watches them.
    pub own: host::ProcessTimes,
    /// CPU time of each of the workload's threads, in the order of [`load::Outcome::threads`].
    pub threads: Vec<host::ThreadTimes>,
    /// The kernel's counters over the window.
    pub counters: host::Counters,
    /// Interrupts of the host's CPUs in the window.
    pub interrupts: host::Interrupts,
    /// Of a tunnel: the counters of the interface under it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub underlay: Option<host::WireCounters>,
    /// How long the window was by each of the host's clocks.
    pub clock: host::ClockCheck,
    /// How late its edges were.
    pub late: Late,
    /// The most that the interface lets through, where that is known.
    pub link: host::LinkLimit,
    /// The counters on their way through the window.
    pub series: Series,
}

/// How late the edges of a window were, in ns after they were due: the agent's main thread sleeps until then, and shares its CPUs
/// with the workload's threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Late {
    /// The opening.
    pub opened_ns: u64,
    /// The closing.
    pub closed_ns: u64,
}

/// Counters at many instants of a window, each counted from the window's opening. All columns have one length; the last row is of
/// the window's closing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// The step between two rows that was aimed at, in ns. A row that the machine had no time for is missing, not late.
    pub step_ns: u64,
    /// When, in ns after the opening.
    pub at_ns: Vec<u64>,
    /// Payload bytes sent by this host.
    pub bytes_sent: Vec<u64>,
    /// Payload bytes received.
    pub bytes_received: Vec<u64>,
    /// Messages sent.
    pub messages_sent: Vec<u64>,
    /// Messages received.
    pub messages_received: Vec<u64>,
    /// Transactions done.
    pub transactions: Vec<u64>,
    /// Datagrams that this host's sockets dropped.
    pub socket_drops: Vec<u64>,
    /// Packets that the interface's queueing disciplines dropped.
    pub queue_drops: Vec<u64>,
    /// Time, in ns, in which the host's CPUs worked; the kernel tells it in steps of 10 ms.
    pub cpu_busy_ns: Vec<u64>,
}

impl Series {
    /// The counters by name; `at_ns` is not among them.
    #[must_use]
    pub fn columns(&self) -> [(&'static str, &[u64]); 8] {
        [
            ("bytes_sent", &self.bytes_sent),
            ("bytes_received", &self.bytes_received),
            ("messages_sent", &self.messages_sent),
            ("messages_received", &self.messages_received),
            ("transactions", &self.transactions),
            ("socket_drops", &self.socket_drops),
            ("queue_drops", &self.queue_drops),
            ("cpu_busy_ns", &self.cpu_busy_ns),
        ]
    }
}

/// What guests cost the host that runs them in one window, by that host's own account.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watched {
    /// Length of the window on this host's clock, in ns.
    pub elapsed_ns: u64,
    /// How late its edges were.
    pub late: Late,
    /// Of each guest, in the order of [`crate::message::Request::Watch`].
    pub guests: Vec<GuestTimes>,
    /// CPU time of each of the CPUs that were asked for, in their order.
    pub cpu_each: Vec<host::CpuTimes>,
    /// Interrupts of each of them.
    pub interrupts_each: Vec<host::Interrupts>,
    /// The counters of the interface under the tunnel between the guests, if there is one.
    pub underlay: Option<host::WireCounters>,
}

/// CPU time of one guest's process on the host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestTimes {
    /// Of each thread that is a virtual CPU of the guest; of one for all of them under single-threaded emulation.
    pub vcpu_each: Vec<host::ThreadTimes>,
    /// Of its other threads: input and output, timers.
    pub io: host::ThreadTimes,
}

/// One side's account of a whole run, from opening its sockets to closing them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finished {
    /// What the threads did.
    pub outcome: load::Outcome,
    /// The kernel's counters over the whole run.
    pub counters: host::Counters,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::frame::{MAX_FRAME, decode, encode};
    use crate::message::{Answer, Request};
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

    /// An account with so many threads and `rows` rows, of which every number is `n`.
    fn measured(threads: usize, rows: usize, n: u64) -> Measured {
        let cpu = host::CpuTimes { user: n, system: n, irq: n, softirq: n, steal: n, idle: n };
        let column = || vec![n; rows];
        Measured {
            elapsed_ns: n,
            load: load::Sample { at_ns: n, sent: counts(n), received: counts(n), flows: Vec::new() },
            cpu,
            cpus: vec![8_191; 1024],
            cpu_each: vec![cpu; 1024],
            own: host::ProcessTimes { user_ns: n, system_ns: n },
            threads: vec![
                host::ThreadTimes { running_ns: n, user_ns: n, system_ns: n, waiting_ns: n };
                threads
            ],
            counters: host::Counters::default(),
            interrupts: host::Interrupt::all().map(|interrupt| (interrupt, n)).collect(),
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
        let line = encode(&Answer::Sockets { addresses }).unwrap();
        assert!(line.len() < MAX_FRAME * 3 / 4, "{} bytes", line.len());
    }

    proptest! {
        #[test]
        fn an_account_survives_the_wire(threads in 0usize..4, rows in 0usize..20, n in any::<u64>()) {
            let account = measured(threads, rows, n);
            prop_assert!(account.series.columns().iter().all(|(_, column)| column.len() == rows));
            let answer = Answer::Measured(Box::new(account));
            let line = encode(&answer).unwrap();
            prop_assert_eq!(decode::<Answer>(line.trim_ascii_end()).unwrap(), answer);
        }

        #[test]
        fn what_is_lacking_survives_the_wire(what in prop::collection::vec("\\PC{0,40}", 0..4), ipv6 in any::<bool>()) {
            let answer = Answer::Lacking { what };
            prop_assert_eq!(decode::<Answer>(encode(&answer).unwrap().trim_ascii_end()).unwrap(), answer);
            let request = Request::Lacking { traffic: load::Traffic::new(load::Kind::UdpRr), ipv6 };
            prop_assert_eq!(decode::<Request>(encode(&request).unwrap().trim_ascii_end()).unwrap(), request);
        }
    }
}
