//! The threads' counters, and how to read them from outside.

use std::iter::Sum;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::Calls;
use crate::socket::TcpReadings;

macro_rules! counts {
    ($($(#[doc = $doc:literal])+ $count:ident,)+) => {
        /// The counts of one end, of one flow or of all.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Counts {
            $($(#[doc = $doc])+ pub $count: u64,)+
        }

        impl Counts {
            fn zip(&self, other: &Counts, f: impl Fn(u64, u64) -> u64) -> Counts {
                Counts { $($count: f(self.$count, other.$count),)+ }
            }
        }

        // Alone in its cache lines. Only one thread writes, so a plain store is enough.
        #[repr(align(128))]
        #[derive(Debug, Default)]
        pub(crate) struct LaneCounters {
            $($count: AtomicU64,)+
        }

        impl LaneCounters {
            pub(crate) fn read(&self) -> Counts {
                Counts { $($count: self.$count.load(Ordering::Relaxed),)+ }
            }
        }
    };
}

counts! {
    /// Messages sent or received; for a TCP stream `bytes` divided by the size of a message.
    messages,
    /// Payload bytes sent by a transmitter, received by a receiver.
    bytes,
    /// System calls that moved data or tried to.
    calls,
    /// Request-response only: requests answered, as seen by this end.
    transactions,
    /// Datagrams that the sender's own queue rejected (`ENOBUFS`): not among `messages`.
    no_buffers,
    /// `udp_rr` transmitter only: transactions given up because no answer came in time.
    timeouts,
    /// `udp_rr` transmitter only: answers to transactions that had been given up.
    late,
    /// UDP only: datagrams that this end's sockets dropped, mostly because a buffer was full.
    socket_drops,
}

impl Counts {
    /// The difference from `earlier`.
    pub fn since(&self, earlier: &Counts) -> Counts {
        self.zip(earlier, u64::saturating_sub)
    }
}

impl Sum for Counts {
    fn sum<I: Iterator<Item = Counts>>(counts: I) -> Counts {
        counts.fold(Counts::default(), |sum, one| sum.zip(&one, u64::saturating_add))
    }
}

/// The counters of one end at one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// `CLOCK_MONOTONIC` in ns, midway between before and after the reading.
    pub at_ns: u64,
    /// The counts of this end's sending, or asking, threads.
    pub sent: Counts,
    /// The counts of this end's receiving, or answering, threads.
    pub received: Counts,
    /// Each flow, in the order of the endpoints.
    pub flows: Vec<Counts>,
    /// One reading of its TCP connections at each sample; none for `tcp_crr` and earlier builds.
    #[serde(default, skip_serializing_if = "TcpReadings::is_empty")]
    pub tcp: TcpReadings,
}

impl Sample {
    /// The difference from `earlier`; `at_ns` becomes the time between the two, in ns.
    pub fn since(&self, earlier: &Sample) -> Sample {
        let none = Counts::default();
        Sample {
            at_ns: self.at_ns.saturating_sub(earlier.at_ns),
            sent: self.sent.since(&earlier.sent),
            received: self.received.since(&earlier.received),
            flows: (self.flows.iter().zip(earlier.flows.iter().chain(std::iter::repeat(&none))))
                .map(|(counts, earlier)| counts.since(earlier))
                .collect(),
            tcp: self.tcp.since(&earlier.tcp),
        }
    }
}

// Values stay in registers, each change is a store. A flow's next writer continues from them.
pub(crate) struct Tally<'a> {
    counters: &'a LaneCounters,
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    calls: u64,
    transactions: u64,
}

impl<'a> Tally<'a> {
    pub(crate) fn new(counters: &'a LaneCounters) -> Self {
        let Counts { messages, bytes, calls, transactions, .. } = counters.read();
        Self { counters, messages, bytes, calls, transactions }
    }

    #[inline(always)]
    pub(crate) fn stream(&mut self, bytes: u64) {
        self.arrived_bytes(bytes);
        self.call();
    }

    #[inline(always)]
    pub(crate) fn message(&mut self, bytes: u64) {
        self.batch(1, bytes);
    }

    #[inline(always)]
    pub(crate) fn batch(&mut self, messages: u64, bytes: u64) {
        self.arrived(messages, bytes);
        self.call();
    }

    /// Whole messages that another call moved.
    #[inline(always)]
    pub(crate) fn arrived(&mut self, messages: u64, bytes: u64) {
        self.messages += messages;
        self.counters.messages.store(self.messages, Ordering::Relaxed);
        self.arrived_bytes(bytes);
    }

    #[inline(always)]
    pub(crate) fn arrived_bytes(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.counters.bytes.store(self.bytes, Ordering::Relaxed);
    }

    /// A message is complete; its bytes were counted before.
    #[inline(always)]
    pub(crate) fn completed(&mut self) {
        self.messages += 1;
        self.counters.messages.store(self.messages, Ordering::Relaxed);
    }

    /// A call that moved nothing, or nothing that this end counts.
    #[inline(always)]
    pub(crate) fn call(&mut self) {
        self.calls += 1;
        self.counters.calls.store(self.calls, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(crate) fn transaction(&mut self) {
        self.transactions += 1;
        self.counters.transactions.store(self.transactions, Ordering::Relaxed);
    }

    #[cold]
    pub(crate) fn no_buffers(&mut self) {
        self.call();
        self.refused(1);
    }

    #[cold]
    pub(crate) fn refused(&mut self, datagrams: u64) {
        add(&self.counters.no_buffers, datagrams);
    }

    #[cold]
    pub(crate) fn timeout(&mut self) {
        add(&self.counters.timeouts, 1);
    }

    #[cold]
    pub(crate) fn late(&mut self) {
        add(&self.counters.late, 1);
    }
}

impl Calls for Tally<'_> {
    #[inline(always)]
    fn around<R>(&mut self, call: impl FnOnce() -> R) -> R {
        self.call();
        call()
    }
}

fn add(counter: &AtomicU64, count: u64) {
    counter.store(counter.load(Ordering::Relaxed) + count, Ordering::Relaxed);
}

#[cfg(test)]
mod tests;
