//! Senders and receivers: their hot loops, counters and latencies.
//!
//! One workload has two ends, which may live in two processes, two namespaces or two machines:
//!
//! 1. [`Endpoint::bind`] opens the receiving sockets; their [`Endpoint::addresses`] go to the other
//!    end.
//! 2. [`Endpoint::connect`] connects to them; its addresses come back.
//! 3. [`Endpoint::attach`] accepts these peers and rejects all others. By then an empty datagram
//!    has made the hosts of a UDP workload look up each other's link-layer address.
//! 4. `start` the receiver, then the transmitter: a thread for each flow or for several, pinned
//!    when asked to.
//! 5. Both ends step through [`Phase`]: `Ramp`, then `Window`, then `Tail`. `sample` at the edges
//!    of the window; rates are differences of two samples, see [`Sample::since`]. Look at `failed`
//!    now and then.
//! 6. `quiet` both ends: sending threads end, receiving ones continue. `finish` the transmitter,
//!    then the receiver, which first receives queued data. Then `sent = received + dropped` over
//!    their whole life, wherever the drops of the path are known.
//!
//! Both ends must have reached `Tail` before the first one finishes: a peer that goes away earlier
//! is an error.
//!
//! The hot loops read no clock (request-response: one per transaction), take no lock, allocate
//! nothing and format nothing. Per iteration they load one byte, the phase, and store their own
//! counters, which are read from outside.

mod endpoint;
mod error;
pub mod exact;
mod lane;
mod message;
mod note;
mod probe;
mod socket;
mod spec;
mod sys;
mod workload;

pub use endpoint::{EndOutcome, Endpoint, FlowOutcome, Share};
pub use error::{Error, Result};
pub use lane::{Counts, HistogramError, Latency, LatencyHistogram, Phase, Sample, Zerocopy};
pub use note::LoadNote;
pub use probe::{Arrived, PairProbe, TCP, UDP};
pub use socket::{Applied, Buffers, SocketSwitches, TcpApplied, TcpInfo, TcpReadings, lacking};
pub use spec::Spec;
pub use words::{
    CongestionControl, Direction, Family, Kind, MAX_FLOWS, MAX_THREADS, Pacing, Reader, Sender, Traffic,
};
